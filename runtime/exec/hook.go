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

// A Launched is a region that was just launched, or an upload.
type Launched struct {
	Number int64 // of the launch, 0 for an upload
	Name   string
	Why    Reason
	Ops    int      // operations of the region
	OpN    uint64   // of the last one, 0 for an upload
	Out    []*Value // materialized
	Stack  *trace.Stack
}

// A LaunchHook is a Hook that is also told of launches and uploads, when the
// call of the dispatcher that caused them ends. It may use the dispatcher.
type LaunchHook interface{ Launched(l *Launched) }

// AddHook installs a hook.
func (d *Dispatcher) AddHook(h Hook) {
	d.lock()
	defer d.mu.Unlock()
	d.hooks = append(d.hooks[:len(d.hooks):len(d.hooks)], h)
}

// RemoveHook takes a hook out again.
func (d *Dispatcher) RemoveHook(h Hook) {
	d.lock()
	defer d.mu.Unlock()
	for i, x := range d.hooks {
		if x == h {
			d.hooks = append(d.hooks[:i:i], d.hooks[i+1:]...)
			return
		}
	}
}

// launched keeps the news of a launch until the lock is released.
func (d *Dispatcher) launched(l Launched) {
	if len(d.hooks) > 0 {
		d.news = append(d.news, &l)
	}
}

// lock takes the lock of the dispatcher, for whatever sees or changes more than one
// operation: what a streak has put off has happened then.
func (d *Dispatcher) lock() {
	d.mu.Lock()
	if d.streak.ready {
		d.streak.end(d)
	}
}

// unlock releases the lock and tells the hooks what was launched under it.
func (d *Dispatcher) unlock() {
	if d.news == nil {
		d.mu.Unlock()
		return
	}
	news, hooks := d.news, d.hooks
	d.news = nil
	d.mu.Unlock()
	for _, l := range news {
		for _, h := range hooks {
			if x, ok := h.(LaunchHook); ok {
				x.Launched(l)
			}
		}
	}
}
