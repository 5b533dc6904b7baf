package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Operations of two operands.
const (
	Add         Name = "add"
	Sub         Name = "sub"
	Rsub        Name = "rsub"
	Mul         Name = "mul"
	Div         Name = "div"
	FloorDivide Name = "floor_divide"
	Remainder   Name = "remainder"
	FMod        Name = "fmod"
	Pow         Name = "pow"
	FloatPower  Name = "float_power"
	Maximum     Name = "maximum"
	Minimum     Name = "minimum"
	FMax        Name = "fmax"
	FMin        Name = "fmin"
	Atan2       Name = "atan2"
	Hypot       Name = "hypot"
	Copysign    Name = "copysign"
	Ldexp       Name = "ldexp"
	Xlogy       Name = "xlogy"
	Xlog1py     Name = "xlog1py"
	LogAddExp   Name = "logaddexp"
	LogAddExp2  Name = "logaddexp2"
	Zeta        Name = "zeta"
	Nextafter   Name = "nextafter"
	Heaviside   Name = "heaviside"
	GCD         Name = "gcd"
	LCM         Name = "lcm"
	BitwiseAnd  Name = "bitwise_and"
	BitwiseOr   Name = "bitwise_or"
	BitwiseXor  Name = "bitwise_xor"
	ShiftLeft   Name = "bitwise_left_shift"
	ShiftRight  Name = "bitwise_right_shift"
)

// binaryParams is the parameter list of most rows of two operands: either may be a Go number.
var binaryParams = []Param{operand("input"), operand("other")}

// alphaParams is binaryParams with a factor.
var alphaParams = []Param{operand("input"), operand("other"),
	{Name: "alpha", Kind: KNumber, Default: 1, Dynamic: true, Doc: "factor of the operand that is added or subtracted"}}

