package exec

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
	"github.com/tpush/tpush/trace"
)

// Rows of this test: small enough to see through, independent of the table.

func like(in []shape.Spec, _ op.Attrs) ([]int, error)      { return in[0].Dims, nil }
func f32(in []shape.Spec, _ op.Attrs) (dtype.DType, error) { return dtype.F32, nil }
func perElem(in, out []shape.Spec, _ op.Attrs) op.Cost {
	return op.Cost{FLOPs: int64(out[0].Size()), VPUOps: int64(out[0].Size())}
}
func noLower(w *stablehlo.Writer, c *op.LowerCall) []stablehlo.Value { return nil }

func addKernel(c *kernel.Call) error {
	x, y, o := kernel.Float32s(c.In[0]), kernel.Float32s(c.In[1]), kernel.As[float32](c.Out[0].Buf)
	for i := range o {
		o[i] = x[i%len(x)] + y[i%len(y)]
	}
	return nil
}

var add = op.Def{Name: "add", Params: []op.Param{{Name: "self"}, {Name: "other", Kind: op.KOperand}}, Shape: like, DType: f32, Kernel: addKernel, Cost: perElem, Lower: noLower}

var neg = op.Def{Name: "neg", Params: []op.Param{{Name: "self"}}, Shape: like, DType: f32, Cost: perElem, Lower: noLower, Kernel: func(c *kernel.Call) error {
	x, o := kernel.Float32s(c.In[0]), kernel.As[float32](c.Out[0].Buf)
	for i := range o {
		o[i] = -x[i]
	}
	return nil
}}

var scale = op.Def{Name: "scale", Params: []op.Param{{Name: "self"}, {Name: "by", Kind: op.KFloat, Dynamic: true}, {Name: "tag", Kind: op.KInt}}, Shape: like, DType: f32, Cost: perElem, Lower: noLower, Kernel: func(c *kernel.Call) error {
	x, o := kernel.Float32s(c.In[0]), kernel.As[float32](c.Out[0].Buf)
	for i := range o {
		o[i] = x[i] * float32(c.Attrs.Float("by"))
	}
	return nil
}}

var pick = op.Def{Name: "pick", Params: []op.Param{{Name: "self"}, {Name: "index"}}, Cost: perElem, Lower: noLower, DType: f32,
	Shape: func(in []shape.Spec, _ op.Attrs) ([]int, error) { return in[1].Dims, nil },
	Indices: func(in []shape.Spec, _ op.Attrs) []op.IndexCheck {
		return []op.IndexCheck{{Index: 1, Into: 0, Axis: 0, Lo: 0, Hi: int64(in[0].Dims[0]) - 1}}
	},
	Kernel: func(c *kernel.Call) error {
		x, idx, o := kernel.Float32s(c.In[0]), kernel.Int64s(c.In[1]), kernel.As[float32](c.Out[0].Buf)
		for i := range o {
			o[i] = x[min(max(idx[i], 0), int64(len(x)-1))]
		}
		return nil
	}}

var broken = op.Def{Name: "broken", Params: []op.Param{{Name: "self"}}, Shape: like, DType: f32, Cost: perElem, Lower: noLower, Kernel: func(c *kernel.Call) error {
	return errors.New("singular")
}}

func open(t testing.TB, m *Mode) (*Dispatcher, *trace.Recorder) {
	t.Helper()
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	rec := trace.NewRecorder(1 << 14)
	dev := sim.New(chip, sim.Options{Sink: rec})
	d := New(dev, Options{Mode: m, Tracer: rec})
	t.Cleanup(func() {
		if err := trace.Validate(rec.Snapshot().Events); err != nil {
			t.Errorf("the trace breaks a law: %v", err)
		}
	})
	return d, rec
}

