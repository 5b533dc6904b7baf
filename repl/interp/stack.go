package interp

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/trace"
)

// getProfLabel gives the label pointer of the calling goroutine in about a
// nanosecond. Each goroutine that runs cells has a label set of its own, so the
// pointer tells goroutines apart; children inherit it until they get theirs.
//
//go:linkname getProfLabel runtime/pprof.runtime_getProfLabel
func getProfLabel() unsafe.Pointer

// A Frame is one activation of a cell's function. Instrumented code writes its
// exported fields.
type Frame struct {
	PC    int  // site, and above opShift the ops that began since it was stored
	Live  bool // false: left; popped by whoever looks next
	Stack *stack

	act    *fr // the activation
	site   int // where it was entered
	depth  int
	home   int // depth of the function that it belongs to: a loop body over a function has a frame of its own
	at     int // site of the last hook
	serial uint64
}

// opShift places the count of ops above the site in Frame.PC.
const opShift = 32

// siteMask leaves the site of a program counter.
const siteMask = cell.BeginBit - 1

// chunkFrames is the number of frames that a stack grows by.
const chunkFrames = 256

// A stack is the shadow stack of one goroutine.
type stack struct {
	armed atomic.Bool // the goroutine is to end at its next poll
	cut   atomic.Bool // the evaluation on it is to end at its next poll
	rest  atomic.Bool // its owner changes nothing: others may look while they hold the world
	deaf  atomic.Bool // it did not come to rest when it was waited for

	in     *Interp
	run    *run // the cell that started the goroutine
	depth  int  // frames, dead ones at the top included
	chunks []*[chunkFrames]Frame
	parent *pcNode // the stack of the goroutine that started this one
	defers []*defers
	snap   *panicSnapshot

	waits    string       // what the goroutine waits for
	waitAt   *trace.Stack // and where
	hopeless atomic.Bool  // it waits and only a goroutine of a cell can wake it

	serial     uint64       // of the newest frame; the high bits are the stack's own
	last       *trace.Stack // interned stack of the last look
	lastPC     int          // and what it was made of
	lastSerial uint64
	label      unsafe.Pointer
	quiet      int          // hooks are passed by: an evaluation runs
	dead       bool         // a deadlock ends it
	grave      []Activation // frames at an interrupt
}

// A panicSnapshot is the stack at a panic, kept while deferred functions run.
type panicSnapshot struct {
	value     any
	stack     *trace.Stack
	earlier   *panicSnapshot // the panic whose deferred call panicked so
	recovered bool           // earlier was recovered before
	frames    []Activation
}

func (s *stack) frame(d int) *Frame { return &s.chunks[d/chunkFrames][d%chunkFrames] }

// trim pops frames that were left.
func (s *stack) trim() {
	if s.depth == 0 || s.frame(s.depth-1).Live {
		return
	}
	away := s.enter()
	defer s.exit(away)
	for s.depth > 0 && !s.frame(s.depth-1).Live {
		s.depth--
	}
}

// push makes a frame.
func (s *stack) push(site int) *Frame {
	s.trim()
	d := s.depth
	if d/chunkFrames == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkFrames]Frame))
	}
	f := s.frame(d)
	s.depth = d + 1
	f.PC, f.Live, f.Stack, f.site, f.depth, f.home, f.at = site, true, s, site, d, d, 0
	f.act = nil
	s.serial++
	f.serial = s.serial
	return f
}

// stacks finds the stack of the calling goroutine.
type stacks struct {
	byLabel sync.Map // unsafe.Pointer to *stack
	next    atomic.Uint64
	n       atomic.Int64 // goroutines that have one
}

func (t *stacks) current() *stack {
	if v, ok := t.byLabel.Load(getProfLabel()); ok {
		return v.(*stack)
	}
	return nil
}

// attach gives the calling goroutine a stack.
func (t *stacks) attach(in *Interp, r *run, parent *pcNode) *stack {
	s := &stack{in: in, run: r, parent: parent, serial: t.next.Add(1) << 40}
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("tpush", "cell")))
	s.label = getProfLabel()
	s.rest.Store(true)
	t.byLabel.Store(s.label, s)
	t.n.Add(1)
	return s
}

func (t *stacks) detach(s *stack) {
	t.byLabel.Delete(s.label)
	t.n.Add(-1)
	pprof.SetGoroutineLabels(context.Background())
}

