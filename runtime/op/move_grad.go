package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// passGrad hands the gradient on.
func passGrad(_ Builder, _ *Call, dy []Value) []Value { return []Value{dy[0]} }

func copyGrad(b Builder, c *Call, dy []Value) []Value {
	var g Value
	if c.Needs[1] {
		g = reduceTo(b, dy[0], dims(c.In[1]))
	}
	var x Value
	if c.Needs[0] {
		x = zeros(b, c.In[0])
	}
	return []Value{x, g}
}

// axisOf normalizes an axis that the shape rule has accepted.
func axisOf(axis, rank int) int {
	if axis < 0 {
		axis += max(rank, 1)
	}
	return axis
}

func catGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, len(c.In))
	dim := axisOf(c.Attrs.Int("dim"), len(dims(dy[0])))
	at := 0
	for i, x := range c.In {
		if skipped(x.Spec()) {
			if c.Needs[i] {
				out[i] = zeros(b, x)
			}
			continue
		}
		n := dims(x)[dim]
		if c.Needs[i] {
			out[i] = b.Do("slice", attr("dim", dim, "start", at, "end", at+n, "step", 1), dy[0])
		}
		at += n
	}
	return out
}

func stackGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, len(c.In))
	for i := range c.In {
		if c.Needs[i] {
			out[i] = b.Do("select", attr("dim", c.Attrs.Int("dim"), "index", i), dy[0])
		}
	}
	return out
}

func flipGrad(b Builder, c *Call, dy []Value) []Value { return []Value{b.Do("flip", c.Attrs, dy[0])} }

func rollGrad(b Builder, c *Call, dy []Value) []Value {
	back := slices.Clone(c.Attrs.Ints("shifts"))
	for i := range back {
		back[i] = -back[i]
	}
	return []Value{b.Do("roll", attr("shifts", back, "dims", c.Attrs.Ints("dims")), dy[0])}
}

// repeatGrad sums over the copies: the gradient is seen as [times, size] for each axis.
func repeatGrad(b Builder, c *Call, dy []Value) []Value {
	x, g := dims(c.In[0]), dims(dy[0])
	if shape.Size(g) == 0 {
		return []Value{zeros(b, c.In[0])}
	}
	var pairs, one []int
	for i, n := range g {
		size := 1
		if j := i - (len(g) - len(x)); j >= 0 {
			size = x[j]
		}
		pairs, one = append(pairs, n/size, size), append(one, 1, size)
	}
	return []Value{reshaped(b, reduceTo(b, reshaped(b, dy[0], pairs...), one), x...)}
}

func interleaveGrad(b Builder, c *Call, dy []Value) []Value {
	x := dims(c.In[0])
	if shape.Size(dims(dy[0])) == 0 {
		return []Value{zeros(b, c.In[0])}
	}
	n := c.Attrs.Int("repeats")
	var pairs, one []int
	if dim := c.Attrs.Int("dim"); dim == kernel.FlatDim || len(x) == 0 {
		pairs, one = []int{shape.Size(x), n}, []int{shape.Size(x), 1}
	} else {
		dim = axisOf(dim, len(x))
		pairs = slices.Insert(slices.Clone(x), dim+1, n)
		one = slices.Insert(slices.Clone(x), dim+1, 1)
	}
	return []Value{reshaped(b, reduceTo(b, reshaped(b, dy[0], pairs...), one), x...)}
}

// repeatEachGrad adds the gradient of every copy to its source: the positions
// repeated alike say which that is.
func repeatEachGrad(b Builder, c *Call, dy []Value) []Value {
	x, g := c.In[0], dy[0]
	dim := c.Attrs.Int("dim")
	size := dims(x)
	if dim == kernel.FlatDim || len(size) == 0 {
		size, dim = []int{shape.Size(size)}, 0
	}
	dim = axisOf(dim, len(size))
	pos := b.Do("arange", attr("start", 0, "end", size[dim], "dtype", dtype.I64))
	from := b.Do("repeat_interleave_tensor", attr("dim", 0, "count", c.Attrs.Int("count")), pos, c.In[1])
	z := b.Full(shape.Spec{DType: x.Spec().DType, Dims: size}, 0)
	return []Value{reshaped(b, b.Do("index_add", attr("dim", dim), z, from, g), dims(x)...), nil}
}

