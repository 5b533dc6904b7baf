package kernel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// random makes an array of t with small values, seen through a random view of
// dims: dense, transposed, broadcast along random axes, or a slice.
func random(r *rand.Rand, t dtype.DType, dims []int) Array {
	view := slices.Clone(dims)
	for i := range view {
		if r.IntN(4) == 0 {
			view[i] = 1
		}
	}
	if r.IntN(8) == 0 {
		view = nil
	}
	perm := r.Perm(len(view))
	store := make([]int, len(view))
	for i, p := range perm {
		store[i] = view[p] + r.IntN(2) // a slice of something larger
	}
	n := shape.Size(store)
	src := New(shape.Of(dtype.F64, n))
	for i := range As[float64](src.Buf) {
		As[float64](src.Buf)[i] = float64(r.IntN(7)) - 2
		if t.Kind() == dtype.KindUint || t.Kind() == dtype.KindBool {
			As[float64](src.Buf)[i] = float64(r.IntN(5))
		}
	}
	a := Cast(src, t)
	rm := shape.RowMajor(store)
	a.Dims, a.Strides = view, make([]int, len(view))
	for i, p := range perm {
		a.Strides[p] = rm[i]
	}
	return a
}

// at gives the element of a under index at of the result.
func elementAt(a Array, at []int) Array {
	e := a
	e.Dims, e.Strides = nil, nil
	lead := len(at) - len(a.Dims)
	for i, d := range a.Dims {
		if d != 1 {
			e.Offset += at[lead+i] * a.Strides[i]
		}
	}
	return e
}

// TestDriverAgreesWithSingleElements computes whole arrays and each element by
// itself: any mix of types, views and broadcasts gives the same.
func TestDriverAgreesWithSingleElements(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	r := rand.New(rand.NewPCG(1, 2))
	types := []dtype.DType{dtype.Bool, dtype.U8, dtype.I8, dtype.I32, dtype.I64, dtype.F16, dtype.BF16, dtype.F32, dtype.F64, dtype.F8E4M3}
	funcs := []struct {
		name string
		f    Func
		n    int
		out  func(in []Array) dtype.DType
	}{
		{"add", Add, 2, promoted}, {"mul", Mul, 2, promoted}, {"maximum", Maximum, 2, promoted}, {"lt", Lt, 2, func([]Array) dtype.DType { return dtype.Bool }},
		{"where", Where, 3, func(in []Array) dtype.DType { return promoted(in[1:]) }}, {"abs", Abs, 1, promoted},
	}
	for k := range 600 {
		dims := make([]int, r.IntN(4))
		for i := range dims {
			dims[i] = 1 + r.IntN(5)
		}
		switch {
		case k%50 == 0:
			dims = []int{70, 9, 131} // several chunks and several threads
		case k%10 == 1:
			dims = []int{1 + r.IntN(40), 32 + r.IntN(60)} // rows long enough for loops of their own
		}
		fn := funcs[r.IntN(len(funcs))]
		in := make([]Array, fn.n)
		for i := range in {
			in[i] = random(r, types[r.IntN(len(types))], dims)
		}
		res := []int{}
		for _, a := range in {
			res, _ = shape.Broadcast(res, a.Dims)
		}
		out := New(shape.Spec{DType: fn.out(in), Dims: res})
		if out.DType == dtype.F8E4M3 || out.DType == dtype.Invalid {
			continue
		}
		for i := range out.Buf {
			out.Buf[i] = 0xA5
		}
		c := &Call{In: in, Out: []Array{out}}
		if err := fn.f(c); err != nil {
			t.Fatalf("%s: %v", fn.name, err)
		}
		got := Float64s(out)
		at := make([]int, len(res))
		for i := range got {
			if i%97 != 0 && len(got) > 1000 {
				continue
			}
			for k, rest := len(res)-1, i; k >= 0; k-- {
				at[k] = rest % res[k]
				rest /= res[k]
			}
			single := &Call{Out: []Array{New(shape.Of(out.DType))}}
			for _, a := range in {
				e := elementAt(a, at)
				e.Dims, e.Strides = []int{1}, []int{1} // not 0-d: it must promote as before
				if len(a.Dims) == 0 {
					e.Dims, e.Strides = nil, nil
				}
				single.In = append(single.In, e)
			}
			single.Out[0] = New(shape.Of(out.DType, 1))
			if err := fn.f(single); err != nil {
				t.Fatal(err)
			}
			if want := Float64s(single.Out[0])[0]; got[i] != want && !(got[i] != got[i] && want != want) {
				t.Fatalf("%s of %v: element %d = %g, alone %g", fn.name, specsOf(in), i, got[i], want)
			}
		}
	}
}