var binaryOps = []Def{
	{Name: Add, Torch: "add.Tensor", Method: "Add", InPlace: true, Class: Elementwise, Traits: Commutative, Params: alphaParams,
		Doc: "Sum of two operands, the second times alpha.", Example: `tpu.Of(1.0, 2.0).Add(10)`,
		Shape: broadcast, DType: alphaType(promote), Kernel: kernel.Add, Cost: perElement(1, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.add(h.in(0), h.scaled(h.in(1))) }),
		Grad:  parts(sameGrad, func(k ew, dy Value) Value { return k.scaled(dy, 1) })},
	{Name: Sub, Torch: "sub.Tensor", Method: "Sub", InPlace: true, Class: Elementwise, Params: alphaParams,
		Doc: "Difference of two operands, the second times alpha.", Example: `tpu.Of(1.0, 2.0).Sub(0.5)`,
		Shape: broadcast, DType: alphaType(difference), Kernel: kernel.Sub, Cost: perElement(1, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.sub(h.in(0), h.scaled(h.in(1))) }),
		Grad:  parts(sameGrad, func(k ew, dy Value) Value { return k.scaled(dy, -1) })},
	{Name: Rsub, Torch: "rsub.Tensor", Method: "Rsub", Class: Elementwise, Params: alphaParams,
		Doc: "The second operand minus alpha times the first.", Example: `tpu.Of(1.0, 2.0).Rsub(1)`,
		Shape: broadcast, DType: alphaType(difference), Kernel: kernel.Rsub, Cost: perElement(1, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.sub(h.in(1), h.scaled(h.in(0))) }),
		Grad:  parts(func(k ew, dy Value) Value { return k.scaled(dy, -1) }, sameGrad)},
	{Name: Mul, Torch: "mul.Tensor", Method: "Mul", InPlace: true, Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Product of two operands.", Example: `tpu.Of(1.0, 2.0).Mul(3)`,
		Shape: broadcast, DType: promote, Kernel: kernel.Mul, Cost: perElement(1, VPU), Lower: binaryHLO("multiply"),
		Grad: parts(times(ew.b), times(ew.a))},
	{Name: Div, Torch: "div.Tensor_mode", Trap: byZero, Method: "Div", InPlace: true, Class: Elementwise,
		Params: []Param{operand("input"), operand("other"), {Name: "rounding_mode", Kind: KString, Default: "", Doc: "trunc or floor: round the quotient; empty: true division"}},
		Doc:    "Quotient of two operands; integers give a float unless it is rounded.", Example: `tpu.Of(1.0, 2.0).Div(4)`,
		Shape: broadcast, DType: divType, Kernel: kernel.Div, Cost: perElement(4, VPU), Lower: lowerDiv,
		Grad: parts(
			func(k ew, dy Value) Value {
				if k.Attrs.Str("rounding_mode") != "" {
					return k.zero()
				}
				return k.div(dy, k.b())
			},
			func(k ew, dy Value) Value {
				if k.Attrs.Str("rounding_mode") != "" {
					return k.zero()
				}
				return k.neg(k.mul(dy, k.div(k.y(), k.b())))
			})},
	{Name: FloorDivide, Torch: "floor_divide", Trap: byZero, Method: "FloorDivide", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "Quotient of two operands rounded down.", Example: `tpu.Of(7.0, -7.0).FloorDivide(2)`,
		Shape: broadcast, DType: modulusType, Kernel: kernel.FloorDivide, Cost: perElement(10, VPU), Lower: lower(hlo.floorDiv),
		NoGrad: "PyTorch has no derivative for it either"},
	{Name: Remainder, Torch: "remainder.Tensor", Trap: byZero, Method: "Remainder", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "Remainder of a division rounded down: it has the sign of the divisor.", Example: `tpu.Of(7.0, -7.0).Remainder(3)`,
		Shape: broadcast, DType: modulusType, Kernel: kernel.Remainder, Cost: perElement(8, VPU), Lower: lower(hlo.floorMod),
		Grad: parts(sameGrad, func(k ew, dy Value) Value {
			return k.neg(k.mul(dy, k.Do(Div, Attrs{{Name: "rounding_mode", Value: "floor"}}, k.a(), k.b())))
		})},
	{Name: FMod, Torch: "fmod.Tensor", Trap: byZero, Method: "FMod", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "Remainder of a division rounded toward zero: it has the sign of the dividend.", Example: `tpu.Of(7.0, -7.0).FMod(3)`,
		Shape: broadcast, DType: modulusType, Kernel: kernel.FMod, Cost: perElement(6, VPU), Lower: binaryHLO("remainder"),
		Grad: parts(sameGrad, func(k ew, dy Value) Value {
			return k.neg(k.mul(dy, k.Do(Div, Attrs{{Name: "rounding_mode", Value: "trunc"}}, k.a(), k.b())))
		})},
	{Name: Pow, Torch: "pow.Tensor_Tensor", Trap: byNegative, Method: "Pow", Func: "Pow", InPlace: true, Class: Elementwise, Params: []Param{operand("input"), operand("exponent")},
		Doc: "The first operand to the power of the second.", Example: `tpu.Of(2.0, 3.0).Pow(2)`,
		Shape: broadcast, DType: promote, Kernel: kernel.Pow, Cost: perElement(20, EUP), Lower: lower(lowerPow),
		Grad: parts(powBaseGrad, powExponentGrad)},
	{Name: FloatPower, Torch: "float_power.Tensor_Tensor", Method: "FloatPower", Class: Elementwise, Params: []Param{operand("input"), operand("exponent")},
		Doc: "The first operand to the power of the second, in f64.", Example: `tpu.Of(2.0, 3.0).FloatPower(2)`,
		Shape: broadcast, DType: doubleType, Kernel: kernel.Pow, Cost: perElement(20, EUP), Lower: binaryHLO("power"),
		Grad: parts(powBaseGrad, powExponentGrad)},
	{Name: Maximum, Torch: "maximum", Method: "Maximum", Func: "Maximum", Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "The larger of two operands; NaN wins.", Example: `tpu.Of(1.0, 5.0).Maximum(tpu.Of(3.0, 2.0))`,
		Shape: broadcast, DType: realOnly, Kernel: kernel.Maximum, Cost: perElement(1, VPU), Lower: binaryHLO("maximum"),
		Grad: parts(chosen(Gt, 0), chosen(Lt, 1))},
	{Name: Minimum, Torch: "minimum", Method: "Minimum", Func: "Minimum", Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "The smaller of two operands; NaN wins.", Example: `tpu.Of(1.0, 5.0).Minimum(tpu.Of(3.0, 2.0))`,
		Shape: broadcast, DType: realOnly, Kernel: kernel.Minimum, Cost: perElement(1, VPU), Lower: binaryHLO("minimum"),
		Grad: parts(chosen(Lt, 0), chosen(Gt, 1))},
	{Name: FMax, Torch: "fmax", Method: "FMax", Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "The larger of two operands; a number wins against NaN.", Example: `tpu.Of(1.0, 5.0).FMax(tpu.Of(3.0, 2.0))`,
		Shape: broadcast, DType: realOnly, Kernel: kernel.FMax, Cost: perElement(3, VPU), Lower: lower(lowerFMax("maximum")),
		Grad: parts(fchosen(Gt, 0), fchosen(Gt, 1))},
	{Name: FMin, Torch: "fmin", Method: "FMin", Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "The smaller of two operands; a number wins against NaN.", Example: `tpu.Of(1.0, 5.0).FMin(tpu.Of(3.0, 2.0))`,
		Shape: broadcast, DType: realOnly, Kernel: kernel.FMin, Cost: perElement(3, VPU), Lower: lower(lowerFMax("minimum")),
		Grad: parts(fchosen(Lt, 0), fchosen(Lt, 1))},
	{Name: Atan2, Torch: "atan2", Method: "Atan2", Func: "Atan2", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "Angle of the point with ordinate input and abscissa other.", Example: `tpu.Of(1.0, -1.0).Atan2(tpu.Of(1.0, 1.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.Atan2, Cost: perElement(40, EUP), Lower: binaryHLO("atan2"),
		Grad: parts(
			func(k ew, dy Value) Value { return k.mul(dy, k.div(k.b(), k.norm2())) },
			func(k ew, dy Value) Value { return k.mul(dy, k.div(k.neg(k.a()), k.norm2())) })},
	{Name: Hypot, Torch: "hypot", Method: "Hypot", InPlace: true, Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Length of the vector of two operands, without overflow.", Example: `tpu.Of(3.0).Hypot(tpu.Of(4.0))`,
		Shape: broadcast, DType: floatsOnly, Kernel: kernel.Hypot, Cost: perElement(10, EUP), Lower: lowerWide(lowerHypot),
		Grad: parts(
			func(k ew, dy Value) Value { return k.mul(dy, k.div(k.a(), k.y())) },
			func(k ew, dy Value) Value { return k.mul(dy, k.div(k.b(), k.y())) })},
	{Name: Copysign, Torch: "copysign.Tensor", Method: "Copysign", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "The magnitude of the first operand with the sign of the second.", Example: `tpu.Of(1.0, 2.0).Copysign(-1)`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.Copysign, Cost: perElement(2, VPU), Lower: lower(lowerCopysign),
		Grad: parts(
			func(k ew, dy Value) Value {
				return k.mul(dy, k.mul(k.op(Sign, k.a()), k.op(Sign, k.y())))
			}, zeroGrad)},
	{Name: Ldexp, Torch: "ldexp.Tensor", Method: "Ldexp", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "The first operand times two to the power of the second.", Example: `tpu.Of(1.0, 2.0).Ldexp(tpu.Of(3.0, 4.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.Ldexp, Cost: perElement(10, EUP),
		Lower: lowerWide(func(h hlo) stablehlo.Value { return h.mul(h.in(0), h.do("power", h.num(2), h.in(1))) }),
		Grad: parts(
			func(k ew, dy Value) Value { return k.mul(dy, k.op(Exp2, k.b())) },
			func(k ew, dy Value) Value { return k.mul(dy, k.mul(k.y(), math.Ln2)) })},
	{Name: Xlogy, Torch: "xlogy.Tensor", Method: "Xlogy", Func: "Xlogy", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "The first operand times the logarithm of the second; zero where the first is.", Example: `tpu.Of(0.0, 2.0).Xlogy(tpu.Of(0.0, 3.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.Xlogy, Cost: perElement(14, EUP), Lower: lowerWide(lowerXlogy(hlo.log)),
		Grad: parts(xlogGrad(Log), func(k ew, dy Value) Value { return k.mul(dy, k.div(k.a(), k.b())) })},
	{Name: Xlog1py, Torch: "special_xlog1py", Method: "Xlog1py", Func: "Xlog1py", Class: Elementwise, Params: binaryParams,
		Doc: "The first operand times the logarithm of one plus the second; zero where the first is.", Example: `tpu.Of(0.0, 2.0).Xlog1py(tpu.Of(0.0, 3.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.Xlog1py, Cost: perElement(14, EUP), Lower: lowerWide(lowerXlogy(hlo.log1p)),
		Grad: parts(xlogGrad(Log1p), func(k ew, dy Value) Value { return k.mul(dy, k.div(k.a(), k.add(k.b(), 1))) })},
	{Name: LogAddExp, Torch: "logaddexp", Method: "LogAddExp", Func: "LogAddExp", Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Logarithm of the sum of the exponentials of two operands.", Example: `tpu.Of(1.0, 2.0).LogAddExp(tpu.Of(3.0, 0.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.LogAddExp, Cost: perElement(24, EUP), Lower: lowerWide(lowerLogAddExp(1)),
		Grad: parts(
			times(func(k ew) Value { return k.op(Sigmoid, k.sub(k.a(), k.b())) }),
			times(func(k ew) Value { return k.op(Sigmoid, k.sub(k.b(), k.a())) }))},
	{Name: LogAddExp2, Torch: "logaddexp2", Method: "LogAddExp2", Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Logarithm to base 2 of the sum of two to the power of each operand.", Example: `tpu.Of(1.0, 2.0).LogAddExp2(tpu.Of(3.0, 0.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.LogAddExp2, Cost: perElement(24, EUP), Lower: lowerWide(lowerLogAddExp(math.Ln2)),
		Grad: parts(
			times(func(k ew) Value { return k.op(Sigmoid, k.mul(k.sub(k.a(), k.b()), math.Ln2)) }),
			times(func(k ew) Value { return k.op(Sigmoid, k.mul(k.sub(k.b(), k.a()), math.Ln2)) }))},
	{Name: Zeta, Torch: "special_zeta", Func: "Zeta", Class: Elementwise, Traits: Composite, Params: binaryParams,
		Doc: "Hurwitz zeta function of order input at other.", Example: `tpu.Zeta(tpu.Of(2.0, 3.0), tpu.Of(1.0, 1.0))`,
		Shape: broadcast, DType: realFloating, Kernel: kernel.Zeta, Cost: perElement(300, EUP), Lower: chlo("zeta"),
		Grad: parts(nil, func(k ew, dy Value) Value {
			return k.mul(dy, k.mul(k.neg(k.a()), k.op(Zeta, k.add(k.a(), 1), k.b())))
		})},
	{Name: Nextafter, Torch: "nextafter", Method: "Nextafter", Class: Elementwise, Params: []Param{tensor("input"), tensor("other")},
		Doc: "The neighbour of each element in the direction of other.", Example: `tpu.Of(1.0, 2.0).Nextafter(tpu.Of(5.0, 0.0))`,
		Shape: broadcast, DType: floatsOnly, Kernel: kernel.Nextafter, Cost: perElement(10, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.chlo("next_after", h.in(0), h.in(1)) }),
		Grad:  parts(func(_ ew, dy Value) Value { return dy }, zeroGrad)},
	{Name: Heaviside, Torch: "heaviside", Method: "Heaviside", Class: Elementwise, Params: []Param{tensor("input"), tensor("values")},
		Doc: "Zero below zero, one above it, and values at it.", Example: `tpu.Of(-1.0, 0.0, 1.0).Heaviside(tpu.Of(0.5))`,
		Shape: broadcast, DType: sameTypes, Kernel: kernel.Heaviside, Cost: perElement(4, VPU), Lower: lower(lowerHeaviside),
		NoGrad: "PyTorch has no derivative for it either"},
	{Name: GCD, Torch: "gcd", Method: "GCD", Class: Elementwise, Traits: Commutative | Composite, Params: binaryParams,
		Doc: "Greatest common divisor of two integers.", Example: `tpu.Of(12, 18).GCD(8)`,
		Shape: broadcast, DType: intsOnly, Kernel: kernel.GCD, Cost: perElement(100, VPU), Lower: lower(hlo.gcd),
		NoGrad: "defined for integers only"},
	{Name: LCM, Torch: "lcm", Method: "LCM", Class: Elementwise, Traits: Commutative | Composite, Params: binaryParams,
		Doc: "Least common multiple of two integers.", Example: `tpu.Of(4, 6).LCM(10)`,
		Shape: broadcast, DType: intsOnly, Kernel: kernel.LCM, Cost: perElement(110, VPU), Lower: lower(lowerLCM),
		NoGrad: "defined for integers only"},
	{Name: BitwiseAnd, Torch: "bitwise_and.Tensor", Method: "BitwiseAnd", InPlace: true, Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Bits set in both operands.", Example: `tpu.Of(12, 10).BitwiseAnd(6)`,
		Shape: broadcast, DType: bitsOnly, Kernel: kernel.BitwiseAnd, Cost: perElement(1, VPU), Lower: binaryHLO("and"), NoGrad: "defined for integers and bools only"},
	{Name: BitwiseOr, Torch: "bitwise_or.Tensor", Method: "BitwiseOr", InPlace: true, Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Bits set in either operand.", Example: `tpu.Of(12, 10).BitwiseOr(6)`,
		Shape: broadcast, DType: bitsOnly, Kernel: kernel.BitwiseOr, Cost: perElement(1, VPU), Lower: binaryHLO("or"), NoGrad: "defined for integers and bools only"},
	{Name: BitwiseXor, Torch: "bitwise_xor.Tensor", Method: "BitwiseXor", InPlace: true, Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: "Bits set in exactly one operand.", Example: `tpu.Of(12, 10).BitwiseXor(6)`,
		Shape: broadcast, DType: bitsOnly, Kernel: kernel.BitwiseXor, Cost: perElement(1, VPU), Lower: binaryHLO("xor"), NoGrad: "defined for integers and bools only"},
	{Name: ShiftLeft, Torch: "bitwise_left_shift.Tensor", Method: "BitwiseLeftShift", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "Bits of the first operand moved up by the second; zero when that is negative or not below the width.", Example: `tpu.Of(1, 3).BitwiseLeftShift(2)`,
		Shape: broadcast, DType: intsOnly, Kernel: kernel.ShiftLeft, Cost: perElement(1, VPU), Lower: lower(lowerShift("shift_left")), NoGrad: "defined for integers only"},
	{Name: ShiftRight, Torch: "bitwise_right_shift.Tensor", Method: "BitwiseRightShift", InPlace: true, Class: Elementwise, Params: binaryParams,
		Doc: "Bits of the first operand moved down by the second; the sign when that is negative or not below the width.", Example: `tpu.Of(8, -8).BitwiseRightShift(2)`,
		Shape: broadcast, DType: intsOnly, Kernel: kernel.ShiftRight, Cost: perElement(1, VPU), Lower: lower(lowerShift("shift_right")), NoGrad: "defined for integers only"},
}

// byZero is the trap of integer divisions, byNegative that of integer powers.
var (
	byZero     = &Trap{In: 1, Bad: func(x int64) bool { return x == 0 }, Why: "integer division by zero"}
	byNegative = &Trap{In: 1, Numbers: true, Bad: func(x int64) bool { return x < 0 }, Why: "integers to a negative integer power"}
)

// scaled is dy times sign·alpha.
func (k ew) scaled(dy Value, sign float64) Value {
	f := sign
	switch v := k.Attrs.Get("alpha").(type) {
	case int:
		f *= float64(v)
	case float64:
		f *= v
	}
	switch f {
	case 1:
		return dy
	case -1:
		return k.neg(dy)
	}
	return k.mul(dy, f)
}

// norm2 is a² + b².
func (k ew) norm2() Value { return k.add(k.square(k.a()), k.square(k.b())) }

// chosen is the part of maximum and minimum for operand i: dy where cmp holds,
// half of it where both operands are equal.
func chosen(cmp Name, i int) part {
	return func(k ew, dy Value) Value {
		if !k.In[i].Spec().DType.IsFloat() {
			return k.zero()
		}
		tie := k.where(k.op(Eq, k.a(), k.b()), k.mul(dy, 0.5), 0.0)
		return k.where(k.op(cmp, k.a(), k.b()), dy, tie)
	}
}

// fchosen is chosen for fmax and fmin, where a number wins against NaN.
func fchosen(cmp Name, i int) part {
	return func(k ew, dy Value) Value {
		first := k.op(LogicalOr, k.op(cmp, k.a(), k.b()), k.op(IsNaN, k.b()))
		tie := k.op(Eq, k.a(), k.b())
		half := k.mul(dy, 0.5)
		if i == 0 {
			return k.where(first, dy, k.where(tie, half, 0.0))
		}
		return k.where(first, 0.0, k.where(tie, half, dy))
	}
}

func powBaseGrad(k ew, dy Value) Value {
	n := k.b()
	if n.Spec().DType == dtype.Bool {
		n = k.Do("to", Attrs{{Name: "dtype", Value: k.y().Spec().DType}}, n)
	}
	d := k.mul(n, k.op(Pow, k.a(), k.sub(n, 1)))
	return k.mul(dy, k.where(k.op(Eq, n, 0.0), 0.0, d))
}

func powExponentGrad(k ew, dy Value) Value {
	zero := k.op(LogicalAnd, k.op(Eq, k.a(), 0.0), k.op(Ge, k.b(), 0.0))
	return k.mul(dy, k.where(zero, 0.0, k.mul(k.y(), k.op(Log, k.a()))))
}

// xlogGrad is the derivative of a·f(b) for a: 0 where a is 0 and b is no logarithm's argument.
func xlogGrad(f Name) part {
	return func(k ew, dy Value) Value {
		l := k.op(f, k.b())
		low := 0.0
		if f == Log1p {
			low = -1
		}
		zero := k.op(LogicalAnd, k.op(Eq, k.a(), 0.0), k.op(Le, k.b(), low))
		return k.mul(dy, k.where(zero, 0.0, l))
	}
}

// divType is floating, but a rounded quotient keeps the type.
func divType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	switch m := a.Str("rounding_mode"); m {
	case "":
		return floating(in, a)
	case "trunc", "floor":
		return modulusType(in, a)
	default:
		return dtype.Invalid, &shape.ArgumentError{Op: string(Div), Arg: "rounding_mode", Value: m, Why: "must be trunc or floor"}
	}
}

// modulusType is numeric without complex numbers.
func modulusType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	t, err := realOnly(in, a)
	if err == nil && t == dtype.Bool {
		err = refuse(t, "a number")
	}
	return t, err
}

