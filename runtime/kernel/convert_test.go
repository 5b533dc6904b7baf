package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

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

// patterns gives all bit patterns of a narrow type, and of a wide one its edges and others.
func patterns(d dtype.DType) Array {
	n := 1 << 16
	a := New(shape.Of(d, n))
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		x := r.Uint64() >> r.IntN(64)
		if d.IsFloat() && d.Bits() > 16 && i%2 == 0 { // of a magnitude that integers have
			x = d.Encode((r.Float64() - 0.5) * math.Ldexp(1, r.IntN(72)-4))
		}
		switch d.HostBytes() {
		case 1:
			a.Buf[i] = uint8(d.Encode(d.Decode(uint64(uint8(i)))))
		case 2:
			As[uint16](a.Buf)[i] = uint16(i)
		case 4:
			As[uint32](a.Buf)[i] = uint32(x)
		default:
			As[uint64](a.Buf)[i] = x
		}
	}
	return a
}

// TestConversionsAreThoseOfNumbers compares the program of each pair of types
// with the conversion of one number after the other.
func TestConversionsAreThoseOfNumbers(t *testing.T) {
	for _, from := range dtype.All() {
		if from.IsComplex() {
			continue
		}
		src := patterns(from)
		n := src.Size()
		for _, to := range dtype.All() {
			if to.IsComplex() || to == from {
				continue
			}
			got, want := New(shape.Of(to, n)), New(shape.Of(to, n))
			Convert(got, src)
			convertRange(want, src, 0, n)
			size := to.HostBytes()
			for i := range n {
				g, w := got.Buf[i*size:(i+1)*size], want.Buf[i*size:(i+1)*size]
				if bytes.Equal(g, w) {
					continue
				}
				one := func(b []byte) float64 {
					return Float64s(Array{DType: to, View: shape.Dense([]int{1}), Buf: b})[0]
				}
				if x, y := one(g), one(w); !to.IsFloat() || x == x || y == y {
					t.Errorf("%v to %v: %x becomes %x, want %x", from, to, src.Buf[i*from.HostBytes():(i+1)*from.HostBytes()], g, w)
					break
				}
			}
		}
	}
}
