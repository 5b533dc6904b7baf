package tpu

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
)

// TestWriteReusesHBM writes a large tensor in place: the peak must not grow by another copy.
func TestWriteReusesHBM(t *testing.T) {
	d := use(t, exec.Debug)
	x := Ones(1<<20, 4)
	h := d.Device().HBM()
	h.ResetPeak()
	used := h.Used()
	x.AddInPlace(1)
	if h.Used() != used || h.Peak() != used {
		t.Errorf("used %d, then %d with a peak of %d", used, h.Used(), h.Peak())
	}
	if x.Slice(0, 0, 1).Sum().Item() != 8 {
		t.Error("wrong numbers")
	}
}

// TestWriteThroughView checks numbers, versions and gradients of a write to part of a tensor.
func TestWriteThroughView(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		w := From([]float32{1, 2, 3, 4}, 2, 2).RequireGrad()
		h := w.Mul(10)
		col := h.Index(Slice(nil, nil), 1)
		col.MulInPlace(2)
		if got := h.Float64s(); !slices.Equal(got, []float64{10, 40, 30, 80}) {
			t.Errorf("%s: got %v", m.Name, got)
		}
		if h.Version() != 1 || col.Version() != 1 {
			t.Errorf("%s: versions %d and %d", m.Name, h.Version(), col.Version())
		}
		h.Sum().Backward()
		if got := w.Grad().Float64s(); !slices.Equal(got, []float64{10, 20, 10, 20}) {
			t.Errorf("%s: gradient %v", m.Name, got)
		}
	}
}

func TestRefusedWrites(t *testing.T) {
	use(t, exec.Debug)
	x := Ones(4)
	var overlap *shape.OverlapError
	if err := Try(func() { x.Slice(0, 0, 3).AddInPlace(x.Slice(0, 1, 4)) }); !asError(err, &overlap) {
		t.Errorf("neighbouring slices: %v", err)
	}
	var cast *CastError
	if err := Try(func() { I32.Ones(2).AddInPlace(0.5) }); !asError(err, &cast) {
		t.Errorf("a float into integers: %v", err)
	}
	var leaf *LeafWriteError
	if err := Try(func() { Ones(2).RequireGrad().ZeroInPlace() }); !asError(err, &leaf) {
		t.Errorf("a leaf: %v", err)
	}
	var shapes *shape.MismatchError
	if err := Try(func() { Ones(2).AddInPlace(Ones(3, 2)) }); !asError(err, &shapes) {
		t.Errorf("a result too large: %v", err)
	}
	if x.Version() != 0 {
		t.Error("a refused write counted")
	}
}

// TestSavedValueModified wants the error to name both operations.
func TestSavedValueModified(t *testing.T) {
	use(t, exec.Debug)
	x := Ones(2).RequireGrad()
	y := x.Exp()
	y.MulInPlace(2)
	err := Try(func() { y.Sum().Backward() })
	var e *SavedModifiedError
	if !asError(err, &e) || e.Use != "exp" || e.Write != "mul" || e.Have != 1 || e.Want != 0 {
		t.Errorf("got %v", err)
	}
}

func TestOperandOfAnotherType(t *testing.T) {
	use(t, exec.Debug)
	var e *OperandError
	if err := Try(func() { Ones(2).Add("one") }); !asError(err, &e) || e.Type != "string" {
		t.Errorf("got %v", err)
	}
	if err := Try(func() { Ones(2).Add(nil) }); err == nil {
		t.Error("nil was added")
	}
	type mine int32
	if got := Ones(2).Add(mine(3)).Float64s(); got[0] != 4 {
		t.Errorf("a named integer gives %v", got)
	}
}

func TestRaggedSlice(t *testing.T) {
	use(t, exec.Debug)
	var e *RaggedError
	err := Try(func() { From([][]float32{{1, 2}, {3}}) })
	if !asError(err, &e) || e.Row[0] != 1 || e.Len != 1 || e.Want != 2 {
		t.Errorf("got %v", err)
	}
	var n *shape.SizeError
	for _, f := range []func(){func() { Zeros(-1) }, func() { Ones(1<<40, 1<<40) }, func() { Rand(2, -3) }} {
		if err := Try(f); !asError(err, &n) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPrinting(t *testing.T) {
	use(t, exec.Debug)
	for _, c := range []struct {
		x    *Tensor
		want string
	}{
		{From([][]float32{{1, 2.5}, {-3, 4}}), "f32[2,2] [[ 1.0000  2.5000]\n          [-3.0000  4.0000]]"},
		{Of(1, 2, 3), "i32[3] [1 2 3]"},
		{Of(true, false), "bool[2] [ true false]"},
		{Scalar(1.5), "f32[] 1.5000"},
		{Arange(2000), "i32[2000] [   0    1    2 ... 1997 1998 1999]"},
		{Zeros(0, 3), "f32[0,3] []"},
		{Of(1.0, 1e-9), "f32[2] [1.0000e+00 1.0000e-09]"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	if got := Zeros(256, 1024).Summary(); got != "f32[256,1024]  1 MiB  ready" {
		t.Errorf("summary %q", got)
	}
}

func TestRandomNumbersFollowTheSeed(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		Seed(7)
		a, b := Randn(3).Float64s(), Randn(3).Float64s()
		Seed(7)
		if got := Randn(3).Float64s(); !slices.Equal(got, a) || slices.Equal(a, b) {
			t.Errorf("%s: %v, %v, %v", m.Name, a, b, got)
		}
		s := RNGState()
		c := Rand(5).Float64s()
		SetRNGState(s)
		if got := Rand(5).Float64s(); !slices.Equal(got, c) {
			t.Errorf("%s: the state was not restored", m.Name)
		}
	}
}
