package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Operations of one operand: arithmetic, rounding and questions.
const (
	Abs        Name = "abs"
	Neg        Name = "neg"
	Positive   Name = "positive"
	Sign       Name = "sign"
	Sgn        Name = "sgn"
	Reciprocal Name = "reciprocal"
	Sqrt       Name = "sqrt"
	Rsqrt      Name = "rsqrt"
	Square     Name = "square"
	Ceil       Name = "ceil"
	Floor      Name = "floor"
	Round      Name = "round"
	Trunc      Name = "trunc"
	Frac       Name = "frac"
	NanToNum   Name = "nan_to_num"
	Deg2Rad    Name = "deg2rad"
	Rad2Deg    Name = "rad2deg"
	BitwiseNot Name = "bitwise_not"
	LogicalNot Name = "logical_not"
	SignBit    Name = "signbit"
	IsNaN      Name = "isnan"
	IsInf      Name = "isinf"
	IsFinite   Name = "isfinite"
	IsPosInf   Name = "isposinf"
	IsNegInf   Name = "isneginf"
)

// unaryParams is the parameter list of most rows of one operand.
var unaryParams = []Param{tensor("input")}

var unaryOps = append([]Def{
	{Name: Abs, Torch: "abs", Method: "Abs", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Absolute value of each element.", Example: `tpu.Of(-1.5, 2.0).Abs()`,
		Shape: likeInput, DType: partType(realOnly), Kernel: kernel.Abs, Cost: perElement(1, VPU), Lower: lower(lowerAbs),
		Grad: parts(times(func(k ew) Value { return k.op(Sign, k.a()) }))},
	{Name: Neg, Torch: "neg", Method: "Neg", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Negative of each element; unsigned integers wrap.", Example: `tpu.Of(1.0, -2.0).Neg()`,
		Shape: likeInput, DType: numeric, Kernel: kernel.Neg, Cost: perElement(1, VPU), Lower: unaryHLO("negate"),
		Grad: parts(negGrad)},
	{Name: Positive, Torch: "positive", Method: "Positive", Class: Elementwise, Params: unaryParams,
		Doc: "The elements as they are.", Example: `tpu.Of(1.0, -2.0).Positive()`,
		Shape: likeInput, DType: numeric, Kernel: kernel.Positive, Cost: moves, Lower: lower(func(h hlo) stablehlo.Value { return h.in(0) }),
		Grad: parts(sameGrad)},
	{Name: Sign, Torch: "sign", Method: "Sign", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Minus one, zero or one by the sign of each element; zero for NaN.", Example: `tpu.Of(-3.0, 0.0, 2.0).Sign()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.Sign, Cost: perElement(2, VPU), Lower: lower(lowerSign),
		Grad: parts(zeroGrad)},
	{Name: Sgn, Torch: "sgn", Method: "Sgn", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Sign of each real element, as sign.", Example: `tpu.Of(-3.0, 0.0, 2.0).Sgn()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.Sign, Cost: perElement(2, VPU), Lower: lower(lowerSign),
		Grad: parts(zeroGrad)},
	{Name: Reciprocal, Torch: "reciprocal", Method: "Reciprocal", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "One divided by each element.", Example: `tpu.Of(1.0, 4.0).Reciprocal()`,
		Shape: likeInput, DType: floating, Kernel: kernel.Reciprocal, Cost: perElement(4, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.div(h.num(1), h.in(0)) }),
		Grad:  parts(times(func(k ew) Value { return k.neg(k.square(k.y())) }))},
	{Name: Sqrt, Torch: "sqrt", Method: "Sqrt", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Square root of each element; NaN below zero.", Example: `tpu.Of(4.0, 9.0).Sqrt()`,
		Shape: likeInput, DType: floating, Kernel: kernel.Sqrt, Cost: perElement(4, EUP), Lower: unaryHLO("sqrt"),
		Grad: parts(func(k ew, dy Value) Value { return k.div(dy, k.mul(k.y(), 2)) })},
	{Name: Rsqrt, Torch: "rsqrt", Method: "Rsqrt", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "One divided by the square root of each element.", Example: `tpu.Of(4.0, 16.0).Rsqrt()`,
		Shape: likeInput, DType: floating, Kernel: kernel.Rsqrt, Cost: perElement(4, EUP), Lower: unaryHLO("rsqrt"),
		Grad: parts(times(func(k ew) Value { return k.mul(k.mul(k.square(k.y()), k.y()), -0.5) }))},
	{Name: Square, Torch: "square", Method: "Square", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Each element times itself.", Example: `tpu.Of(3.0, -4.0).Square()`,
		Shape: likeInput, DType: squareType, Kernel: kernel.Square, Cost: perElement(1, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { x := h.in(0); return h.mul(x, x) }),
		Grad:  parts(times(func(k ew) Value { return k.mul(k.a(), 2) }))},
	{Name: Ceil, Torch: "ceil", Method: "Ceil", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Smallest integer not below each element.", Example: `tpu.Of(0.5, -0.5).Ceil()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.Ceil, Cost: perElement(1, VPU), Lower: roundHLO("ceil"), Grad: parts(zeroGrad)},
	{Name: Floor, Torch: "floor", Method: "Floor", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Largest integer not above each element.", Example: `tpu.Of(0.5, -0.5).Floor()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.Floor, Cost: perElement(1, VPU), Lower: roundHLO("floor"), Grad: parts(zeroGrad)},
	{Name: Round, Torch: "round", Method: "Round", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"), {Name: "decimals", Kind: KInt, Default: 0, Doc: "digits after the point to keep; negative ones are before it"}},
		Doc:    "Nearest integer of each element, halves to even.", Example: `tpu.Of(0.5, 1.5, 2.4).Round()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.Round, Cost: perElement(1, VPU), Lower: lowerWide(lowerRound), Grad: parts(zeroGrad)},
	{Name: Trunc, Torch: "trunc", Method: "Trunc", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Each element without its fraction.", Example: `tpu.Of(1.7, -1.7).Trunc()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.Trunc, Cost: perElement(3, VPU),
		Lower: lower(func(h hlo) stablehlo.Value {
			if !h.spec.DType.IsFloat() {
				return h.in(0)
			}
			return h.trunc(h.in(0))
		}),
		Grad: parts(zeroGrad)},
	{Name: Frac, Torch: "frac", Method: "Frac", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Fraction of each element, with its sign.", Example: `tpu.Of(1.25, -1.25).Frac()`,
		Shape: likeInput, DType: floatsOnly, Kernel: kernel.Frac, Cost: perElement(4, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.sub(h.in(0), h.trunc(h.in(0))) }),
		Grad:  parts(sameGrad)},
	{Name: NanToNum, Torch: "nan_to_num", Method: "NanToNum", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"),
			{Name: "nan", Kind: KFloat, Default: 0.0, Dynamic: true, Doc: "what replaces NaN"},
			{Name: "posinf", Kind: KFloat, Default: math.NaN(), Dynamic: true, Doc: "what replaces infinity; NaN: the largest finite value"},
			{Name: "neginf", Kind: KFloat, Default: math.NaN(), Dynamic: true, Doc: "what replaces minus infinity; NaN: the least finite value"}},
		Doc: "Numbers in place of NaN and infinities.", Example: `tpu.Of(1.0, 2.0).Log().NanToNum()`,
		Shape: likeInput, DType: realOnly, Kernel: kernel.NanToNum, Cost: perElement(6, VPU), Lower: lower(lowerNanToNum),
		Grad: parts(func(k ew, dy Value) Value { return k.masked(k.op(IsFinite, k.a()), dy) })},
	{Name: Deg2Rad, Torch: "deg2rad", Method: "Deg2Rad", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Degrees converted to radians.", Example: `tpu.Of(180.0).Deg2Rad()`,
		Shape: likeInput, DType: realFloating, Kernel: kernel.Deg2Rad, Cost: perElement(1, VPU), Lower: factorHLO(math.Pi / 180),
		Grad: parts(func(k ew, dy Value) Value { return k.mul(dy, math.Pi/180) })},
	{Name: Rad2Deg, Torch: "rad2deg", Method: "Rad2Deg", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Radians converted to degrees.", Example: `tpu.Of(3.0).Rad2Deg()`,
		Shape: likeInput, DType: realFloating, Kernel: kernel.Rad2Deg, Cost: perElement(1, VPU), Lower: factorHLO(180 / math.Pi),
		Grad: parts(func(k ew, dy Value) Value { return k.mul(dy, 180/math.Pi) })},
	{Name: BitwiseNot, Torch: "bitwise_not", Method: "BitwiseNot", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "All bits of each element flipped; the opposite of bools.", Example: `tpu.Of(0, 5).BitwiseNot()`,
		Shape: likeInput, DType: bitsOnly, Kernel: kernel.BitwiseNot, Cost: perElement(1, VPU), Lower: unaryHLO("not"),
		NoGrad: "defined for integers and bools only"},
	ask(LogicalNot, "LogicalNot", "True where an element is zero.", `tpu.Of(0.0, 2.0).LogicalNot()`, kernel.LogicalNot,
		func(h hlo) stablehlo.Value { return h.not(h.asBool(h.in(0))) }),
	ask(SignBit, "SignBit", "True where the sign bit of an element is set.", `tpu.Of(-1.0, 1.0).SignBit()`, kernel.SignBit, lowerSignBit),
	ask(IsNaN, "IsNaN", "True where an element is NaN.", `tpu.Of(-1.0, 1.0).Log().IsNaN()`, kernel.IsNaN,
		func(h hlo) stablehlo.Value { x := h.in(0); return h.Compare("NE", x, x) }),
	ask(IsInf, "IsInf", "True where an element is infinite.", `tpu.Of(0.0, 1.0).Log().IsInf()`, kernel.IsInf,
		func(h hlo) stablehlo.Value { return h.isInf(h.abs(h.in(0)), 1) }),
	ask(IsFinite, "IsFinite", "True where an element is neither infinite nor NaN.", `tpu.Of(0.0, 1.0).Log().IsFinite()`, kernel.IsFinite,
		func(h hlo) stablehlo.Value {
			if !h.spec.DType.IsFloat() {
				return h.truth(1)
			}
			return h.Do("is_finite", h.c.Out[0], "", h.in(0))
		}),
	ask(IsPosInf, "IsPosInf", "True where an element is infinity.", `tpu.Of(1.0, 0.0).Reciprocal().IsPosInf()`, kernel.IsPosInf,
		func(h hlo) stablehlo.Value { return h.isInf(h.in(0), 1) }),
	ask(IsNegInf, "IsNegInf", "True where an element is minus infinity.", `tpu.Of(0.0, 1.0).Log().IsNegInf()`, kernel.IsNegInf,
		func(h hlo) stablehlo.Value { return h.isInf(h.in(0), -1) }),
}, specialOps...)

