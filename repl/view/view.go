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

	"github.com/tpush/tpush/repl"
)

// A View is a row of the table: one kind of snapshot.
type View struct {
	Name string
	Doc  string
	take func(v *Views, args json.RawMessage) (any, error)
}

// All lists the views.
func All() []View {
	return []View{
		{"hbm", "who holds the HBM", func(v *Views, _ json.RawMessage) (any, error) { return v.Memory(), nil }},
		{"vars", "the variables; args name one to look into", decoded((*Views).Variables)},
	}
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
	hbm  history
	vars known
}

// New makes the views of a session.
func New(s *repl.Session) *Views { return &Views{s: s} }

// Take takes the snapshot of that name. The error is *UnknownError, *ArgsError
// or what the view says.
func (v *Views) Take(name string, args json.RawMessage) (json.RawMessage, error) {
	for _, row := range All() {
		if row.Name == name {
			snap, err := row.take(v, args)
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
