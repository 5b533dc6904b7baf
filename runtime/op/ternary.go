package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Operations of three operands, and bounds.
const (
	Where          Name = "where"
	Clamp          Name = "clamp"
	ClampTensor    Name = "clamp.Tensor"
	ClampMin       Name = "clamp_min"
	ClampMinTensor Name = "clamp_min.Tensor"
	ClampMax       Name = "clamp_max"
	ClampMaxTensor Name = "clamp_max.Tensor"
	Lerp           Name = "lerp"
	Addcmul        Name = "addcmul"
	Addcdiv        Name = "addcdiv"
	MaskedFill     Name = "masked_fill"
)

// lowest and highest are the bounds that bind nothing.
var (
	lowest  = Param{Name: "min", Kind: KNumber, Default: math.Inf(-1), Dynamic: true, Doc: "lower bound"}
	highest = Param{Name: "max", Kind: KNumber, Default: math.Inf(1), Dynamic: true, Doc: "upper bound"}
)

// factor is the value of addcmul and addcdiv.
var factor = Param{Name: "value", Kind: KNumber, Default: 1, Dynamic: true, Doc: "factor of the second term"}

var ternaryOps = []Def{
	{Name: Where, Torch: "where.self", Func: "Where", Class: Elementwise, Params: []Param{tensor("condition"), operand("input"), operand("other")},
		Doc: "Elements of input where condition is true, of other elsewhere.", Example: `tpu.Where(tpu.Of(1.0, -1.0).Gt(0), tpu.Of(1.0, 2.0), 0)`,
		Shape: broadcast, DType: whereType, Kernel: kernel.Where, Cost: perElement(1, VPU), Lower: lowerWhere,
		Grad: parts(nil,
			func(k ew, dy Value) Value { return k.where(k.a(), dy, 0.0) },
			func(k ew, dy Value) Value { return k.where(k.a(), 0.0, dy) })},
	{Name: Clamp, Torch: "clamp", Method: "Clamp", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), lowest, highest},
		Doc: "Elements limited to the range from min to max.", Example: `tpu.Of(-2.0, 0.5, 2.0).Clamp(tpu.ClampOptions{Min: 0.0, Max: 1.0})`,
		Shape: likeInput, DType: clampType, Kernel: kernel.Clamp, Cost: perElement(2, VPU), Lower: lower(lowerClamp), Grad: parts(clampGrad)},
	{Name: ClampMin, Torch: "clamp_min", Method: "ClampMin", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), required(lowest)},
		Doc: "Elements limited from below.", Example: `tpu.Of(-2.0, 0.5).ClampMin(0.0)`,
		Shape: likeInput, DType: clampType, Kernel: kernel.Clamp, Cost: perElement(1, VPU), Lower: lower(lowerClamp), Grad: parts(clampGrad)},
	{Name: ClampMax, Torch: "clamp_max", Method: "ClampMax", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), required(highest)},
		Doc: "Elements limited from above.", Example: `tpu.Of(-2.0, 0.5).ClampMax(0.0)`,
		Shape: likeInput, DType: clampType, Kernel: kernel.Clamp, Cost: perElement(1, VPU), Lower: lower(lowerClamp), Grad: parts(clampGrad)},
	{Name: ClampTensor, Torch: "clamp.Tensor", Method: "ClampTo", Class: Elementwise,
		Params: []Param{tensor("input"), {Name: "min", Kind: KOptTensor, Doc: "lower bounds"}, {Name: "max", Kind: KOptTensor, Doc: "upper bounds"}},
		Doc:    "Elements limited to ranges given element by element.", Example: `tpu.Of(-2.0, 2.0).ClampTo(tpu.ClampToOptions{Min: tpu.Of(0.0, 0.0), Max: tpu.Of(1.0, 3.0)})`,
		Shape: broadcast, DType: boundsType, Kernel: kernel.ClampBy, Cost: perElement(2, VPU), Lower: lower(lowerClampBy),
		Grad: parts(clampByGrad(0), clampByGrad(1), clampByGrad(2))},
	{Name: ClampMinTensor, Torch: "clamp_min.Tensor", Method: "ClampMinTo", Class: Elementwise, Params: []Param{tensor("input"), tensor("min")},
		Doc: "Elements limited from below, element by element.", Example: `tpu.Of(-2.0, 2.0).ClampMinTo(tpu.Of(0.0, 3.0))`,
		Shape: broadcast, DType: realOnly, Kernel: kernel.Maximum, Cost: perElement(1, VPU), Lower: binaryHLO("maximum"),
		Grad: parts(chosen(Gt, 0), chosen(Lt, 1))},
	{Name: ClampMaxTensor, Torch: "clamp_max.Tensor", Method: "ClampMaxTo", Class: Elementwise, Params: []Param{tensor("input"), tensor("max")},
		Doc: "Elements limited from above, element by element.", Example: `tpu.Of(-2.0, 2.0).ClampMaxTo(tpu.Of(0.0, 3.0))`,
		Shape: broadcast, DType: realOnly, Kernel: kernel.Minimum, Cost: perElement(1, VPU), Lower: binaryHLO("minimum"),
		Grad: parts(chosen(Lt, 0), chosen(Gt, 1))},
	{Name: Lerp, Torch: "lerp.Tensor", Method: "Lerp", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), tensor("end"), operand("weight")},
		Doc: "Elements moved toward end by the fraction weight.", Example: `tpu.Of(0.0, 10.0).Lerp(tpu.Of(1.0, 20.0), 0.5)`,
		Shape: broadcast, DType: floatsOnly, Kernel: kernel.Lerp, Cost: perElement(5, VPU),
		Lower: lowerWide(func(h hlo) stablehlo.Value {
			x, y, w := h.in(0), h.in(1), h.in(2)
			d := h.sub(y, x)
			near := h.and(h.Compare("LT", w, h.num(0.5)), h.Compare("GT", w, h.num(-0.5)))
			return h.Select(near, h.add(x, h.mul(w, d)), h.sub(y, h.mul(d, h.sub(h.num(1), w))))
		}),
		Grad: parts(
			func(k ew, dy Value) Value { return k.mul(dy, k.sub(1, k.e())) },
			func(k ew, dy Value) Value { return k.mul(dy, k.e()) },
			func(k ew, dy Value) Value { return k.mul(dy, k.sub(k.b(), k.a())) })},
	{Name: Addcmul, Torch: "addcmul", Method: "Addcmul", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), tensor("tensor1"), tensor("tensor2"), factor},
		Doc: "Input plus value times the product of two tensors.", Example: `tpu.Of(1.0, 2.0).Addcmul(tpu.Of(3.0, 4.0), tpu.Of(5.0, 6.0))`,
		Shape: broadcast, DType: numeric, Kernel: kernel.Addcmul, Cost: perElement(3, VPU),
		Lower: lowerWide(func(h hlo) stablehlo.Value {
			return h.add(h.in(0), h.mul(h.mul(h.attr("value"), h.in(1)), h.in(2)))
		}),
		Grad: parts(sameGrad,
			func(k ew, dy Value) Value { return k.mul(dy, k.mul(k.e(), k.num("value"))) },
			func(k ew, dy Value) Value { return k.mul(dy, k.mul(k.b(), k.num("value"))) })},
	{Name: Addcdiv, Torch: "addcdiv", Method: "Addcdiv", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), tensor("tensor1"), tensor("tensor2"), factor},
		Doc: "Input plus value times the quotient of two tensors.", Example: `tpu.Of(1.0, 2.0).Addcdiv(tpu.Of(3.0, 4.0), tpu.Of(5.0, 6.0))`,
		Shape: broadcast, DType: floatsOnly, Kernel: kernel.Addcdiv, Cost: perElement(6, VPU),
		Lower: lowerWide(func(h hlo) stablehlo.Value {
			return h.add(h.in(0), h.div(h.mul(h.attr("value"), h.in(1)), h.in(2)))
		}),
		Grad: parts(sameGrad,
			func(k ew, dy Value) Value { return k.mul(dy, k.div(k.num("value"), k.e())) },
			func(k ew, dy Value) Value {
				return k.mul(dy, k.div(k.mul(k.b(), -k.num("value")), k.square(k.e())))
			})},
	{Name: MaskedFill, Torch: "masked_fill.Tensor", Method: "MaskedFill", InPlace: true, Class: Elementwise, Params: []Param{tensor("input"), tensor("mask"), operand("value")},
		Doc: "Value where mask is true, input elsewhere.", Example: `tpu.Of(1.0, -1.0).MaskedFill(tpu.Of(1.0, -1.0).Lt(0), 0)`,
		Shape: broadcast, DType: fillType, Kernel: kernel.MaskedFill, Cost: perElement(1, VPU), Lower: lowerMaskedFill,
		Grad: parts(
			func(k ew, dy Value) Value { return k.where(k.b(), 0.0, dy) }, nil,
			func(k ew, dy Value) Value { return k.where(k.b(), dy, 0.0) })},
}

