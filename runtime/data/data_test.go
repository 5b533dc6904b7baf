package data

import (
	"errors"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/nn"
	"github.com/tpush/tpush/runtime/optim"
	"github.com/tpush/tpush/runtime/tpu"
)

func TestDigits(t *testing.T) {
	x, y, tx, ty := Digits()
	if got := x.Spec().String() + y.Spec().String() + tx.Spec().String() + ty.Spec().String(); got != "f32[1437,64]i64[1437]f32[360,64]i64[360]" {
		t.Errorf("got %s", got)
	}
	if lo, hi := x.Min().Item(), x.Max().Item(); lo != 0 || hi != 1 {
		t.Errorf("pixels between %v and %v", lo, hi)
	}
	if got := y.Slice(0, 0, 10).Ints(); len(got) != 10 || got[3] != 3 {
		t.Errorf("first labels %v", got)
	}
}

// TestDigitsAreLearned trains a small network in two modes and wants the same, good result.
func TestDigitsAreLearned(t *testing.T) {
	x, y, tx, ty := Digits()
	var first float64
	for i, mode := range []func(func()){func(f func()) { tpu.WithMode(tpu.Debug, f) }, func(f func()) { tpu.WithMode(tpu.DeferAndFuse, f) }} {
		tpu.Seed(1)
		var right float64
		mode(func() {
			l1, l2 := nn.NewLinear(64, 32), nn.NewLinear(32, 10)
			opt := optim.NewAdam(append(nn.Params(l1), nn.Params(l2)...), optim.AdamOptions{LR: 0.01})
			forward := func(x *tpu.Tensor) *tpu.Tensor { return l2.Forward(l1.Forward(x).ReLU()) }
			for range 6 {
				for _, b := range Shuffled(x, y, 96) {
					opt.ZeroGrad()
					tpu.CrossEntropy(forward(b.X), b.Y).Backward()
					opt.Step()
				}
			}
			right = forward(tx).ArgMax(1).Eq(ty).To(tpu.F32).Mean().Item()
		})
		if right < 0.85 {
			t.Errorf("only %.3f of the test digits are right", right)
		}
		if i == 0 {
			first = right
		} else if right != first {
			t.Errorf("%v in one mode, %v in the other", first, right)
		}
	}
}

func TestCSV(t *testing.T) {
	x, err := ReadCSV(strings.NewReader("a;b\n1;2.5\n-3;4\n"), CSVOptions{Comma: ';', Header: true})
	if err != nil || x.Spec().String() != "f32[2,2]" || x.Float64s()[2] != -3 {
		t.Errorf("got %v, %v", x, err)
	}
	_, err = ReadCSV(strings.NewReader("1,2\n3,x\n"), CSVOptions{})
	var e *CSVError
	if !errors.As(err, &e) || e.Row != 2 || e.Column != 2 {
		t.Errorf("got %v", err)
	}
}

func TestBatchesCoverAllRows(t *testing.T) {
	n := 0
	for x, y := range Each(tpu.Arange(10), tpu.Arange(10), 4) {
		if x.Dim(0) != y.Dim(0) || x.Ints()[0] != n {
			t.Errorf("batch at %d starts with %v", n, x.Ints())
		}
		n += x.Dim(0)
	}
	if n != 10 {
		t.Errorf("%d rows", n)
	}
}
