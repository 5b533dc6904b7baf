package tpu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
)

// What one more call costs after a first one: launches, and programs that had
// to be compiled. The figures are those observed on the real system, or better
// ones where docs/differences.md says so.
func TestWhatASecondCallCosts(t *testing.T) {
	x3 := func() *Tensor { return Of(1.0, 2.0, 3.0) }
	x44 := func() *Tensor { return Arange(16.0).Reshape(4, 4) }
	tests := []struct {
		name               string
		x                  func() *Tensor
		first, second      func(x *Tensor)
		launches, compiled int64 // of the second
	}{
		{"x*2, x*3", x3, func(x *Tensor) { x.Mul(2) }, func(x *Tensor) { x.Mul(3) }, 1, 0},
		{"x*2, x*1", x3, func(x *Tensor) { x.Mul(2) }, func(x *Tensor) { x.Mul(1) }, 1, 0},
		{"x*2, x*0", x3, func(x *Tensor) { x.Mul(2) }, func(x *Tensor) { x.Mul(0) }, 1, 0},
		{"add alpha 2, 3", x3, func(x *Tensor) { x.Add(x, AddOptions{Alpha: 2}) }, func(x *Tensor) { x.Add(x, AddOptions{Alpha: 3}) }, 1, 0},
		{"clamp(0,1), clamp(0,2)", x3, func(x *Tensor) { x.Clamp(ClampOptions{Min: 0, Max: 1}) }, func(x *Tensor) { x.Clamp(ClampOptions{Min: 0, Max: 2}) }, 1, 0},
		{"x**2, x**3", x3, func(x *Tensor) { x.Pow(2) }, func(x *Tensor) { x.Pow(3) }, 1, 0},
		{"full(7), full(8)", x3, func(*Tensor) { Full(7, 2) }, func(*Tensor) { Full(8, 2) }, 1, 0},
		{"ones share full's program", x3, func(*Tensor) { Full(7.0, 2) }, func(*Tensor) { Ones(2) }, 1, 0},
		{"zeros share full's program", x3, func(*Tensor) { Full(7.0, 2) }, func(*Tensor) { Zeros(2) }, 1, 0},
		{"same op, other size", x3, func(x *Tensor) { x.Mul(2) }, func(*Tensor) { Of(1.0, 2.0).Mul(2) }, 1, 1},
		{"same op, other type", x3, func(x *Tensor) { x.Mul(2) }, func(*Tensor) { BF16.Ones(3).Mul(2) }, 2, 2},
		{"add, add_", x3, func(x *Tensor) { x.Add(1) }, func(x *Tensor) { x.AddInPlace(1) }, 1, 1},
		{"add_, add_", x3, func(x *Tensor) { x.AddInPlace(1) }, func(x *Tensor) { x.AddInPlace(2) }, 1, 0},
		{"x[0,1]+1, x[2,3]+1", x44, func(x *Tensor) { x.Index(0, 1).Add(1) }, func(x *Tensor) { x.Index(2, 3).Add(1) }, 1, 0},
		{"x[0]+1, x[3]+1", x44, func(x *Tensor) { x.Index(0).Add(1) }, func(x *Tensor) { x.Index(3).Add(1) }, 1, 0},
		{"x[i,j].item()", x44, func(x *Tensor) { x.Index(0, 1).Item() }, func(x *Tensor) { x.Index(2, 3).Item() }, 0, 0},
		{"x.t()+1", x44, func(*Tensor) {}, func(x *Tensor) { x.T().Add(1) }, 1, 1},
		{"x[1]=5, x[2]=6", x44, func(x *Tensor) { x.SetIndex(5, 1) }, func(x *Tensor) { x.SetIndex(6, 2) }, 2, 0},
		{"repr", x44, func(*Tensor) {}, func(x *Tensor) { _ = x.String() }, 0, 0},
		{"repr of 5000 elements", func() *Tensor { return Ones(5000) }, func(*Tensor) {}, func(x *Tensor) { _ = x.String() }, 0, 0},
		{"shape, type, layout", x44, func(*Tensor) {}, func(x *Tensor) { x.Dims(); x.DType(); x.IsContiguous(); x.Layout(); x.Summary() }, 0, 0},
		{"tolist", x44, func(*Tensor) {}, func(x *Tensor) { x.Values() }, 0, 0},
		{"(x>0).any() as a Go bool", x44, func(*Tensor) {}, func(x *Tensor) { x.Gt(0).Any().Bool() }, 2, 2},
		{"sum over another axis", x44, func(x *Tensor) { x.Sum(0) }, func(x *Tensor) { x.Sum(1) }, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, exec.Strict)
			x := tt.x()
			l.end(x)
			tt.first(x)
			l.end(x)
			l.wantCost(tt.name, tt.launches, tt.compiled, func() { tt.second(x) })
		})
	}
}

