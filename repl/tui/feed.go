package tui

import (
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// frame is how long output waits for more before the screen is told: a program
// that prints a million lines must not cost a frame a line.
const frame = time.Second / 30

// feedBytes is how much output may wait for the screen before the program has
// to: the kernel's pipe then fills, and memory stays bounded.
const feedBytes = 1 << 20

// An event is a piece of output on its way to a cell.
type event struct {
	kind    outputKind
	lines   []string // cleaned
	partial string
	data    map[string]string
	err     kernel.ErrorContent
	spool   string // the file that has all lines, once there is one
}

// A feed takes what an execution produces, on the goroutine that waits for it,
// cleans it there, and holds it until the model takes it.
type feed struct {
	send func(tea.Msg) // tells the program that there is something
	msg  tea.Msg

	mu      sync.Mutex
	roomy   *sync.Cond
	pending []event
	bytes   int
	told    bool
	closed  bool

	out, err glyph.Cleaner
	all      spool // of both
}

func newFeed(send func(tea.Msg), msg tea.Msg) *feed {
	f := &feed{send: send, msg: msg}
	f.roomy = sync.NewCond(&f.mu)
	return f
}

// take gives what has come since the last call.
func (f *feed) take() []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.pending
	f.pending, f.bytes, f.told = nil, 0, false
	f.roomy.Broadcast()
	return list
}

// close lets a producer go that waits for room: nobody takes any more.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.roomy.Broadcast()
}

func (f *feed) put(e event, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bytes > feedBytes && !f.closed {
		f.roomy.Wait()
	}
	f.bytes += size
	if n := len(f.pending); n > 0 && e.kind == f.pending[n-1].kind && e.kind <= outStderr {
		p := &f.pending[n-1]
		p.lines, p.partial = append(p.lines, e.lines...), e.partial
		if e.spool != "" {
			p.spool = e.spool
		}
	} else {
		f.pending = append(f.pending, e)
	}
	if !f.told && f.send != nil {
		f.told = true
		time.AfterFunc(frame, func() { f.send(f.msg) })
	}
}

func (f *feed) stream(c kernel.StreamContent) {
	kind, clean := outStdout, &f.out
	if c.Name == "stderr" {
		kind, clean = outStderr, &f.err
	}
	lines := clean.Write(c.Text)
	f.put(event{kind: kind, lines: lines, partial: clean.Line(), spool: f.all.add(lines)}, len(c.Text))
}

func (f *feed) data(kind outputKind, c kernel.ResultContent) {
	if c.Warning {
		kind = outWarning
	}
	text := c.Data["text/plain"]
	f.put(event{kind: kind, lines: glyph.Clean(text), data: c.Data}, len(text))
}

func (f *feed) failure(c kernel.ErrorContent) {
	f.put(event{kind: outError, err: c}, len(c.Value))
}

// events are the callbacks of an execution.
func (f *feed) events() kernel.Events {
	return kernel.Events{
		Stream:  f.stream,
		Result:  func(c kernel.ResultContent) { f.data(outResult, c) },
		Display: func(c kernel.ResultContent) { f.data(outDisplay, c) },
		Error:   f.failure,
	}
}

// apply adds events to what a cell produced.
func apply(outs []*output, list []event) []*output {
	for _, e := range list {
		if n := len(outs); n > 0 && e.spool != "" && outs[n-1].kind == e.kind {
			outs[n-1].spool = e.spool
		}
		if n := len(outs); n > 0 && e.kind <= outStderr && outs[n-1].kind == e.kind {
			outs[n-1].text.add(e.lines)
			outs[n-1].partial = e.partial
			continue
		}
		o := &output{kind: e.kind, partial: e.partial, data: e.data, err: e.err, spool: e.spool}
		o.text.add(e.lines)
		outs = append(outs, o)
	}
	return outs
}

// cleanLines gives the lines of a text, without an empty one at the end.
func cleanLines(text string) []string {
	var c glyph.Cleaner
	list := c.Write(text)
	if rest := c.Line(); rest != "" {
		list = append(list, rest)
	}
	return list
}
