package dtype

import (
	"math"
	"math/rand/v2"
	"testing"
)

// codes gives all codes of a narrow type, and a sample of a wide one.
func codes(d DType) []uint64 {
	var cs []uint64
	if d.Bits() <= 16 {
		for c := range uint64(1) << d.Bits() {
			cs = append(cs, c)
		}
		return cs
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		cs = append(cs, r.Uint64()>>(64-d.Bits()))
	}
	return cs
}

func TestEveryCodeRoundTrips(t *testing.T) {
	for _, d := range All() {
		if d == Bool || d.IsInt() && d.Bits() == 64 || d.IsComplex() {
			continue // bool has two codes, float64 does not hold 64-bit integers
		}
		for _, c := range codes(d) {
			x := d.Decode(c)
			got := d.Encode(x)
			if d == I4 {
				got &= 0xf // host bytes are sign-extended
			}
			if x != x {
				if y := d.Decode(got); y == y {
					t.Errorf("%v: NaN code %#x encodes to %#x = %v", d, c, got, y)
				}
				continue
			}
			if got != c {
				t.Errorf("%v: code %#x = %v encodes to %#x", d, c, x, got)
			}
		}
	}
}

func TestIntegersTruncateAndSaturate(t *testing.T) {
	for _, c := range []struct {
		d    DType
		x    float64
		want uint64
	}{
		{I8, -1.9, 0xff}, {I8, 127.9, 127}, {I8, 1e9, 127}, {I8, -1e9, 0x80}, {I8, math.NaN(), 0},
		{I4, -8, 0xf8}, {I4, 9, 7}, {U4, 20, 15}, {U8, -3, 0}, {U8, 255.5, 255},
		{I64, 1e30, math.MaxInt64}, {I64, -1e30, 1 << 63}, {I64, math.Inf(1), math.MaxInt64},
		{U64, 1e30, math.MaxUint64}, {U64, math.NaN(), 0}, {I32, -2147483649, 0x80000000},
		{Bool, math.NaN(), 1}, {Bool, math.Copysign(0, -1), 0}, {Bool, 1e-300, 1},
	} {
		if got := c.d.Encode(c.x); got != c.want {
			t.Errorf("%v.Encode(%v) = %#x, want %#x", c.d, c.x, got, c.want)
		}
	}
}

// bruteNearest finds the nearest finite code by looking at all of them.
func bruteNearest(f Format, x float64) (code uint64) {
	best := math.Inf(1)
	for c := range uint64(1) << f.Bits() {
		y := f.Decode(c)
		if y != y || math.IsInf(y, 0) || math.Signbit(y) != math.Signbit(x) {
			continue
		}
		// Distances of a value from its two neighbours are exact or their order is not in doubt.
		switch d := math.Abs(y - x); {
		case d < best, d == best && (f.Special == Scale && y > f.Decode(code) || f.Special != Scale && c&1 == 0):
			best, code = d, c
		}
	}
	return code
}

func checkNearest(t *testing.T, x float64) {
	t.Helper()
	for _, f := range formats {
		if f.Bits() > 8 {
			continue
		}
		lim := f.Decode(f.maxCode())
		if x != x || math.Abs(x) > lim || f.Special == Scale && x < 0x1p-126 {
			continue
		}
		if f.Special == FNUZ && x == 0 || f.Special == FNUZ && math.Signbit(x) && math.Abs(x) <= f.Decode(1)/2 {
			if c := f.Encode(x, Overflows); c != 0 {
				t.Errorf("%s: %v gives %#x, want +0", f.Name, x, c)
			}
			continue
		}
		want := bruteNearest(f, x)
		if got := f.Encode(x, Overflows); got != want {
			t.Errorf("%s: %v (%#x) gives %#x = %v, nearest is %#x = %v", f.Name, x, math.Float64bits(x), got, f.Decode(got), want, f.Decode(want))
		}
	}
}

