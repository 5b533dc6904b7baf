package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Random draws. The first input is the counter state, u64[2]: key and counter.
// A row is pure: whoever owns the state moves its counter by
// kernel.DrawOffset(elements, DrawBits(row, attributes)).
const (
	RandomBits    Name = "random_bits"
	Uniform       Name = "uniform"
	Normal        Name = "normal"
	Exponential   Name = "exponential"
	RandInt       Name = "randint"
	RandPerm      Name = "randperm"
	Bernoulli     Name = "bernoulli"
	BernoulliP    Name = "bernoulli.p"
	NativeDropout Name = "native_dropout"
	DropoutBack   Name = "native_dropout_backward"
)

// stateParam and sizeParam start the parameters of random rows.
var (
	stateParam = Param{Name: "state", Kind: KTensor, Doc: "key and counter"}
	sizeParam  = Param{Name: "size", Kind: KInts, Doc: "dimensions of the result"}
)

const noRandomGrad = "the result does not depend on anything that has a gradient"

var randomOps = []Def{
	{Name: RandomBits, Torch: "composite", Class: Random, Traits: Draws, Params: []Param{stateParam, sizeParam, resultDType},
		Doc: "Random bits as unsigned integers.", Example: `tpu.RandInt(0, 256, 4)`,
		Shape: drawShape, DType: drawType(dtype.U32), Kernel: kernel.RandomBits, Cost: perElement(12, VPU), Lower: lowerBits, NoGrad: noRandomGrad},
	{Name: Uniform, Torch: "uniform", Class: Random, Traits: Draws,
		Params: []Param{stateParam, sizeParam, number("from", 0, "least value"), number("to", 1, "the values stay below it"), resultDType},
		Doc:    "Random numbers, equally likely between two bounds.", Example: `tpu.Rand(2, 3)`,
		Shape: drawShape, DType: floatDraw, Kernel: kernel.Uniform, Cost: perElement(15, VPU), Lower: lowerUniform, NoGrad: noRandomGrad},
	{Name: Normal, Torch: "normal", Class: Random, Traits: Draws,
		Params: []Param{stateParam, sizeParam, number("mean", 0, "mean"), number("std", 1, "standard deviation"), resultDType},
		Doc:    "Random numbers of the normal distribution.", Example: `tpu.Randn(2, 3)`,
		Shape: drawShape, DType: floatDraw, Kernel: kernel.Normal, Cost: perElement(50, EUP), Lower: lowerNormal, NoGrad: noRandomGrad},
	{Name: Exponential, Torch: "exponential", Class: Random, Traits: Draws,
		Params: []Param{stateParam, sizeParam, number("lambd", 1, "rate, the inverse of the mean"), resultDType},
		Doc:    "Random numbers of the exponential distribution.", Example: `tpu.Rand(4).Log().Neg()`,
		Shape: drawShape, DType: floatDraw, Kernel: kernel.Exponential, Cost: perElement(26, EUP), Lower: lowerExponential, NoGrad: noRandomGrad},
	{Name: RandInt, Torch: "randint.low", Class: Random, Traits: Draws,
		Params: []Param{stateParam, {Name: "low", Kind: KInt, Default: 0, Doc: "least value"}, {Name: "high", Kind: KInt, Doc: "the values stay below it"}, sizeParam, resultDType},
		Doc:    "Random integers, equally likely between two bounds.", Example: `tpu.RandInt(0, 10, 4)`,
		Shape: randIntShape, DType: drawType(dtype.I64), Kernel: kernel.RandInt, Cost: perElement(20, VPU), Lower: lowerRandInt, NoGrad: noRandomGrad},
	{Name: RandPerm, Torch: "randperm", Class: Random, Traits: Draws, Params: []Param{stateParam, {Name: "n", Kind: KInt, Doc: "number of elements"}, resultDType},
		Doc: "The integers below n in random order.", Example: `tpu.RandPerm(5)`,
		Shape: randPermShape, DType: drawType(dtype.I64), Kernel: kernel.RandPerm, Cost: perElement(100, VPU), Lower: lowerRandPerm, NoGrad: noRandomGrad},
	{Name: Bernoulli, Torch: "bernoulli", Class: Random, Traits: Draws, Params: []Param{stateParam, tensor("input")},
		Doc: "One with the probability each element says, else zero.", Example: `tpu.Of(0.25, 0.75).Bernoulli()`,
		Shape: likeSecond, DType: floatSecond, Kernel: kernel.Bernoulli, Cost: perElement(15, VPU), Lower: lowerBernoulli, NoGrad: noRandomGrad},
	{Name: BernoulliP, Torch: "bernoulli.p", Class: Random, Traits: Draws,
		Params: []Param{stateParam, sizeParam, {Name: "p", Kind: KFloat, Dynamic: true, Doc: "probability of one"}, resultDType},
		Doc:    "One with probability p, else zero.", Example: `tpu.Full(0.5, 4).Bernoulli()`,
		Shape: bernoulliShape, DType: drawType(dtype.F32), Kernel: kernel.BernoulliP, Cost: perElement(15, VPU), Lower: lowerBernoulli, NoGrad: noRandomGrad},
	{Name: NativeDropout, Torch: "native_dropout", Class: Random, Traits: Draws,
		Params: []Param{stateParam, tensor("input"), {Name: "p", Kind: KFloat, Default: 0.5, Dynamic: true, Doc: "probability that an element is dropped"}}, Results: []string{"output", "mask"},
		Doc: "Elements set to zero with probability p, the others divided by one minus p.", Example: `tpu.Full(1.0, 8).Dropout(0.5)`,
		Infer: dropoutSpecs, Kernel: kernel.Dropout, Cost: perElement(17, VPU), Lower: lowerDropout, Grad: dropoutGrad},
	{Name: DropoutBack, Torch: "native_dropout_backward", Class: Random,
		Params: []Param{tensor("grad_output"), tensor("mask"), {Name: "scale", Kind: KFloat, Dynamic: true, Doc: "factor of the elements that were kept"}},
		Doc:    "Gradient of dropout: what was kept, times scale.",
		Shape:  broadcast, DType: realFloating, Kernel: kernel.DropoutBackward, Cost: perElement(2, VPU),
		Lower: lowerWide(func(h hlo) stablehlo.Value { return h.mul(h.mul(h.in(0), h.in(1)), h.attr("scale")) }),
		Grad: parts(func(k ew, dy Value) Value {
			return k.Do(DropoutBack, Attrs{{Name: "scale", Value: k.num("scale")}}, dy, k.b())
		})},
}

