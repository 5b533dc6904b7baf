package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

func dimAttr(c *Call) Attrs { return attr("dim", c.Attrs.Int("dim")) }

func indexSelectGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("index_add", dimAttr(c), zeros(b, c.In[0]), c.In[1], dy[0]), nil}
}

func gatherGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("scatter_add", dimAttr(c), zeros(b, c.In[0]), c.In[1], dy[0]), nil}
}

func takeGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("put", attr("accumulate", true), zeros(b, c.In[0]), c.In[1], dy[0]), nil}
}

func takeAlongGrad(b Builder, c *Call, dy []Value) []Value {
	x, idx, g := c.In[0], c.In[1], dy[0]
	dim := c.Attrs.Int("dim")
	if dim == kernel.FlatDim {
		return []Value{b.Do("put", attr("accumulate", true), zeros(b, x), idx, reshaped(b, g, dims(idx)...)), nil}
	}
	dim = axisOf(dim, len(dims(x)))
	full := slices.Clone(dims(g))
	if len(full) == 0 {
		return []Value{g, nil}
	}
	if !shape.EqualDims(dims(idx), full) {
		idx = b.Do("expand", attr("sizes", slices.Clone(full)), idx)
	}
	full[dim] = dims(x)[dim]
	z := b.Full(shape.Spec{DType: x.Spec().DType, Dims: full}, 0)
	return []Value{reduceTo(b, b.Do("scatter_add", attr("dim", dim), z, idx, g), dims(x)), nil}
}

func embeddingGrad(b Builder, c *Call, dy []Value) []Value {
	idx, w, g := c.In[0], c.In[1], dy[0]
	n, width := shape.Size(dims(idx)), dims(w)[1]
	flat := reshaped(b, idx, n)
	g = reshaped(b, g, n, width)
	if c.Attrs.Bool("scale_grad_by_freq") {
		ones := b.Full(shape.Spec{DType: w.Spec().DType, Dims: []int{n}}, 1)
		count := b.Do("index_add", attr("dim", 0), b.Full(shape.Spec{DType: w.Spec().DType, Dims: dims(w)[:1]}, 0), flat, ones)
		g = b.Do("div", nil, g, unsqueezed(b, b.Do("index_select", attr("dim", 0), count, flat), 1))
	}
	if p := c.Attrs.Int("padding_idx"); p != noPadding {
		p = axisOf(p, dims(w)[0])
		if p < 0 {
			p += dims(w)[0]
		}
		pad := b.Do("eq", nil, unsqueezed(b, flat, 1), b.Scalar(float64(p)))
		g = b.Do("where", nil, pad, zeros(b, g), g)
	}
	return []Value{nil, b.Do("index_add", attr("dim", 0), zeros(b, w), flat, g)}
}

// advancedAttrs are the attributes of index and index_put of the same axes.
func advancedAttrs(c *Call) Attrs { return attr("dims", c.Attrs.Ints("dims")) }

func indexGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, len(c.In))
	a := append(attr("accumulate", true), advancedAttrs(c)...)
	out[0] = b.Do("index_put", a, append([]Value{zeros(b, c.In[0]), dy[0]}, c.In[1:]...)...)
	return out
}

func indexPutGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, len(c.In))
	idx := c.In[2:]
	if c.Needs[0] {
		out[0] = dy[0]
		if !c.Attrs.Bool("accumulate") {
			z := b.Full(shape.Spec{DType: c.In[0].Spec().DType, Dims: []int{}}, 0)
			out[0] = b.Do("index_put", append(attr("accumulate", false), advancedAttrs(c)...), append([]Value{dy[0], z}, idx...)...)
		}
	}
	if c.Needs[1] {
		g := b.Do("index", advancedAttrs(c), append([]Value{dy[0]}, idx...)...)
		d := dims(c.In[1])
		if len(d) > len(dims(g)) {
			g = reshaped(b, reduceTo(b, g, d[len(d)-len(dims(g)):]), d...)
		} else {
			g = reduceTo(b, g, d)
		}
		out[1] = g
	}
	return out
}

func putGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 3)
	if c.Needs[0] {
		out[0] = dy[0]
		if !c.Attrs.Bool("accumulate") {
			out[0] = b.Do("put", attr("accumulate", false), dy[0], c.In[1], zeros(b, c.In[2]))
		}
	}
	if c.Needs[2] {
		out[2] = reshaped(b, b.Do("take", nil, dy[0], c.In[1]), dims(c.In[2])...)
	}
	return out
}

