package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Activation functions.
const (
	ReLU        Name = "relu"
	ReLU6       Name = "relu6"
	GELU        Name = "gelu"
	GELUBack    Name = "gelu_backward"
	SiLU        Name = "silu"
	Sigmoid     Name = "sigmoid"
	Hardsigmoid Name = "hardsigmoid"
	Hardswish   Name = "hardswish"
	Hardtanh    Name = "hardtanh"
	ELU         Name = "elu"
	SELU        Name = "selu"
	CELU        Name = "celu"
	LeakyReLU   Name = "leaky_relu"
	LogSigmoid  Name = "log_sigmoid"
	Softplus    Name = "softplus"
	Softsign    Name = "softsign"
	Hardshrink  Name = "hardshrink"
	Softshrink  Name = "softshrink"
	Tanhshrink  Name = "tanhshrink"
	Threshold   Name = "threshold"
	Mish        Name = "mish"
	PReLU       Name = "prelu"
	GLU         Name = "glu"
)

// number declares an optional float attribute whose value does not change the program.
func number(name string, def float64, doc string) Param {
	return Param{Name: name, Kind: KFloat, Default: def, Dynamic: true, Doc: doc}
}

var activationOps = []Def{
	{Name: ReLU, Torch: "relu", Method: "ReLU", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Elements above zero, and zero for the others.", Example: `tpu.Of(-1.0, 2.0).ReLU()`,
		Shape: likeInput, DType: modulusType, Kernel: kernel.ReLU, Cost: perElement(1, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.max(h.in(0), h.num(0)) }),
		Grad:  parts(func(k ew, dy Value) Value { return k.masked(k.op(Gt, k.y(), 0.0), dy) })},
	{Name: ReLU6, Torch: "relu6", Method: "ReLU6", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "Elements limited to the range from 0 to 6.", Example: `tpu.Of(-1.0, 2.0, 9.0).ReLU6()`,
		Shape: likeInput, DType: modulusType, Kernel: kernel.ReLU6, Cost: perElement(2, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.min(h.max(h.in(0), h.num(0)), h.num(6)) }),
		Grad:  parts(func(k ew, dy Value) Value { return k.inside(0, 6, dy) })},
	{Name: GELU, Torch: "gelu", Method: "GELU", Class: Elementwise,
		Params: []Param{tensor("input"), approximateParam()},
		Doc:    "Each element times the probability that a standard normal is below it.", Example: `tpu.Of(-1.0, 2.0).GELU()`,
		Shape: likeInput, DType: geluType, Kernel: kernel.GELU, Cost: perElement(34, EUP), Lower: lowerWide(lowerGELU),
		Grad: parts(func(k ew, dy Value) Value { return k.Do(GELUBack, k.Attrs, dy, k.a()) })},
	{Name: GELUBack, Torch: "gelu_backward", Class: Elementwise, Params: []Param{tensor("grad_output"), tensor("self"), approximateParam()},
		Doc:   "Gradient of gelu: that of the result times the derivative.",
		Shape: broadcast, DType: geluType, Kernel: kernel.GELUBackward, Cost: perElement(40, EUP), Lower: lowerWide(lowerGELUBack),
		Grad: parts(
			func(k ew, dy Value) Value { return k.Do(GELUBack, k.Attrs, dy, k.b()) },
			func(k ew, dy Value) Value { return k.mul(k.mul(dy, k.a()), k.geluCurvature(k.b())) })},
	activation(SiLU, "SiLU", "Each element times its sigmoid.", kernel.SiLU, 14,
		func(h hlo) stablehlo.Value { return h.mul(h.in(0), h.do("logistic", h.in(0))) },
		func(k ew) Value {
			s := k.op(Sigmoid, k.a())
			return k.mul(s, k.add(k.mul(k.a(), k.sub(1, s)), 1))
		}),
	{Name: Sigmoid, Torch: "sigmoid", Method: "Sigmoid", InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: "One divided by one plus e to minus each element.", Example: `tpu.Of(-1.0, 2.0).Sigmoid()`,
		Shape: likeInput, DType: floating, Kernel: kernel.Sigmoid, Cost: perElement(12, EUP), Lower: unaryHLO("logistic"),
		Grad: parts(times(func(k ew) Value { return k.mul(k.y(), k.sub(1, k.y())) }))},
	activation(Hardsigmoid, "Hardsigmoid", "Piecewise linear sigmoid: zero below -3, one above 3.", kernel.Hardsigmoid, 4,
		func(h hlo) stablehlo.Value { return h.div(h.ramp(), h.num(6)) },
		func(k ew) Value { return k.inside(-3, 3, float64(float32(1./6))) }), // PyTorch has this constant in f32
	activation(Hardswish, "Hardswish", "Each element times its piecewise linear sigmoid.", kernel.Hardswish, 5,
		func(h hlo) stablehlo.Value { return h.div(h.mul(h.in(0), h.ramp()), h.num(6)) },
		func(k ew) Value {
			mid := k.add(k.mul(k.a(), 1./3), 0.5)
			return k.where(k.op(Ge, k.a(), 3.0), 1.0, k.where(k.op(Le, k.a(), -3.0), 0.0, mid))
		}),
	{Name: Hardtanh, Torch: "hardtanh", Method: "Hardtanh", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"), number("min_val", -1, "lower bound"), number("max_val", 1, "upper bound")},
		Doc:    "Elements limited to the range from min_val to max_val.", Example: `tpu.Of(-2.0, 0.5, 2.0).Hardtanh()`,
		Shape: likeInput, DType: signedType, Kernel: kernel.Hardtanh, Cost: perElement(2, VPU),
		Lower: lower(func(h hlo) stablehlo.Value { return h.min(h.max(h.in(0), h.attr("min_val")), h.attr("max_val")) }),
		Grad:  parts(func(k ew, dy Value) Value { return k.inside(k.num("min_val"), k.num("max_val"), dy) })},
	{Name: ELU, Torch: "elu", Method: "ELU", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"), number("alpha", 1, "minus the limit far below zero")},
		Doc:    "Elements above zero as they are, alpha times e to the power of the others minus one.", Example: `tpu.Of(-1.0, 2.0).ELU()`,
		Shape: likeInput, DType: floatsOnly, Kernel: kernel.ELU, Cost: perElement(12, EUP),
		Lower: lowerWide(func(h hlo) stablehlo.Value {
			return h.positiveOr(h.mul(h.attr("alpha"), h.do("exponential_minus_one", h.in(0))))
		}),
		Grad: parts(times(func(k ew) Value { return k.notNegativeOr(1.0, k.add(k.y(), k.num("alpha"))) }))},
	activation(SELU, "SELU", "Scaled exponential unit that keeps mean and variance.", kernel.SELU, 13,
		func(h hlo) stablehlo.Value {
			return h.mul(h.num(seluScale), h.positiveOr(h.mul(h.num(seluAlpha), h.do("exponential_minus_one", h.in(0)))))
		},
		func(k ew) Value { return k.notNegativeOr(seluScale, k.add(k.y(), seluScale*seluAlpha)) }),
	{Name: CELU, Torch: "celu", Method: "CELU", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"), number("alpha", 1, "minus the limit far below zero")},
		Doc:    "Elements above zero as they are, a smooth curve down to minus alpha for the others.", Example: `tpu.Of(-1.0, 2.0).CELU()`,
		Shape: likeInput, DType: floatsOnly, Kernel: kernel.CELU, Cost: perElement(13, EUP),
		Lower: lowerWide(func(h hlo) stablehlo.Value {
			return h.positiveOr(h.mul(h.attr("alpha"), h.do("exponential_minus_one", h.div(h.in(0), h.attr("alpha")))))
		}),
		Grad: parts(times(func(k ew) Value { return k.notNegativeOr(1.0, k.add(k.mul(k.y(), 1/k.num("alpha")), 1)) }))},
	{Name: LeakyReLU, Torch: "leaky_relu", Method: "LeakyReLU", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"), number("negative_slope", 0.01, "factor of elements that are not above zero")},
		Doc:    "Elements above zero as they are, the others times negative_slope.", Example: `tpu.Of(-1.0, 2.0).LeakyReLU()`,
		Shape: likeInput, DType: floatsOnly, Kernel: kernel.LeakyReLU, Cost: perElement(2, VPU),
		Lower: lowerWide(func(h hlo) stablehlo.Value { return h.positiveOr(h.mul(h.attr("negative_slope"), h.in(0))) }),
		Grad:  parts(func(k ew, dy Value) Value { return k.positiveOr(dy, k.mul(dy, k.num("negative_slope"))) })},
	activation(LogSigmoid, "LogSigmoid", "Logarithm of the sigmoid, without underflow.", kernel.LogSigmoid, 24,
		func(h hlo) stablehlo.Value {
			x := h.in(0)
			return h.sub(h.min(x, h.num(0)), h.log1p(h.exp(h.neg(h.abs(x)))))
		},
		func(k ew) Value { return k.op(Sigmoid, k.neg(k.a())) }),
	{Name: Softplus, Torch: "softplus", Method: "Softplus", Class: Elementwise,
		Params: []Param{tensor("input"), number("beta", 1, "steepness"), number("threshold", 20, "where beta times an element is above it, the element itself is taken")},
		Doc:    "Logarithm of one plus the exponential, a smooth relu.", Example: `tpu.Of(-1.0, 2.0).Softplus()`,
		Shape: likeInput, DType: floatsOnly, Kernel: kernel.Softplus, Cost: perElement(24, EUP), Lower: lowerWide(lowerSoftplus),
		Grad: parts(times(func(k ew) Value {
			bx := k.mul(k.a(), k.num("beta"))
			return k.where(k.op(Gt, bx, k.num("threshold")), 1.0, k.op(Sigmoid, bx))
		}))},
	{Name: Softsign, Torch: "softsign", Method: "Softsign", Class: Elementwise, Params: unaryParams,
		Doc: "Each element divided by one plus its magnitude.", Example: `tpu.Of(-1.0, 2.0).Softsign()`,
		Shape: likeInput, DType: realFloating, Kernel: kernel.Softsign, Cost: perElement(6, VPU),
		Lower: lowerWide(func(h hlo) stablehlo.Value { return h.div(h.in(0), h.add(h.abs(h.in(0)), h.num(1))) }),
		Grad: parts(times(func(k ew) Value {
			d := k.op(Reciprocal, k.square(k.add(k.op(Abs, k.a()), 1)))
			return k.add(d, k.sub(k.a(), k.a())) // NaN at infinity, as the quotient rule has it
		}))},
	{Name: Hardshrink, Torch: "hardshrink", Method: "Hardshrink", Class: Elementwise,
		Params: []Param{tensor("input"), number("lambd", 0.5, "half the width of the range that becomes zero")},
		Doc:    "Elements beyond plus or minus lambd as they are, zero for the others.", Example: `tpu.Of(-1.0, 0.2).Hardshrink()`,
		Shape: likeInput, DType: floatsOnly, Kernel: kernel.Hardshrink, Cost: perElement(3, VPU),
		Lower: lower(func(h hlo) stablehlo.Value {
			return h.Select(h.Compare("LE", h.abs(h.in(0)), h.attr("lambd")), h.num(0), h.in(0))
		}),
		Grad: parts(shrinkGrad)},
	{Name: Softshrink, Torch: "softshrink", Method: "Softshrink", Class: Elementwise,
		Params: []Param{tensor("input"), number("lambd", 0.5, "how far elements are moved toward zero")},
		Doc:    "Elements moved toward zero by lambd, stopping at zero.", Example: `tpu.Of(-1.0, 0.2).Softshrink()`,
		Shape: likeInput, DType: softshrinkType, Kernel: kernel.Softshrink, Cost: perElement(5, VPU), Lower: lowerWide(lowerSoftshrink), Grad: parts(shrinkGrad)},
	activation(Tanhshrink, "Tanhshrink", "Each element minus its hyperbolic tangent.", kernel.Tanhshrink, 16,
		func(h hlo) stablehlo.Value { return h.sub(h.in(0), h.do("tanh", h.in(0))) },
		func(k ew) Value { return k.square(k.op(Tanh, k.a())) }).typed(realFloating),
	{Name: Threshold, Torch: "threshold", Method: "Threshold", InPlace: true, Class: Elementwise,
		Params: []Param{tensor("input"), {Name: "threshold", Kind: KFloat, Dynamic: true, Doc: "elements above it stay"}, {Name: "value", Kind: KFloat, Dynamic: true, Doc: "what the others become"}},
		Doc:    "Elements above threshold as they are, value for the others.", Example: `tpu.Of(-1.0, 2.0).Threshold(0.5, 0)`,
		Shape: likeInput, DType: modulusType, Kernel: kernel.Threshold, Cost: perElement(2, VPU),
		Lower: lower(func(h hlo) stablehlo.Value {
			return h.Select(h.Compare("LE", h.in(0), h.attr("threshold")), h.attr("value"), h.in(0))
		}),
		Grad: parts(func(k ew, dy Value) Value { return k.where(k.op(Le, k.a(), k.num("threshold")), 0.0, dy) })},
	activation(Mish, "Mish", "Each element times the hyperbolic tangent of its softplus.", kernel.Mish, 40,
		func(h hlo) stablehlo.Value {
			x := h.in(0)
			sp := h.add(h.max(x, h.num(0)), h.log1p(h.exp(h.neg(h.abs(x)))))
			return h.mul(x, h.do("tanh", sp))
		},
		func(k ew) Value {
			t := k.op(Tanh, k.Do(Softplus, nil, k.a()))
			return k.add(t, k.mul(k.mul(k.a(), k.sub(1, k.square(t))), k.op(Sigmoid, k.a())))
		}),
	{Name: PReLU, Torch: "prelu", Method: "PReLU", Class: Elementwise, Params: []Param{tensor("input"), tensor("weight")},
		Doc: "Elements above zero as they are, the others times the weight of their channel.", Example: `tpu.Of(-1.0, 2.0).PReLU(tpu.Of(0.25))`,
		Shape: preluShape, DType: preluType, Kernel: kernel.PReLU, Cost: perElement(2, VPU), Lower: lowerPReLU, Grad: preluGrad},
	{Name: GLU, Torch: "glu", Method: "GLU", Class: Elementwise,
		Params: []Param{tensor("input"), {Name: "dim", Kind: KInt, Default: -1, Doc: "axis that is halved"}},
		Doc:    "First half of the input times the sigmoid of the second.", Example: `tpu.Of(1.0, 2.0, 3.0, 4.0).GLU()`,
		Shape: gluShape, DType: floatsOnly, Kernel: kernel.GLU, Cost: perElement(14, EUP), Lower: lowerGLU, Grad: gluGrad},
}

