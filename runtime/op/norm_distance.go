package op

import (
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

var distanceOps = []Def{
	{
		Name: UnitNorm, Torch: "nn.functional.normalize", Func: "Normalize", Class: Normalize, Traits: Composite,
		Doc: "Divide by the p-norm along the axes, or by eps when that is larger.", Example: `tpu.Normalize(tpu.From([][]float32{{3, 4}}))`,
		Params: []Param{tensor("input"), realParam("p", 2, "order"), {Name: "dim", Kind: KInts, Default: []int{1}, Doc: "axes"}, epsParam(1e-12)},
		Shape:  normalizeShape, DType: floatOnly(UnitNorm), Grad: normalizeGrad,
		Kernel: kernel.Normalize, Lower: normalizeHLO, Cost: perInputEUP(4),
	},
	{
		Name: CosineSimilarity, Torch: "cosine_similarity", Func: "CosineSimilarity", Class: Normalize, Traits: Composite,
		Doc: "Cosine of the angle between vectors along an axis.", Example: `tpu.CosineSimilarity(tpu.Of(1.0, 0.0), tpu.Of(1.0, 1.0), tpu.CosineSimilarityOptions{Dim: -1})`,
		Params: []Param{tensor("x1"), tensor("x2"), {Name: "dim", Kind: KInt, Default: 1, Doc: "axis"}, epsParam(1e-8)},
		Shape:  pairShape(CosineSimilarity), DType: floating, Grad: cosineGrad,
		Kernel: kernel.CosineSimilarity, Lower: cosineHLO, Cost: perInputEUP(6),
	},
	{
		Name: PairwiseDistance, Torch: "pairwise_distance", Func: "PairwiseDistance", Class: Normalize, Traits: Composite,
		Doc: "p-norm of the difference along the last axis.", Example: `tpu.PairwiseDistance(tpu.Of(3.0, 0.0), tpu.Of(0.0, 4.0))`,
		Params: []Param{tensor("x1"), tensor("x2"), realParam("p", 2, "order"), epsParam(1e-6), keepParam()},
		Shape:  distanceShape, DType: floating, Grad: distanceGrad,
		Kernel: kernel.PairwiseDistance, Lower: distanceHLO, Cost: perInputEUP(4),
	},
}

func normalizeShape(in []shape.Spec, a Attrs) ([]int, error) {
	_, err := axesOf(UnitNorm, in[0], a)
	return in[0].Dims, err
}

// normalizeGrad of x/max(‖x‖, eps).
func normalizeGrad(b Builder, c *Call, dy []Value) []Value {
	k, x, g := calc{b}, c.In[0], dy[0]
	p, eps := kernel.NormOrder(c.Attrs), c.Attrs.Float("eps")
	axes := c.axes()
	n := k.Do(VectorNorm, at("ord", p, "dim", axes, "keepdim", true), x)
	over := k.gt(n, eps)
	d := k.where(over, n, eps)
	dn := k.where(over, k.neg(k.div(k.sum(k.mul(g, x), axes...), k.mul(d, d))), 0)
	return []Value{k.add(k.div(g, d), normSlope(k, x, n, dn, p, axes))}
}

func pairShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		dims, err := shape.BroadcastAll(string(n), in[0], in[1])
		if err != nil {
			return nil, err
		}
		axis, err := shape.Axis(string(n), a.Int("dim"), len(dims))
		return keptDims(dims, []int{axis}, false), err
	}
}

// cosineGrad: with u = x1/max(‖x1‖, eps) and v alike, d(u·v)/dx1 is the gradient of normalize for v.
func cosineGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	dims, _ := shape.Broadcast(c.In[0].Spec().Dims, c.In[1].Spec().Dims)
	x1, x2 := k.expand(c.In[0], dims), k.expand(c.In[1], dims)
	axis, _ := shape.Axis("", c.Attrs.Int("dim"), len(dims))
	a := at("p", 2.0, "dim", []int{axis}, "eps", c.Attrs.Float("eps"))
	u, v := k.Do(UnitNorm, a, x1), k.Do(UnitNorm, a, x2)
	g := k.reshape(dy[0], keptDims(dims, []int{axis}, true))
	side := func(x, other Value) Value {
		return normalizeGrad(b, &Call{Attrs: a, In: []Value{x}}, []Value{k.mul(g, other)})[0]
	}
	return []Value{k.fit(side(x1, v), c.In[0].Spec()), k.fit(side(x2, u), c.In[1].Spec())}
}

func distanceShape(in []shape.Spec, a Attrs) ([]int, error) {
	dims, err := shape.BroadcastAll(string(PairwiseDistance), in[0], in[1])
	if err != nil {
		return nil, err
	}
	if len(dims) == 0 {
		return nil, &shape.RankError{Op: string(PairwiseDistance), Dims: dims, Min: 1, Max: -1}
	}
	return keptDims(dims, []int{len(dims) - 1}, a.Bool("keepdim")), nil
}

func distanceGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	d := k.add(k.sub(c.In[0], c.In[1]), c.Attrs.Float("eps"))
	axes := []int{len(d.Spec().Dims) - 1}
	g := normSlope(k, d, k.keep(c.Out[0], d.Spec(), axes), k.keep(dy[0], d.Spec(), axes), c.Attrs.Float("p"), axes)
	return []Value{k.fit(g, c.In[0].Spec()), k.neg(k.fit(g, c.In[1].Spec()))}
}