// required is p without its default.
func required(p Param) Param {
	p.Default = nil
	return p
}

// whereType promotes the two choices; the condition must be Bool or U8.
func whereType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if c := in[0].DType; c != dtype.Bool && c != dtype.U8 {
		return dtype.Invalid, &TypeError{Op: string(Where), Arg: "condition", DType: c, Want: "bool"}
	}
	return resultType(in[1:]...)
}

// fillType is the type of the input, in which the value must fit by kind.
func fillType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if in[1].DType != dtype.Bool {
		return dtype.Invalid, &TypeError{Op: string(MaskedFill), Arg: "mask", DType: in[1].DType, Want: "bool"}
	}
	if len(in[2].Dims) != 0 {
		return dtype.Invalid, &shape.ArgumentError{Op: string(MaskedFill), Arg: "value", Value: in[2], Why: "a number or a tensor without dimensions is wanted"}
	}
	return in[0].DType, nil
}

// bound gives a bound; ok is false when it binds nothing.
func bound(a Attrs, name string, none int) (x float64, ok bool) {
	if !a.Has(name) {
		return 0, false
	}
	x = a.Float(name)
	return x, !math.IsInf(x, none)
}

// clampType promotes the input with the bounds that bind.
func clampType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	specs := []shape.Spec{in[0]}
	if _, ok := bound(a, "min", -1); ok {
		specs = append(specs, scalarSpec(a.Get("min")))
	}
	if _, ok := bound(a, "max", 1); ok {
		specs = append(specs, scalarSpec(a.Get("max")))
	}
	if len(specs) == 1 && a.Has("min") && a.Has("max") && isDefault(a.Get("min")) && isDefault(a.Get("max")) {
		return dtype.Invalid, &shape.ArgumentError{Op: string(Clamp), Arg: "min", Value: nil, Why: "min or max is required"}
	}
	return realOnly(specs, a)
}