func specsOf(in []Array) (s []string) {
	for _, a := range in {
		s = append(s, a.Spec().String())
	}
	return s
}

func TestSmallAddDoesNotAllocate(t *testing.T) {
	a, b, o := New(shape.Of(dtype.F32, 4)), New(shape.Of(dtype.F32, 4)), New(shape.Of(dtype.F32, 4))
	s := New(shape.Of(dtype.F64))
	for _, in := range [][]Array{{a, b}, {a, s}} {
		c := &Call{In: in, Out: []Array{o}}
		if n := testing.AllocsPerRun(100, func() { Add(c) }); n > 0 {
			t.Errorf("add of %v allocates %g times", specsOf(in), n)
		}
	}
}

func TestIntegerEdges(t *testing.T) {
	i := func(x int) Array { return array(dtype.I32, []float64{float64(x)}) }
	for _, c := range []struct {
		name string
		f    Func
		x, y int
		want int64
	}{
		{"floor_divide", FloorDivide, -7, 2, -4}, {"floor_divide", FloorDivide, 7, 0, -1}, {"remainder", Remainder, -7, 3, 2}, {"remainder", Remainder, 7, 0, 7},
		{"fmod", FMod, -7, 3, -1}, {"add", Add, math.MaxInt32, 1, math.MinInt32}, {"floor_divide", FloorDivide, math.MinInt32, -1, math.MinInt32},
		{"shift", ShiftLeft, 1, 32, 0}, {"shift", ShiftLeft, 1, -1, 0}, {"shift", ShiftRight, -8, 40, -1}, {"shift", ShiftRight, 8, 40, 0}, {"shift", ShiftLeft, 1, 31, math.MinInt32},
		{"pow", Pow, 3, 4, 81}, {"pow", Pow, 2, -1, 0}, {"pow", Pow, -1, -3, -1}, {"gcd", GCD, -12, 18, 6}, {"lcm", LCM, 4, 6, 12},
	} {
		out := New(shape.Of(dtype.I32))
		if err := c.f(&Call{In: []Array{i(c.x), i(c.y)}, Out: []Array{out}}); err != nil {
			t.Fatal(err)
		}
		if got := Int64s(out)[0]; got != c.want {
			t.Errorf("%s(%d, %d) = %d, want %d", c.name, c.x, c.y, got, c.want)
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	run := func(name string, f Func, bytes int, in ...Array) {
		dims := []int{}
		for _, a := range in {
			dims, _ = shape.Broadcast(dims, a.Dims)
		}
		c := &Call{In: in, Out: []Array{New(shape.Of(dtype.F32, dims...))}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				f(c)
			}
		})
	}
	f32 := func(dims ...int) Array { return New(shape.Of(dtype.F32, dims...)) }
	bf16 := func(dims ...int) Array { return New(shape.Of(dtype.BF16, dims...)) }
	run("add/4", Add, 48, f32(4), f32(4))
	run("add/scalar4", Add, 48, f32(4), New(shape.Of(dtype.F64)))
	run("add/64x10+10", Add, 64*10*8, f32(64, 10), f32(10))
	run("add/64x128+128", Add, 64*128*8, f32(64, 128), f32(128))
	run("add/1M", Add, 12<<20, f32(1<<20), f32(1<<20))
	run("add/bf16/1M", Add, 8<<20, bf16(1<<20), bf16(1<<20))
	run("mul/scalar1M", Mul, 8<<20, f32(1<<20), New(shape.Of(dtype.F64)))
	run("relu/64x128", ReLU, 64*128*8, f32(64, 128))
	run("exp/64k", Exp, 8<<16, f32(1<<16))
	run("tanh/64k", Tanh, 8<<16, f32(1<<16))
	run("gelu/64k", GELU, 8<<16, f32(1<<16))
	run("sigmoid/64k", Sigmoid, 8<<16, f32(1<<16))
	run("log/64k", Log, 8<<16, f32(1<<16))
}