// doubleType is F64 whatever the operands are.
func doubleType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if _, err := realOnly(in, a); err != nil {
		return dtype.Invalid, err
	}
	return dtype.F64, nil
}

// sameTypes refuses operands of different types.
func sameTypes(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if in[0].DType != in[1].DType {
		return dtype.Invalid, &dtype.PromotionError{Left: in[0].DType, Right: in[1].DType}
	}
	return in[0].DType, nil
}

// scaled multiplies by attribute alpha.
func (h hlo) scaled(x stablehlo.Value) stablehlo.Value {
	if a := h.c.Attrs.Get("alpha"); a == nil || numberAttr(a) == 1 {
		return x
	}
	return h.mul(x, h.attr("alpha"))
}

// lowerDiv computes narrow floats in f32 only when the quotient is rounded down.
func lowerDiv(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	switch c.Attrs.Str("rounding_mode") {
	case "trunc":
		return lower(func(h hlo) stablehlo.Value {
			q := h.div(h.in(0), h.in(1))
			if h.spec.DType.IsFloat() {
				q = h.trunc(q)
			}
			return q
		})(w, c)
	case "floor":
		return lowerWide(hlo.floorDiv)(w, c)
	}
	return binaryHLO("divide")(w, c)
}

// floorMod is the remainder with the sign of the divisor.
func (h hlo) floorMod() stablehlo.Value {
	x, y := h.in(0), h.in(1)
	r := h.do("remainder", x, y)
	if h.spec.DType.Kind() == dtype.KindUint {
		return r
	}
	zero := h.num(0)
	differ := h.Compare("NE", h.Compare("LT", r, zero), h.Compare("LT", y, zero))
	fix := h.and(h.Compare("NE", r, zero), differ)
	if !h.spec.DType.IsFloat() { // x % 0 is x
		fix = h.and(fix, h.Compare("NE", y, zero))
	}
	return h.Select(fix, h.add(r, y), r)
}

