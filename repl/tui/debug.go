package tui

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/viz"
)

// A stop is where the debugger holds a cell, and what the variables are there.
type stop struct {
	thread int
	lines  []string // how it reads: why, operands, watches
	frames []dapFrame
	at     int // the frame that is looked at: :up and :down change it
	locals []dapVariable
	scope  string          // what the locals are of
	fresh  map[string]bool // locals that changed since the stop before
	past   bool            // it looks back
}

// place is the number of the cell that the frame looked at is in, and the line.
func (s *stop) place() (cell, line int) {
	if len(s.frames) == 0 {
		return 0, 0
	}
	return s.frames[s.at].Source.SourceReference, s.frames[s.at].Line
}

type (
	stoppedMsg struct {
		job  *job
		stop *stop
	}
	continuedMsg struct{ job *job }
)

// debugEvent takes an event of the debugger, on the goroutine that waits for the
// cell: it may ask the debugger, which stands.
func debugEvent(k Kernel, j *job, send func(tea.Msg), raw json.RawMessage) {
	var e dapEvent
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	switch e.Event {
	case "stopped":
		var b dapStopped
		if json.Unmarshal(e.Body, &b) == nil {
			send(stoppedMsg{j, describe(k, b)})
		}
	case "continued":
		send(continuedMsg{j})
	case "output":
		var b struct {
			Output string `json:"output"`
		}
		if json.Unmarshal(e.Body, &b) == nil {
			j.feed.put(event{kind: outDisplay, lines: cleanLines(b.Output)}, len(b.Output))
		}
	}
}

// describe asks for the frames of a stop and the variables of the innermost.
func describe(k Kernel, b dapStopped) *stop {
	s := &stop{thread: b.ThreadID, past: strings.HasPrefix(b.Description, "Looking back")}
	for _, l := range b.Lines {
		if !sourceLine.MatchString(l) { // the cell itself shows its text
			s.lines = append(s.lines, cleanLines(l)...)
		}
	}
	if len(s.lines) == 0 {
		s.lines = cleanLines(strings.TrimSpace(b.Description + "  " + b.Text))
	}
	var stack struct {
		Frames []dapFrame `json:"stackFrames"`
	}
	if dapAsk(k, "stackTrace", map[string]any{"threadId": b.ThreadID, "levels": maxFrames}, &stack) != nil {
		return s
	}
	for _, f := range stack.Frames {
		if f.Source.SourceReference > 0 || f.Source.Path != "" { // not what the debugger itself evaluated
			s.frames = append(s.frames, f)
		}
	}
	s.locals, s.scope = localsOf(k, s, 0)
	return s
}

// localsOf asks for the variables of a frame, and what they are of: those of the
// frame; of the session when it has none.
func localsOf(k Kernel, s *stop, frame int) (list []dapVariable, of string) {
	var scopes struct {
		Scopes []dapScope `json:"scopes"`
	}
	if frame >= len(s.frames) || dapAsk(k, "scopes", map[string]any{"frameId": s.frames[frame].ID}, &scopes) != nil {
		return nil, ""
	}
	for _, scope := range scopes.Scopes[:min(len(scopes.Scopes), 2)] {
		var vars struct {
			Variables []dapVariable `json:"variables"`
		}
		if dapAsk(k, "variables", map[string]any{"variablesReference": scope.Ref, "count": maxLocals}, &vars) == nil && len(vars.Variables) > 0 {
			return vars.Variables, scope.Name
		}
	}
	return nil, ""
}

// frameLookedAt asks which frame of a stop the debugger looks at.
func frameLookedAt(k Kernel, s *stop) int {
	ctx, cancel := context.WithTimeout(context.Background(), viewDeadline)
	defer cancel()
	var d inspect.Debug
	if k.View(ctx, "debug", nil, &d) != nil || d.Frame >= len(s.frames) {
		return s.at
	}
	return d.Frame
}

var sourceLine = regexp.MustCompile(`^\s*(=>)?\s*\d+ \|`)

