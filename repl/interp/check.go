package interp

import (
	"context"
	"time"

	"github.com/tpush/tpush/repl/cell"
)

// Do calls f on a goroutine that can be interrupted, as a cell is: f may call
// code of cells, such as the String method of a value. The error is one of those
// that Run gives.
func (in *Interp) Do(ctx context.Context, cell int, f func()) error {
	in.began = time.Now()
	return in.start(ctx, newRun(cell), f)
}

// Check compiles a cell without running it. Its names are declared afterwards,
// for the cells that follow; it is for files that are looked at, not for a
// session that runs. The error is a *cell.CompileError.
func (in *Interp) Check(src Source) ([]cell.Diagnostic, error) {
	in.types.Lock()
	defer in.types.Unlock()
	u, err := in.scope.Compile(src)
	if err != nil {
		return nil, err
	}
	u.Commit(func(string) bool { return true })
	return u.Warnings, nil
}

// A GoCell is one cell of a program to export.
type GoCell = cell.GoCell

// WriteGo writes cells as a plain Go program, without running them. The error is
// a *cell.CompileError.
func (in *Interp) WriteGo(head string, cells []GoCell) ([]byte, error) {
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.WriteGo(head, cells)
}

// PanicText writes what a method of a cell panicked with as Go does.
func (in *Interp) PanicText(v any) string {
	return in.registry.panicText(in.registry.plainPanic(v))
}
