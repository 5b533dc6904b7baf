package data

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"slices"
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

func TestIDX(t *testing.T) {
	file := []byte{0, 0, 0x0b, 2, 0, 0, 0, 2, 0, 0, 0, 1, 0x01, 0x00, 0xff, 0xff}
	x, err := ReadIDX(bytes.NewReader(file))
	if err != nil || x.Spec().String() != "i16[2,1]" || !slices.Equal(x.Ints(), []int{256, -1}) {
		t.Errorf("got %v, %v", x, err)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(file)
	w.Close()
	if y, err := ReadIDX(&z); err != nil || !slices.Equal(y.Ints(), x.Ints()) {
		t.Errorf("compressed: %v, %v", y, err)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "no type": {0, 0, 7, 1, 0, 0, 0, 0}, "no sizes": {0, 0, 8, 3, 0}, "too short": file[:15], "too long": append(slices.Clone(file), 0),
		"promises": {0, 0, 8, 2, 0, 255, 255, 255, 0, 255, 255, 255, 1},
	} {
		var e *IDXError
		if _, err := ReadIDX(bytes.NewReader(b)); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestText(t *testing.T) {
	v := NewVocab("hello, wörld")
	ids := v.Encode("hold")
	if got := v.Decode(ids); got != "hold" || v.Size() != 10 {
		t.Errorf("%q of %d characters", got, v.Size())
	}
	var e *RuneError
	if err := tpu.Try(func() { v.Encode("hx") }); !errors.As(err, &e) || e.Position != 1 {
		t.Errorf("got %v", err)
	}
	x, y := Windows(v.Encode("hello, wörld"), 3, 4)
	for i := range 3 {
		a, b := x.Index(i).Ints(), y.Index(i).Ints()
		if !slices.Equal(a[1:], b[:3]) {
			t.Errorf("%v, then %v", a, b)
		}
	}
	if err := tpu.Try(func() { Windows(ids, 1, 4) }); err == nil {
		t.Error("a window longer than the text")
	}
}

func TestMissingFiles(t *testing.T) {
	for name, f := range map[string]func(){
		"csv": func() { CSV("no/such.csv") }, "idx": func() { IDX("no/such.idx") },
		"text": func() { Text("no/such.txt") }, "safetensors": func() { Safetensors("no/such.safetensors") },
	} {
		var e *fs.PathError
		if err := tpu.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
