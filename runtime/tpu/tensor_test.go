package tpu

import (
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

func TestSmoke(t *testing.T) {
	use(t, exec.Debug)
	x := Of(1.0, 2.0, 3.0)
	t.Log(x.Exp().String())
	y := From([][]float32{{1, 2}, {3, 4}})
	t.Log(y.T().MatMul(y).String())
	w := From([]float32{1, 2, 3}).RequireGrad()
	l := w.Exp()
	l.Backward(GradOptions{Gradient: Of(1.0, 1.0, 1.0)})
	t.Log(w.Grad().String())
}
