package view

import (
	"time"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/exec"
)

// patience is how long a view waits for an operation that runs; after that it
// is answered with what was seen last.
const patience = 10 * time.Millisecond

// usualGroups is how many launches are looked at when nobody says.
const usualGroups = 200

// A BusyError says that an operation runs for so long that nothing could be
// looked at yet.
type BusyError struct{}

// Error says so.
func (*BusyError) Error() string { return "the device is busy with a long operation" }

// look copies what the dispatcher did last, as it was when it could be seen last.
func (v *Views) look(n int) (exec.Look, error) {
	if l, ok := v.s.Dispatcher().Look(n, patience); ok {
		v.seen = &l
		return l, nil
	}
	if v.seen == nil {
		return exec.Look{}, &BusyError{}
	}
	return *v.seen, nil
}

// Fusion is the groups that were launched last, and the queue.
func (v *Views) Fusion(args inspect.FusionArgs) (inspect.Fusion, error) {
	n := args.Last
	if n <= 0 {
		n = usualGroups
	}
	l, err := v.look(n)
	if err != nil {
		return inspect.Fusion{}, err
	}
	f := inspect.FusionOf(l, args)
	if f.Detail == nil && args.Detail > 0 { // it is older
		f.Detail = v.group(args.Detail)
	}
	return f, nil
}

// group looks into a group, nil when it is not remembered.
func (v *Views) group(number uint64) *inspect.GroupDetail {
	l, ok := v.s.Dispatcher().Look(1<<20, patience)
	if !ok {
		return nil
	}
	for i := range l.Groups {
		if uint64(l.Groups[i].Number) == number {
			return inspect.DetailOf(&l.Groups[i])
		}
	}
	return nil
}

// Graph is the program of a group.
func (v *Views) Graph(args inspect.GraphArgs) (inspect.Graph, error) {
	l, err := v.look(1 << 20)
	if err != nil {
		return inspect.Graph{}, err
	}
	return inspect.GraphOf(l, args), nil
}

// Roofline is the kernels of the last launches under the ceilings of the chip.
func (v *Views) Roofline() (inspect.Roofline, error) {
	l, err := v.look(usualGroups)
	if err != nil {
		return inspect.Roofline{}, err
	}
	return inspect.RooflineOf(l, v.s.Device().Chip()), nil
}

// Cache is the compilation cache.
func (v *Views) Cache() (inspect.Cache, error) {
	if entries, stats, ok := v.s.Dispatcher().LookCache(patience); ok {
		c := inspect.CacheOf(entries, stats)
		v.held = &c
	}
	if v.held == nil {
		return inspect.Cache{}, &BusyError{}
	}
	return *v.held, nil
}
