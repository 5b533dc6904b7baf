package exec

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/trace"
)

// A Call is what a hook sees of an operation.
type Call struct {
	Def   *op.Def
	Attrs op.Attrs
	In    []*Value
	Out   []*Value // nil in Before
	OpN   uint64
	Stack *trace.Stack
}

// A Hook watches operations: breakpoints, watches and stepping are hooks. An
// error of Before refuses the operation.
type Hook interface {
	Before(c *Call) error
	After(c *Call)
}

// AddHook installs a hook.
func (d *Dispatcher) AddHook(h Hook) { d.hooks = append(d.hooks, h) }

// RemoveHook takes a hook out again.
func (d *Dispatcher) RemoveHook(h Hook) {
	for i, x := range d.hooks {
		if x == h {
			d.hooks = append(d.hooks[:i:i], d.hooks[i+1:]...)
			return
		}
	}
}
