package tpu

import (
	"os"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
)

// An engine is what this package keeps beside a dispatcher: there is one for each.
type engine struct {
	d         *exec.Dispatcher
	weakly    weak.Pointer[exec.Dispatcher] // d
	noGrad    int                           // nesting of NoGrad
	inference int                           // nesting of Inference
	anomaly   bool                          // backward passes look for NaN
	x64       bool                          // a Go int makes I64 instead of I32
	seed      uint64
	offset    uint64 // numbers drawn since the seed was set
	seq       uint64 // tape nodes made
	usage     map[uint64]uint64
	batch     *batch // of storages that stand alone
	slab      *slab  // where the next small tensor goes
	tidy      *tidyScope
	capture   *capture // inside a compiled function
	live      liveness // of the tape, for a root walk
	replays   []weak.Pointer[replay]
	runs      uint32 // of compiled functions that were watched
}

// ambient is the engine that factories use: the only state of the package.
var ambient atomic.Pointer[engine]

// Use makes d the dispatcher of the factories and gives a function that
// restores the former one. Operations use the dispatcher of their operands.
func Use(d *exec.Dispatcher) (restore func()) {
	old := ambient.Swap(engineOf(d))
	return func() { ambient.Store(old) }
}

// engineOf finds or makes the engine of a dispatcher.
func engineOf(d *exec.Dispatcher) *engine {
	if e, ok := d.Attached().(*engine); ok {
		return e
	}
	e := &engine{d: d, weakly: weak.Make(d), usage: map[uint64]uint64{}}
	d.Attach(e)
	return e
}

// defaultDispatcher is made when a program uses no other: a simulated v5e in
// the mode that the environment asks for.
var defaultDispatcher = sync.OnceValue(func() *exec.Dispatcher {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		panic(&Error{Err: err})
	}
	d := exec.New(sim.New(chip, sim.Options{}), exec.Options{})
	if err := d.SetMode(modeOf(os.Getenv)); err != nil {
		panic(&Error{Err: err})
	}
	d.SetChecks(checksOf(os.Getenv))
	return d
})

// modeOf reads the variables that choose a mode on the real system; Debug when nothing is set.
func modeOf(getenv func(string) string) *exec.Mode {
	fuse, blocking := getenv("TORCH_TPU_DEFER_AND_FUSE"), getenv("TORCH_TPU_LAUNCH_BLOCKING")
	switch {
	case truth(blocking):
		return exec.Debug
	case truth(fuse):
		return exec.DeferAndFuse
	case blocking != "" || fuse != "":
		return exec.Strict
	}
	return exec.Debug
}

func checksOf(getenv func(string) string) exec.Checks {
	switch s := getenv("TORCH_TPU_ENABLE_DEBUG_CHECKS"); {
	case truth(s):
		return exec.ChecksOn
	case s != "":
		return exec.ChecksOff
	}
	return exec.ChecksByMode
}

func truth(s string) bool { return s == "1" || s == "true" || s == "True" || s == "TRUE" }

// ambientEngine gives the engine of the factories.
func ambientEngine() *engine {
	if e := ambient.Load(); e != nil {
		return e
	}
	e := engineOf(defaultDispatcher())
	ambient.CompareAndSwap(nil, e)
	return ambient.Load()
}

// Dispatcher gives the dispatcher that factories use.
func Dispatcher() *exec.Dispatcher { return ambientEngine().d }

// A row is an operation with what a call needs of it, looked up once.
type row struct {
	def      *op.Def
	defaults op.Attrs // complete attributes, nil when some are required
}

// rowTable gives the rows in the order of the generated constants. They are made
// by the first call; the others, one for each operation, only load a pointer.
func rowTable() []row {
	if t := rows.Load(); t != nil {
		return *t
	}
	return firstRows()
}

// firstRows is rowTable when it may be the first call.
func firstRows() []row {
	t := makeRows()
	rows.Store(&t)
	return t
}

var rows atomic.Pointer[[]row]

var makeRows = sync.OnceValue(func() []row {
	t := make([]row, len(rowNames))
	for i, n := range rowNames {
		t[i].def = op.Lookup(n)
		if t[i].def != nil {
			t[i].defaults, _ = t[i].def.Complete(nil)
		}
	}
	return t
})
