package stablehlo

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

func update() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

var _ = flag.Bool("update", false, "rewrite golden files")

var (
	f32  = func(dims ...int) shape.Spec { return shape.Of(dtype.F32, dims...) }
	bf16 = func(dims ...int) shape.Spec { return shape.Of(dtype.BF16, dims...) }
	i32  = func(dims ...int) shape.Spec { return shape.Of(dtype.I32, dims...) }
)

// everything is one module that uses every helper.
func everything() string {
	params := []shape.Spec{f32(2, 3, 4), f32(2, 5, 4), i32(2, 2), shape.Of(dtype.U64, 2), f32(1, 3, 8, 8), f32(4, 3, 3, 3), i32(), f32(3, 3), shape.Of(dtype.C64, 8)}
	return Module("every-thing", params, func(w *Writer, a []Value) []Value {
		x, y, idx, state, img, ker, pos, sq, z := a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]
		var out []Value
		add := func(vs ...Value) { out = append(out, vs...) }
		w.Loc = `loc("cell1/op1/dot_general"("cell_1.go":3:7))`
		add(w.DotGeneral(x, y, DotDims{[]int{0}, []int{0}, []int{2}, []int{2}}, dtype.F32, Highest))
		w.Loc = ""
		add(w.DotGeneral(sq, sq, DotDims{nil, nil, []int{1}, []int{0}}, dtype.F32, ""))
		add(w.Convolution(img, ker, Conv{Strides: []int{2, 2}, Padding: [][2]int{{1, 1}, {1, 1}}, Input: "bf01", Kernel: "oi01", Output: "bf01"}, dtype.F32))
		add(w.ReduceWindow("maximum", img, Identity(dtype.F32, true), Window{Dims: []int{1, 1, 2, 2}, Strides: []int{1, 1, 2, 2}}))
		add(w.SelectAndScatter(img, out[3], 0, Window{Dims: []int{1, 1, 2, 2}, Strides: []int{1, 1, 2, 2}}, "GE", "add"))
		add(w.Reduce("add", x, []int{0, 2}, 0))
		v, i := w.ArgReduce(x, 1, true, dtype.I64)
		add(v, i)
		add(w.ArgReduce(idx, 1, false, dtype.I32))
		add(w.TakeAxis(sq, idx, 1), w.TakeAlong(sq, w.Slice(w.Concatenate(0, idx, idx), []int{0, 0}, []int{2, 2}, nil), 0))
		add(w.PutAlong("add", sq, idx, w.Splat(f32(2, 2), 1), 1), w.PutAlong("", sq, idx, w.Splat(f32(2, 2), 2), 0))
		add(w.Concatenate(1, x, y), w.Pad(x, w.Splat(f32(), 0), []int{1, 0, -1}, nil, []int{0, 1, 0}), w.Reverse(x, []int{0, 2}))
		zero := w.Splat(i32(), 0)
		add(w.DynamicSlice(x, []Value{pos, zero, zero}, []int{1, 3, 4}), w.DynamicUpdateSlice(x, w.Splat(f32(1, 1, 1), 7), []Value{pos, zero, zero}))
		add(w.Sort([]Value{x, w.Iota(i32(2, 3, 4), 2)}, 2, true)...)
		add(w.SortIndex(idx, 0, false, dtype.I32))
		add(w.While([]Value{zero, sq}, func(w *Writer, a []Value) Value { return w.Compare("LT", a[0], pos) }, func(w *Writer, a []Value) []Value {
			return []Value{w.Do("add", i32(), "", a[0], w.Splat(i32(), 1)), w.Do("add", sq.Spec, "", a[1], a[1])}
		})...)
		add(w.If(w.Compare("GT", pos, zero), []shape.Spec{sq.Spec}, func(w *Writer) []Value { return []Value{w.Do("negate", sq.Spec, "", sq)} }, func(*Writer) []Value { return []Value{sq} })...)
		next, bits := w.RngBitGenerator("PHILOX", state, shape.Of(dtype.U32, 6))
		add(next, bits, w.BitcastConvert(bits, dtype.F32), w.BitcastConvert(bits, dtype.U8), w.BitcastConvert(w.BitcastConvert(bits, dtype.U8), dtype.I32))
		add(w.Clamp(w.Splat(f32(), 0), x, w.Splat(f32(), 1)), w.ReducePrecision(x, 8, 7), w.CHLO("erf", x.Spec, x))
		add(w.FFT(z, "FFT", []int{8}), w.FFT(w.Iota(f32(8), 0), "RFFT", []int{8}))
		c := w.Cholesky(sq, true)
		add(c, w.TriangularSolve(c, sq, true, true, false, false))
		add(w.OptimizationBarrier(x, idx)...)
		add(w.Constant(f32(2, 2), []float64{1, -2.5, math.NaN(), math.Inf(-1)}), w.Constant(bf16(2), []float64{1.1, 3e38}), w.Constant(f32(0, 3), nil))
		add(w.ConstantInts(shape.Of(dtype.I64, 2), []int64{-1, math.MaxInt64}), w.ConstantInts(shape.Of(dtype.U64, 2), []int64{-1, 1}))
		add(w.Convert(w.Splat(shape.Of(dtype.C64, 2), 1), dtype.C64), w.Select(w.Compare("EQ", x, x), x, w.Full(x, math.Inf(1))))
		add(w.Convert(x, dtype.F8E4M3), w.Convert(idx, dtype.F8E8M0), w.Convert(w.Splat(bf16(2), 3), dtype.F8E8M0), w.Convert(x, dtype.F4E2M1))
		add(w.CompareTotal("LT", x, x), w.Transpose(x, []int{2, 0, 1}), w.Reshape(x, []int{6, 4}), w.BroadcastTo(sq, []int{2, 3, 3}), w.SliceAxis(x, 2, 1, 4, 2))
		return out
	}, ModuleOptions{Alias: map[int]int{7: 1}})
}