// ask makes a row of a question: its result is Bool.
func ask(n Name, method, doc, example string, k kernel.Func, f func(h hlo) stablehlo.Value) Def {
	d := Def{Name: n, Torch: string(n), Method: method, Class: Elementwise, Params: unaryParams, Doc: doc, Example: example,
		Shape: likeInput, DType: boolean, Kernel: k, Cost: perElement(1, VPU), Lower: lowerAsk(f), NoGrad: "the result is a bool"}
	d.InPlace = n == LogicalNot
	return d
}

// truth is a Bool constant in the shape of the result.
func (h hlo) truth(v float64) stablehlo.Value { return h.Splat(like1(h.c.Out[0]), v) }

// isInf is x = sign·∞; false for integers.
func (h hlo) isInf(x stablehlo.Value, sign int) stablehlo.Value {
	if !x.Spec.DType.IsFloat() {
		return h.truth(0)
	}
	return h.Compare("EQ", x, h.num(math.Inf(sign)))
}

func lowerAbs(h hlo) stablehlo.Value {
	if k := h.spec.DType.Kind(); k == dtype.KindBool || k == dtype.KindUint {
		return h.in(0)
	}
	return h.abs(h.in(0))
}

func lowerSign(h hlo) stablehlo.Value {
	x := h.in(0)
	switch h.spec.DType.Kind() {
	case dtype.KindBool:
		return x
	case dtype.KindUint:
		return h.min(x, h.num(1))
	case dtype.KindFloat:
		return h.Select(h.Compare("GT", x, h.num(0)), h.num(1), h.Select(h.Compare("LT", x, h.num(0)), h.num(-1), h.num(0)))
	}
	return h.do("sign", x)
}

