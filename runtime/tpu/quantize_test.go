package tpu

import (
	"math"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
)

// TestQuantizedIsNear brings random numbers into each block format and back:
// what is lost is below half a step of the largest element of a block.
func TestQuantizedIsNear(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		Seed(2)
		x := Randn(3, 64)
		for b, bits := range map[BlockType]float64{MXFP4: 1, MXFP6E2M3: 3, MXFP6E3M2: 2, MXFP8: 3, MXFP8E5M2: 2, NVFP4: 1} {
			q := x.Quantize(b)
			y := q.Dequantize()
			if !slices.Equal(q.Scales.Dims(), []int{3, 64 / b.Size()}) || !slices.Equal(y.Dims(), x.Dims()) {
				t.Errorf("%s %v: scales %v, numbers %v", m.Name, b, q.Scales.Dims(), y.Dims())
			}
			xs, ys := x.Float64s(), y.Float64s()
			for i := 0; i < len(xs); i += b.Size() {
				top := 0.0
				for _, v := range xs[i : i+b.Size()] {
					top = max(top, math.Abs(v))
				}
				for k := i; k < i+b.Size(); k++ {
					if d := math.Abs(xs[k] - ys[k]); d > top*math.Exp2(-bits) {
						t.Fatalf("%s %v: %v becomes %v, the largest of its block is %v", m.Name, b, xs[k], ys[k], top)
					}
				}
			}
			if again := y.Quantize(b).Dequantize(); b != NVFP4 && !slices.Equal(again.Float64s(), ys) {
				t.Errorf("%v: quantizing twice is not quantizing once", b)
			}
		}
		if q := x.Quantize(MXFP4); q.Bytes() != 3*64/2+6 || q.String() != "mxfp4[3,64]" {
			t.Errorf("%v takes %d bytes", q, q.Bytes())
		}
	}
	var e *shape.ArgumentError
	if err := Try(func() { Ones(33).Quantize(MXFP4) }); !asError(err, &e) {
		t.Errorf("33 elements: %v", err)
	}
}

func TestPackBits(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		for bits, xs := range map[int][]any{4: {-8, 7, 0, -1}, 2: {1, -2, 0, -1, 1, 1, 0, 0}, 1: {0, -1, 0, 0, 0, 0, 0, -1}} {
			x := I8.Of(xs...)
			p := PackBits(x, bits)
			if got := UnpackBits(p, bits, true); p.Size() != len(xs)*bits/8 || !slices.Equal(got.Ints(), x.Ints()) {
				t.Errorf("%d bits: %v becomes %v, then %v", bits, x, p, got)
			}
		}
		if p := PackBits(U4.Of(8, 2, 3, 14), 4); !slices.Equal(p.Ints(), []int{40, 227}) {
			t.Errorf("packed %v", p)
		}
		if u := UnpackBits(U8.Of(0b11100100), 2, false); !slices.Equal(u.Ints(), []int{0, 1, 2, 3}) {
			t.Errorf("unpacked %v", u)
		}
	}
	var e *shape.ArgumentError
	if err := Try(func() { PackBits(I8.Ones(8), 3) }); !asError(err, &e) {
		t.Errorf("3 bits: %v", err)
	}
}