// isDefault says whether a bound was left out; a given infinity looks alike and binds nothing either.
func isDefault(v any) bool { f, ok := v.(float64); return ok && math.IsInf(f, 0) }

// boundsType promotes input and bounds, one of which must be there.
func boundsType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if !in[1].Valid() && !in[2].Valid() {
		return dtype.Invalid, &shape.ArgumentError{Op: string(ClampTensor), Arg: "min", Value: nil, Why: "min or max is required"}
	}
	return realOnly(in, a)
}

// clampGrad passes dy strictly inside the bounds.
func clampGrad(k ew, dy Value) Value {
	lo, hasLo := bound(k.Attrs, "min", -1)
	hi, hasHi := bound(k.Attrs, "max", 1)
	if hasLo {
		dy = k.masked(k.op(Gt, k.a(), lo), dy)
	}
	if hasHi {
		dy = k.masked(k.op(Lt, k.a(), hi), dy)
	}
	return dy
}

// clampByGrad is the gradient of min(max(x, lo), hi) for operand i: ties are shared.
func clampByGrad(i int) part {
	share := func(k ew, x, y Value, cmp Name, dy Value) Value {
		return k.where(k.op(cmp, x, y), dy, k.where(k.op(Eq, x, y), k.mul(dy, 0.5), 0.0))
	}
	return func(k ew, dy Value) Value {
		x, lo, hi := k.In[0], k.In[1], k.In[2]
		m := x
		if lo != nil {
			m = k.op(Maximum, x, lo)
		}
		if hi != nil {
			if i == 2 {
				return share(k, m, hi, Gt, dy)
			}
			dy = share(k, m, hi, Lt, dy)
		}
		if lo == nil {
			return dy
		}
		if i == 1 {
			return share(k, x, lo, Lt, dy)
		}
		return share(k, x, lo, Gt, dy)
	}
}

func lowerWhere(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := hlo{w, c, like1(c.Out[0])}
	return []stablehlo.Value{h.Select(h.condition(c.In[0]), h.in(1), h.in(2))}
}

func lowerMaskedFill(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := hlo{w, c, like1(c.Out[0])}
	return []stablehlo.Value{h.Select(h.condition(c.In[1]), h.in(2), h.in(0))}
}

// condition is a Bool operand in the shape of the result.
func (h hlo) condition(x stablehlo.Value) stablehlo.Value {
	return h.BroadcastTo(h.asBool(x), h.spec.Dims)
}

func lowerClamp(h hlo) stablehlo.Value {
	x := h.in(0)
	if lo, ok := bound(h.c.Attrs, "min", -1); ok {
		x = h.max(x, h.num(lo))
	}
	if hi, ok := bound(h.c.Attrs, "max", 1); ok {
		x = h.min(x, h.num(hi))
	}
	return x
}

func lowerClampBy(h hlo) stablehlo.Value {
	x := h.in(0)
	if h.c.In[1].ID != "" {
		x = h.max(x, h.in(1))
	}
	if h.c.In[2].ID != "" {
		x = h.min(x, h.in(2))
	}
	return x
}