func TestEverythingIsGolden(t *testing.T) {
	got := everything()
	if err := Check(got); err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	path := filepath.Join("testdata", "everything.mlir")
	if update() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := read(t, path)
	if got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d:\n%s\nwant\n%s", i+1, g[i], w[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(g), len(w))
	}
}

func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		t    dtype.DType
		x    float64
		want string
	}{
		{dtype.F32, 1, "1.0e+00"}, {dtype.F32, 0.1, "1.0e-01"}, {dtype.F32, 1.5, "1.5e+00"}, {dtype.F32, math.Copysign(0, -1), "-0.0e+00"},
		{dtype.F32, math.NaN(), "0x7FC00000"}, {dtype.F32, math.Inf(1), "0x7F800000"}, {dtype.F32, math.Inf(-1), "0xFF800000"},
		{dtype.BF16, math.Inf(1), "0x7F80"}, {dtype.F16, 1e9, "0x7C00"}, {dtype.F64, 0.1, "1.0e-01"}, {dtype.F64, math.NaN(), "0x7FF8000000000000"},
		{dtype.F8E4M3, math.NaN(), "0x7F"}, {dtype.F8E4M3, math.Inf(-1), "-4.48e+02"}, {dtype.F8E5M2, math.Inf(1), "0x7C"}, {dtype.F8E4M3FNUZ, math.NaN(), "0x80"},
		{dtype.F4E2M1, 100, "6.0e+00"}, {dtype.Bool, 2, "true"}, {dtype.Bool, 0, "false"}, {dtype.I8, -3.7, "-3"}, {dtype.I4, -8, "-8"},
		{dtype.U8, -1, "0"}, {dtype.U64, 1 << 63, "9223372036854775808"}, {dtype.I64, -1 << 63, "-9223372036854775808"}, {dtype.C64, 1.5, "(1.5e+00, 0.0e+00)"},
	} {
		if got := Literal(c.t, c.x); got != c.want {
			t.Errorf("%v %v: %s, want %s", c.t, c.x, got, c.want)
		}
	}
}

func TestIdentity(t *testing.T) {
	for _, d := range dtype.All() {
		if d.Kind() == dtype.KindComplex {
			continue
		}
		if hi, lo := Identity(d, false), Identity(d, true); hi < d.Max() || lo > d.Lowest() {
			t.Errorf("%v: %v %v", d, lo, hi)
		}
	}
}

func TestEmptyModule(t *testing.T) {
	text := Module("", nil, func(*Writer, []Value) []Value { return nil }, ModuleOptions{})
	if err := Check(text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