// activation makes a row without attributes for floats only.
func activation(n Name, method, doc string, k kernel.Func, cost int64, low func(h hlo) stablehlo.Value, d func(k ew) Value) Def {
	u := VPU
	if cost > 10 {
		u = EUP
	}
	return Def{Name: n, Torch: string(n), Method: method, InPlace: true, Class: Elementwise, Params: unaryParams,
		Doc: doc, Example: `tpu.Of(-1.0, 2.0).` + method + `()`,
		Shape: likeInput, DType: floatsOnly, Kernel: k, Cost: perElement(cost, u), Lower: lowerWide(low), Grad: parts(times(d))}
}

// typed is the row with another rule for the element type.
func (d Def) typed(rule func(in []shape.Spec, a Attrs) (dtype.DType, error)) Def {
	d.DType = rule
	return d
}

// The constants of SELU.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

// inside is v where lo < x < hi, 0 elsewhere.
func (k ew) inside(lo, hi float64, v any) Value {
	return k.where(k.op(LogicalAnd, k.op(Gt, k.a(), lo), k.op(Lt, k.a(), hi)), v, 0.0)
}

// positiveOr is x where the input is above zero, y elsewhere.
func (k ew) positiveOr(x, y any) Value { return k.where(k.op(Gt, k.a(), 0.0), x, y) }

