package interp

import "github.com/tpush/tpush/repl/cell"

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