func TestModesOfOneLevelShareThePrograms(t *testing.T) {
	l := newLab(t, exec.Strict)
	x := Of(1.0, 2.0)
	l.end(x)
	x.Add(1)
	SetMode(exec.Debug)
	l.wantCost("the same op in Debug", 1, 0, func() { x.Add(1) })
}

func TestFuseCosts(t *testing.T) {
	t.Run("a chain is one program, nothing before the read", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(1.0)
		a := x.Exp()
		b := a.Neg()
		c := b.Abs()
		l.end(x, a, b, c)
		if n := l.counts(); n.requests != 0 {
			t.Errorf("%d requests before the read", n.requests)
		}
		l.wantCost("the read", 1, 1, func() { c.Float32s() })
		for _, y := range []*Tensor{a, b, c} {
			l.state("an intermediate that is alive", y, exec.Ready)
		}
	})
	t.Run("dead temporaries are no outputs, dead ops are in no program", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(4.0)
		x.Exp()
		y := x.Sqrt().Neg()
		l.end(x, y)
		l.wantCost("the read", 1, 1, func() { y.Float32s() })
		g := l.d.Groups()[0]
		if len(g.Ops) != 2 || len(g.OutSpecs) != 1 {
			t.Errorf("ops %v, %d outputs", g.Ops, len(g.OutSpecs))
		}
		z := x.Exp()
		l.end(x, z)
		l.end(x)
		l.wantCost("a sync with only dead ops", 0, 0, func() { Sync() })
	})
	t.Run("a dead value read by two live ones: three programs of one output", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(4.0)
		d := x.Sqrt()
		a, b := d.Neg(), d.Neg()
		l.end(x, a, b)
		c := l.cost(func() { Sync() })
		if c.launches != 3 || c.hits != 1 {
			t.Errorf("%+v, want 3 launches, the third found in the cache", c)
		}
		for _, g := range l.d.Groups() {
			if len(g.OutSpecs) != 1 {
				t.Errorf("%s has %d outputs", g.Name, len(g.OutSpecs))
			}
		}
	})
	t.Run("a live, b dead, c of b live, d of a and c live: one program", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(4.0)
		a := x.Sqrt()
		c := x.Neg().Exp()
		d := a.Add(c)
		l.end(x, a, c, d)
		l.wantCost("the sync", 1, 1, func() { Sync() })
	})
	t.Run("item in the middle: one program for the queue", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(4.0)
		a := x.Sqrt().Sum()
		b := x.Exp()
		l.end(x, a, b)
		l.wantCost("item", 1, 1, func() { a.Item() })
		if r := l.d.Groups()[0].Reason; r != exec.ReasonScalar {
			t.Errorf("cut because of %v", r)
		}
	})
	t.Run("backward does not flush", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		w := Of(1.0, 2.0).RequireGrad()
		l.end(w)
		loss := w.Mul(w).Sum()
		l.end(w, loss)
		l.wantCost("backward", 0, 0, func() { loss.Backward() })
		l.end(w, loss)
		l.want(w.Grad(), 2, 4)
	})
	t.Run("600 unary ops that do not repeat never fire the detector", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(1.0)
		h := uint32(1)
		for range 600 {
			h = h*1664525 + 1013904223
			x = []func() *Tensor{x.Neg, x.Abs, x.Tanh, x.Sigmoid, x.Cos, x.Sin}[h>>16%6]()
			l.end(x)
		}
		if n := l.d.Stats().Launches; n > 2 {
			t.Errorf("%d launches", n)
		}
	})
	t.Run("a change of mode launches the queue", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := Of(4.0).Sqrt()
		l.end(x)
		l.wantCost("the change", 1, 1, func() { SetMode(exec.Strict) })
		if r := l.d.Groups()[0].Reason; r != exec.ReasonModeChange {
			t.Errorf("cut because of %v", r)
		}
	})
	t.Run("in-place on 16 MiB takes 16 MiB, Strict none", func(t *testing.T) {
		l := newLab(t, exec.DeferAndFuse)
		x := l.warm(Zeros(4 * mi))
		if n := l.grew(func() { x.AddInPlace(1.0); l.end(x); Sync() }); n != 16*mib {
			t.Errorf("fuse: the peak rose by %d bytes, want 16 MiB", n)
		}
		l = newLab(t, exec.Strict)
		x = l.warm(Zeros(4 * mi))
		if n := l.grew(func() { x.AddInPlace(1.0); l.end(x) }); n != 0 {
			t.Errorf("strict: the peak rose by %d bytes, want 0", n)
		}
		v := x.View(2048, 2048)
		if n := l.grew(func() { v.AddInPlace(1.0); l.end(x) }); n != 0 {
			t.Errorf("strict, through a view of all: the peak rose by %d bytes, want 0", n)
		}
		l.every(x, 3)
	})
}

