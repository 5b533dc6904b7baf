package tpu

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/mem"
)

// TestMemoryStaysFlat runs many operations whose results nobody keeps: neither
// HBM nor the heap may grow with their number.
func TestMemoryStaysFlat(t *testing.T) {
	mem.Default().Trim() // arrays kept from other tests would let the collector come later
	for _, m := range []*exec.Mode{exec.Debug, exec.DeferAndFuse} {
		d := use(t, m)
		x := Ones(256)
		w := Ones(256).RequireGrad()
		measure := func(n int) (hbm int64, heap uint64) {
			for range n {
				y := x.Mul(w).Sum()
				y.Backward()
				w.ZeroGrad()
				x.AddInPlace(1)
			}
			_ = d.Flush(exec.ReasonSync)
			runtime.GC()
			runtime.GC()
			Of(1.0) // collects what was dropped
			runtime.GC()
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			return d.Device().HBM().Used(), s.HeapAlloc
		}
		hbm1, heap1 := measure(2000)
		hbm2, heap2 := measure(20000)
		if hbm2 > hbm1+1<<20 || heap2 > heap1+8<<20 {
			t.Errorf("%s: HBM %d then %d, heap %d then %d", m.Name, hbm1, hbm2, heap1, heap2)
		}
	}
}

type inner struct{ w *Tensor }

type holder struct {
	list  []*Tensor
	byKey map[string]*inner
	any   any
	next  *holder
}

// TestWalkFindsTensors hides a tensor in every kind of container.
func TestWalkFindsTensors(t *testing.T) {
	d := use(t, exec.Debug)
	h := &holder{list: []*Tensor{Ones(1)}, byKey: map[string]*inner{"a": {Ones(2)}}, any: [1]any{Ones(3)}}
	h.next = h
	lost := Ones(4)
	loss := h.list[0].RequireGrad().Exp().Sum() // exp saved its result
	loss.Backward(GradOptions{RetainGraph: true})
	d.SetPlace(place{})
	d.SetRoots(func(m *exec.Marker) {
		Walk(m, reflect.ValueOf(h))
		Walk(m, reflect.ValueOf(&loss).Elem())
	})
	d.StatementEnd(0)
	if err := d.EndCell(); err != nil {
		t.Fatal(err)
	}
	for i, x := range []*Tensor{h.list[0], h.byKey["a"].w, h.any.([1]any)[0].(*Tensor), h.list[0].Grad(), loss} {
		if x.Value().HBMBytes() == 0 {
			t.Errorf("tensor %d lost its HBM", i)
		}
	}
	if lost.Value().HBMBytes() != 0 {
		t.Error("what nothing reaches kept its HBM")
	}
	// loss, its saved exp, and the four held ones
	if n := d.Device().HBM().Live(); n != 6 {
		t.Errorf("%d arrays live, want 6", n)
	}
}

type place struct{}

func (place) Where() *traceStack { return nil }
func (place) Depth() int         { return 1 }

func TestTidyKeepsWhatItReturns(t *testing.T) {
	d := use(t, exec.Debug)
	w := Ones(1000).RequireGrad()
	before := d.Device().HBM().Live()
	y := Tidy(func() *Tensor {
		a := w.Mul(2)
		a.Sum().Backward()
		return a.Add(1).Detach()
	})
	if got := d.Device().HBM().Live() - before; got != 2 { // y and the gradient
		t.Errorf("%d arrays more, want 2", got)
	}
	if y.Sum().Item() != 3000 || w.Grad().Sum().Item() != 2000 {
		t.Error("wrong numbers after Tidy")
	}
}

// TestLoopRuleWaitsForTidy counts what loops whose bodies are tidied launch.
func TestLoopRuleWaitsForTidy(t *testing.T) {
	body := func(x *Tensor) *Tensor { return x.Mul(x).Add(x).Tanh().Sub(x) }
	const turns = 8
	for _, c := range []struct {
		name  string
		loop  func(x *Tensor)
		spare int // launches that may have more than one result: the first holds three turns
	}{
		{"a body in each block", func(x *Tensor) {
			for range turns {
				Tidy(func() *Tensor { return body(x) })
			}
		}, 1},
		{"a body in a block in each block", func(x *Tensor) {
			for range turns {
				Tidy(func() *Tensor { return Tidy(func() *Tensor { return body(x) }).Neg() })
			}
		}, 1},
		{"a loop in a block is cut each second turn", func(x *Tensor) {
			Tidy(func() *Tensor {
				y := x
				for range turns {
					y = body(y)
				}
				return y
			})
		}, (turns - 2) / 2},
		{"a block that fails", func(x *Tensor) {
			for range turns {
				err := Try(func() {
					Tidy(func() *Tensor { return body(x).MatMul(Ones(7)) })
				})
				if err == nil {
					t.Error("not refused")
				}
			}
		}, turns},
	} {
		d := use(t, exec.DeferAndFuse)
		x := Ones(5)
		Sync()
		before := d.Stats().Launches
		c.loop(x)
		wide := 0
		for _, g := range d.Groups() {
			if g.Number <= before {
				continue
			}
			if g.Reason != exec.ReasonLoop {
				t.Errorf("%s: cut because of %v", c.name, g.Reason)
			}
			if len(g.OutSpecs) > 1 {
				wide++
			}
		}
		if d.Stats().Launches == before || wide > c.spare {
			t.Errorf("%s: %d launches, %d of them with more than one result", c.name, d.Stats().Launches-before, wide)
		}
	}
}

func TestFreedTensorIsRefused(t *testing.T) {
	use(t, exec.Debug)
	x := Ones(3)
	v := x.Slice(0, 0, 2)
	x.Free()
	for _, f := range []func(){func() { x.Add(1) }, func() { v.Float64s() }, func() { v.Reshape(2) }, func() { x.AddInPlace(1) }} {
		err := Try(f)
		var e *FreedError
		if !asError(err, &e) {
			t.Errorf("got %v", err)
		}
	}
}