func TestEncodeIsNearestEven(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		checkNearest(t, math.Ldexp(r.Float64()*2-1, r.IntN(40)-20))
	}
	for _, f := range formats { // every midpoint and both sides of it
		if f.Bits() > 8 {
			continue
		}
		for c := range f.maxCode() {
			mid := (f.Decode(c) + f.Decode(c+1)) / 2
			for _, x := range []float64{mid, math.Nextafter(mid, 0), math.Nextafter(mid, 1e9), -mid} {
				checkNearest(t, x)
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, x := range []float64{0, 1, -1.5, 447, 464, 1e-7, 0x1p-127, 6.5} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) { checkNearest(t, x); checkFast(t, float32(x)) })
}

// checkFast compares the conversions of the inner loops with Encode and Decode.
func checkFast(t *testing.T, x float32) {
	t.Helper()
	for _, c := range []struct {
		d   DType
		enc func(float32) uint64
		dec func(uint64) float32
	}{
		{BF16, func(x float32) uint64 { return uint64(RoundBF16(x)) }, func(b uint64) float32 { return BF16ToF32(uint16(b)) }},
		{F16, func(x float32) uint64 { return uint64(F32ToF16(x)) }, func(b uint64) float32 { return F16ToF32(uint16(b)) }},
		{F8E4M3, func(x float32) uint64 { return uint64(F32ToF8E4M3(x)) }, func(b uint64) float32 { return F8E4M3ToF32(uint8(b)) }},
		{F8E5M2, func(x float32) uint64 { return uint64(F32ToF8E5M2(x)) }, func(b uint64) float32 { return F8E5M2ToF32(uint8(b)) }},
		{F8E4M3FNUZ, func(x float32) uint64 { return uint64(F32ToF8E4M3FNUZ(x)) }, func(b uint64) float32 { return F8E4M3FNUZToF32(uint8(b)) }},
		{F8E5M2FNUZ, func(x float32) uint64 { return uint64(F32ToF8E5M2FNUZ(x)) }, func(b uint64) float32 { return F8E5M2FNUZToF32(uint8(b)) }},
		{F8E8M0, func(x float32) uint64 { return uint64(F32ToF8E8M0(x)) }, func(b uint64) float32 { return F8E8M0ToF32(uint8(b)) }},
		{F4E2M1, func(x float32) uint64 { return uint64(F32ToF4E2M1(x)) }, func(b uint64) float32 { return F4E2M1ToF32(uint8(b)) }},
	} {
		got, want := c.enc(x), c.d.Encode(float64(x))
		if got != want {
			t.Errorf("%v of %v (%#x) = %#x, Encode gives %#x", c.d, x, math.Float32bits(x), got, want)
		}
		f, _ := c.d.Format()
		if a, b := float64(c.dec(got)), f.Decode(got); !same(a, b) {
			t.Errorf("%v: %#x decodes to %v, Decode gives %v", c.d, got, a, b)
		}
		if a, b := float64(c.d.RoundF32(x)), f.Decode(got); !same(a, b) {
			t.Errorf("%v: RoundF32(%v) = %v, want %v", c.d, x, a, b)
		}
	}
}

func TestFastConversionsAgreeWithEncode(t *testing.T) {
	for hi := range uint32(1 << 16) { // every upper half with the lower halves at which a rounding turns
		for _, lo := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			checkFast(t, math.Float32frombits(hi<<16|lo))
		}
		if t.Failed() {
			return
		}
	}
	for c := range uint64(1 << 16) { // every midpoint between halves
		x := float64(F16ToF32(uint16(c)))
		y := float64(F16ToF32(uint16(c + 1)))
		m := float32((x + y) / 2)
		checkFast(t, m)
		checkFast(t, math.Nextafter32(m, 0))
	}
}

