package tpu

import (
	"errors"
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/trace"
)

type traceStack = trace.Stack

func asError[T error](err error, x *T) bool { return errors.As(err, x) }

// TestCompileIsOneProgram counts launches and compilations of a compiled function, in every mode.
func TestCompileIsOneProgram(t *testing.T) {
	for _, m := range exec.Modes() {
		d := use(t, m)
		w := From([]float32{1, 2, 3}).RequireGrad()
		f := Compile(func(x *Tensor, k float64) (*Tensor, []*Tensor) {
			h := x.Mul(w).Add(k)
			return h.Exp().Sum(), []*Tensor{h}
		}).(func(*Tensor, float64) (*Tensor, []*Tensor))
		x := From([]float32{0.5, -1, 0.25})
		Sync()
		before := d.Stats().Launches
		loss, hs := f(x, 0.5)
		if n := d.Stats().Launches - before; n != 1 {
			t.Errorf("%s: %d launches, want 1", m.Name, n)
		}
		compiles := d.CacheStats().Compilations
		f(x.Add(1), 0.25)
		f(x, 0.125)
		if n := d.CacheStats().Compilations - compiles; n > 1 { // x.Add(1) itself
			t.Errorf("%s: %d programs more for other numbers", m.Name, n)
		}
		loss.Backward()
		got := w.Grad().Float64s()
		h := hs[0].Exp().Mul(x).Float64s()
		for i := range h {
			if d := got[i] - h[i]; d > 1e-6 || d < -1e-6 {
				t.Errorf("%s: gradient %v, want %v", m.Name, got, h)
				break
			}
		}
	}
}

func TestReadInsideCompileIsRefused(t *testing.T) {
	d := use(t, exec.Debug)
	f := Compile(func(x *Tensor) *Tensor {
		if x.Sum().Item() > 0 {
			return x
		}
		return x.Neg()
	}).(func(*Tensor) *Tensor)
	err := Try(func() { f(Ones(2)) })
	var e *exec.ReadWhileTracingError
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if d.InProgram() || Ones(2).Sum().Item() != 2 {
		t.Error("the dispatcher did not recover")
	}
}

// TestCompiledStepWrites trains inside a compiled function.
func TestCompiledStepWrites(t *testing.T) {
	use(t, exec.Debug)
	w := From([]float32{2}).RequireGrad()
	step := Compile(func(x *Tensor, lr float64) *Tensor {
		w.ZeroGrad()
		loss := w.Mul(x).Sum()
		loss.Backward()
		NoGrad(func() { w.SubInPlace(w.Grad().Mul(lr)) })
		return loss
	}).(func(*Tensor, float64) *Tensor)
	x := From([]float32{3})
	for i, want := range []float64{6, 5.1, 4.2} {
		if got := step(x, 0.1).Item(); got-want > 1e-5 || want-got > 1e-5 {
			t.Errorf("step %d gives %v, want %v", i, got, want)
		}
	}
}

func TestModeFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		fuse, block string
		want        *exec.Mode
	}{{"", "", exec.Debug}, {"1", "", exec.DeferAndFuse}, {"", "1", exec.Debug}, {"1", "1", exec.Debug}, {"0", "", exec.Strict}, {"", "0", exec.Strict}} {
		got := modeOf(func(k string) string {
			if k == "TORCH_TPU_DEFER_AND_FUSE" {
				return c.fuse
			}
			return c.block
		})
		if got != c.want {
			t.Errorf("fuse %q, blocking %q: %s, want %s", c.fuse, c.block, got.Name, c.want.Name)
		}
	}
}

// TestNumbersNeverRecompile changes a learning rate.
func TestNumbersNeverRecompile(t *testing.T) {
	for _, m := range exec.Modes() {
		d := use(t, m)
		w, g := Ones(4), Ones(4)
		Sync()
		run := func(lr float64) {
			w.AddInPlace(g, AddOptions{Alpha: -lr})
			w.MulInPlace(1 - lr)
			w.Sum().Item()
		}
		run(0.1)
		n := d.CacheStats().Compilations
		run(0.2)
		run(0.3)
		if got := d.CacheStats().Compilations; got != n {
			t.Errorf("%s: %d programs more", m.Name, got-n)
		}
	}
}

// TestCompiledFunctionsDoNotLeak calls one many times.
func TestCompiledFunctionsDoNotLeak(t *testing.T) {
	d := use(t, exec.Debug)
	w := Ones(64).RequireGrad()
	f := Compile(func(x *Tensor) *Tensor { return x.Mul(w).Exp().Sum() }).(func(*Tensor) *Tensor)
	x := Ones(64)
	measure := func(n int) int {
		for range n {
			f(x).Backward()
			w.ZeroGrad()
		}
		runtime.GC()
		runtime.GC()
		Of(1.0)
		return d.Device().HBM().Live()
	}
	if a, b := measure(200), measure(2000); b > a+200 {
		t.Errorf("%d arrays live, then %d", a, b)
	}
}