func vec(t testing.TB, d *Dispatcher, xs ...float32) *Value {
	t.Helper()
	a := kernel.New(shape.Of(dtype.F32, len(xs)))
	copy(kernel.As[float32](a.Buf), xs)
	v, err := d.Upload(a.Spec(), a.Buf, "input")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func apply(t testing.TB, d *Dispatcher, def *op.Def, attrs op.Attrs, in ...*Value) *Value {
	t.Helper()
	v, err := d.Apply1(def, attrs, in...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func wantVec(t testing.TB, d *Dispatcher, v *Value, want ...float32) {
	t.Helper()
	a, err := d.Read(v, ReasonHostCopy)
	if err != nil {
		t.Fatal(err)
	}
	if got := kernel.Float32s(a); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// keep installs roots that reach exactly the given values.
type keeper struct{ vs []*Value }

func (k *keeper) Where() *trace.Stack { return nil }
func (k *keeper) Depth() int          { return 1 }
func (k *keeper) walk(m *Marker) {
	for _, v := range k.vs {
		m.Value(v)
	}
}
func (k *keeper) install(d *Dispatcher) { d.SetPlace(k); d.SetRoots(k.walk) }

func TestModesAgree(t *testing.T) {
	for _, m := range append(Modes(), DeferAll) {
		t.Run(m.Name, func(t *testing.T) {
			d, _ := open(t, m)
			x := vec(t, d, 1, 2, 3)
			y := apply(t, d, &add, nil, x, x)
			z := apply(t, d, &neg, nil, y)
			w := apply(t, d, &add, nil, z, d.Scalar(0.5))
			wantVec(t, d, w, -1.5, -3.5, -5.5)
			wantVec(t, d, y, 2, 4, 6)
		})
	}
}

func TestLaunchesByMode(t *testing.T) {
	count := func(m *Mode) int64 {
		d, _ := open(t, m)
		k := &keeper{}
		k.install(d)
		x := vec(t, d, 1, 2, 3)
		for range 4 {
			x = apply(t, d, &neg, nil, apply(t, d, &add, nil, x, x))
		}
		k.vs = []*Value{x}
		d.StatementEnd(1)
		wantVec(t, d, x, 16, 32, 48)
		return d.Stats().Launches
	}
	if n := count(Debug); n != 8 {
		t.Errorf("debug: %d launches, want 8", n)
	}
	if n := count(Strict); n != 8 {
		t.Errorf("strict: %d launches, want 8", n)
	}
	if n := count(Compiled); n != 1 {
		t.Errorf("compiled: %d launches, want 1", n)
	}
	if n := count(DeferAndFuse); n < 2 || n >= 8 {
		t.Errorf("fuse: %d launches, want more than compiled and fewer than strict", n)
	}
}

func TestLoopDetector(t *testing.T) {
	for _, tt := range []struct {
		body int
		want []int
	}{
		{1, []int{6, 8, 10, 12}}, {2, []int{6, 8, 10, 12}}, {3, []int{9, 12, 15, 18}}, {5, []int{15, 20, 25}}, {100, []int{300, 400}}, {171, nil},
	} {
		t.Run(fmt.Sprint(tt.body), func(t *testing.T) {
			var l loopDetector
			var fired []int
			for i := range 520 {
				if l.seen(uint64(i%tt.body + 1)) {
					fired = append(fired, i+1)
				}
			}
			if len(fired) > len(tt.want) {
				fired = fired[:max(len(tt.want), 0)]
				if tt.want == nil {
					t.Fatal("fired on a body that is too long")
				}
			}
			if !slices.Equal(fired, tt.want) {
				t.Errorf("fired at %v, want %v", fired, tt.want)
			}
		})
	}
}

func TestScalarsShareAProgram(t *testing.T) {
	d, _ := open(t, Strict)
	x := vec(t, d, 1, 2)
	apply(t, d, &add, nil, x, d.Scalar(2.0))
	apply(t, d, &add, nil, x, d.Scalar(3.0))
	apply(t, d, &scale, op.Attrs{{Name: "by", Value: 2.0}, {Name: "tag", Value: 1}}, x)
	v := apply(t, d, &scale, op.Attrs{{Name: "by", Value: 5.0}, {Name: "tag", Value: 1}}, x)
	wantVec(t, d, v, 5, 10)
	if s := d.CacheStats(); s.Requests != 4 || s.Hits != 2 || s.Compilations != 2 {
		t.Errorf("%+v, want 4 requests, 2 hits: values are not in the key", s)
	}
	apply(t, d, &scale, op.Attrs{{Name: "by", Value: 5.0}, {Name: "tag", Value: 2}}, x)
	if s := d.CacheStats(); s.Compilations != 3 {
		t.Errorf("a static attribute must be in the key: %+v", s)
	}
}

func TestDeadCodeIsNeverCompiled(t *testing.T) {
	d, _ := open(t, DeferAndFuse)
	k := &keeper{}
	k.install(d)
	x := vec(t, d, 1)
	k.vs = []*Value{x}
	dead := apply(t, d, &neg, nil, x)
	d.StatementEnd(1)
	live := apply(t, d, &add, nil, x, x)
	k.vs = append(k.vs, live)
	d.StatementEnd(1)
	wantVec(t, d, live, 2)
	if g := d.Groups(); len(g) != 1 || len(g[0].Ops) != 1 || g[0].Ops[0].Name != "add" {
		t.Errorf("groups %+v, want one with add alone", g)
	}
	wantVec(t, d, dead, -1) // used after all: computed now
}

// The split rules of the real system, seen from outside.
func TestSplitAtCrossings(t *testing.T) {
	t.Run("a dead value read by two live ones gives three programs", func(t *testing.T) {
		d, _ := open(t, DeferAndFuse)
		k := &keeper{}
		k.install(d)
		x := vec(t, d, 1)
		dead := apply(t, d, &neg, nil, x)
		o1 := apply(t, d, &neg, nil, dead)
		o2 := apply(t, d, &add, nil, dead, x)
		k.vs = []*Value{x, o1, o2}
		d.StatementEnd(1)
		wantVec(t, d, o2, 0)
		if n := d.Stats().Launches; n != 3 {
			t.Errorf("%d launches, want 3", n)
		}
		wantVec(t, d, o1, 1)
	})
	t.Run("a chain with a live start and end is one program", func(t *testing.T) {
		d, _ := open(t, DeferAndFuse)
		k := &keeper{}
		k.install(d)
		x := vec(t, d, 1)
		a := apply(t, d, &neg, nil, x)
		b := apply(t, d, &neg, nil, x)
		c := apply(t, d, &neg, nil, b)
		e := apply(t, d, &add, nil, a, c)
		k.vs = []*Value{x, a, c, e}
		d.StatementEnd(1)
		wantVec(t, d, e, 0)
		if n := d.Stats().Launches; n != 1 {
			t.Errorf("%d launches, want 1", n)
		}
	})
}

func TestDonation(t *testing.T) {
	for _, tt := range []struct {
		mode *Mode
		want bool
	}{{Debug, true}, {Strict, true}, {DeferAndFuse, false}} {
		t.Run(tt.mode.Name, func(t *testing.T) {
			d, _ := open(t, tt.mode)
			x := vec(t, d, make([]float32, 1<<16)...)
			base := d.hbm.Used()
			d.hbm.ResetPeak()
			y, err := d.ApplyInto(&add, nil, 0, x, d.Scalar(1.0))
			if err != nil {
				t.Fatal(err)
			}
			a, err := d.Read(y, ReasonHostCopy)
			if err != nil {
				t.Fatal(err)
			}
			if kernel.Float32s(a)[7] != 1 {
				t.Error("wrong value")
			}
			if grew := d.hbm.Peak() > base; grew == tt.want {
				t.Errorf("peak %d over base %d: donated should be %v", d.hbm.Peak(), base, tt.want)
			}
			if (d.State(x) == Donated) != tt.want {
				t.Errorf("donor is %v", d.State(x))
			}
			wantVec(t, d, apply(t, d, &pick, nil, x, vec(t, d, 3)), 0) // the old numbers are never lost
		})
	}
}

func TestBoundsAreCheckedBeforeAnythingRuns(t *testing.T) {
	d, _ := open(t, Debug)
	x, idx := vec(t, d, 10, 11, 12), vec(t, d, 0, 5, 1, -2)
	launches := d.Stats().Launches
	_, err := d.Apply1(&pick, nil, x, idx)
	var b *BoundsError
	if !errors.As(err, &b) {
		t.Fatalf("got %v, want a BoundsError", err)
	}
	if b.Bad != 2 || b.Total != 4 || b.First[0].Value != 5 || b.First[0].At[0] != 1 || b.Lo != 0 || b.Hi != 2 {
		t.Errorf("%+v", b)
	}
	if d.Stats().Launches != launches {
		t.Error("something ran")
	}
	s, _ := open(t, Strict)
	wantVec(t, s, apply(t, s, &pick, nil, vec(t, s, 10, 11, 12), vec(t, s, 0, 5, 1, -2)), 10, 12, 11, 10)
}

func TestFailureSparesTheInnocent(t *testing.T) {
	for _, m := range []*Mode{Strict, DeferAndFuse, Compiled} {
		t.Run(m.Name, func(t *testing.T) {
			d, _ := open(t, m)
			x := vec(t, d, 1)
			bad := apply(t, d, &broken, nil, x)
			heir := apply(t, d, &neg, nil, bad)
			good := apply(t, d, &add, nil, x, x)
			wantVec(t, d, good, 2)
			_, err := d.Read(heir, ReasonHostCopy)
			var f *FailedValueError
			if !errors.As(err, &f) || f.Origin.Op != "broken" {
				t.Errorf("got %v, want the first failure named", err)
			}
		})
	}
	d, _ := open(t, Debug)
	var oe *OpError
	if _, err := d.Apply1(&broken, nil, vec(t, d, 1)); !errors.As(err, &oe) {
		t.Errorf("debug: got %v, want the failure at the operation", err)
	}
}

func TestReachabilityDecidesHBM(t *testing.T) {
	d, _ := open(t, Debug)
	k := &keeper{}
	k.install(d)
	x := vec(t, d, make([]float32, 4096)...)
	k.vs = []*Value{x}
	d.StatementEnd(1)
	base := d.hbm.Used()
	y := apply(t, d, &neg, nil, apply(t, d, &neg, nil, x))
	k.vs = append(k.vs, y)
	d.StatementEnd(1)
	if got := d.hbm.Used() - base; got != y.HBMBytes() {
		t.Errorf("%d bytes more, want %d: the temporary is dead", got, y.HBMBytes())
	}
	k.vs = []*Value{x}
	d.Touch()
	d.StatementEnd(1)
	if d.hbm.Used() != base {
		t.Errorf("%d bytes, want %d", d.hbm.Used(), base)
	}
	// A value used after the sweep is charged again, with the right numbers.
	apply(t, d, &neg, nil, y)
	if d.State(y) != Ready {
		t.Errorf("revived value is %v", d.State(y))
	}
}

func TestMillionOpsStayFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	d, _ := open(t, Strict)
	k := &keeper{}
	k.install(d)
	x := vec(t, d, 1, 2, 3, 4)
	for range 200_000 {
		x = apply(t, d, &neg, nil, x)
		k.vs = append(k.vs[:0], x)
		d.StatementEnd(1)
	}
	if n := len(d.LiveValues()); n != 1 {
		t.Errorf("%d values live, want 1", n)
	}
	if n := cap(d.fresh); n > 1024 {
		t.Errorf("bookkeeping grew to %d entries", n)
	}
}

func BenchmarkAdd4(b *testing.B) {
	for _, m := range []*Mode{Strict, Debug} {
		b.Run(m.Name, func(b *testing.B) {
			chip, _ := device.LookupChip("v5e")
			benchAdd(b, New(sim.New(chip, sim.Options{}), Options{Mode: m}))
		})
		b.Run(m.Name+"/recorded", func(b *testing.B) {
			chip, _ := device.LookupChip("v5e")
			rec := trace.NewRecorder(1 << 12)
			benchAdd(b, New(sim.New(chip, sim.Options{Sink: rec}), Options{Mode: m, Tracer: rec}))
		})
	}
}

func benchAdd(b *testing.B, d *Dispatcher) {
	x, y := vec(b, d, 1, 2, 3, 4), vec(b, d, 1, 2, 3, 4)
	b.ReportAllocs()
	for b.Loop() {
		v, err := d.Apply1(&add, nil, x, y)
		if err != nil {
			b.Fatal(err)
		}
		d.Release(v)
	}
}