// Bounds of what a stop shows.
const (
	maxFrames = 50
	maxLocals = 200
)

// stoppedAt shows a stop in its cell.
func (m *Model) stoppedAt(msg stoppedMsg) tea.Cmd {
	j, s := msg.job, msg.stop
	if m.job != j {
		return nil
	}
	m.arrived(outputMsg{j})
	if !s.past && j.cell.command() && strings.HasPrefix(strings.Join(s.lines, ""), "Back in the present") {
		return nil
	}
	s.fresh = changedLocals(m.lastStop, s)
	m.stopped, m.lastStop = j.cell, s
	j.cell.stop = s
	j.cell.touch()
	m.markStopped()
	cell, line := s.place()
	m.panes.sel.Cell, m.panes.sel.Line = cell, line
	for _, p := range m.panes.open {
		p.Select(m.panes.sel)
	}
	return tea.Batch(m.stepped(), m.refreshPanels())
}

// changedLocals names the variables whose values are others than at the stop before.
func changedLocals(before, now *stop) map[string]bool {
	if before == nil || before.scope != now.scope || len(before.frames) == 0 || len(now.frames) == 0 || before.frames[0].Name != now.frames[0].Name {
		return nil
	}
	was := map[string]string{}
	for _, v := range before.locals {
		was[v.Name] = v.Value
	}
	fresh := map[string]bool{}
	for _, v := range now.locals {
		if old, ok := was[v.Name]; !ok || old != v.Value {
			fresh[v.Name] = true
		}
	}
	return fresh
}

// markStopped marks the line in the cell that it stands in, and shows it.
func (m *Model) markStopped() {
	m.clearStopped()
	number, line := m.lastStop.place()
	c := m.nb.byCount(number)
	if number == m.count+1 || c == nil && m.stopped != nil && !m.stopped.command() { // the cell that runs has no number yet
		c = m.stopped
	}
	if c == nil {
		return
	}
	m.stopIn = c
	c.stopLine = line
	c.touch()
	m.replan()
	src, i := m.source(), m.nb.index(c)
	rows := src.rows(i)
	if k := line - 1; k >= 0 && k < len(c.cache.spans) {
		m.view.show(src, i, c.cache.spans[k][0], min(c.cache.spans[k][0]+m.view.h/2, len(rows)-1))
	}
}

func (m *Model) clearStopped() {
	if m.stopIn != nil {
		m.stopIn.stopLine = 0
		m.stopIn.touch()
		m.stopIn = nil
	}
}

// goesOn forgets the stop.
func (m *Model) goesOn(j *job) {
	if m.job != j || m.stopped == nil {
		return
	}
	m.stopped = nil
	m.clearStopped()
	j.cell.stop = nil
	j.cell.touch()
}

// debug makes the actor of a step: continue, next, stepIn, stepOut.
func debug(command string) actor {
	return func(m *Model) tea.Cmd {
		if m.stopped == nil {
			return m.debugIdle(command)
		}
		k, thread := m.kernel, m.lastStop.thread
		m.stepping = command != "continue"
		return m.ask(func() func(m *Model) tea.Cmd {
			err := dapAsk(k, command, map[string]any{"threadId": thread}, nil)
			return func(m *Model) tea.Cmd {
				if err != nil {
					m.say("%s: %v", command, err)
					return m.stepped()
				}
				return nil
			}
		})
	}
}

// stepped ends a step: what was typed while it was under way is for the place
// where it stands now.
func (m *Model) stepped() tea.Cmd {
	m.stepping = false
	var cmds []tea.Cmd
	for _, text := range m.held {
		cmds = append(cmds, m.run(text))
	}
	m.held = nil
	if len(cmds) == 1 {
		return cmds[0]
	}
	return tea.Sequence(cmds...)
}

