package op

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/shape"
)

// dims gives the dimensions of a value.
func dims(v Value) []int { return v.Spec().Dims }

// attr makes the attributes of a call in a gradient: attr("dim", 1, "keepdim", true).
func attr(kv ...any) Attrs {
	a := make(Attrs, 0, len(kv)/2)
	for i := 0; i+1 < len(kv); i += 2 {
		a = append(a, Attr{Name: kv[i].(string), Value: kv[i+1]})
	}
	return a
}

// zeros makes a constant of zeros like v.
func zeros(b Builder, v Value) Value {
	s := v.Spec()
	s.Weak = false
	return b.Full(s, 0)
}

// swapped exchanges the last two axes.
func swapped(b Builder, v Value) Value { return b.Do("transpose", attr("dim0", -2, "dim1", -1), v) }

// reduceTo sums v over the axes that broadcasting to it added; v itself when it has the size already.
func reduceTo(b Builder, v Value, size []int) Value {
	if shape.EqualDims(dims(v), size) {
		return v
	}
	return b.Do("sum_to_size", attr("size", size), v)
}

// scaled multiplies by a Go number; by 1 it does nothing.
func scaled(b Builder, v Value, x float64) Value {
	if x == 1 {
		return v
	}
	return b.Do("mul", nil, v, b.Scalar(x))
}

func unsqueezed(b Builder, v Value, dim int) Value { return b.Do("unsqueeze", attr("dim", dim), v) }

func reshaped(b Builder, v Value, size ...int) Value {
	if shape.EqualDims(dims(v), size) {
		return v
	}
	return b.Do("reshape", attr("shape", size), v)
}

// matmulGrads gives the gradients of matmul(x, y) from that of the result.
func matmulGrads(b Builder, x, y, g Value, needX, needY bool) (dx, dy Value) {
	rx, ry := len(dims(x)), len(dims(y))
	if rx == 1 && ry == 1 {
		if needX {
			dx = b.Do("mul", nil, y, g)
		}
		if needY {
			dy = b.Do("mul", nil, x, g)
		}
		return dx, dy
	}
	if ry == 1 {
		y, g = unsqueezed(b, y, 1), unsqueezed(b, g, -1)
	}
	if rx == 1 {
		x, g = unsqueezed(b, x, 0), unsqueezed(b, g, -2)
	}
	if needX {
		dx = reduceTo(b, b.Do("matmul", nil, g, swapped(b, y)), dims(x))
		if rx == 1 {
			dx = b.Do("squeeze", attr("dim", []int{0}), dx)
		}
	}
	if needY {
		xd, gd := dims(x), dims(g)
		if len(dims(y)) == 2 && len(xd) > 2 {
			// One matrix for the whole batch: its gradient is one tall product.
			x = reshaped(b, x, shape.Size(xd[:len(xd)-1]), xd[len(xd)-1])
			g = reshaped(b, g, shape.Size(gd[:len(gd)-1]), gd[len(gd)-1])
		}
		dy = reduceTo(b, b.Do("matmul", nil, swapped(b, x), g), dims(y))
		if ry == 1 {
			dy = b.Do("squeeze", attr("dim", []int{1}), dy)
		}
	}
	return dx, dy
}

func matmulGrad(b Builder, c *Call, dy []Value) []Value {
	x, y := matmulGrads(b, c.In[0], c.In[1], dy[0], c.Needs[0], c.Needs[1])
	return []Value{x, y}
}

// addedGrad is the gradient of beta·self + alpha·matmul(x, y).
func addedGrad(b Builder, c *Call, dy []Value) []Value {
	g := scaled(b, dy[0], c.Attrs.Float("alpha"))
	x, y := matmulGrads(b, c.In[1], c.In[2], g, c.Needs[1], c.Needs[2])
	return []Value{addendGrad(b, c, dy[0]), x, y}
}

func addendGrad(b Builder, c *Call, g Value) Value {
	if !c.Needs[0] {
		return nil
	}
	return scaled(b, reduceTo(b, g, dims(c.In[0])), c.Attrs.Float("beta"))
}

func addbmmGrad(b Builder, c *Call, dy []Value) []Value {
	g := unsqueezed(b, scaled(b, dy[0], c.Attrs.Float("alpha")), 0)
	d := append([]int{dims(c.In[1])[0]}, dims(dy[0])...)
	g = b.Do("expand", attr("sizes", d), g)
	x, y := matmulGrads(b, c.In[1], c.In[2], g, c.Needs[1], c.Needs[2])
	return []Value{addendGrad(b, c, dy[0]), x, y}
}

func outerGrads(b Builder, x, y, g Value) (dx, dy Value) {
	return b.Do("mv", nil, g, y), b.Do("mv", nil, swapped(b, g), x)
}

func outerGrad(b Builder, c *Call, dy []Value) []Value {
	x, y := outerGrads(b, c.In[0], c.In[1], dy[0])
	return []Value{x, y}
}