// notNegativeOr is y where the input is zero or less, x elsewhere, so at NaN too.
func (k ew) notNegativeOr(x, y any) Value { return k.where(k.op(Le, k.a(), 0.0), y, x) }

func shrinkGrad(k ew, dy Value) Value {
	return k.where(k.op(Le, k.op(Abs, k.a()), k.num("lambd")), 0.0, dy)
}

// approximateParam chooses between GELU and its approximation by tanh.
func approximateParam() Param {
	return Param{Name: "approximate", Kind: KString, Default: "none", Doc: "none, or tanh for the approximation by tanh"}
}

// geluCurvature is the second derivative of gelu: (2 − x²)·φ(x), or with t the
// tanh of u = √(2/π)·(x + 0.044715·x³) (1 − t²)·(u′ + x/2·(u″ − 2·t·u′²)).
func (k ew) geluCurvature(x Value) Value {
	x2 := k.square(x)
	if k.Attrs.Str("approximate") != "tanh" {
		return k.mul(k.sub(2, x2), k.bell(x))
	}
	c := math.Sqrt(2 / math.Pi)
	t := k.op(Tanh, k.mul(k.mul(x, c), k.add(k.mul(x2, 0.044715), 1)))
	du := k.mul(k.add(k.mul(x2, 3*0.044715), 1), c)
	bend := k.sub(k.mul(x, 6*0.044715*c), k.mul(k.mul(t, 2), k.square(du)))
	return k.mul(k.sub(1, k.square(t)), k.add(du, k.mul(k.mul(x, 0.5), bend)))
}