func rot90Grad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("rot90", attr("k", -c.Attrs.Int("k"), "dims", c.Attrs.Ints("dims")), dy[0])}
}

// sameAgainGrad is for linear rows that are their own transpose.
func sameAgainGrad(n Name) Grad {
	return func(b Builder, c *Call, dy []Value) []Value { return []Value{b.Do(n, c.Attrs, dy[0])} }
}

func diagGrad(b Builder, c *Call, dy []Value) []Value {
	a := attr("offset", c.Attrs.Int("diagonal"), "dim1", 0, "dim2", 1)
	if len(dims(c.In[0])) == 1 {
		return []Value{b.Do("diagonal", a, dy[0])}
	}
	return []Value{b.Do("diagonal_scatter", a, zeros(b, c.In[0]), dy[0])}
}

func diagEmbedGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("diagonal", c.Attrs, dy[0])}
}

func diagFlatGrad(b Builder, c *Call, dy []Value) []Value {
	d := b.Do("diagonal", attr("offset", c.Attrs.Int("offset"), "dim1", 0, "dim2", 1), dy[0])
	return []Value{reshaped(b, d, dims(c.In[0])...)}
}

func padGrad(b Builder, c *Call, dy []Value) []Value {
	pad, mode := c.Attrs.Ints("pad"), c.Attrs.Str("mode")
	if mode != "constant" {
		return []Value{b.Do("pad_backward", attr("size", dims(c.In[0]), "pad", pad, "mode", mode), dy[0])}
	}
	back := slices.Clone(pad)
	for i := range back {
		back[i] = -back[i]
	}
	return []Value{b.Do("pad", attr("pad", back, "mode", mode, "value", 0.0), dy[0])}
}

func padBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("pad", attr("pad", c.Attrs.Ints("pad"), "mode", c.Attrs.Str("mode"), "value", 0.0), dy[0])}
}

func pixelShuffleGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("pixel_unshuffle", attr("downscale_factor", c.Attrs.Int("upscale_factor")), dy[0])}
}

func pixelUnshuffleGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("pixel_shuffle", attr("upscale_factor", c.Attrs.Int("downscale_factor")), dy[0])}
}

func channelShuffleGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("channel_shuffle", attr("groups", dims(c.In[0])[1]/c.Attrs.Int("groups")), dy[0])}
}

func sumToSizeGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("expand", attr("sizes", dims(c.In[0])), dy[0])}
}

// withinGrad: what was overwritten has no gradient, src has that of its place.
func withinGrad(scatter, read Name) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		out := make([]Value, 2)
		if c.Needs[0] {
			out[0] = b.Do(scatter, c.Attrs, dy[0], zeros(b, c.In[1]))
		}
		if c.Needs[1] {
			out[1] = b.Do(read, c.Attrs, dy[0])
		}
		return out
	}
}

// asStridedScatterGrad gives the input the gradient where the view sees it and
// zero elsewhere: PyTorch's rule, though the rest of the input is what the
// result shows of it.
func asStridedScatterGrad(b Builder, c *Call, dy []Value) []Value {
	out := make([]Value, 2)
	g := b.Do("as_strided", c.Attrs, dy[0])
	if c.Needs[0] {
		out[0] = b.Do("as_strided_scatter", c.Attrs, zeros(b, c.In[0]), g)
	}
	if c.Needs[1] {
		out[1] = g
	}
	return out
}

func asStridedAddGrad(b Builder, c *Call, dy []Value) []Value {
	out := []Value{dy[0], nil}
	if c.Needs[1] {
		out[1] = b.Do("as_strided", c.Attrs, dy[0])
	}
	return out
}