func TestARegionThatFailsSparesTheInnocent(t *testing.T) {
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
		t.Run(m.Name, func(t *testing.T) {
			l := newLab(t, m)
			l.at(1)
			x := Ones(mi, 1)
			l.at(2)
			huge := x.MatMul(x.T())
			l.at(3)
			heir := huge.Sum()
			l.at(4)
			c := x.Add(1)
			seen := huge.T().Add(1) // through a view
			l.end(x, huge, heir, seen, c)
			l.at(5)
			l.every(c, 2)
			for _, y := range []*Tensor{huge, heir, seen} {
				err := Try(func() { y.Float32s() })
				var oom *device.OutOfMemoryError
				var origin *exec.FailedValueError
				if !errors.As(err, &oom) || !errors.As(err, &origin) {
					t.Fatalf("got %v", err)
				}
				if origin.Origin.Op != "matmul" || origin.Origin.Stack.Top().Line != 2 {
					t.Errorf("blames %s at line %d, want matmul at line 2", origin.Origin.Op, origin.Origin.Stack.Top().Line)
				}
				l.state("a failed value", y, exec.Failed)
			}
			l.every(x.Mul(3), 3) // the session goes on
		})
	}
	t.Run("debug fails at the op", func(t *testing.T) {
		l := newLab(t, exec.Debug)
		x := Ones(mi, 1)
		l.at(7)
		e := refused[*exec.OpError](l, func() { x.MatMul(x.T()) })
		if e.Op != "matmul" || e.Stack.Top().Line != 7 {
			t.Errorf("%+v", e)
		}
		l.every(x, 1)
	})
	t.Run("sync reports it", func(t *testing.T) {
		l := newLab(t, exec.Strict)
		x := Ones(mi, 1)
		y := x.MatMul(x.T())
		l.end(x, y)
		var oom *device.OutOfMemoryError
		if err := Try(func() { Sync() }); !errors.As(err, &oom) {
			t.Errorf("sync gives %v", err)
		}
		if err := Try(func() { Sync() }); err != nil {
			t.Errorf("reported twice: %v", err)
		}
		z := x.MatMul(x.T())
		l.end(x, y, z)
		if err := Try(func() { z.Float32s() }); err == nil {
			t.Error("the read succeeded")
		}
		if err := Try(func() { Sync() }); err != nil {
			t.Errorf("the read has told already: %v", err)
		}
		l.end(x, z, z.Sum())
		if err := Try(func() { Sync() }); err != nil {
			t.Errorf("an heir tells the same again: %v", err)
		}
	})
}

func TestUninitializedIsTheSameEverywhere(t *testing.T) {
	l := newLab(t, exec.Strict)
	for _, f := range []DType{F32, BF16, F16, F64} {
		if x := Empty(2).To(f); x.Index(0).Item() == x.Index(0).Item() {
			t.Errorf("empty %v is no NaN", f)
		}
	}
	l.want(U8.Empty(1), 255)
	l.want(Bool.Empty(1), 1)
	l.want(I32.Empty(1), 1<<31-1)
	if got := I64.Empty(1).Int(); got != 1<<63-1 {
		t.Errorf("empty i64 is %d", got)
	}
}

// Outside Debug the index rules of the TPU hold: reads clamp, writes are dropped.
func TestIndexRulesOutsideDebug(t *testing.T) {
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
		t.Run(m.Name, func(t *testing.T) {
			l := newLab(t, m)
			x := Of(10.0, 11.0, 12.0)
			l.want(x.Take(I64.Of(7, -1, -9)), 12, 12, 10)
			l.want(x.IndexSelect(0, I64.Of(9)), 12)
			l.want(x.Gather(0, I64.Of(7)), 12)
			l.want(x.Index(I64.Of(7, -1, -9)), 12, 12, 10)
			l.want(x.Scatter(0, I64.Of(7, -1), Of(1.0, 2.0)), 10, 11, 12)
			l.want(x.IndexAdd(0, I64.Of(7), Of(1.0)), 10, 11, 12)
			l.want(x.IndexFill(0, I64.Of(7), 1.0), 10, 11, 12)
		})
	}
}