func geluType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	switch m := a.Str("approximate"); m {
	case "none", "tanh", "":
		return floatsOnly(in, a)
	default:
		return dtype.Invalid, &shape.ArgumentError{Op: string(GELU), Arg: "approximate", Value: m, Why: "must be none or tanh"}
	}
}

// signedType refuses bools and unsigned integers, whose bounds cannot be negative.
func signedType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	t, err := modulusType(in, a)
	if err == nil && t.Kind() == dtype.KindUint {
		err = refuse(t, "a signed type")
	}
	return t, err
}

func softshrinkType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if l := a.Float("lambd"); l < 0 {
		return dtype.Invalid, &shape.ArgumentError{Op: string(Softshrink), Arg: "lambd", Value: l, Why: "must not be negative"}
	}
	return floatsOnly(in, a)
}

// preluShape checks that there is one weight, or one for each channel (axis 1).
func preluShape(in []shape.Spec, _ Attrs) ([]int, error) {
	x, w := in[0], in[1]
	channels := 1
	if x.Rank() >= 2 {
		channels = x.Dims[1]
	}
	if w.Rank() > 1 || w.Size() != 1 && w.Size() != channels {
		return nil, &shape.MismatchError{Op: string(PReLU), Left: x, Right: w, Axis: 1, Why: "one weight, or one for each channel, is wanted"}
	}
	return x.Dims, nil
}