// floorDiv is the quotient rounded down, from the remainder.
func (h hlo) floorDiv() stablehlo.Value {
	x, y := h.in(0), h.in(1)
	zero := h.num(0)
	switch {
	case h.spec.DType.Kind() == dtype.KindUint:
		return h.div(x, y)
	case !h.spec.DType.IsFloat():
		q := h.div(x, y)
		r := h.do("remainder", x, y)
		differ := h.Compare("NE", h.Compare("LT", x, zero), h.Compare("LT", y, zero))
		fix := h.and(h.and(h.Compare("NE", r, zero), differ), h.Compare("NE", y, zero))
		return h.Select(fix, h.sub(q, h.num(1)), q)
	}
	r := h.do("remainder", x, y)
	q := h.div(h.sub(x, r), y)
	differ := h.Compare("NE", h.Compare("LT", r, zero), h.Compare("LT", y, zero))
	q = h.Select(h.and(h.Compare("NE", r, zero), differ), h.sub(q, h.num(1)), q)
	q = h.do("round_nearest_even", q)
	return h.Select(h.Compare("EQ", y, zero), h.div(x, y), q)
}

func lowerFMax(name string) func(h hlo) stablehlo.Value {
	return func(h hlo) stablehlo.Value {
		x, y := h.in(0), h.in(1)
		m := h.do(name, x, y)
		if !h.spec.DType.IsFloat() {
			return m
		}
		m = h.Select(h.Compare("NE", x, x), y, m)
		return h.Select(h.Compare("NE", y, y), x, m)
	}
}