// DrawBits is the number of random bits that row n takes for one element of
// the result with spec out.
func DrawBits(n Name, a Attrs, out shape.Spec) int {
	switch n {
	case RandPerm:
		return 64
	case RandInt:
		if a.Int("high")-a.Int("low") > 1<<32 {
			return 64
		}
	case RandomBits, Uniform, Normal, Exponential:
		if out.DType.Bits() == 64 {
			return 64
		}
	}
	return 32
}

func drawShape(_ []shape.Spec, a Attrs) ([]int, error) {
	dims := a.Ints("size")
	return dims, notNegative("random", "size", dims...)
}

func randIntShape(in []shape.Spec, a Attrs) ([]int, error) {
	if a.Int("high") <= a.Int("low") {
		return nil, &shape.ArgumentError{Op: string(RandInt), Arg: "high", Value: a.Int("high"), Why: "must be above low"}
	}
	return drawShape(in, a)
}

func randPermShape(_ []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("n")
	return []int{n}, notNegative(RandPerm, "n", n)
}

// probability refuses what is outside [0, 1].
func probability(n Name, a Attrs) error {
	if p := a.Float("p"); !(p >= 0 && p <= 1) {
		return &shape.ArgumentError{Op: string(n), Arg: "p", Value: p, Why: "must lie between 0 and 1"}
	}
	return nil
}

func bernoulliShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := probability(BernoulliP, a); err != nil {
		return nil, err
	}
	return drawShape(in, a)
}

func floatSecond(in []shape.Spec, a Attrs) (dtype.DType, error) { return floatsOnly(in[1:], a) }

// drawType is the attribute dtype, by default t.
func drawType(t dtype.DType) func([]shape.Spec, Attrs) (dtype.DType, error) {
	return func(_ []shape.Spec, a Attrs) (dtype.DType, error) {
		if d := a.DType("dtype"); d != dtype.Invalid {
			return d, nil
		}
		return t, nil
	}
}

// floatDraw is the attribute dtype, which must be a float, by default F32.
func floatDraw(_ []shape.Spec, a Attrs) (dtype.DType, error) {
	t, err := floatDefault(nil, a)
	if err == nil && !t.IsFloat() {
		err = refuse(t, "a floating-point type")
	}
	return t, err
}

func dropoutSpecs(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	if err := probability(NativeDropout, a); err != nil {
		return nil, err
	}
	t, err := floatsOnly(in[1:], a)
	if err != nil {
		return nil, err
	}
	return []shape.Spec{{DType: t, Dims: in[1].Dims}, {DType: dtype.Bool, Dims: in[1].Dims}}, nil
}

func dropoutGrad(b Builder, c *Call, dy []Value) []Value {
	if dy[0] == nil {
		return []Value{nil, nil}
	}
	scale := 0.0
	if keep := 1 - c.Attrs.Float("p"); keep > 0 {
		scale = 1 / keep
	}
	return []Value{nil, b.Do(DropoutBack, Attrs{{Name: "scale", Value: scale}}, dy[0], c.Out[1])}
}

// randomHLO writes the bits of a draw and helps to turn them into numbers.
type randomHLO struct {
	*stablehlo.Writer
	bits stablehlo.Value
}

func drawHLO(w *stablehlo.Writer, c *LowerCall, dims []int, wide bool) randomHLO {
	t := dtype.U32
	if wide {
		t = dtype.U64
	}
	_, bits := w.RngBitGenerator("PHILOX", c.In[0], shape.Spec{DType: t, Dims: dims})
	return randomHLO{w, bits}
}

