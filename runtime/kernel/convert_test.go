package kernel

import (
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// nearest is the slow definition of rounding: search the codes.
func nearest(t dtype.DType, codes int, x float64, value func(int) float64) float64 {
	best, bestCode := math.Inf(1), -1
	for c := range codes {
		v := value(c)
		if v != v || math.IsInf(v, 0) {
			continue
		}
		d := math.Abs(v - x)
		if d < best || d == best && c&1 == 0 && bestCode&1 == 1 {
			best, bestCode = d, c
		}
	}
	return value(bestCode)
}

func TestNarrowFormatsRoundToNearestEven(t *testing.T) {
	for _, d := range []dtype.DType{dtype.F4E2M1, dtype.F8E4M3, dtype.F8E5M2, dtype.F8E4M3FNUZ, dtype.F8E5M2FNUZ} {
		f := narrowOf(d)
		codes := 1 << d.Bits()
		value := func(c int) float64 { return float64(f.decode(d, uint8(c))) }
		for c := range codes {
			v := value(c)
			if v != v || math.IsInf(v, 0) {
				continue
			}
			if got := value(int(f.encode(float32(v)))); got != v {
				t.Fatalf("%v: code %d = %g comes back as %g", d, c, v, got)
			}
			for _, m := range []float64{0.999, 1.001, 1.03125, 1.0625, 0.96875, 1.125} {
				x := float64(float32(v * m))
				if math.Abs(x) > f.max {
					continue
				}
				if got, want := value(int(f.encode(float32(x)))), nearest(d, codes, x, value); got != want {
					t.Fatalf("%v: %g rounds to %g, want %g", d, x, got, want)
				}
			}
		}
	}
}

func TestHalfFormatsComeBack(t *testing.T) {
	for b := range 1 << 16 {
		x := F16ToF32(uint16(b))
		if x == x && F32ToF16(x) != uint16(b) {
			t.Fatalf("f16 %#04x = %g comes back as %#04x", b, x, F32ToF16(x))
		}
		y := BF16ToF32(uint16(b))
		if y == y && F32ToBF16(y) != uint16(b) {
			t.Fatalf("bf16 %#04x = %g comes back as %#04x", b, y, F32ToBF16(y))
		}
		if x != x && F16ToF32(F32ToF16(x)) == F16ToF32(F32ToF16(x)) || y != y && BF16ToF32(F32ToBF16(y)) == BF16ToF32(F32ToBF16(y)) {
			t.Fatalf("%#04x: a NaN became a number", b)
		}
	}
}

func TestF16TiesToEven(t *testing.T) {
	for b := range uint16(0x7bff) {
		lo, hi := F16ToF32(b), F16ToF32(b+1)
		mid := float32((float64(lo) + float64(hi)) / 2)
		want := b + b&1
		if got := F32ToF16(mid); got != want {
			t.Fatalf("%g, between f16 %#04x and the next, rounds to %#04x", mid, b, got)
		}
		if got := F32ToF16(math.Nextafter32(mid, lo)); got != b {
			t.Fatalf("just below %g rounds to %#04x, want %#04x", mid, got, b)
		}
		if got := F32ToF16(math.Nextafter32(mid, hi)); got != b+1 {
			t.Fatalf("just above %g rounds to %#04x, want %#04x", mid, got, b+1)
		}
	}
}

// array makes a dense array of small integers of any type.
func array(d dtype.DType, xs []float64, dims ...int) Array {
	a := New(shape.Of(dtype.F64, dims...))
	copy(As[float64](a.Buf), xs)
	return Cast(a, d)
}

func TestConvertBetweenAllTypes(t *testing.T) {
	xs := []float64{0, 1, 1, 0, 2, 4}
	for _, s := range dtype.All() {
		for _, d := range dtype.All() {
			a := array(s, xs, 2, 3)
			v := a
			v.View = shape.View{Dims: []int{3, 2}, Strides: []int{1, 3}} // transposed
			for i, got := range Float64s(Cast(v, d)) {
				want := xs[i%2*3+i/2]
				if s == dtype.Bool || d == dtype.Bool {
					want = min(want, 1)
				}
				if want == 0 && (s == dtype.F8E8M0 || d == dtype.F8E8M0) {
					continue // it has no zero
				}
				if got != want {
					t.Errorf("%v to %v: element %d = %g, want %g", s, d, i, got, want)
				}
			}
		}
	}
}

func TestConvertEdges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		from, to dtype.DType
		in, want float64
	}{
		{dtype.F32, dtype.I8, 100.7, 100}, {dtype.F32, dtype.I8, -1.9, -1}, {dtype.F32, dtype.I8, 1e9, 127}, {dtype.F32, dtype.I8, -inf, -128},
		{dtype.F32, dtype.U8, -3, 0}, {dtype.F64, dtype.I32, nan, 0}, {dtype.F64, dtype.I64, 1e30, math.MaxInt64}, {dtype.F64, dtype.U64, 1e30, math.MaxUint64},
		{dtype.I64, dtype.U8, 300, 44}, {dtype.I64, dtype.I8, 200, -56}, {dtype.I64, dtype.U8, -1, 255}, {dtype.I64, dtype.I4, 9, -7}, {dtype.I32, dtype.U4, 17, 1},
		{dtype.F32, dtype.I4, 9, 7}, {dtype.F32, dtype.Bool, nan, 1}, {dtype.F32, dtype.Bool, 0.1, 1}, {dtype.F32, dtype.BF16, 1.00390625, 1}, {dtype.F32, dtype.F8E4M3, inf, 448},
		{dtype.F32, dtype.F8E5M2, 1e9, inf}, {dtype.F32, dtype.F16, 65520, inf}, {dtype.C64, dtype.F32, 3, 3},
	} {
		if got := Float64s(Cast(array(c.from, []float64{c.in}), c.to))[0]; got != c.want {
			t.Errorf("%g as %v to %v = %g, want %g", c.in, c.from, c.to, got, c.want)
		}
	}
}

func TestFloat32sSharesDenseMemory(t *testing.T) {
	a := array(dtype.F32, []float64{1, 2, 3}, 3)
	if &Float32s(a)[0] != &As[float32](a.Buf)[0] {
		t.Error("a dense f32 array was copied")
	}
	b := Array{DType: dtype.F32, View: shape.View{Dims: []int{2}, Strides: []int{0}, Offset: 1}, Buf: a.Buf}
	if got := Float32s(b); got[0] != 2 || got[1] != 2 {
		t.Errorf("stride 0 at offset 1 gives %v, want [2 2]", got)
	}
}