func lowerHypot(h hlo) stablehlo.Value {
	x, y := h.abs(h.in(0)), h.abs(h.in(1))
	hi, lo := h.max(x, y), h.min(x, y)
	r := h.div(lo, hi)
	n := h.mul(hi, h.do("sqrt", h.add(h.num(1), h.mul(r, r))))
	n = h.Select(h.Compare("EQ", hi, h.num(0)), h.num(0), n)
	inf := h.or(h.isInf(x, 1), h.isInf(y, 1))
	return h.Select(inf, h.num(math.Inf(1)), n)
}

func lowerCopysign(h hlo) stablehlo.Value {
	x, y := h.abs(h.in(0)), h.in(1)
	s := hlo{h.Writer, &LowerCall{In: []stablehlo.Value{y}, Out: h.c.Out}, h.spec}
	return h.Select(lowerSignBit(s), h.neg(x), x)
}

func lowerXlogy(f func(h hlo, x stablehlo.Value) stablehlo.Value) func(h hlo) stablehlo.Value {
	return func(h hlo) stablehlo.Value {
		x, y := h.in(0), h.in(1)
		v := h.Select(h.Compare("EQ", x, h.num(0)), h.num(0), h.mul(x, f(h, y)))
		return h.Select(h.Compare("NE", y, y), y, v)
	}
}

