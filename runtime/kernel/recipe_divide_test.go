package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// TestDivisionsAreExact compares the programs of quotients and remainders with
// the functions of one number.
func TestDivisionsAreExact(t *testing.T) {
	ends := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.1, -0.1, 3, -7, 1e-45, -1e-45, 1.1754942e-38, math.MaxFloat32, -math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 16777215, -16777217, 0.99999994, 5e30, 1e-30}
	const n = 1 << 16
	xs, ys := New(shape.Of(dtype.F32, n)), New(shape.Of(dtype.F32, n))
	is, js := New(shape.Of(dtype.I32, n)), New(shape.Of(dtype.I32, n))
	x, y, p, q := As[float32](xs.Buf), As[float32](ys.Buf), As[int32](is.Buf), As[int32](js.Buf)
	r := rand.New(rand.NewPCG(4, 4))
	for i := range n {
		x[i], y[i] = math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		p[i], q[i] = int32(r.Uint32())>>r.IntN(31), int32(r.Uint32())>>r.IntN(31)
		switch {
		case i < len(ends)*len(ends):
			x[i], y[i] = ends[i%len(ends)], ends[i/len(ends)]
		case i%3 == 0:
			x[i], y[i] = float32(r.IntN(2001)-1000)/8, float32(r.IntN(201)-100)/8
		case i%3 == 1:
			p[i], q[i] = []int32{math.MinInt32, math.MaxInt32, 0, 7, -7}[r.IntN(5)], []int32{math.MinInt32, -1, 0, 1, 2}[r.IntN(5)]
		}
	}
	for _, c := range []struct {
		name string
		f    Func
		real func(x, y float64) float64
		int  func(x, y int64) int64
	}{
		{"fmod", FMod, math.Mod, truncModI64}, {"remainder", Remainder, floorMod, floorModI64}, {"floor_divide", FloorDivide, floorDiv, floorDivI64},
	} {
		out := New(shape.Of(dtype.F32, n))
		if err := c.f(&Call{In: []Array{xs, ys}, Out: []Array{out}}); err != nil {
			t.Fatal(err)
		}
		for i, got := range As[float32](out.Buf) {
			want := float32(c.real(float64(x[i]), float64(y[i])))
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Errorf("%s(%v, %v) = %v, want %v", c.name, x[i], y[i], got, want)
				break
			}
		}
		out = New(shape.Of(dtype.I32, n))
		if err := c.f(&Call{In: []Array{is, js}, Out: []Array{out}}); err != nil {
			t.Fatal(err)
		}
		for i, got := range As[int32](out.Buf) {
			if want := int32(c.int(int64(p[i]), int64(q[i]))); got != want {
				t.Errorf("%s(%d, %d) = %d, want %d", c.name, p[i], q[i], got, want)
				break
			}
		}
	}
}