func addrGrad(b Builder, c *Call, dy []Value) []Value {
	x, y := outerGrads(b, c.In[1], c.In[2], scaled(b, dy[0], c.Attrs.Float("alpha")))
	return []Value{addendGrad(b, c, dy[0]), x, y}
}

func innerGrad(b Builder, c *Call, dy []Value) []Value {
	x, y, g := c.In[0], c.In[1], dy[0]
	rx, ry := len(dims(x)), len(dims(y))
	if rx == 0 || ry == 0 {
		return []Value{reduceTo(b, b.Do("mul", nil, g, y), dims(x)), reduceTo(b, b.Do("mul", nil, g, x), dims(y))}
	}
	lead := rx - 1
	var gx, gy Value
	if c.Needs[0] {
		gx = b.Do("tensordot", attr("dims_self", span(lead, lead+ry-1), "dims_other", span(0, ry-1)), g, y)
	}
	if c.Needs[1] {
		gy = b.Do("tensordot", attr("dims_self", span(0, lead), "dims_other", span(0, lead)), g, x)
	}
	return []Value{gx, gy}
}

// span lists lo, lo+1, … hi-1.
func span(lo, hi int) []int {
	out := []int{}
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

func linearGrad(b Builder, c *Call, dy []Value) []Value {
	x, w, g := c.In[0], c.In[1], dy[0]
	out := make([]Value, len(c.In))
	if len(dims(w)) == 1 {
		out[0], out[1] = matmulGrads(b, x, w, g, c.Needs[0], c.Needs[1])
	} else {
		xd, gd := dims(x), dims(g)
		if c.Needs[0] {
			out[0] = b.Do("matmul", nil, g, w)
		}
		if c.Needs[1] {
			k, n := xd[len(xd)-1], gd[len(gd)-1]
			rows := shape.Size(xd[:len(xd)-1])
			out[1] = b.Do("mm", nil, swapped(b, reshaped(b, g, rows, n)), reshaped(b, x, rows, k))
		}
	}
	if len(c.In) > 2 && c.In[2] != nil && c.Needs[2] {
		out[2] = reduceTo(b, g, dims(c.In[2]))
	}
	return out
}

func tensordotGrad(b Builder, c *Call, dy []Value) []Value {
	x, y, g := c.In[0], c.In[1], dy[0]
	ax, ay, err := tensordotAxes([]shape.Spec{x.Spec(), y.Spec()}, c.Attrs)
	if err != nil {
		panic(err)
	}
	rx, ry := len(dims(x)), len(dims(y))
	fx, fy := otherAxes(ax, rx), otherAxes(ay, ry)
	out := make([]Value, 2)
	if c.Needs[0] {
		d := b.Do("tensordot", attr("dims_self", span(len(fx), len(fx)+len(fy)), "dims_other", fy), g, y)
		// Its axes are those of x that were free, then the contracted ones in y's order.
		out[0] = placed(b, d, append(append([]int{}, fx...), alongOf(ax, ay)...), dims(x))
	}
	if c.Needs[1] {
		d := b.Do("tensordot", attr("dims_self", span(0, len(fx)), "dims_other", fx), g, x)
		out[1] = placed(b, d, append(append([]int{}, fy...), alongOf(ay, ax)...), dims(y))
	}
	return out
}

// alongOf orders axes so that their partners ascend.
func alongOf(axes, partners []int) []int {
	out := append([]int{}, axes...)
	p := append([]int{}, partners...)
	for i := range p {
		for j := i + 1; j < len(p); j++ {
			if p[j] < p[i] {
				p[i], p[j] = p[j], p[i]
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

// placed moves axis i of v to axis at[i], and sums what broadcasting stretched.
func placed(b Builder, v Value, at []int, size []int) Value {
	perm := make([]int, len(at))
	same := true
	for i, a := range at {
		perm[a] = i
		same = same && a == i
	}
	if !same {
		v = b.Do("permute", attr("dims", perm), v)
	}
	if len(dims(v)) == len(size) && !shape.EqualDims(dims(v), size) && shape.Size(dims(v)) != 0 {
		for i := range size {
			if size[i] != dims(v)[i] && dims(v)[i] == 1 {
				return b.Do("expand", attr("sizes", append([]int{}, size...)), v)
			}
		}
	}
	return reduceTo(b, v, size)
}

// crossGrad: the gradient of x × y is y × g for x and g × x for y.
func crossGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 2)
	if c.Needs[0] {
		out[0] = reduceTo(b, b.Do("cross", c.Attrs, c.In[1], dy[0]), dims(c.In[0]))
	}
	if c.Needs[1] {
		out[1] = reduceTo(b, b.Do("cross", c.Attrs, dy[0], c.In[0]), dims(c.In[1]))
	}
	return out
}

// kronGrad reshapes the gradient to pairs of axes and contracts with the other operand.
func kronGrad(b Builder, c *Call, dy []Value) []Value {
	x, y := dims(c.In[0]), dims(c.In[1])
	r := max(len(x), len(y))
	pad := func(d []int) []int {
		out := make([]int, r)
		for i := range out {
			out[i] = 1
			if j := i - (r - len(d)); j >= 0 {
				out[i] = d[j]
			}
		}
		return out
	}
	px, py := pad(x), pad(y)
	var pairs, even, odd []int
	for i := range r {
		pairs = append(pairs, px[i], py[i])
		even, odd = append(even, 2*i), append(odd, 2*i+1)
	}
	g := reshaped(b, dy[0], pairs...)
	out := make([]Value, 2)
	if c.Needs[0] {
		d := b.Do("tensordot", attr("dims_self", odd, "dims_other", span(0, r)), g, reshaped(b, c.In[1], py...))
		out[0] = reshaped(b, d, x...)
	}
	if c.Needs[1] {
		d := b.Do("tensordot", attr("dims_self", even, "dims_other", span(0, r)), g, reshaped(b, c.In[0], px...))
		out[1] = reshaped(b, d, y...)
	}
	return out
}

func bilinearGrad(b Builder, c *Call, dy []Value) []Value {
	x, y, w, g := c.In[0], c.In[1], c.In[2], dy[0]
	out := make([]Value, len(c.In))
	ein := func(eq string, in ...Value) Value { return b.Do("einsum", attr("equation", eq), in...) }
	if c.Needs[0] {
		out[0] = ein("...o,oij,...j->...i", g, w, y)
	}
	if c.Needs[1] {
		out[1] = ein("...o,oij,...i->...j", g, w, x)
	}
	if c.Needs[2] {
		out[2] = ein("...o,...i,...j->oij", g, x, y)
	}
	if len(c.In) > 3 && c.In[3] != nil && c.Needs[3] {
		out[3] = reduceTo(b, g, dims(c.In[3]))
	}
	return out
}

// traceGrad spreads the gradient over the diagonal.
func traceGrad(b Builder, c *Call, dy []Value) []Value {
	d := dims(c.In[0])
	n := min(d[0], d[1])
	g := b.Do("expand", attr("sizes", []int{n}), dy[0])
	return []Value{b.Do("diagonal_scatter", attr("offset", 0, "dim1", 0, "dim2", 1), zeros(b, c.In[0]), g)}
}

// cdistGrad differentiates the p-norm of all differences: with d = x1[i]-x2[j],
// the gradient for d is g·sign(d)·|d|^(p-1)/dist^(p-1), and zero where dist is.
func cdistGrad(b Builder, c *Call, dy []Value) []Value {
	x, y, dist := c.In[0], c.In[1], c.Out[0]
	p := c.Attrs.Float("p")
	if p == 0 {
		return []Value{zeros(b, x), zeros(b, y)}
	}
	d := b.Do("sub", nil, unsqueezed(b, x, -2), unsqueezed(b, y, -3))
	g, dist := unsqueezed(b, dy[0], -1), unsqueezed(b, dist, -1)
	zero := b.Scalar(0)
	isZero := b.Do("eq", nil, dist, zero)
	var t Value
	switch {
	case p == 1:
		t = b.Do("mul", nil, g, b.Do("sign", nil, d))
	case math.IsInf(p, 1):
		at := b.Do("eq", nil, b.Do("abs", nil, d), dist)
		t = b.Do("where", nil, at, b.Do("mul", nil, g, b.Do("sign", nil, d)), zero)
	default:
		// A distance of zero is replaced before it divides, so that no NaN is made.
		one := b.Do("where", nil, isZero, b.Scalar(1), dist)
		u := b.Do("div", nil, d, one)
		if p != 2 {
			a := b.Do("abs", nil, u)
			none := b.Do("eq", nil, a, zero)
			a = b.Do("where", nil, none, b.Scalar(1), a)
			u = b.Do("mul", nil, b.Do("sign", nil, u), b.Do("pow", nil, a, b.Scalar(p-1)))
		}
		t = b.Do("mul", nil, g, u)
		t = b.Do("where", nil, isZero, zero, t)
	}
	out := make([]Value, 2)
	if c.Needs[0] {
		out[0] = reduceTo(b, sumAxis(b, t, len(dims(t))-2), dims(x))
	}
	if c.Needs[1] {
		out[1] = reduceTo(b, b.Do("neg", nil, sumAxis(b, t, len(dims(t))-3)), dims(y))
	}
	return out
}

// sumAxis sums over one axis and drops it.
func sumAxis(b Builder, v Value, axis int) Value {
	one := slices.Clone(dims(v))
	one[axis] = 1
	return reshaped(b, reduceTo(b, v, one), slices.Delete(slices.Clone(one), axis, axis+1)...)
}