// With Debug's checks every op that takes positions refuses bad ones before anything runs.
func TestEveryIndexIsCheckedInDebug(t *testing.T) {
	l := newLab(t, exec.Debug)
	x := Of(10.0, 11.0, 12.0)
	bad := I64.Of(0, 7)
	w := Ones(3, 2)
	l.end(x, bad, w)
	for name, f := range map[string]func(){
		"take":          func() { x.Take(bad) },
		"index_select":  func() { x.IndexSelect(0, bad) },
		"gather":        func() { x.Gather(0, bad) },
		"index":         func() { x.Index(bad) },
		"scatter":       func() { x.Scatter(0, bad, Of(1.0, 2.0)) },
		"index_add":     func() { x.IndexAdd(0, bad, Of(1.0, 2.0)) },
		"index_copy":    func() { x.IndexCopy(0, bad, Of(1.0, 2.0)) },
		"index_fill":    func() { x.IndexFill(0, bad, 1.0) },
		"index_put":     func() { x.IndexPutInPlace(Of(1.0, 2.0), bad) },
		"put":           func() { x.PutInPlace(bad, Of(1.0, 2.0)) },
		"embedding":     func() { Embedding(bad, w) },
		"one_hot":       func() { bad.OneHot(OneHotOptions{NumClasses: 3}) },
		"nll_loss":      func() { NLLLoss(Ones(2, 3), bad) },
		"cross_entropy": func() { CrossEntropy(Ones(2, 3), bad) },
	} {
		t.Run(name, func(t *testing.T) {
			before := l.d.Stats().Launches
			err := Try(f)
			var b *exec.BoundsError
			if !errors.As(err, &b) {
				t.Fatalf("got %v, want a BoundsError", err)
			}
			if b.Bad != 1 || b.First[0].Value != 7 || !slices.Equal(b.First[0].At, []int{1}) || b.Hi != 2 {
				t.Errorf("%+v", b)
			}
			if made := l.d.Stats().Launches - before; made > 2 { // the operands that f makes
				t.Errorf("%d launches", made)
			}
		})
	}
	l.want(x, 10, 11, 12)
	l.d.SetChecks(exec.ChecksOff)
	l.want(x.Take(bad), 10, 12)
	l.d.SetChecks(exec.ChecksByMode)
}

func TestRandomDrawsDoNotCutTheQueue(t *testing.T) {
	l := newLab(t, exec.DeferAndFuse)
	Seed(1)
	x := Rand(1)
	for n := 2; n < 12; n++ {
		x = Cat(0, x, Rand(n))
		l.end(x)
	}
	if n := l.d.Stats().Launches; n != 0 {
		t.Errorf("%d launches before the read", n)
	}
	l.wantCost("the read", 1, 1, func() { x.Float32s() })
	y := Rand(3)
	l.end(x, y)
	l.wantCost("a draw", 1, 1, func() { y.Float32s() })
	y = Rand(3)
	l.end(x, y)
	l.wantCost("another draw of the size", 1, 0, func() { y.Float32s() })
}

func TestModesOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		env    string // NAME=value, separated by blanks
		mode   *exec.Mode
		checks exec.Checks
	}{
		{"", exec.Debug, exec.ChecksByMode},
		{"TORCH_TPU_LAUNCH_BLOCKING=1", exec.Debug, exec.ChecksByMode},
		{"TORCH_TPU_LAUNCH_BLOCKING=true TORCH_TPU_DEFER_AND_FUSE=1", exec.Debug, exec.ChecksByMode},
		{"TORCH_TPU_LAUNCH_BLOCKING=0", exec.Strict, exec.ChecksByMode},
		{"TORCH_TPU_DEFER_AND_FUSE=1", exec.DeferAndFuse, exec.ChecksByMode},
		{"TORCH_TPU_DEFER_AND_FUSE=true", exec.DeferAndFuse, exec.ChecksByMode},
		{"TORCH_TPU_DEFER_AND_FUSE=0", exec.Strict, exec.ChecksByMode},
		{"TPU_LAUNCH_BLOCKING=1 TPU_DEFER_AND_FUSE=1", exec.Debug, exec.ChecksByMode}, // the old names say nothing
		{"TORCH_TPU_ENABLE_DEBUG_CHECKS=0", exec.Debug, exec.ChecksOff},
		{"TORCH_TPU_ENABLE_DEBUG_CHECKS=1 TORCH_TPU_LAUNCH_BLOCKING=0", exec.Strict, exec.ChecksOn},
	} {
		vars := map[string]string{}
		for _, s := range strings.Fields(tt.env) {
			k, v, _ := strings.Cut(s, "=")
			vars[k] = v
		}
		get := func(k string) string { return vars[k] }
		if m, c := modeOf(get), checksOf(get); m != tt.mode || c != tt.checks {
			t.Errorf("%q: %s with checks %v, want %s with %v", tt.env, m.Name, c, tt.mode.Name, tt.checks)
		}
	}
}
