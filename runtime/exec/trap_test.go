package exec_test

import (
	"errors"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// TestTraps: a Go number as negative power of integers is refused everywhere,
// an integer division by zero only where checks were switched on.
func TestTraps(t *testing.T) {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range exec.Modes() {
		for _, checks := range []exec.Checks{exec.ChecksByMode, exec.ChecksOn, exec.ChecksOff} {
			d := exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: m})
			d.SetChecks(checks)
			back := tpu.Use(d)
			x := tpu.I32.Of(6, 7)
			for _, c := range []struct {
				name  string
				run   func() *tpu.Tensor
				traps bool
			}{
				{"x // 0", func() *tpu.Tensor { return x.FloorDivide(0) }, checks == exec.ChecksOn},
				{"x % [1 0]", func() *tpu.Tensor { return x.Remainder(tpu.I32.Of(1, 0)) }, checks == exec.ChecksOn},
				{"x // 2", func() *tpu.Tensor { return x.FloorDivide(2) }, false},
				{"f / 0", func() *tpu.Tensor { return x.Div(0) }, false},
				{"x ** -1", func() *tpu.Tensor { return x.Pow(-1) }, true},
				{"x ** [-1 2]", func() *tpu.Tensor { return x.Pow(tpu.I32.Of(-1, 2)) }, false},
				{"f ** -1", func() *tpu.Tensor { return x.To(tpu.F32).Pow(-1) }, false},
			} {
				err := tpu.Try(func() { c.run().Array() })
				var trap *exec.TrapError
				if errors.As(err, &trap) != c.traps || err != nil && !c.traps {
					t.Errorf("%s, checks %v: %s: %v", m.Name, checks, c.name, err)
				}
			}
			back()
		}
	}
}