// debugIdle is what a step does while nothing is stopped: into begins the cell
// that is typed or selected and stops at its first line.
func (m *Model) debugIdle(command string) tea.Cmd {
	switch {
	case m.job != nil && command == "continue":
		m.say("the cell runs already")
	case m.job != nil: // a step of what runs: stop it where it is
		k := m.kernel
		return m.ask(func() func(m *Model) tea.Cmd {
			if err := dapAsk(k, "pause", map[string]any{"threadId": 1}, nil); err != nil {
				return func(m *Model) tea.Cmd { m.say("pause: %v", err); return nil }
			}
			return nil
		})
	case command == "stepOut":
		m.say("no cell is stopped: F9 sets a breakpoint, F11 begins a cell and stops at its first line")
	case command == "continue":
		return m.runHere(false)
	default:
		return m.runHere(true)
	}
	return nil
}

// runHere runs what is typed, or the selected cell; with entry it stops at the first line.
func (m *Model) runHere(entry bool) tea.Cmd {
	m.entry = entry
	if m.focus == onCells {
		if len(m.nb.cells) == 0 {
			return nil
		}
		return m.enqueue(m.nb.cells[m.selected])
	}
	if m.text() == nil || strings.TrimSpace(m.text().Text()) == "" {
		m.entry = false
		m.say("nothing is typed: F11 begins a cell and stops at its first line")
		return nil
	}
	return m.submit()
}

// toggleBreakpoint sets or clears a breakpoint at the line of the cursor.
func (m *Model) toggleBreakpoint() tea.Cmd {
	switch m.focus {
	case onInput:
		if m.stopIn != nil && m.input.Empty() {
			return m.flip(m.stopIn, m.stopIn.stopLine)
		}
		if m.inputBreaks == nil {
			m.inputBreaks = map[int]bool{}
		}
		flip(m.inputBreaks, m.input.Cursor().Line+1)
		return nil
	case onEdit:
		return m.flip(m.editing, m.editor.Cursor().Line+1)
	}
	if len(m.nb.cells) == 0 {
		return nil
	}
	c := m.nb.cells[m.selected]
	line := 1
	if c == m.marked && m.markedLine > 0 {
		line = m.markedLine
	}
	return m.flip(c, line)
}

func flip(set map[int]bool, line int) {
	if set[line] {
		delete(set, line)
	} else {
		set[line] = true
	}
}

// flip changes a breakpoint of a cell, and in the kernel when the cell has run
// or runs: its functions may be called again.
func (m *Model) flip(c *cell, line int) tea.Cmd {
	if c.command() {
		m.say("a command has no lines to stop at")
		return nil
	}
	if c.breaks == nil {
		c.breaks = map[int]bool{}
	}
	flip(c.breaks, line)
	c.touch()
	number := c.count
	if m.job != nil && m.job.cell == c {
		number = m.job.number
	}
	if number == 0 || m.state != ready {
		return nil
	}
	k, lines := m.kernel, c.breakLines()
	return m.ask(func() func(m *Model) tea.Cmd {
		list, err := dapSetLines(k, number, lines)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say("breakpoint: %v", err)
			}
			for _, b := range list {
				if !b.Verified {
					m.say("breakpoint: %s", b.Message)
				}
			}
			return m.refreshPanels()
		}
	})
}

// breakLines lists the lines with breakpoints in order.
func (c *cell) breakLines() []int {
	var list []int
	for l, on := range c.breaks {
		if on {
			list = append(list, l)
		}
	}
	sort.Ints(list)
	return list
}

// arm tells the debugger the breakpoints of a cell under the number that it is
// about to run as. It waits, so it belongs to the command that runs the cell.
func arm(k Kernel, lines []int, was, number int) {
	if was > 0 && was != number {
		_, _ = dapSetLines(k, was, nil)
	}
	_, _ = dapSetLines(k, number, lines)
}

