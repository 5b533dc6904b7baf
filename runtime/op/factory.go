package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Values from nothing.
const (
	Full        Name = "full"
	Fill        Name = "fill"
	Arange      Name = "arange"
	Linspace    Name = "linspace"
	Logspace    Name = "logspace"
	Eye         Name = "eye"
	TrilIndices Name = "tril_indices"
	TriuIndices Name = "triu_indices"
)

// resultDType declares the type of a result that inputs do not determine.
var resultDType = Param{Name: "dtype", Kind: KDType, Default: dtype.Invalid, Doc: "type of the result; by default it follows the numbers"}

// triParams are the parameters of tril_indices and triu_indices.
var triParams = []Param{{Name: "row", Kind: KInt, Doc: "rows of the matrix"}, {Name: "col", Kind: KInt, Doc: "columns of the matrix"},
	{Name: "offset", Kind: KInt, Default: 0, Doc: "diagonal that bounds the triangle, counted upwards"},
	{Name: "dtype", Kind: KDType, Default: dtype.I64, Doc: "i64 or i32"}}

var factoryOps = append([]Def{
	{Name: Full, Torch: "full", Class: Factory,
		Params: []Param{{Name: "size", Kind: KInts, Doc: "dimensions"}, {Name: "fill_value", Kind: KNumber, Dynamic: true, Doc: "every element"}, resultDType},
		Doc:    "Tensor whose elements are all the same number.", Example: `tpu.Full(1.5, 2, 3)`,
		Shape: fullShape, DType: fullType, Kernel: kernel.Full, Cost: perElement(1, VPU), Lower: lowerFull, NoGrad: "it has no inputs"},
	{Name: Arange, Torch: "arange.start_step", Class: Factory,
		Params: []Param{{Name: "start", Kind: KNumber, Doc: "first element"}, {Name: "end", Kind: KNumber, Doc: "the elements stay below it"}, {Name: "step", Kind: KNumber, Default: 1, Doc: "distance of neighbours"}, resultDType},
		Doc:    "Numbers from start up to end, by step.", Example: `tpu.Arange(5)`,
		Shape: arangeShape, DType: arangeType, Kernel: kernel.Arange, Cost: perElement(2, VPU), Lower: lowerArange, NoGrad: "it has no inputs"},
	{Name: Linspace, Torch: "linspace", Class: Factory,
		Params: []Param{{Name: "start", Kind: KNumber, Doc: "first element"}, {Name: "end", Kind: KNumber, Doc: "last element"}, {Name: "steps", Kind: KInt, Doc: "number of elements"}, resultDType},
		Doc:    "Equally spaced numbers, both ends included.", Example: `tpu.Linspace(0, 1, 5)`,
		Shape: stepsShape, DType: floatDefault, Kernel: kernel.Linspace, Cost: perElement(4, VPU), Lower: lowerLinspace, NoGrad: "it has no inputs"},
	{Name: Logspace, Torch: "logspace", Func: "Logspace", Class: Factory,
		Params: []Param{{Name: "start", Kind: KNumber, Doc: "exponent of the first element"}, {Name: "end", Kind: KNumber, Doc: "exponent of the last element"}, {Name: "steps", Kind: KInt, Doc: "number of elements"},
			{Name: "base", Kind: KFloat, Default: 10.0, Doc: "base of the powers"}, resultDType},
		Doc: "Powers of base with equally spaced exponents.", Example: `tpu.Logspace(0, 2, 3)`,
		Shape: stepsShape, DType: floatDefault, Kernel: kernel.Logspace, Cost: perElement(14, EUP), Lower: lowerLogspace, NoGrad: "it has no inputs"},
	{Name: Eye, Torch: "eye.m", Class: Factory,
		Params: []Param{{Name: "n", Kind: KInt, Doc: "rows"}, {Name: "m", Kind: KInt, Default: -1, Doc: "columns; as many as rows when negative"}, resultDType},
		Doc:    "Matrix with ones on the diagonal.", Example: `tpu.Eye(3)`,
		Shape: eyeShape, DType: floatDefault, Kernel: kernel.Eye, Cost: perElement(2, VPU), Lower: lowerEye, NoGrad: "it has no inputs"},
	{Name: TrilIndices, Torch: "tril_indices", Func: "TrilIndices", Class: Factory, Params: triParams,
		Doc: "Rows and columns of the elements of the lower triangle of a matrix.", Example: `tpu.TrilIndices(3, 3)`,
		Shape: triShape(false), DType: triType(TrilIndices), Kernel: kernel.TriIndices(false), Cost: perElement(2, VPU), Lower: lowerTri(false), NoGrad: "it has no inputs"},
	{Name: TriuIndices, Torch: "triu_indices", Func: "TriuIndices", Class: Factory, Params: triParams,
		Doc: "Rows and columns of the elements of the upper triangle of a matrix.", Example: `tpu.TriuIndices(3, 3)`,
		Shape: triShape(true), DType: triType(TriuIndices), Kernel: kernel.TriIndices(true), Cost: perElement(2, VPU), Lower: lowerTri(true), NoGrad: "it has no inputs"},
	{Name: Fill, Torch: "fill.Tensor", Func: "", Class: Factory, Params: []Param{tensor("input"), operand("value")},
		Doc: "Value in every place of a tensor of the shape and type of input.", Example: `tpu.Of(1.0, 2.0).MaskedFill(tpu.Of(1.0, 2.0).Gt(0), 3)`,
		Shape: likeInput, DType: sameType, Kernel: kernel.Fill, Cost: perElement(1, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.in(1) }),
		Grad:  parts(zeroGrad, sameGrad)},
}, windowOps...)

