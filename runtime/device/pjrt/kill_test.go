package pjrt_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
)

func signal(t *testing.T, d *pjrt.Device, s os.Signal) {
	t.Helper()
	p, err := os.FindProcess(d.PID())
	if err == nil {
		err = p.Signal(s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// notes collects what the device says to the trace.
type notes struct {
	mu   sync.Mutex
	text []string
}

func (n *notes) Emit(ev *trace.Event) {
	if ev.Kind == trace.Note {
		n.mu.Lock()
		n.text = append(n.text, ev.Text)
		n.mu.Unlock()
	}
}

// TestProcessDies: a new process takes over. What was on the host is sent
// again, what was only in the old process is computed again.
func TestProcessDies(t *testing.T) {
	o, said := options(t), &notes{}
	o.Fast, o.Sink = true, said
	d := open(t, o)
	e := double(t, d, 2)
	x := numbers(t, d, 1, 2)
	for range 3 { // x = 8, 16 with nothing of it on the host
		var err error
		if x, err = run(e, x); err != nil {
			t.Fatal(err)
		}
	}
	signal(t, d, os.Kill)
	again, err := run(e, x)
	if err != nil {
		t.Fatal(err)
	}
	if got := kernel.As[float32](again.Host().Buf); got[1] != 32 {
		t.Errorf("as an input: %v", got)
	}
	signal(t, d, os.Kill)
	if got := kernel.As[float32](x.Host().Buf); got[1] != 16 {
		t.Errorf("read: %v", got)
	}
	signal(t, d, os.Kill)
	l := &device.Launch{In: []device.Buffer{x}, Owners: make([]device.Owner, 1), Donate: make([]bool, 1), Measure: true}
	if err := e.Run(l); err != nil {
		t.Fatal(err)
	}
	if got := kernel.As[float32](l.Out[0].Host().Buf); got[1] != 32 {
		t.Errorf("waited for: %v", got)
	}
	if text := strings.Join(said.text, "\n"); !strings.Contains(text, "3 launches are done again") {
		t.Errorf("it said %q", text)
	}
}

// TestForgotten: launches that are too long ago are not done again: what they
// made is lost, and the error names it.
func TestForgotten(t *testing.T) {
	o := options(t)
	o.Fast = true
	d := open(t, o)
	e := double(t, d, 2)
	in := numbers(t, d, 1, 2)
	l := &device.Launch{In: []device.Buffer{in}, Owners: []device.Owner{{What: "add", Op: 7}}, Donate: make([]bool, 1)}
	if err := e.Run(l); err != nil {
		t.Fatal(err)
	}
	d.Forget()
	signal(t, d, os.Kill)
	var le *pjrt.LostError
	if err := l.Out[0].(device.Waiter).Wait(); !errors.As(err, &le) || !strings.Contains(err.Error(), "f32[2] of add (op #7) was lost") {
		t.Errorf("read: %v, want a LostError", err)
	}
	if _, err := run(e, l.Out[0]); !errors.As(err, &le) {
		t.Errorf("as an input: %v, want a LostError", err)
	}
	if out, err := run(e, in); err != nil || kernel.As[float32](out.Host().Buf)[1] != 4 {
		t.Errorf("what was uploaded: %v", err)
	}
}

// TestKilledInEveryMode kills the process while nothing runs, while it
// compiles, while it computes and while numbers travel: the numbers are those
// of a process that lived, and nothing hangs.
func TestKilledInEveryMode(t *testing.T) {
	o := options(t)
	o.Fast = true
	o.Cache = &pjrt.Cache{Folders: []string{t.TempDir()}}
	d := open(t, o)
	const n = 40_000 // numbers: through the shared memory
	// stop keeps the process from answering and kills it while f waits for it, or just before.
	stop := func(f func()) {
		signal(t, d, syscall.SIGSTOP)
		var g sync.WaitGroup
		g.Go(func() { signal(t, d, os.Kill) })
		f()
		g.Wait()
	}
	size, first := 3, d.PID()
	for _, when := range []struct {
		name string
		do   func(x *tpu.Tensor) *tpu.Tensor // gives 2x+1
	}{
		{"idle", func(x *tpu.Tensor) *tpu.Tensor {
			y := x.Add(x)
			y.Float64s()
			signal(t, d, os.Kill)
			return y.Add(1)
		}},
		{"launch", func(x *tpu.Tensor) (y *tpu.Tensor) {
			y = x.Add(x)
			stop(func() { y = y.Add(1); tpu.Sync(y) })
			return y
		}},
		{"compile", func(x *tpu.Tensor) *tpu.Tensor {
			size++ // a program that is not in the cache
			stop(func() { tpu.Sync(tpu.Ones(size).Exp().Add(tpu.Ones(size))) })
			return x.Add(x).Add(1)
		}},
		{"upload", func(x *tpu.Tensor) (y *tpu.Tensor) {
			stop(func() { y = x.Add(tpu.FromArray(x.Array())).Add(1) })
			return y
		}},
		{"download", func(x *tpu.Tensor) *tpu.Tensor {
			y := x.Add(x).Add(1)
			tpu.Sync(y)
			stop(func() { y.Float64s() })
			return y
		}},
	} {
		for _, m := range []*exec.Mode{exec.Debug, exec.DeferAndFuse, exec.Compiled, exec.Strict} {
			t.Run(fmt.Sprint(when.name, " ", m.Name), func(t *testing.T) {
				defer tpu.Use(exec.New(d, exec.Options{Mode: m}))()
				x := tpu.Arange(n).To(tpu.F32).Add(0.5)
				tpu.Sync(x)
				for i, got := range when.do(x).Float64s() {
					if want := 2*float64(i) + 2; got != want {
						t.Fatalf("number %d is %v, want %v", i, got, want)
					}
				}
			})
		}
	}
	if d.PID() == first {
		t.Error("the process lives")
	}
}
