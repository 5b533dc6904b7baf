// Package view takes snapshots of a session for those who show it: what holds
// the HBM, what ran, what the variables are.
//
// A snapshot is a type of inspect, plain data that can be sent. Taking one
// changes nothing, computes nothing on the device and never waits for a cell:
// every part is copied under its owner's lock, and what only a standing session
// can tell is given as it was before the cell. The package draws nothing. It
// imports repl, inspect, trace and the runtime. Invariant: any view may be taken
// at any moment, from a goroutine that runs no cell.
package view

import (
	"encoding/json"
	"fmt"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/exec"
)

// A View is a row of the table: one kind of snapshot.
type View struct {
	Name string
	Doc  string
	Take func(v *Views, args json.RawMessage) (any, error)
}

// All lists the views.
func All() []View {
	return []View{
		{"status", "the session at a glance: mode, queue, HBM, time of a step, cache", Plain(func(v *Views) (any, error) { return v.Status() })},
		{"hbm", "who holds the HBM", Plain(func(v *Views) (any, error) { return v.Memory(), nil })},
		{"vars", "the variables; args name one to look into", decoded((*Views).Variables)},
		{"fusion", "the fusion groups that ran last, and the queue; args name one to look into", decoded((*Views).Fusion)},
		{"trace", "what ran when; args choose a stretch of time, or what to search for", decoded((*Views).Trace)},
		{"graph", "the program of a group as nodes and edges; args name the group", decoded((*Views).Graph)},
		{"roofline", "the kernels that ran, under the ceilings of the chip", Plain(func(v *Views) (any, error) { return v.Roofline() })},
		{"events", "the last events; args filter them", decoded((*Views).Events)},
		{"debug", "the debugger: where the program stands, breakpoints, watches", Plain(func(v *Views) (any, error) { return v.Debug(), nil })},
		{"cache", "the compilation cache", Plain(func(v *Views) (any, error) { return v.Cache() })},
		{"xla", "what the TPU compiler said last, beside the prediction", Plain(func(v *Views) (any, error) { return v.XLA(), nil })},
	}
}

// Plain makes the Take of a row without arguments.
func Plain(take func(*Views) (any, error)) func(*Views, json.RawMessage) (any, error) {
	return func(v *Views, _ json.RawMessage) (any, error) { return take(v) }
}

// decoded makes a row of a method that takes arguments.
func decoded[A, T any](take func(*Views, A) (T, error)) func(*Views, json.RawMessage) (any, error) {
	return func(v *Views, args json.RawMessage) (any, error) {
		var a A
		if len(args) > 0 {
			if err := json.Unmarshal(args, &a); err != nil {
				return nil, &ArgsError{Err: err}
			}
		}
		return take(v, a)
	}
}

// Views takes snapshots of one session, one at a time. It remembers what it has
// read of the recording, so that a look costs what has happened since the last.
type Views struct {
	s    *repl.Session
	more []View // beside the table
	hbm  history
	vars known
	seen *exec.Look // the last look at the dispatcher
	held *inspect.Cache
	past past // of the debugger
	rec  *inspect.Recording
}

// New makes the views of a session; more are rows beside those of the table.
func New(s *repl.Session, more ...View) *Views { return &Views{s: s, more: more} }

// Take takes the snapshot of that name. The error is *UnknownError, *ArgsError
// or what the view says.
func (v *Views) Take(name string, args json.RawMessage) (json.RawMessage, error) {
	for _, row := range append(All(), v.more...) {
		if row.Name == name {
			snap, err := row.Take(v, args)
			if err != nil {
				return nil, err
			}
			return json.Marshal(snap)
		}
	}
	return nil, &UnknownError{Name: name}
}

// An UnknownError says that there is no view of a name.
type UnknownError struct{ Name string }

// Error names the view.
func (e *UnknownError) Error() string { return fmt.Sprintf("no view %q", e.Name) }

// An ArgsError says that the arguments of a view are no good.
type ArgsError struct{ Err error }

// Error gives the cause.
func (e *ArgsError) Error() string { return "arguments: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *ArgsError) Unwrap() error { return e.Err }
