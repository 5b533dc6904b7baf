package repl

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// What is remembered before each cell.
const (
	undoCells = 8
	// undoBytes is how much of Go's own values is copied; tensors are not copied.
	undoBytes = 4 << 20
)

// An undo is the state before a cell.
type undo struct {
	cell    int
	vars    *interp.Snapshot
	tensors *tpu.Snapshot
}

// A NoUndoError says why a cell cannot be undone.
type NoUndoError struct {
	Cell int
	Why  string
}

// Error gives the reason.
func (e *NoUndoError) Error() string {
	if e.Cell == 0 {
		return "undo: " + e.Why
	}
	return fmt.Sprintf("undo: the state before In[%d] is not kept: %s", e.Cell, e.Why)
}

// enter says whether objects of a package may be written back: those of the
// libraries that hold a user's models and their state.
func enter(pkg string) bool {
	const own = "github.com/tpush/tpush/runtime/"
	switch strings.TrimPrefix(pkg, own) {
	case "nn", "optim", "data":
		return strings.HasPrefix(pkg, own)
	}
	return false
}

// snapshot remembers the session's variables; nil when that cannot be done now.
func (s *Session) snapshot(cell int, maxBytes int64) *undo {
	u := &undo{cell: cell, tensors: tpu.NewSnapshot()}
	tensor := reflect.TypeFor[*tpu.Tensor]()
	u.vars = s.in.Snapshot(interp.SnapshotOptions{
		MaxBytes: maxBytes, Enter: enter,
		Opaque: func(p reflect.Value) bool {
			if p.Type() != tensor {
				return false
			}
			u.tensors.Add((*tpu.Tensor)(p.UnsafePointer()))
			return true
		},
	})
	if u.vars == nil {
		return nil
	}
	return u
}

// remember keeps the state before a cell.
func (s *Session) remember(cell int) {
	if s.disp.Busy() {
		s.undos = nil
		return
	}
	u := s.snapshot(cell, undoBytes)
	if u == nil { // what goroutines do to older states is not known either
		s.undos = nil
		return
	}
	s.undos = append(s.undos, u)
	if len(s.undos) > undoCells {
		s.undos = append([]*undo(nil), s.undos[len(s.undos)-undoCells:]...)
	}
}

// committed notes what the cell that ended has declared.
func (s *Session) committed() {
	take := s.in.TakeUndo()
	if n := len(s.undos); n > 0 && take != nil {
		s.undos[n-1].vars.Committed(take)
	}
}

// boundUndos forgets the oldest states when the tensors that only they hold
// take more than history.bytes on the host.
func (s *Session) boundUndos() {
	seen := map[uint64]bool{}
	var held int64
	for i := len(s.undos) - 1; i >= 0; i-- {
		s.undos[i].tensors.Values(func(v *exec.Value) {
			if !seen[v.ID()] {
				seen[v.ID()] = true
				held += s.disp.HeldBytes(v)
			}
		})
		if held > s.history.bytes {
			s.undos = append([]*undo(nil), s.undos[i+1:]...)
			return
		}
	}
}

// An Undone is what taking a cell back did.
type Undone struct {
	Cell int
	interp.Restored
}

// Undo restores the variables and names of the session to what they were
// before the last cell that is not undone yet. It returns *NoUndoError.
func (s *Session) Undo() (Undone, error) {
	if s.Running() {
		return Undone{}, &NoUndoError{Why: "a cell is running"}
	}
	if len(s.undos) == 0 {
		if len(s.cells) == 0 {
			return Undone{}, &NoUndoError{Why: "no cell has run"}
		}
		return Undone{}, &NoUndoError{len(s.cells), "earlier ones were undone, a goroutine of a cell still ran, or its tensors take more than history.bytes"}
	}
	s.quiet.Lock()
	defer s.quiet.Unlock()
	u := s.undos[len(s.undos)-1]
	s.undos = s.undos[:len(s.undos)-1]
	return Undone{u.cell, s.restore(u)}, nil
}

func (s *Session) restore(u *undo) interp.Restored {
	s.Present()
	s.namer.reset()
	r := s.in.Restore(u.vars)
	u.tensors.Restore()
	// What cannot be charged again now is charged when it is used.
	u.tensors.Values(func(v *exec.Value) { _ = s.disp.Revive(v) })
	_ = s.disp.EndCell() // a failure stays with its value
	return r
}

// A Rerun is what a cell did when it ran again in some mode.
type Rerun struct {
	Mode *exec.Mode
	Ops  []exec.Record
	Err  error // of the cell
}

// discarded is where the output of a rerun goes.
type discarded struct{}

// Stream drops text.
func (discarded) Stream(string, string) {}

// Input is at its end.
func (discarded) Input() (string, error) { return "", io.EOF }

// Rerun runs a cell again in each of the modes, from the state before it, calls
// seen after each while its values are there, and puts the session back. What
// the cell prints is dropped; what it does to files happens again. It returns
// *NoUndoError when the state before the cell is not kept.
func (s *Session) Rerun(ctx context.Context, id int, modes []*exec.Mode, seen func(Rerun)) error {
	c := s.Cell(id)
	if c == nil {
		return &NoUndoError{id, "there is no such cell"}
	}
	if s.Running() {
		return &NoUndoError{id, "a cell is running"}
	}
	at := -1
	for i, u := range s.undos {
		if u.cell == id {
			at = i
		}
	}
	if at < 0 {
		return &NoUndoError{id, fmt.Sprintf("only the last %d are", undoCells)}
	}
	s.quiet.Lock()
	defer s.quiet.Unlock()
	now := s.snapshot(0, 1<<40)
	if now == nil {
		return &NoUndoError{id, "a goroutine of a cell still runs"}
	}
	former := s.disp.Mode()
	names := s.in.Names()
	defer func() {
		_ = s.disp.SetMode(former)
		s.in.SetNames(names)
		s.restore(now)
	}()
	for _, m := range modes {
		for i := len(s.undos) - 1; i > at; i-- {
			s.in.Undeclare(s.undos[i].vars)
		}
		s.in.Restore(s.undos[at].vars)
		s.undos[at].tensors.Restore()
		if err := s.disp.SetMode(m); err != nil {
			return err
		}
		_, start, _ := s.disp.Recorded()
		s.std.listen(discarded{}, c.Source)
		_, err := s.in.Run(ctx, interp.Source{Cell: c.ID, File: c.File, FirstLine: c.FirstLine, Text: c.Source})
		s.std.flush()
		if take := s.in.TakeUndo(); take != nil {
			take()
		}
		if end := s.disp.EndCell(); err == nil && end != nil {
			err = end
		}
		r := Rerun{Mode: m, Err: err}
		for _, rec := range s.disp.History(0) {
			if rec.OpN > start {
				r.Ops = append(r.Ops, rec)
			}
		}
		seen(r)
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// ErrorText is the failure of a cell in one line.
func ErrorText(err error) string { return KindOf(err) + ": " + oneLine(err.Error()) }
