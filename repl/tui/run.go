package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
)

// A kernelState is how the kernel is.
type kernelState uint8

const (
	starting kernelState = iota
	ready
	dead
)

// A job is the cell that runs.
type job struct {
	cell   *cell
	feed   *feed
	cancel context.CancelCauseFunc
	number int  // that it is expected to run as
	entry  bool // it stops at its first line
	over   chan struct{}
}

type (
	startedMsg struct {
		kernel Kernel
		info   kernel.KernelInfo
		err    error
	}
	goneMsg struct {
		kernel Kernel
		err    error
	}
	outputMsg struct{ job *job }
	doneMsg   struct {
		job   *job
		reply kernel.ExecuteReply
		err   error
	}
	tickMsg      struct{}
	interruptMsg struct{} // SIGINT from another process
	timeoutMsg   struct{ job *job }
)

// startKernel starts a kernel beside the screen.
func (m *Model) startKernel() tea.Cmd {
	m.state, m.died, m.death = starting, "", nil
	start := m.opts.Start
	return func() tea.Msg {
		k, err := start()
		if err != nil {
			return startedMsg{err: err}
		}
		info, err := k.Info(context.Background())
		return startedMsg{kernel: k, info: info, err: err}
	}
}

func (m *Model) started(msg startedMsg) tea.Cmd {
	if msg.err != nil {
		m.kernelGone(msg.err)
		return nil
	}
	m.kernel, m.info, m.state = msg.kernel, msg.info, ready
	go func(k Kernel, send func(tea.Msg)) { send(goneMsg{k, k.Wait()}) }(m.kernel, m.send)
	for _, p := range m.panes.kept {
		p.asked = false
	}
	return tea.Batch(m.next(), m.refreshPanels())
}

// enqueue runs cells one after another, after those that wait already.
func (m *Model) enqueue(cells ...*cell) tea.Cmd {
	for _, c := range cells {
		if c.status == queued || c.status == running {
			continue
		}
		c.status = queued
		c.touch()
		m.queue = append(m.queue, c)
	}
	if m.state == dead && m.over == nil {
		m.over = newDeathQuestion(m)
	}
	return m.next()
}

// next runs the first cell that waits, when nothing runs.
func (m *Model) next() tea.Cmd {
	if m.job != nil || len(m.queue) == 0 || m.state != ready {
		return nil
	}
	c := m.queue[0]
	m.queue = m.queue[1:]
	c.status, c.started, c.ran = running, m.now(), c.source
	c.outputs, c.stale, c.reply, c.stop, c.restored = nil, nil, kernel.ExecuteReply{}, nil, false
	c.touch()
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &job{cell: c, cancel: cancel, over: make(chan struct{})}
	j.feed = newFeed(m.send, outputMsg{j})
	m.job = j
	j.number = m.count + 1
	own, was := c.breakLines(), c.count
	lines := own
	if m.entry && !c.command() {
		lines = append([]int{1}, own...)
		j.entry = true
	}
	m.entry = false
	k, req, send := m.kernel, kernel.ExecuteRequest{Code: c.source, Look: m.theme.Viz.Name, Columns: max(m.at.mainW-m.at.gutter, 20)}, m.send
	run := func() tea.Msg {
		if len(lines) > 0 {
			arm(k, lines, was, j.number)
		}
		ev := j.feed.events()
		ev.Input = inputOf(j, send)
		ev.Debug = func(raw json.RawMessage) { guarded(send, func() { debugEvent(k, j, send, raw) }) }
		rep, err := k.Execute(ctx, req, ev)
		close(j.over)
		j.feed.all.close()
		if j.entry {
			arm(k, own, 0, j.number)
		}
		return doneMsg{j, rep, err}
	}
	var limit tea.Cmd
	if m.opts.Timeout > 0 {
		limit = m.later(m.opts.Timeout, timeoutMsg{j})
	}
	return tea.Batch(m.autosave(), limit, run, m.startTicking())
}

// timedOut ends a cell that took too long; one that the debugger holds gets
// its time once more.
func (m *Model) timedOut(msg timeoutMsg) tea.Cmd {
	switch {
	case m.job != msg.job:
	case m.stopped != nil:
		return m.later(m.opts.Timeout, msg)
	default:
		m.job.cancel(context.DeadlineExceeded)
	}
	return nil
}

// startTicking shows how long a cell has been running.
func (m *Model) startTicking() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	return m.tickLater()
}

// tickEvery is how often the screen is renewed while a cell runs.
const tickEvery = 250 * time.Millisecond

func (m *Model) tickLater() tea.Cmd {
	return m.later(tickEvery, tickMsg{})
}

func (m *Model) tick() tea.Cmd {
	if m.job == nil {
		m.ticking = false
		return nil
	}
	return tea.Batch(m.tickLater(), m.refreshPanels(), m.glance())
}

// arrived shows the output that has come.
func (m *Model) arrived(msg outputMsg) {
	j := msg.job
	if list := j.feed.take(); len(list) > 0 {
		for _, e := range list {
			if e.spool != "" {
				m.spools = append(m.spools, e.spool)
			}
		}
		j.cell.outputs = apply(j.cell.outputs, list)
		j.cell.touch()
	}
}