func preluType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[0].DType != in[1].DType {
		return dtype.Invalid, &dtype.PromotionError{Left: in[0].DType, Right: in[1].DType}
	}
	return floatsOnly(in[:1], a)
}

// perChannel gives the dimensions in which a weight meets its channel.
func perChannel(x, w shape.Spec) []int {
	dims := make([]int, x.Rank())
	for i := range dims {
		dims[i] = 1
	}
	if w.Size() > 1 {
		dims[1] = w.Dims[0]
	}
	return dims
}

func preluGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 2)
	if dy[0] == nil {
		return out
	}
	k := ew{b, c}
	xs, ws := c.In[0].Spec(), c.In[1].Spec()
	if c.Needs[0] {
		w := b.Do("reshape", Attrs{{Name: "shape", Value: perChannel(xs, ws)}}, c.In[1])
		out[0] = k.positiveOr(dy[0], k.mul(dy[0], w))
	}
	if c.Needs[1] {
		dw := k.positiveOr(0.0, k.mul(dy[0], k.a()))
		dw = b.Do("sum_to_size", Attrs{{Name: "size", Value: perChannel(xs, ws)}}, dw)
		out[1] = b.Do("reshape", Attrs{{Name: "shape", Value: ws.Dims}}, dw)
	}
	return out
}

func lowerPReLU(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := hlo{w, c, like1(c.Out[0])}
	weight := h.BroadcastTo(h.Reshape(c.In[1], perChannel(c.In[0].Spec, c.In[1].Spec)), h.spec.Dims)
	return []stablehlo.Value{h.positiveOr(h.mul(weight, h.in(0)))}
}

// gluShape halves an axis.
func gluShape(in []shape.Spec, a Attrs) ([]int, error) {
	axis, err := shape.Axis(string(GLU), a.Int("dim"), in[0].Rank())
	if err != nil {
		return nil, err
	}
	if in[0].Rank() == 0 || in[0].Dims[axis]%2 != 0 {
		return nil, &shape.ArgumentError{Op: string(GLU), Arg: "input", Value: in[0], Why: "the halved axis must have an even size"}
	}
	dims := append([]int(nil), in[0].Dims...)
	dims[axis] /= 2
	return dims, nil
}