// notNegative refuses negative sizes.
func notNegative(op Name, arg string, dims ...int) error {
	for _, d := range dims {
		if d < 0 {
			return &shape.ArgumentError{Op: string(op), Arg: arg, Value: d, Why: "must not be negative"}
		}
	}
	return nil
}

func fullShape(_ []shape.Spec, a Attrs) ([]int, error) {
	dims := a.Ints("size")
	return dims, notNegative(Full, "size", dims...)
}

// fullType is the attribute dtype, or the one of the number.
func fullType(_ []shape.Spec, a Attrs) (dtype.DType, error) {
	if t := a.DType("dtype"); t != dtype.Invalid {
		return t, nil
	}
	return dtype.Default(scalarSpec(a.Get("fill_value")).DType), nil
}

// floatDefault is the attribute dtype, or F32.
func floatDefault(_ []shape.Spec, a Attrs) (dtype.DType, error) {
	if t := a.DType("dtype"); t != dtype.Invalid {
		return t, nil
	}
	return dtype.F32, nil
}

// arangeType is the attribute dtype, else I64 when all numbers are integers, else F32.
func arangeType(_ []shape.Spec, a Attrs) (dtype.DType, error) {
	if t := a.DType("dtype"); t != dtype.Invalid {
		return t, nil
	}
	for _, n := range []string{"start", "end", "step"} {
		if _, ok := a.Get(n).(float64); ok {
			return dtype.F32, nil
		}
	}
	return dtype.I64, nil
}

func arangeShape(_ []shape.Spec, a Attrs) ([]int, error) {
	start, end, step := a.Float("start"), a.Float("end"), a.Float("step")
	if step == 0 || step != step {
		return nil, &shape.ArgumentError{Op: string(Arange), Arg: "step", Value: step, Why: "must not be zero"}
	}
	n := math.Ceil((end - start) / step)
	if n < 0 || n != n || math.IsInf(n, 0) {
		return nil, &shape.ArgumentError{Op: string(Arange), Arg: "end", Value: end, Why: "cannot be reached from start by step"}
	}
	return []int{int(n)}, nil
}

func stepsShape(_ []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("steps")
	return []int{n}, notNegative("linspace", "steps", n)
}

func eyeShape(_ []shape.Spec, a Attrs) ([]int, error) {
	n, m := a.Int("n"), a.Int("m")
	if m < 0 {
		m = n
	}
	return []int{n, m}, notNegative(Eye, "n", n, m)
}

// triShape counts the elements of the triangle: i64[2,n].
func triType(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(_ []shape.Spec, a Attrs) (dtype.DType, error) {
		switch t := a.DType("dtype"); t {
		case dtype.Invalid, dtype.I64:
			return dtype.I64, nil
		case dtype.I32:
			return t, nil
		default:
			return dtype.Invalid, &TypeError{Op: string(n), Arg: "dtype", DType: t, Want: "i64 or i32"}
		}
	}
}