func lowerRound(h hlo) stablehlo.Value {
	x := h.in(0)
	if !h.spec.DType.IsFloat() {
		return x
	}
	n := h.c.Attrs.Int("decimals")
	switch {
	case n > 0:
		return h.div(h.do("round_nearest_even", h.mul(x, h.num(math.Pow10(n)))), h.num(math.Pow10(n)))
	case n < 0:
		return h.mul(h.do("round_nearest_even", h.div(x, h.num(math.Pow10(-n)))), h.num(math.Pow10(-n)))
	}
	return h.do("round_nearest_even", x)
}

// roundHLO leaves integers as they are.
func roundHLO(name string) lowering {
	return lower(func(h hlo) stablehlo.Value {
		if !h.spec.DType.IsFloat() {
			return h.in(0)
		}
		return h.do(name, h.in(0))
	})
}

// factorHLO multiplies by a constant.
func factorHLO(x float64) lowering {
	return lowerWide(func(h hlo) stablehlo.Value { return h.mul(h.in(0), h.num(x)) })
}

func lowerNanToNum(h hlo) stablehlo.Value {
	x := h.in(0)
	if !h.spec.DType.IsFloat() {
		return x
	}
	hi, lo := h.c.Attrs.Float("posinf"), h.c.Attrs.Float("neginf")
	if hi != hi {
		hi = h.spec.DType.Max()
	}
	if lo != lo {
		lo = h.spec.DType.Lowest()
	}
	y := h.Select(h.Compare("NE", x, x), h.attr("nan"), x)
	y = h.Select(h.isInf(x, 1), h.num(hi), y)
	return h.Select(h.isInf(x, -1), h.num(lo), y)
}

func lowerSignBit(h hlo) stablehlo.Value {
	x := h.in(0)
	t := h.spec.DType
	switch {
	case t.Kind() == dtype.KindInt:
		return h.Compare("LT", x, h.num(0))
	case !t.IsFloat():
		return h.truth(0)
	}
	bits := dtype.I32
	switch t.Bits() {
	case 4:
		bits = dtype.I4
	case 8:
		bits = dtype.I8
	case 16:
		bits = dtype.I16
	case 64:
		bits = dtype.I64
	}
	s := shape.Spec{DType: bits, Dims: h.spec.Dims}
	return h.Compare("LT", h.Do("bitcast_convert", s, "", x), h.Splat(s, 0))
}

// squareType is promote, but the square of a bool is an integer.
func squareType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[0].DType == dtype.Bool {
		return dtype.I64, nil
	}
	return promote(in, a)
}