func TestHalfDecodesEveryCode(t *testing.T) {
	f, _ := F16.Format()
	for c := range uint64(1 << 16) {
		if a, b := float64(F16ToF32(uint16(c))), f.Decode(c); !same(a, b) {
			t.Fatalf("%#x: %v, want %v", c, a, b)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		d                     DType
		max, lowest, min, eps float64
	}{ // torch.finfo and torch.iinfo
		{F8E4M3, 448, -448, 0.015625, 0.125},
		{F8E5M2, 57344, -57344, 6.103515625e-05, 0.25},
		{F8E4M3FNUZ, 240, -240, 0.0078125, 0.125},
		{F8E5M2FNUZ, 57344, -57344, 3.0517578125e-05, 0.25},
		{F4E2M1, 6, -6, 1, 0.5},
		{F16, 65504, -65504, 6.103515625e-05, 0.0009765625},
		{BF16, 3.3895313892515355e38, -3.3895313892515355e38, 1.1754943508222875e-38, 0.0078125},
		{F32, math.MaxFloat32, -math.MaxFloat32, 1.1754943508222875e-38, 1.1920928955078125e-07},
		{F64, math.MaxFloat64, -math.MaxFloat64, 2.2250738585072014e-308, 2.220446049250313e-16},
		{C64, math.MaxFloat32, -math.MaxFloat32, 1.1754943508222875e-38, 1.1920928955078125e-07},
		{F8E8M0, 0x1p127, 0x1p-127, 0x1p-127, 1},
		{I4, 7, -8, -8, 0}, {I8, 127, -128, -128, 0}, {U4, 15, 0, 0, 0}, {U64, 1 << 64, 0, 0, 0}, {Bool, 1, 0, 0, 0},
	} {
		if c.d.Max() != c.max || c.d.Lowest() != c.lowest || c.d.Min() != c.min || c.d.Eps() != c.eps {
			t.Errorf("%v: %v %v %v %v, want %v", c.d, c.d.Max(), c.d.Lowest(), c.d.Min(), c.d.Eps(), c)
		}
	}
	if I64.MaxInt() != math.MaxInt64 || I64.MinInt() != math.MinInt64 || U64.MaxInt() != math.MaxUint64 {
		t.Error("64-bit limits")
	}
	if F16.Smallest() != 0x1p-24 || F32.Smallest() != 0x1p-149 || F8E8M0.Smallest() != 0x1p-127 {
		t.Error("smallest values")
	}
}

func TestTableIsComplete(t *testing.T) {
	seen := map[string]DType{}
	for _, d := range All() {
		r := d.Row()
		if r.DType != d || r.Name == "" || r.Go == "" || r.Torch == "" || r.HLO == "" || r.StableHLO == "" || r.Doc == "" || r.Bits == 0 || r.HostBytes == 0 {
			t.Errorf("row %d is not complete: %+v", d, r)
		}
		if o, dup := seen[r.Name]; dup {
			t.Errorf("%v and %v share a name", o, d)
		}
		seen[r.Name] = d
		if f, ok := d.Format(); ok && (f.Name != r.HLO || f.Bits() != r.Bits || f.Exp != r.Exp || f.Mant != r.Mant) {
			t.Errorf("%v: format %+v does not fit", d, f)
		}
		for _, n := range []string{r.Name, r.Torch, r.HLO, r.Go} {
			if p, ok := Parse(n); !ok || p != d {
				t.Errorf("Parse(%s) = %v", n, p)
			}
		}
	}
}

func TestPromotionIsLattice(t *testing.T) {
	for _, a := range All() {
		if p, err := Promote(a, a); err != nil || p != a {
			t.Errorf("Promote(%v, %v) = %v, %v", a, a, p, err)
		}
		for _, b := range All() {
			p, err := Promote(a, b)
			q, err2 := Promote(b, a)
			if p != q || (err == nil) != (err2 == nil) {
				t.Errorf("%v and %v: %v, the other way %v", a, b, p, q)
			}
			if err != nil {
				continue
			}
			for _, x := range []DType{a, b} { // the common type is above both
				if r, err := Promote(p, x); err != nil || r != p {
					t.Errorf("%v is not above %v: %v, %v", p, x, r, err)
				}
			}
			for _, c := range All() {
				l, e1 := Promote(p, c)
				bc, e2 := Promote(b, c)
				if e1 != nil || e2 != nil {
					continue
				}
				if r, err := Promote(a, bc); err == nil && r != l {
					t.Errorf("(%v,%v),%v = %v but %v,(%v,%v) = %v", a, b, c, l, a, b, c, r)
				}
			}
		}
	}
}

func BenchmarkRoundF32(b *testing.B) {
	x := float32(1.2345)
	for b.Loop() {
		x = F8E4M3.RoundF32(x)
	}
}