func lowerLogAddExp(base float64) func(h hlo) stablehlo.Value {
	return func(h hlo) stablehlo.Value {
		x, y := h.in(0), h.in(1)
		d := h.neg(h.abs(h.sub(x, y)))
		var tail stablehlo.Value
		if base == 1 {
			tail = h.log1p(h.exp(d))
		} else {
			tail = h.div(h.log1p(h.exp(h.mul(d, h.num(base)))), h.num(base))
		}
		same := h.and(h.Compare("EQ", x, y), h.isInf(h.abs(x), 1))
		return h.Select(same, x, h.add(h.max(x, y), tail))
	}
}

func lowerHeaviside(h hlo) stablehlo.Value {
	x, v := h.in(0), h.in(1)
	r := h.Select(h.Compare("LT", x, h.num(0)), h.num(0), h.num(1))
	r = h.Select(h.Compare("EQ", x, h.num(0)), v, r)
	if h.spec.DType.IsFloat() {
		r = h.Select(h.Compare("NE", x, x), x, r)
	}
	return r
}

// magnitude is |x| of an integer.
func (h hlo) magnitude(x stablehlo.Value) stablehlo.Value {
	if h.spec.DType.Kind() == dtype.KindUint {
		return x
	}
	return h.abs(x)
}

// gcd is Euclid's loop over whole arrays.
func (h hlo) gcd() stablehlo.Value {
	x, y := h.magnitude(h.in(0)), h.magnitude(h.in(1))
	r := h.While([]stablehlo.Value{x, y},
		func(w *stablehlo.Writer, v []stablehlo.Value) stablehlo.Value {
			ne := w.Compare("NE", v[1], w.Splat(v[1].Spec, 0))
			axes := make([]int, len(ne.Spec.Dims))
			for i := range axes {
				axes[i] = i
			}
			return w.Reduce("or", ne, axes, 0)
		},
		func(w *stablehlo.Writer, v []stablehlo.Value) []stablehlo.Value {
			zero := w.Compare("EQ", v[1], w.Splat(v[1].Spec, 0))
			by := w.Select(zero, w.Splat(v[1].Spec, 1), v[1])
			return []stablehlo.Value{w.Select(zero, v[0], v[1]), w.Select(zero, v[1], w.Do("remainder", v[0].Spec, "", v[0], by))}
		})
	return r[0]
}