// sourceGrad reads the gradient at the places src was written to; what of src
// was not used has none.
func sourceGrad(b Builder, c *Call, g Value) Value {
	v := b.Do("gather", dimAttr(c), g, c.In[1])
	return fitted(b, v, dims(c.In[2]))
}

// fitted fills v up with zeros at the end of each axis to the given size.
func fitted(b Builder, v Value, size []int) Value {
	have := dims(v)
	if shape.EqualDims(have, size) {
		return v
	}
	if len(have) != len(size) {
		return reshaped(b, v, size...)
	}
	pad := make([]int, 2*len(size))
	for i := range size {
		pad[2*(len(size)-1-i)+1] = size[i] - have[i]
	}
	return b.Do("pad", attr("pad", pad), v)
}

func scatterGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 3)
	if c.Needs[0] {
		out[0] = b.Do("scatter_value", append(dimAttr(c), Attr{Name: "value", Value: 0.0}), dy[0], c.In[1])
	}
	if c.Needs[2] {
		out[2] = sourceGrad(b, c, dy[0])
	}
	return out
}

func scatterValueGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("scatter_value", append(dimAttr(c), Attr{Name: "value", Value: 0.0}), dy[0], c.In[1]), nil}
}

func scatterAddGrad(b Builder, c *Call, dy []Value) []Value {
	out := []Value{dy[0], nil, nil}
	if c.Needs[2] {
		out[2] = sourceGrad(b, c, dy[0])
	}
	return out
}

func scatterReduceGrad(b Builder, c *Call, dy []Value) []Value {
	x, src := reduceGrads(b, c.Attrs.Str("reduce"), c.Attrs.Bool("include_self"), dimAttr(c), c.In[0], c.In[1], c.In[2], c.Out[0], dy[0])
	return []Value{x, nil, src}
}

// indexReduceGrad spreads the index over whole slices.
func indexReduceGrad(b Builder, c *Call, dy []Value) []Value {
	x, src := c.In[0], c.In[2]
	dim := axisOf(c.Attrs.Int("dim"), len(dims(src)))
	idx := spreadIndex(b, c.In[1], dims(src), dim)
	gx, gs := reduceGrads(b, c.Attrs.Str("reduce"), c.Attrs.Bool("include_self"), attr("dim", dim), x, idx, src, c.Out[0], dy[0])
	return []Value{gx, nil, gs}
}

// spreadIndex makes an index for every element of size of a vector along one axis.
func spreadIndex(b Builder, idx Value, size []int, axis int) Value {
	if len(size) == 0 {
		return reshaped(b, idx)
	}
	one := make([]int, len(size))
	for i := range one {
		one[i] = 1
	}
	one[axis] = size[axis]
	return b.Do("expand", attr("sizes", slices.Clone(size)), reshaped(b, idx, one...))
}