// evaluate answers what is typed while a cell is stopped: Go in the frame it
// stands in, or a command at the stop.
func (m *Model) evaluate(text string) tea.Cmd {
	c := m.nb.append(text)
	c.aside, c.status, c.ran = true, okay, text
	m.view.follow = true
	frame, k, s := 0, m.kernel, m.lastStop
	if !s.past && len(s.frames) > 0 {
		frame = s.frames[s.at].ID
	}
	return m.ask(func() func(m *Model) tea.Cmd {
		var body struct {
			Result   string `json:"result"`
			Replayed bool   `json:"replayed"`
		}
		err := dapAsk(k, "evaluate", map[string]any{"expression": text, "frameId": frame, "context": "repl"}, &body)
		at := frameLookedAt(k, s)
		locals, scope := localsOf(k, s, at)
		return func(m *Model) tea.Cmd {
			o := &output{kind: outDisplay}
			c.again = body.Replayed
			if err != nil {
				o.kind = outError
				o.err.Name, o.err.Value = "debug", err.Error()
				c.status = failed
			} else if body.Result != "" {
				o.text.add(glyph.Clean(body.Result))
			}
			if err != nil || body.Result != "" {
				c.outputs = append(c.outputs, o)
			}
			c.touch()
			if m.lastStop == s && m.stopped != nil { // what was typed may have changed a variable, or the frame looked at
				s.locals, s.scope, s.at = locals, scope, at
				m.stopped.touch()
				m.markStopped()
				m.view.follow = true
			}
			return m.refreshPanels()
		}
	})
}

// drawStop draws where and why a cell is stopped, and its variables.
func (c *cell) drawStop(p *pen) {
	t, s := p.l.theme, c.stop
	w := p.inner()
	add := func(label, text string) {
		for i, r := range glyph.WrapWords(text, w) {
			if i > 0 {
				label = ""
			}
			p.row(p.bar(), label, r)
		}
	}
	label := "Brk[" + c.number() + "]"
	if s.past {
		label = "Past"
	}
	for i, l := range s.lines {
		if i == 0 {
			_, rest, ok := strings.Cut(l, "] ")
			if strings.HasPrefix(l, "Brk[") && ok {
				l = rest
			}
			add(paint(t.Brk, label), paint(t.Brk, l))
			continue
		}
		add("", l)
	}
	if len(s.frames) > 1 {
		names := make([]string, 0, len(s.frames))
		for i, f := range s.frames {
			name := f.Name + " " + placeOf(f.Source.Path, f.Source.SourceReference, f.Line, 0)
			if i == s.at && i > 0 {
				name = paint(t.Brk, name)
			}
			names = append(names, name)
		}
		add(paint(t.Dim, "stack"), strings.Join(names, paint(t.Dim, "  <  ")))
	}
	c.drawLocals(add, w, t)
}

// shownLocals is how many variables a stop shows in its cell; those that changed come first.
const shownLocals = 10

func (c *cell) drawLocals(add func(label, text string), w int, t *Theme) {
	s := c.stop
	list := slices.Clone(s.locals)
	slices.SortStableFunc(list, func(a, b dapVariable) int {
		switch {
		case s.fresh[a.Name] == s.fresh[b.Name]:
			return 0
		case s.fresh[a.Name]:
			return -1
		}
		return 1
	})
	label := paint(t.Dim, strings.ToLower(firstWord(s.scope)))
	nameW, typeW := 0, 0
	for _, v := range list[:min(len(list), shownLocals)] {
		nameW, typeW = max(nameW, glyph.Width(v.Name)), max(typeW, min(glyph.Width(v.Type), 24))
	}
	for i, v := range list {
		if i == shownLocals {
			add("", paint(t.Dim, t.More+" "+viz.Plural(len(list)-i, "more variable")+", F6 shows them"))
			return
		}
		mark, sgr := "  ", ""
		if s.fresh[v.Name] {
			mark, sgr = "* ", t.Brk
		}
		text := glyph.Fit(v.Name, nameW, t.More) + "  " + paint(t.Dim, glyph.Fit(v.Type, typeW, t.More)) + "  " + paint(sgr, strings.Join(cleanLines(v.Value), " "))
		add(label, glyph.Fit(paint(sgr, mark)+text, w, t.More))
		label = ""
	}
}

func firstWord(s string) string {
	s, _, _ = strings.Cut(s, " ")
	return s
}