func lowerLCM(h hlo) stablehlo.Value {
	x, y := h.magnitude(h.in(0)), h.magnitude(h.in(1))
	g := h.gcd()
	none := h.Compare("EQ", g, h.num(0))
	by := h.Select(none, h.num(1), g)
	return h.mul(h.div(x, by), y)
}

// lowerShift fixes counts that are negative or not below the width.
func lowerShift(name string) func(h hlo) stablehlo.Value {
	return func(h hlo) stablehlo.Value {
		x, n := h.in(0), h.in(1)
		width := float64(h.spec.DType.Bits())
		bad := h.or(h.Compare("LT", n, h.num(0)), h.Compare("GE", n, h.num(width)))
		if name == "shift_left" {
			return h.Select(bad, h.num(0), h.do("shift_left", x, h.Select(bad, h.num(0), n)))
		}
		if h.spec.DType.Kind() == dtype.KindUint {
			return h.Select(bad, h.num(0), h.do("shift_right_logical", x, h.Select(bad, h.num(0), n)))
		}
		return h.do("shift_right_arithmetic", x, h.Select(bad, h.num(width-1), n))
	}
}

// lowerPow takes an integer to a negative power as the truncated quotient
// 1/base^-n: 1 and -1 stay themselves up to the sign, others become 0. A bool
// to the power of false is true.
func lowerPow(h hlo) stablehlo.Value {
	x, n := h.in(0), h.in(1)
	if h.spec.DType == dtype.Bool {
		return h.or(x, h.not(n))
	}
	if h.spec.DType.Kind() != dtype.KindInt {
		return h.do("power", x, n)
	}
	one, zero := h.num(1), h.num(0)
	odd := h.Compare("NE", h.and(n, one), zero)
	unit := h.Select(h.Compare("EQ", x, one), one,
		h.Select(h.Compare("EQ", x, h.num(-1)), h.Select(odd, h.num(-1), one), zero))
	return h.Select(h.Compare("LT", n, zero), unit, h.do("power", x, h.max(n, zero)))
}
