package jit

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/simd"
)

// codesOf gives the codes of d that a test goes through.
func codesOf(d dtype.DType) []uint64 {
	bits := 8 * d.HostBytes()
	if d == dtype.Bool {
		return []uint64{0, 1}
	}
	var cs []uint64
	if bits <= 16 {
		for c := range uint64(1) << bits {
			cs = append(cs, c)
		}
		return cs
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 4096 {
		cs = append(cs, r.Uint64()>>(64-bits))
	}
	return cs
}

// store writes codes into a buffer of d.
func store(d dtype.DType, codes []uint64) []byte {
	buf := make([]byte, len(codes)*d.HostBytes())
	for i, c := range codes {
		poke(buf, d, i, c)
	}
	return buf
}

// edges are float32 values at which roundings turn.
func edges() []float32 {
	var xs []float32
	for hi := range uint32(1 << 16) {
		for _, lo := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			if hi%7 == 0 || hi&0xff < 2 {
				xs = append(xs, math.Float32frombits(hi<<16|lo))
			}
		}
	}
	for c := range uint32(1 << 16) {
		m := float32((float64(dtype.F16ToF32(uint16(c))) + float64(dtype.F16ToF32(uint16(c+1)))) / 2)
		if c%3 == 0 {
			xs = append(xs, m, math.Nextafter32(m, 0))
		}
	}
	return xs
}

func isNaN32(u uint32) bool { return u&0x7fffffff > 0x7f800000 }

// TestStoresRoundAsDTypes compares stores, RoundTo and loads with runtime/dtype.
func TestStoresRoundAsDTypes(t *testing.T) {
	xs := edges()
	in := make([]byte, 4*len(xs))
	for i, x := range xs {
		binary.NativeEndian.PutUint32(in[4*i:], math.Float32bits(x))
	}
	for _, d := range dtype.All() {
		if !d.IsFloat() || d == dtype.F64 {
			continue
		}
		b := NewBuilder()
		x := b.In(dtype.F32)
		b.Out(d, x)
		b.Out(dtype.F32, b.RoundTo(d, x))
		b.Out(d, b.RoundTo(d, x))
		codes, rounded, again := make([]byte, len(xs)*d.HostBytes()), make([]byte, 4*len(xs)), make([]byte, len(xs)*d.HostBytes())
		one := []int{1}
		err := b.Program().Interpret(&Call{Dims: []int{len(xs)}, In: []Operand{{Buf: in, Strides: one}},
			Out: []Operand{{Buf: codes, Strides: one}, {Buf: rounded, Strides: one}, {Buf: again, Strides: one}}})
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for i, x := range xs {
			want := d.Encode(float64(x))
			if d == dtype.F32 && x != x {
				want = 0x7fc00000
			}
			value := math.Float32bits(float32(d.Decode(want)))
			if isNaN32(value) {
				value = 0x7fc00000
			}
			got, round, twice := peek(codes, d, i), uint32(peek(rounded, dtype.F32, i)), peek(again, d, i)
			if got != want || round != value || twice != want {
				if bad++; bad < 5 {
					t.Errorf("%v of %v (%#x): code %#x, rounded %#x, code of that %#x; want %#x, %#x", d, x, math.Float32bits(x), got, round, twice, want, value)
				}
			}
		}
	}
}

func TestLoadsDecodeAsDTypes(t *testing.T) {
	for _, d := range dtype.All() {
		if Natural(d) == NoType {
			continue
		}
		codes := codesOf(d)
		b := NewBuilder()
		b.Out(dtype.F64, b.InAs(d, F64))
		out := make([]byte, 8*len(codes))
		if err := b.Program().Interpret(&Call{Dims: []int{len(codes)}, In: []Operand{{Buf: store(d, codes), Strides: []int{1}}}, Out: []Operand{{Buf: out, Strides: []int{1}}}}); err != nil {
			t.Fatal(err)
		}
		for i, c := range codes {
			if d == dtype.F4E2M1 && c > 15 || d == dtype.U4 && c > 15 || d == dtype.I4 && int8(c) != int8(c<<4)>>4 {
				continue // not codes
			}
			want := d.Decode(c)
			got := math.Float64frombits(peek(out, dtype.F64, i))
			if got != want && (got == got || want == want) || math.Signbit(got) != math.Signbit(want) && want == want {
				t.Errorf("%v: %#x is %v, want %v", d, c, got, want)
				break
			}
		}
	}
}

func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200000 {
		x, y := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		z := float32(-float64(x) * float64(y) * (1 + math.Ldexp(r.Float64()-0.5, -r.IntN(60))))
		// With a product and a sum that float64 holds exactly, its FMA is exact and the last conversion the only rounding.
		p := float64(x) * float64(y)
		s := p + float64(z)
		if s-p != float64(z) || s-float64(z) != p {
			continue
		}
		if got, want := simd.FMA32(x, y, z), float32(s); got != want && want == want {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", x, y, z, got, want)
		}
	}
	// Just above a tie of float32 that float64 cannot see.
	if got, want := simd.FMA32(1+0x1p-23, 1+0x1p-23, 0x1p-80), float32(1+0x1p-22); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
	if got, want := simd.FMA32(1, 1+0x1p-23, 0x1p-24), float32(1+0x1p-22); got != want { // a tie: to even
		t.Errorf("tie gives %x, want %x", got, want)
	}
	if got, want := simd.FMA32(0x1p-75, -0x1p-75, 1+0x1p-23+0), float32(1+0x1p-23); got != want {
		t.Errorf("just below gives %x, want %x", got, want)
	}
}
