package pjrt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
)

// exchanges collects the names of the exchanges in a trace.
type exchanges []string

func (x *exchanges) Emit(ev *trace.Event) {
	if ev.Kind == trace.Collective {
		*x = append(*x, ev.Name)
	}
}

func (*exchanges) On() bool { return true }

// TestFromLocal makes tensors of what four devices hold: parts of a sum are
// added between the devices, and the result is where the placements say. Real
// XLA and the simulator do the same.
func TestFromLocal(t *testing.T) {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]device.Device{"sim": sim.New(chip, sim.Options{}), "xla": meshed(t, 4)} {
		for _, tt := range []struct {
			ps   []tpu.Placement
			want []float64 // device i holds [i+1, 10i+10]
			at   string
			sum  bool // by an exchange
		}{
			{[]tpu.Placement{tpu.Shard(0), tpu.Shard(0)}, []float64{1, 10, 2, 20, 3, 30, 4, 40}, "[S(0) S(0)]", false},
			{[]tpu.Placement{tpu.Replicate(), tpu.Shard(0)}, []float64{1, 10, 2, 20}, "[R S(0)]", false},
			{[]tpu.Placement{tpu.Partial(), tpu.Shard(0)}, []float64{4, 40, 6, 60}, "[R S(0)]", true},
			{[]tpu.Placement{tpu.Shard(0), tpu.Partial()}, []float64{3, 30, 7, 70}, "[S(0) R]", true},
			{[]tpu.Placement{tpu.Partial(), tpu.Partial()}, []float64{10, 100}, "[R R]", true},
			{[]tpu.Placement{tpu.Partial()}, []float64{4, 40}, "[R R]", true},
		} {
			for _, m := range []*exec.Mode{exec.Debug, exec.Compiled} {
				t.Run(fmt.Sprint(name, " ", tt.ps, " ", m.Name), func(t *testing.T) {
					var told exchanges
					defer tpu.Use(exec.New(d, exec.Options{Mode: m, Tracer: &told}))()
					mesh := tpu.InitDeviceMesh([]int{2, 2}, "dp", "tp")
					var parts []*tpu.Tensor
					for i := range 4 {
						parts = append(parts, tpu.Of(float64(i+1), float64(10*i+10)).RequireGrad())
					}
					x := tpu.FromLocal(mesh, parts, tt.ps...)
					if at := fmt.Sprint(x.Placements(mesh)); at != tt.at {
						t.Errorf("it is at %s, want %s", at, tt.at)
					}
					if got := x.Float64s(); !slices.Equal(got, tt.want) {
						t.Errorf("got %v, want %v", got, tt.want)
					}
					if got := slices.Contains(told, "all-reduce"); got != tt.sum {
						t.Errorf("exchanges %v", told)
					}
					x.Square().Sum().Backward()
					if g := parts[0].Grad().Float64s(); g[0] != 2*tt.want[0] {
						t.Errorf("gradient %v", g)
					}
				})
			}
		}
	}
}