// A pcNode is a stack as a linked list, interned from the outermost frame
// inward, so that equal stacks are one *trace.Stack.
type pcNode struct {
	pc    int
	up    *pcNode
	stack *trace.Stack
}

type pcKey struct {
	pc int
	up *pcNode
}

// An interner makes equal stacks the same pointer.
type interner struct {
	mu    sync.Mutex
	nodes map[pcKey]*pcNode
}

func (t *interner) node(pc int, up *pcNode) *pcNode {
	k := pcKey{pc, up}
	n := t.nodes[k]
	if n == nil {
		n = &pcNode{pc: pc, up: up}
		t.nodes[k] = n
	}
	return n
}

// maxStackFrames bounds the frames of a *trace.Stack: of a deeper stack the
// outermost are left out.
const maxStackFrames = 64

// intern gives the stack of s, its top frame at the program counter top.
func (s *stack) intern() *pcNode {
	t := &s.in.interned
	t.mu.Lock()
	defer t.mu.Unlock()
	n := s.parent
	lo := max(0, s.depth-maxStackFrames)
	for d := lo; d < s.depth; d++ {
		f := s.frame(d)
		if f.Live {
			n = t.node(f.PC&siteMask, n)
		}
	}
	if n != nil && n.stack == nil {
		n.stack = s.in.traceStack(n)
	}
	return n
}

func (in *Interp) traceStack(n *pcNode) *trace.Stack {
	st := &trace.Stack{}
	sites := in.scope
	for k := 0; n != nil && k < maxStackFrames; n, k = n.up, k+1 {
		site := sites.Site(n.pc)
		if site.Cell == 0 && site.Line == 0 && n.up != nil {
			continue // a function of the library
		}
		f := trace.Frame{Cell: site.Cell, File: site.File, Func: site.Func, Line: site.Line, Column: site.Column}
		if site.File != "" {
			f.FileLine = site.FirstLine + site.Line - 1
		}
		st.Frames = append(st.Frames, f)
	}
	return st
}

// look gives the interned stack; the last one is remembered.
func (s *stack) look() *trace.Stack {
	s.trim()
	if s.depth == 0 {
		if s.parent == nil {
			return nil
		}
		return s.parent.stack
	}
	f := s.frame(s.depth - 1)
	pc := f.PC & siteMask
	if s.last != nil && s.lastPC == pc && s.lastSerial == f.serial {
		return s.last
	}
	n := s.intern()
	s.last, s.lastPC, s.lastSerial = n.stack, pc, f.serial
	return n.stack
}

// At says where the calling goroutine is.
type At struct {
	Stack  *trace.Stack
	Depth  int    // of the frame: 1 is the cell's own
	Serial uint64 // of the frame's activation, never used twice, larger for later ones

	// Fresh is the depth of the outermost frame whose statement has begun since
	// the last op of the goroutine, 0 if there is none: every earlier statement
	// of that frame has ended. FreshSerial is its serial.
	Fresh       int
	FreshSerial uint64
}

// Where gives the user's stack of the calling goroutine, nil outside cells.
func (in *Interp) Where() *trace.Stack {
	s := in.stacks.current()
	if s == nil {
		return nil
	}
	return s.look()
}

// At is Where with what the liveness walk wants to know. It counts as an op of
// the statement.
func (in *Interp) At() At {
	s := in.stacks.current()
	if s == nil {
		return At{}
	}
	away := s.enter()
	defer s.exit(away)
	st := s.look()
	if s.depth == 0 {
		return At{Stack: st}
	}
	f := s.frame(s.depth - 1)
	a := At{Stack: st, Depth: s.depth, Serial: f.serial}
	// An op touches the statements of all frames. Those of the frames outside
	// of a touched one can't have moved on since.
	for d := s.depth - 1; d >= 0; d-- {
		f := s.frame(d)
		if f.PC>>opShift != 0 || f.PC&cell.BeginBit == 0 {
			break
		}
		f.PC += 1 << opShift
		a.Fresh, a.FreshSerial = d+1, f.serial
	}
	return a
}

// Depth gives the number of live frames of the calling goroutine.
func (in *Interp) Depth() int {
	s := in.stacks.current()
	if s == nil {
		return 0
	}
	s.trim()
	return s.depth
}
