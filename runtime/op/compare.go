package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Comparisons and logic of two operands: the result is Bool.
const (
	Eq         Name = "eq"
	Ne         Name = "ne"
	Lt         Name = "lt"
	Le         Name = "le"
	Gt         Name = "gt"
	Ge         Name = "ge"
	LogicalAnd Name = "logical_and"
	LogicalOr  Name = "logical_or"
	LogicalXor Name = "logical_xor"
	IsClose    Name = "isclose"
	AllClose   Name = "allclose"
	Equal      Name = "equal"
)

var compareOps = []Def{
	comparison(Eq, "Eq", "EQ", Commutative, "True where the operands are equal.", kernel.Eq),
	comparison(Ne, "Ne", "NE", Commutative, "True where the operands differ.", kernel.Ne),
	comparison(Lt, "Lt", "LT", 0, "True where the first operand is less than the second.", kernel.Lt),
	comparison(Le, "Le", "LE", 0, "True where the first operand is not greater than the second.", kernel.Le),
	comparison(Gt, "Gt", "GT", 0, "True where the first operand is greater than the second.", kernel.Gt),
	comparison(Ge, "Ge", "GE", 0, "True where the first operand is not less than the second.", kernel.Ge),
	logic(LogicalAnd, "LogicalAnd", "and", "True where neither operand is zero.", kernel.LogicalAnd),
	logic(LogicalOr, "LogicalOr", "or", "True where an operand is not zero.", kernel.LogicalOr),
	logic(LogicalXor, "LogicalXor", "xor", "True where exactly one operand is not zero.", kernel.LogicalXor),
	{Name: IsClose, Torch: "isclose", Method: "IsClose", Class: Elementwise, Params: closeParams,
		Doc: "True where the operands differ by at most atol plus rtol times the second.", Example: `tpu.Of(1.0, 2.0).IsClose(tpu.Of(1.0, 2.1))`,
		Shape: broadcast, DType: ordered, Kernel: kernel.IsClose, Cost: perElement(6, VPU), Lower: lowerAsk(lowerIsClose), NoGrad: "the result is a bool"},
	{Name: AllClose, Torch: "allclose", Method: "AllClose", Class: Reduce, Traits: Composite, Params: closeParams,
		Doc: "True when all elements of the operands are close.", Example: `tpu.Of(1.0, 2.0).AllClose(tpu.Of(1.0, 2.000001))`,
		Shape: closeShape, DType: ordered, Kernel: kernel.AllClose, Cost: perInput(7), Lower: lowerAllClose, NoGrad: "the result is a bool"},
	{Name: Equal, Torch: "equal", Method: "Equal", Class: Reduce, Traits: Composite, Params: []Param{tensor("input"), tensor("other")},
		Doc: "True when the operands have the same shape and equal elements.", Example: `tpu.Of(1.0, 2.0).Equal(tpu.Of(1.0, 2.0))`,
		Shape: noDims, DType: boolean, Kernel: kernel.Equal, Cost: perInput(2), Lower: lowerEqual, NoGrad: "the result is a bool"},
}

// closeParams are the parameters of isclose and allclose.
var closeParams = []Param{tensor("input"), operand("other"),
	{Name: "rtol", Kind: KFloat, Default: 1e-5, Dynamic: true, Doc: "relative tolerance, of other"},
	{Name: "atol", Kind: KFloat, Default: 1e-8, Dynamic: true, Doc: "absolute tolerance"},
	{Name: "equal_nan", Kind: KBool, Default: false, Doc: "NaN is close to NaN"}}

// noDims is the shape of a single element.
func noDims([]shape.Spec, Attrs) ([]int, error) { return []int{}, nil }

// closeShape checks that the operands broadcast.
func closeShape(in []shape.Spec, a Attrs) ([]int, error) {
	if _, err := broadcast(in, a); err != nil {
		return nil, err
	}
	return []int{}, nil
}

// every is true when all elements of x are.
func every(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
	axes := make([]int, len(x.Spec.Dims))
	for i := range axes {
		axes[i] = i
	}
	return w.Reduce("and", x, axes, 1)
}

func lowerAllClose(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	dims, _ := shape.Broadcast(c.In[0].Spec.Dims, c.In[1].Spec.Dims)
	each := *c
	each.Out = []shape.Spec{{DType: dtype.Bool, Dims: dims}}
	return []stablehlo.Value{every(w, lowerAsk(lowerIsClose)(w, &each)[0])}
}

func lowerEqual(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	if !shape.EqualDims(c.In[0].Spec.Dims, c.In[1].Spec.Dims) {
		return []stablehlo.Value{w.Splat(like1(c.Out[0]), 0)}
	}
	each := *c
	each.Out = []shape.Spec{{DType: dtype.Bool, Dims: c.In[0].Spec.Dims}}
	same := lowerAsk(func(h hlo) stablehlo.Value { return h.Compare("EQ", h.in(0), h.in(1)) })(w, &each)[0]
	return []stablehlo.Value{every(w, same)}
}

// comparison makes the row of one direction. In place, PyTorch stores 0 and 1 in the operand's own type.
func comparison(n Name, method, dir string, t Traits, doc string, k kernel.Func) Def {
	d := Def{Name: n, Torch: string(n) + ".Tensor", Method: method, InPlace: true, Class: Elementwise, Traits: t, Params: binaryParams,
		Doc: doc, Example: `tpu.Of(1.0, 2.0, 3.0).` + method + `(2)`,
		Shape: broadcast, DType: ordered, Kernel: k, Cost: perElement(1, VPU), NoGrad: "the result is a bool",
		Lower: lowerAsk(func(h hlo) stablehlo.Value { return h.Compare(dir, h.in(0), h.in(1)) })}
	if dir == "EQ" || dir == "NE" {
		d.DType = boolean // complex numbers too
	}
	return d
}

// logic makes the row of a logical connective.
func logic(n Name, method, hloName, doc string, k kernel.Func) Def {
	return Def{Name: n, Torch: string(n), Method: method, InPlace: true, Class: Elementwise, Traits: Commutative, Params: binaryParams,
		Doc: doc, Example: `tpu.Of(0.0, 2.0).` + method + `(tpu.Of(1.0, 3.0))`,
		Shape: broadcast, DType: boolean, Kernel: k, Cost: perElement(3, VPU), NoGrad: "the result is a bool",
		Lower: lowerAsk(func(h hlo) stablehlo.Value { return h.do(hloName, h.asBool(h.in(0)), h.asBool(h.in(1))) })}
}

func lowerIsClose(h hlo) stablehlo.Value {
	x, y := h.in(0), h.in(1)
	if !h.spec.DType.IsFloat() {
		x, y = h.Convert(x, dtype.F32), h.Convert(y, dtype.F32)
		h.spec.DType = dtype.F32
	}
	same := h.Compare("EQ", x, y)
	if h.c.Attrs.Bool("equal_nan") {
		same = h.or(same, h.and(h.Compare("NE", x, x), h.Compare("NE", y, y)))
	}
	diff := h.abs(h.sub(x, y))
	near := h.Compare("LE", diff, h.add(h.attr("atol"), h.mul(h.attr("rtol"), h.abs(y))))
	finite := h.Do("is_finite", h.c.Out[0], "", diff)
	return h.or(same, h.and(finite, near))
}
