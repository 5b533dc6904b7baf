package tpu

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

func near(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= 1e-6*(1+math.Abs(b[i]))) {
			return false
		}
	}
	return true
}

// TestCheckpointEqualsPlain compares a checkpointed function with the plain
// one: results, gradients of arguments and of what it closes over, second derivatives.
func TestCheckpointEqualsPlain(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		run := func(wrap func(func(x, y *Tensor) *Tensor) func(x, y *Tensor) *Tensor) (out []float64) {
			Seed(5)
			w := From([]float32{0.5, -1, 2}).RequireGrad()
			x := From([]float32{1, 2, 3}).RequireGrad()
			y := From([]float32{-1, 0.5, 0.25}).RequireGrad()
			f := wrap(func(x, y *Tensor) *Tensor { return x.Mul(w).Mul(x).Tanh().Mul(y).Dropout(0.3) })
			h := f(x.Mul(2), y)
			loss := h.Mul(h).Sum()
			loss.Backward(GradOptions{RetainGraph: true})
			for _, p := range []*Tensor{w, x, y} {
				out = append(out, p.Grad().Float64s()...)
			}
			g := GradWith(f(x, y).Sum(), GradOptions{CreateGraph: true}, x)[0]
			w.ZeroGrad()
			for _, gg := range Grad(g.Mul(g).Sum(), x, y) {
				out = append(out, gg.Float64s()...)
			}
			return append(out, loss.Item())
		}
		plain := run(func(f func(x, y *Tensor) *Tensor) func(x, y *Tensor) *Tensor { return f })
		again := run(func(f func(x, y *Tensor) *Tensor) func(x, y *Tensor) *Tensor {
			return Checkpoint(f).(func(x, y *Tensor) *Tensor)
		})
		if !near(again, plain) {
			t.Errorf("%s: %v, want %v", m.Name, again, plain)
		}
	}
}

// TestAnomalyNamesTheForwardOperation takes the root of zero times zero.
func TestAnomalyNamesTheForwardOperation(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		x := From([]float32{0, 4}).RequireGrad()
		y := x.Sqrt().Mul(From([]float32{0, 1})).Sum()
		var e *AnomalyError
		err := Try(func() { DetectAnomaly(func() { y.Backward() }) })
		if !asError(err, &e) || e.Op != "sqrt" || e.Count != 1 || e.Input != 0 || !strings.Contains(err.Error(), "sqrt") {
			t.Errorf("%s: %v", m.Name, err)
		}
		if Anomaly() {
			t.Error("it stays on")
		}
		x.Sqrt().Mul(From([]float32{0, 1})).Sum().Backward() // without it NaN is a number
		if g := x.Grad().Float64s(); g[0] == g[0] || g[1] != 0.25 {
			t.Errorf("%s: gradient %v", m.Name, g)
		}
	}
}

func TestInference(t *testing.T) {
	use(t, exec.Debug)
	w := From([]float32{1, 2}).RequireGrad()
	var y *Tensor
	Inference(func() {
		y = w.Mul(2)
		y.AddInPlace(1)
	})
	if y.RequiresGrad() || !slices.Equal(y.Float64s(), []float64{3, 5}) {
		t.Errorf("%v", y)
	}
	for what, f := range map[string]func(){
		"saved": func() { w.Mul(y) }, "written": func() { y.AddInPlace(1) }, "required": func() { y.RequireGrad() },
	} {
		var e *InferenceError
		if err := Try(f); !asError(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if z := w.Mul(y.Clone()); !z.RequiresGrad() {
		t.Error("a copy takes no part in gradients")
	}
	w.Add(y) // saves nothing
}

func TestGradModes(t *testing.T) {
	use(t, exec.Debug)
	w := Ones(2).RequireGrad()
	NoGrad(func() {
		if w.Mul(2).RequiresGrad() || GradEnabled() {
			t.Error("recorded in NoGrad")
		}
		EnableGrad(func() {
			if !w.Mul(2).RequiresGrad() {
				t.Error("not recorded in EnableGrad")
			}
		})
		if GradEnabled() {
			t.Error("EnableGrad lasts")
		}
	})
}

// TestHooks counts and replaces gradients on their way.
func TestHooks(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		w := Ones(2).RequireGrad()
		h := w.Mul(3)
		calls := 0
		remove := h.RegisterHook(func(g *Tensor) *Tensor { calls++; return g.Mul(10) })
		leaf := w.Hook(func(g *Tensor) *Tensor { calls++; return nil })
		var after []float64
		w.PostAccumulateHook(func(p *Tensor) { after = append(after, p.Grad().Float64s()[0]) })
		h.Sum().Backward(GradOptions{RetainGraph: true})
		remove()
		leaf()
		h.Sum().Backward()
		if calls != 2 || !slices.Equal(after, []float64{30, 33}) {
			t.Errorf("%s: %d calls, gradients %v", m.Name, calls, after)
		}
		var e *NotLeafError
		if err := Try(func() { w.Mul(1).PostAccumulateHook(func(*Tensor) {}) }); !asError(err, &e) {
			t.Errorf("got %v", err)
		}
	}
}