// top gives the n highest bits as a number of type t.
func (r randomHLO) top(n int, t dtype.DType) stablehlo.Value {
	s := r.bits.Spec
	return r.Convert(r.Do("shift_right_logical", s, "", r.bits, r.Splat(s, float64(s.DType.Bits()-n))), t)
}

// affine is x·f + g.
func (r randomHLO) affine(x stablehlo.Value, f, g float64) stablehlo.Value {
	x = r.Do("multiply", x.Spec, "", x, r.Splat(x.Spec, f))
	return r.Do("add", x.Spec, "", x, r.Splat(x.Spec, g))
}

// unit is a number in [0, 1) for results of type t.
func (r randomHLO) unit(t dtype.DType) stablehlo.Value {
	n := 24
	if t == dtype.F64 {
		n = 53
	} else if t.IsFloat() {
		n = min(n, t.Row().Mant+1)
	}
	x := r.top(n, floatOf(t))
	return r.Do("multiply", x.Spec, "", x, r.Splat(x.Spec, math.Ldexp(1, -n)))
}

func lowerBits(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	_, bits := w.RngBitGenerator("PHILOX", c.In[0], like1(c.Out[0]))
	return []stablehlo.Value{bits}
}

func lowerUniform(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	t := c.Out[0].DType
	r := drawHLO(w, c, c.Out[0].Dims, t == dtype.F64)
	a, b := c.Attrs.Float("from"), c.Attrs.Float("to")
	return []stablehlo.Value{w.Convert(r.affine(r.unit(t), b-a, a), t)}
}

func lowerNormal(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	t := c.Out[0].DType
	r := drawHLO(w, c, c.Out[0].Dims, t == dtype.F64)
	n := 23
	if t == dtype.F64 {
		n = 52
	}
	x := r.affine(r.top(n, floatOf(t)), math.Ldexp(1, 1-n), math.Ldexp(1, -n)-1)
	x = w.Op("chlo.erf_inv", []stablehlo.Value{x}, []shape.Spec{x.Spec}, "")[0]
	return []stablehlo.Value{w.Convert(r.affine(x, math.Sqrt2*c.Attrs.Float("std"), c.Attrs.Float("mean")), t)}
}

func lowerExponential(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	t := c.Out[0].DType
	r := drawHLO(w, c, c.Out[0].Dims, t == dtype.F64)
	u := r.unit(t)
	l := w.Do("log_plus_one", u.Spec, "", w.Do("negate", u.Spec, "", u))
	return []stablehlo.Value{w.Convert(r.affine(l, -1/c.Attrs.Float("lambd"), 0), t)}
}

func lowerRandInt(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	low, high := c.Attrs.Int("low"), c.Attrs.Int("high")
	r := drawHLO(w, c, c.Out[0].Dims, high-low > 1<<32)
	s := r.bits.Spec
	bits := r.bits
	if high-low < 1<<32 || s.DType == dtype.U64 { // with exactly 2^32 values every word is one
		span := w.BroadcastTo(w.ConstantInts(shape.Spec{DType: s.DType}, []int64{int64(high - low)}), s.Dims)
		bits = w.Do("remainder", s, "", bits, span)
	}
	x := w.Convert(bits, dtype.I64)
	start := w.BroadcastTo(w.ConstantInts(shape.Of(dtype.I64), []int64{int64(low)}), s.Dims)
	return []stablehlo.Value{w.Convert(w.Do("add", x.Spec, "", x, start), c.Out[0].DType)}
}

func lowerRandPerm(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	r := drawHLO(w, c, c.Out[0].Dims, true)
	index := w.Iota(shape.Spec{DType: dtype.I64, Dims: c.Out[0].Dims}, 0)
	sorted := w.Sort([]stablehlo.Value{r.bits, index}, 0, false)
	return []stablehlo.Value{w.Convert(sorted[1], c.Out[0].DType)}
}

// keepHLO is true with probability p: a scalar or an operand of the same dimensions.
func keepHLO(w *stablehlo.Writer, c *LowerCall, dims []int, p func(s shape.Spec) stablehlo.Value) stablehlo.Value {
	u := drawHLO(w, c, dims, false).unit(dtype.F32)
	return w.Compare("LT", u, p(u.Spec))
}

func lowerBernoulli(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	keep := keepHLO(w, c, c.Out[0].Dims, func(s shape.Spec) stablehlo.Value {
		if c.Attrs.Has("p") {
			return w.Splat(s, c.Attrs.Float("p"))
		}
		return w.Convert(c.In[1], s.DType)
	})
	return []stablehlo.Value{w.Convert(keep, c.Out[0].DType)}
}

func lowerDropout(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	p := 1 - c.Attrs.Float("p")
	keep := keepHLO(w, c, c.Out[0].Dims, func(s shape.Spec) stablehlo.Value { return w.Splat(s, p) })
	x := w.Convert(c.In[1], floatOf(c.Out[0].DType))
	scale := 0.0
	if p > 0 {
		scale = 1 / p
	}
	y := w.Select(keep, w.Do("multiply", x.Spec, "", x, w.Splat(x.Spec, scale)), w.Splat(x.Spec, 0))
	return []stablehlo.Value{w.Convert(y, c.Out[0].DType), keep}
}