func triShape(upper bool) func([]shape.Spec, Attrs) ([]int, error) {
	return func(_ []shape.Spec, a Attrs) ([]int, error) {
		rows, cols, off := a.Int("row"), a.Int("col"), a.Int("offset")
		if err := notNegative(TrilIndices, "row", rows, cols); err != nil {
			return nil, err
		}
		if err := shape.CheckDims(string(TrilIndices), []int{2, rows, cols}); err != nil {
			return nil, err
		}
		// The offset counts no further than to where all or nothing is in.
		off = min(max(off, -rows-1), cols+1)
		if upper {
			return []int{2, rows*cols - lowerCount(rows, cols, off)}, nil
		}
		return []int{2, lowerCount(rows, cols, off+1)}, nil
	}
}

// lowerCount is the number of positions (i,j) with j < i + k: the sum of i + k,
// from 0 to cols.
func lowerCount(rows, cols, k int) int {
	from, to := min(max(-k, 0), rows), min(max(cols-k, 0), rows) // where a row has more than 0, and all
	n := to - from
	return n*k + (from+to-1)*n/2 + (rows-to)*cols
}

func lowerFull(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	s := like1(c.Out[0])
	if v, ok := c.Attrs.Get("fill_value").(int); ok && s.DType.IsInt() {
		return []stablehlo.Value{w.BroadcastTo(w.ConstantInts(shape.Spec{DType: s.DType}, []int64{int64(v)}), s.Dims)}
	}
	return []stablehlo.Value{c.Splat(w, "fill_value", s)}
}

// wideIota is an iota in f64 for results of 64 bits, in f32 or i64 for others.
func wideIota(w *stablehlo.Writer, out shape.Spec, t dtype.DType) (stablehlo.Value, shape.Spec) {
	s := shape.Spec{DType: t, Dims: out.Dims}
	return w.Iota(s, 0), s
}

// floatOf is the float type in which a sequence is computed.
func floatOf(t dtype.DType) dtype.DType {
	if t == dtype.F64 {
		return t
	}
	return dtype.F32
}

func lowerArange(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	t := c.Out[0].DType
	step, start := c.Attrs.Float("step"), c.Attrs.Float("start")
	switch {
	case t.IsInt():
		t = dtype.I64
	case t == dtype.F32 && (step != math.Trunc(step) || start != math.Trunc(start)):
		t = dtype.F64 // PyTorch rounds once
	default:
		t = floatOf(t)
	}
	i, s := wideIota(w, c.Out[0], t)
	x := w.Do("multiply", s, "", i, w.Splat(s, step))
	x = w.Do("add", s, "", x, w.Splat(s, start))
	return []stablehlo.Value{w.Convert(x, c.Out[0].DType)}
}

// linearHLO writes equally spaced numbers from the nearer end.
func linearHLO(w *stablehlo.Writer, c *LowerCall) stablehlo.Value {
	n := c.Attrs.Int("steps")
	a, b := c.Attrs.Float("start"), c.Attrs.Float("end")
	i, s := wideIota(w, c.Out[0], floatOf(c.Out[0].DType))
	if n <= 1 {
		return w.Splat(s, a)
	}
	step := (b - a) / float64(n-1)
	up := w.Do("add", s, "", w.Splat(s, a), w.Do("multiply", s, "", i, w.Splat(s, step)))
	rest := w.Do("subtract", s, "", w.Splat(s, float64(n-1)), i)
	down := w.Do("subtract", s, "", w.Splat(s, b), w.Do("multiply", s, "", rest, w.Splat(s, step)))
	return w.Select(w.Compare("LT", i, w.Splat(s, float64(n/2))), up, down)
}

func lowerLinspace(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{w.Convert(linearHLO(w, c), c.Out[0].DType)}
}

func lowerLogspace(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := linearHLO(w, c)
	y := w.Do("power", x.Spec, "", w.Splat(x.Spec, c.Attrs.Float("base")), x)
	return []stablehlo.Value{w.Convert(y, c.Out[0].DType)}
}

func lowerEye(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	s := shape.Spec{DType: dtype.I32, Dims: c.Out[0].Dims}
	return []stablehlo.Value{w.Convert(w.Compare("EQ", w.Iota(s, 0), w.Iota(s, 1)), c.Out[0].DType)}
}

// lowerTri writes the indices as a constant: they depend on sizes alone.
func lowerTri(upper bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		rows, cols, off := c.Attrs.Int("row"), c.Attrs.Int("col"), c.Attrs.Int("offset")
		var is, js []int64
		for i := range rows {
			for j := range cols {
				if upper && j-i >= off || !upper && j-i <= off {
					is, js = append(is, int64(i)), append(js, int64(j))
				}
			}
		}
		return []stablehlo.Value{w.ConstantInts(like1(c.Out[0]), append(is, js...))}
	}
}