func gluGrad(b Builder, c *Call, dy []Value) []Value {
	if dy[0] == nil {
		return []Value{nil}
	}
	k := ew{b, c}
	axis := c.Attrs.Int("dim")
	if axis < 0 {
		axis += len(c.In[0].Spec().Dims)
	}
	n := c.Out[0].Spec().Dims[axis]
	half := func(start int) Value {
		return b.Do("narrow", Attrs{{Name: "dim", Value: axis}, {Name: "start", Value: start}, {Name: "length", Value: n}}, c.In[0])
	}
	x, s := half(0), k.op(Sigmoid, half(n))
	da := k.mul(dy[0], s)
	db := k.mul(k.mul(da, x), k.sub(1, s))
	return []Value{b.Do("cat", Attrs{{Name: "dim", Value: axis}}, da, db)}
}

func lowerGLU(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := hlo{w, c, like1(c.Out[0])}
	axis := c.Attrs.Int("dim")
	if axis < 0 {
		axis += len(h.spec.Dims)
	}
	half := func(k int) stablehlo.Value {
		start, limit, stride := make([]int, len(h.spec.Dims)), append([]int(nil), h.spec.Dims...), make([]int, len(h.spec.Dims))
		for i := range stride {
			stride[i] = 1
		}
		start[axis], limit[axis] = k*h.spec.Dims[axis], (k+1)*h.spec.Dims[axis]
		return w.Do("slice", h.spec, "start_indices = "+stablehlo.I64s(start)+", limit_indices = "+stablehlo.I64s(limit)+", strides = "+stablehlo.I64s(stride), c.In[0])
	}
	return []stablehlo.Value{h.mul(half(0), h.do("logistic", half(1)))}
}

// ramp is min(max(x+3, 0), 6).
func (h hlo) ramp() stablehlo.Value {
	return h.min(h.max(h.add(h.in(0), h.num(3)), h.num(0)), h.num(6))
}

// positiveOr is x where it is above zero, y elsewhere.
func (h hlo) positiveOr(y stablehlo.Value) stablehlo.Value {
	return h.Select(h.Compare("GT", h.in(0), h.num(0)), h.in(0), y)
}

func lowerGELU(h hlo) stablehlo.Value {
	x := h.in(0)
	if h.c.Attrs.Str("approximate") != "tanh" {
		return h.mul(x, lowerNdtr(h))
	}
	x3 := h.mul(h.mul(x, x), x)
	u := h.mul(h.num(math.Sqrt(2/math.Pi)), h.add(x, h.mul(h.num(0.044715), x3)))
	return h.mul(h.mul(x, h.num(0.5)), h.add(h.num(1), h.do("tanh", u)))
}

// lowerGELUBack is the gradient times Φ(x) + x·φ(x), or of the approximation
// x·s, s the sigmoid of u, times s + x·s·(1 − s)·u′.
func lowerGELUBack(h hlo) stablehlo.Value {
	dy, x := h.in(0), h.in(1)
	x2 := h.mul(x, x)
	if h.c.Attrs.Str("approximate") != "tanh" {
		bell := h.mul(h.exp(h.mul(x2, h.num(-0.5))), h.num(1/math.Sqrt(2*math.Pi)))
		return h.mul(dy, h.add(h.phi(x), h.mul(x, bell)))
	}
	c := 2 * math.Sqrt(2/math.Pi)
	s := h.do("logistic", h.mul(h.mul(x, h.num(c)), h.add(h.mul(x2, h.num(0.044715)), h.num(1))))
	du := h.mul(h.add(h.mul(x2, h.num(3*0.044715)), h.num(1)), h.num(c))
	return h.mul(dy, h.add(s, h.mul(h.mul(h.mul(x, s), h.sub(h.num(1), s)), du)))
}

func lowerSoftplus(h hlo) stablehlo.Value {
	x := h.in(0)
	bx := h.mul(x, h.attr("beta"))
	y := h.div(h.log1p(h.exp(bx)), h.attr("beta"))
	return h.Select(h.Compare("GT", bx, h.attr("threshold")), x, y)
}

func lowerSoftshrink(h hlo) stablehlo.Value {
	x, l := h.in(0), h.attr("lambd")
	y := h.Select(h.Compare("GT", x, l), h.sub(x, l), h.Select(h.Compare("LT", x, h.neg(l)), h.add(x, l), h.num(0)))
	return h.Select(h.Compare("NE", x, x), x, y)
}
