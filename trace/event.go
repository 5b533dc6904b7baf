// Package trace says what happened: the events of a session, their kinds, the
// recorder that keeps them and the laws they obey.
//
// It imports nothing of this module, so that the runtime can emit events and
// every viewer can read them. It never interprets a tensor and never draws.
// Invariant: an Event is plain data; once emitted it is not changed.
package trace

import "strconv"

// A Frame is one level of the user's program: the place in a cell (or a Go
// file) where a call was made. Line and Column start at 1; 0 is "not known".
type Frame struct {
	Cell   int    // number of the cell, 0 outside cells
	File   string // file the cell came from, as given on the command line; "" when typed
	Func   string // "(cell)" at the top level of a cell
	Line   int    // line inside the cell
	Column int
	// FileLine is the line in File: the cell's first line plus Line-1. 0 when File is "".
	FileLine int
}

// Place is the frame as users read it: file:line of a file, In[N]:line of a cell
// that was typed, "" when neither is known.
func (f Frame) Place() string {
	switch {
	case f.File != "" && f.FileLine > 0:
		return f.File + ":" + strconv.Itoa(f.FileLine)
	case f.File != "" && f.Cell == 0:
		return f.File + ":" + strconv.Itoa(f.Line)
	case f.Cell > 0:
		return "In[" + strconv.Itoa(f.Cell) + "]:" + strconv.Itoa(f.Line)
	}
	return ""
}

// A Stack is the user's call stack at one operation, innermost frame first. It
// is interned: equal stacks are the same pointer, so it can be a map key.
// A nil Stack means that the place is not known.
type Stack struct {
	Frames []Frame

	hash uint64 // set by StackTable
	id   uint32 // set by StackTable, from 1; 0 for a stack made by hand
}

// Top gives the innermost frame, or the zero Frame.
func (s *Stack) Top() Frame {
	if s == nil || len(s.Frames) == 0 {
		return Frame{}
	}
	return s.Frames[0]
}

// An Event is one thing that happened. It is flat so that it is cheap to emit
// and stable to write; the kinds table says which fields a kind fills.
//
// Two clocks are told apart: AtNS and DurationNS are the virtual time of the
// simulated TPU (nanoseconds since the session began, repeatable); HostNS is
// wall time measured on the host, and RealNS time that a real device measured.
type Event struct {
	Seq        uint64 // position in the stream, from 1, no gaps except drops
	Kind       Kind
	AtNS       int64
	DurationNS int64
	HostNS     int64
	RealNS     int64 // of a launch: what real XLA measured for it; 0: nothing real was measured

	Stack  *Stack // where in the user's program
	Cell   int    // cell that was running
	Launch int    // launch (fusion group) number, 0 if none: the N of gN
	Op     uint64 // op number, 0 if none: the N of op #N

	Name   string   // op, group, command or reason-specific name
	Ops    []string // ops of a region
	Spec   string   // f32[128,256]{1,0:T(8,128)}
	Reason string   // cut reason, failure kind, ...
	Mode   string

	Bytes       int64 // logical bytes
	PaddedBytes int64 // bytes in HBM
	SavedBytes  int64 // HBM traffic that fusion avoided
	FLOPs       int64
	InUseBytes  int64 // HBM in use after this event
	Value       uint64
	CacheKey    string
	Text        string

	// Parts says which ops of the program a launch ran. Nil means one op, Name at Stack.
	Parts []Part
	// Extra is what a newer version wrote and this one does not know, as it was written.
	Extra string
}

// A Part is one op of a launch and its share of the launch's time: time is
// divided in proportion to Weight, equally when all weights are 0. The slice
// may be shared between events and is not changed after the first Emit.
type Part struct {
	Stack  *Stack
	Op     uint64
	Name   string
	Weight int64 // any unit: FLOPs, bytes, nanoseconds
}

// A Sink receives events. Emit must not keep a reference to ev or change it;
// it may keep the slices and strings in it.
type Sink interface {
	Emit(ev *Event)
}