// reduceGrads gives the gradients of a scatter that combines.
//
//	sum:   1 for each; mean: 1/count for each
//	prod:  result / element, and products of the others where an element is zero
//	amax, amin: equal shares among those that equal the result
func reduceGrads(b Builder, reduce string, self bool, dim Attrs, x, idx, src, out, g Value) (gx, gs Value) {
	read := func(v Value) Value { return fitted(b, b.Do("gather", dim, v, idx), dims(src)) }
	scatterAdd := func(onto, v Value) Value { return b.Do("scatter_add", dim, onto, idx, v) }
	one := func(v Value) Value { return b.Full(shape.Spec{DType: v.Spec().DType, Dims: dims(v)}, 1) }
	clearWritten := func(v Value) Value {
		if self {
			return v
		}
		return b.Do("scatter_value", append(slices.Clone(dim), Attr{Name: "value", Value: 0.0}), v, idx)
	}
	switch reduce {
	case "sum":
		return clearWritten(g), read(g)
	case "mean":
		start := zeros(b, x)
		if self {
			start = one(x)
		}
		n := scatterAdd(start, one(src))
		if !self {
			n = b.Do("where", nil, b.Do("eq", nil, n, b.Scalar(0)), b.Scalar(1), n)
		}
		q := b.Do("div", nil, g, n)
		return clearWritten(q), read(q)
	case "amax", "amin":
		same := func(v, w Value) Value {
			return b.Do("where", nil, b.Do("eq", nil, v, w), one(v), zeros(b, v))
		}
		mine := clearWritten(same(x, out))
		theirs := same(src, read(out))
		n := scatterAdd(mine, theirs)
		q := b.Do("div", nil, g, b.Do("where", nil, b.Do("eq", nil, n, b.Scalar(0)), b.Scalar(1), n))
		return b.Do("mul", nil, q, mine), b.Do("mul", nil, read(q), theirs)
	}
	// prod. Zeros are counted and replaced by ones, so that nothing divides by zero.
	zero := b.Scalar(0)
	isZero := func(v Value) Value { return b.Do("eq", nil, v, zero) }
	filled := func(v Value) Value { return b.Do("where", nil, isZero(v), b.Scalar(1), v) }
	asOnes := func(v Value) Value { return b.Do("where", nil, isZero(v), one(v), zeros(b, v)) }
	xs := x
	if !self {
		xs = b.Do("scatter_value", append(slices.Clone(dim), Attr{Name: "value", Value: 1.0}), x, idx)
	}
	count := scatterAdd(asOnes(xs), asOnes(src))
	prodAttrs := append(slices.Clone(dim), Attr{Name: "reduce", Value: "prod"}, Attr{Name: "include_self", Value: true})
	nonzero := b.Do("scatter_reduce", prodAttrs, filled(xs), idx, filled(src))
	// With one zero, only that element has a gradient; with two, none.
	share := func(v, g, nonzero, count Value) Value {
		p := b.Do("mul", nil, g, nonzero)
		whole := b.Do("where", nil, b.Do("eq", nil, count, zero), b.Do("div", nil, p, filled(v)), zero)
		only := b.Do("where", nil, b.Do("eq", nil, count, b.Scalar(1)), p, zero)
		return b.Do("where", nil, isZero(v), only, whole)
	}
	gx = clearWritten(share(xs, g, nonzero, count))
	gs = share(src, read(g), read(nonzero), read(count))
	return gx, gs
}

func indexAddGrad(b Builder, c *Call, dy []Value) []Value {
	out := []Value{dy[0], nil, nil}
	if c.Needs[2] {
		g := b.Do("index_select", dimAttr(c), dy[0], c.In[1])
		out[2] = reshaped(b, scaled(b, g, numberAttr(c.Attrs.Get("alpha"))), dims(c.In[2])...)
	}
	return out
}

func indexCopyGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 3)
	if c.Needs[0] {
		out[0] = b.Do("index_fill", dimAttr(c), dy[0], c.In[1], b.Scalar(0))
	}
	if c.Needs[2] {
		out[2] = reshaped(b, b.Do("index_select", dimAttr(c), dy[0], c.In[1]), dims(c.In[2])...)
	}
	return out
}

func indexFillGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 3)
	if c.Needs[0] {
		out[0] = b.Do("index_fill", dimAttr(c), dy[0], c.In[1], b.Scalar(0))
	}
	if c.Needs[2] {
		// What was filled is what index_fill of zeros takes away.
		rest := b.Do("index_fill", dimAttr(c), dy[0], c.In[1], b.Scalar(0))
		out[2] = reduceTo(b, b.Do("sub", nil, dy[0], rest), []int{})
	}
	return out
}

func maskedSelectGrad(b Builder, c *Call, dy []Value) []Value {
	x, m := c.In[0], c.In[1]
	full, _ := shape.Broadcast(dims(x), dims(m))
	z := b.Full(shape.Spec{DType: x.Spec().DType, Dims: full}, 0)
	return []Value{reduceTo(b, b.Do("masked_scatter", nil, z, m, dy[0]), dims(x)), nil}
}

func maskedScatterGrad(b Builder, c *Call, dy []Value) []Value {
	x, m, src := c.In[0], c.In[1], c.In[2]
	out := make([]Value, 3)
	if c.Needs[0] {
		out[0] = reduceTo(b, b.Do("where", nil, m, zeros(b, dy[0]), dy[0]), dims(x))
	}
	if c.Needs[2] {
		out[2] = b.Do("masked_scatter_backward", attr("size", dims(src)), dy[0], m)
	}
	return out
}

func maskedScatterBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("masked_scatter", nil, zeros(b, c.In[0]), c.In[1], dy[0]), nil}
}
