package tpu

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
)

// use gives the test a dispatcher of its own.
func use(t testing.TB, m *exec.Mode) *exec.Dispatcher {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	d := exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: m})
	t.Cleanup(Use(d))
	return d
}

// TestViewsAreNeverLaunched takes views of views and counts launches.
func TestViewsAreNeverLaunched(t *testing.T) {
	d := use(t, exec.Debug)
	x := Arange(24).Reshape(2, 3, 4)
	n := d.Stats().Launches
	v := x.Index(1, Slice(nil, nil), SliceStep(nil, nil, 2)).T()
	if got := v.Ints(); !slices.Equal(got, []int{12, 16, 20, 14, 18, 22}) {
		t.Errorf("got %v", got)
	}
	if d.Stats().Launches != n {
		t.Errorf("%d launches", d.Stats().Launches-n)
	}
	v.Add(0)
	if d.Stats().Launches != n+1 {
		t.Errorf("%d launches for one operation", d.Stats().Launches-n)
	}
}

// TestOperandsOnTheLeft checks the forms that cells write with a number on the left.
func TestOperandsOnTheLeft(t *testing.T) {
	use(t, exec.Debug)
	x := Of(1.0, 2.0, 4.0)
	i := Of(1, 2, 3)
	for _, c := range []struct {
		name string
		got  *Tensor
		want []float64
	}{
		{"8 - x", x.RSub(8), []float64{7, 6, 4}},
		{"8 / x", x.RDiv(8), []float64{8, 4, 2}},
		{"2 ** x", x.RPow(2), []float64{2, 4, 16}},
		{"7 % x", i.RRemainder(7), []float64{0, 1, 1}},
		{"1 << x", i.RBitwiseLeftShift(1), []float64{2, 4, 8}},
		{"16 >> x", i.RBitwiseRightShift(16), []float64{8, 4, 2}},
	} {
		if got := c.got.Float64s(); !slices.Equal(got, c.want) {
			t.Errorf("%s = %v, want %v", c.name, got, c.want)
		}
	}
}

// TestProgramWithoutUse works on the dispatcher that is made when nobody chose one.
func TestProgramWithoutUse(t *testing.T) {
	old := ambient.Swap(nil)
	defer ambient.Store(old)
	if got := Of(1.0, 2.0).Add(1).Sum().Item(); got != 5 {
		t.Errorf("got %v", got)
	}
}

// TestHooksChangeGradients registers hooks on a leaf and on a result.
func TestHooksChangeGradients(t *testing.T) {
	use(t, exec.Debug)
	w := Of(1.0, 2.0).RequireGrad()
	y := w.Mul(3)
	remove := y.Hook(func(g *Tensor) *Tensor { return g.Mul(10) })
	seen := 0
	w.Hook(func(g *Tensor) *Tensor { seen++; return nil })
	y.Sum().Backward(GradOptions{RetainGraph: true})
	remove()
	y.Sum().Backward()
	if got := w.Grad().Float64s(); !slices.Equal(got, []float64{33, 33}) || seen != 2 {
		t.Errorf("got %v after %d calls", got, seen)
	}
}

// TestSecondDerivative differentiates x³ twice.
func TestSecondDerivative(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		x := Of(2.0, -3.0).RequireGrad()
		g := GradWith(x.Pow(3).Sum(), GradOptions{CreateGraph: true}, x)[0]
		h := Grad(g.Sum(), x)[0]
		if got := h.Float64s(); !slices.Equal(got, []float64{12, -18}) {
			t.Errorf("%s: got %v", m.Name, got)
		}
	}
}

// TestBackwardGivesHBMBack compares the peak of a long chain with its length.
func TestBackwardGivesHBMBack(t *testing.T) {
	d := use(t, exec.Debug)
	x := Ones(1 << 18).RequireGrad()
	y := x
	for range 20 {
		y = y.Add(1) // saves nothing
	}
	loss := y.Sum()
	h := d.Device().HBM()
	h.ResetPeak()
	used := h.Used()
	loss.Backward()
	if grow := h.Peak() - used; grow > 4<<20 {
		t.Errorf("backward took %d bytes more for gradients of 1 MiB", grow)
	}
}