// done ends a cell and goes on with the next.
func (m *Model) done(msg doneMsg) (cmd tea.Cmd) {
	j, c := msg.job, msg.job.cell
	m.arrived(outputMsg{j})
	j.feed.close()
	j.cancel(nil)
	m.goesOn(j)
	m.lastStop = nil
	if m.job == j {
		m.job = nil
	}
	defer func() { cmd = tea.Batch(m.stepped(), cmd) }()
	for _, o := range c.outputs {
		if o.partial != "" {
			o.text.add([]string{o.partial})
			o.partial = ""
		}
	}
	c.touch()
	c.reply, c.stop = msg.reply, nil
	if msg.err != nil {
		c.status = failed
		m.abortQueue()
		m.kernelGone(msg.err)
		return nil
	}
	r := msg.reply
	m.status.Mode, m.status.QueuedOps = r.Mode, r.QueuedOps
	m.status.HBMUsedBytes, m.status.HBMPeakBytes, m.status.HBMLimitBytes = r.HBMUsedBytes, r.HBMPeakBytes, r.HBMLimitBytes
	if n := msg.reply.ExecutionCount; n > 0 {
		c.count, m.count = n, n
	}
	c.status = okay
	if bad := c.failures(); len(bad) > 0 || msg.reply.Status == "error" {
		c.status = failed
		if len(bad) > 0 {
			e := bad[0].err
			if c.count == 0 && !c.command() {
				c.count = e.Cell
			}
			if e.Name == "interrupt" {
				c.status = interrupted
			}
		}
		if !c.failing || c.status == interrupted { // what failed before may fail again: the cells after it ran then
			m.abortQueue()
			m.pointAt(c)
		}
	}
	c.failing = false
	m.markStale(c)
	m.addHelp(c)
	switch {
	case msg.reply.Exit != nil:
		m.exitCode = *msg.reply.Exit
		m.say("the program ended with os.Exit(%d); its variables are kept", *msg.reply.Exit)
	case msg.reply.Quit:
		return m.leave()
	case msg.reply.Restart:
		return m.restart(msg.reply.Replay)
	}
	return tea.Batch(m.next(), m.refreshPanels(), m.glance())
}

// abortQueue tells the cells that wait that they do not run.
func (m *Model) abortQueue() {
	for _, c := range m.queue {
		c.status = aborted
		c.touch()
	}
	m.queue = nil
}

// gone takes the end of a kernel that nobody was waiting for. A cell that runs
// brings the same news itself, with what it printed before.
func (m *Model) gone(msg goneMsg) {
	if m.kernel == msg.kernel && m.state == ready && m.job == nil {
		m.kernelGone(msg.err)
	}
}

// kernelGone notes that there is no kernel any more. The screen stays, and so
// does what the user is doing: a list that is open is not taken away.
func (m *Model) kernelGone(err error) {
	m.state, m.died, m.death = dead, err.Error(), err
	var d *kernel.DiedError
	if errors.As(err, &d) {
		m.died = "the kernel died: " + d.Status
	}
	if m.over != nil {
		m.say("%s", m.died)
		return
	}
	m.over = newDeathQuestion(m)
}

// restart replaces the kernel; with replay the cells that ran run again.
func (m *Model) restart(replay bool) tea.Cmd {
	old := m.kernel
	m.kernel = nil
	if m.job != nil {
		m.goesOn(m.job)
		m.job.feed.close()
		m.job.cancel(nil)
		m.job = nil
	}
	var waiting []*cell // asked for while there was no kernel: they run on the new one
	if m.state == dead {
		waiting, m.queue = m.queue, nil
		for _, c := range waiting {
			c.status = idle
		}
	}
	m.abortQueue()
	var again []*cell
	for _, c := range m.nb.cells {
		if ran := c.count > 0 || c.status != idle && c.status != aborted; ran && replay && (!c.aside || c.again) && !(c.command() && quits(c.source)) {
			again = append(again, c)
			c.failing = c.status == failed
		}
		if c.status == running {
			c.status = interrupted
		}
		c.order, c.count = c.count, 0
		c.touch()
	}
	m.count, m.over = 0, nil
	cmd := m.startKernel()
	if old != nil {
		start := cmd
		cmd = func() tea.Msg { old.Kill(); old.Stop(); return start() }
	}
	if replay { // in the order in which they ran
		slices.SortStableFunc(again, func(a, b *cell) int { return a.order - b.order })
		return tea.Batch(cmd, m.enqueue(append(again, waiting...)...))
	}
	m.say("the kernel was restarted; its variables are gone, the cells are kept")
	return tea.Batch(cmd, m.enqueue(waiting...))
}

// restarts says whether a command asks for a new kernel.
func restarts(source string) bool {
	name := strings.TrimLeft(strings.TrimSpace(source), ":%")
	return len(name) > 3 && strings.HasPrefix("restart", name)
}

// quits says whether a command ends or restarts the session.
func quits(source string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(source), ":"), " ")
	return name != "" && (strings.HasPrefix("quit", name) || strings.HasPrefix("restart", name) && len(name) > 3)
}

// interrupt is what Ctrl-C does: it stops the cell that runs; pressed again soon
// it offers a new kernel; without a cell it clears what is typed.
func (m *Model) interrupt() tea.Cmd {
	if m.job == nil {
		if len(m.queue) > 0 {
			m.abortQueue()
			return nil
		}
		m.clearInput()
		return nil
	}
	again := m.now().Sub(m.broken) < 2*time.Second
	m.broken = m.now()
	if again {
		m.over = newRestartQuestion()
		return nil
	}
	m.job.cancel(kernel.ErrInterrupted)
	m.abortQueue()
	m.say("interrupting; Ctrl-C again offers a new kernel")
	return nil
}

// pointAt opens the cell for editing at a mistake that kept it from running.
func (m *Model) pointAt(c *cell) {
	e := c.failures()
	if len(e) == 0 || c.command() || m.focus == onEdit || !m.input.Empty() {
		return
	}
	if first := e[0].err; (first.Name == "syntax" || first.Name == "type") && first.File == "" && first.Line > 0 {
		m.edit(m.nb.index(c))
		if m.editor != nil {
			m.editor.MoveTo(pos(first.Line, first.Column))
		}
	}
}
