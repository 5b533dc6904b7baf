package op

import "github.com/tpush/tpush/runtime/shape"

func transposeGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("transpose", c.Attrs, dy[0])}
}

func swapaxesGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("swapaxes", c.Attrs, dy[0])}
}

func tGrad(b Builder, _ *Call, dy []Value) []Value { return []Value{b.Do("t", nil, dy[0])} }

// inverse gives the permutation that undoes perm, whose axes may count from the end.
func inverse(perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[(p+len(perm))%len(perm)] = i
	}
	return out
}

func permuteGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("permute", attr("dims", inverse(c.Attrs.Ints("dims"))), dy[0])}
}

func movedimGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("movedim", attr("source", c.Attrs.Ints("destination"), "destination", c.Attrs.Ints("source")), dy[0])}
}

// reshapeGrad gives the gradient the shape of the input.
func reshapeGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{reshaped(b, dy[0], dims(c.In[0])...)}
}

func expandGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{reduceTo(b, dy[0], dims(c.In[0]))}
}

func sliceGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("slice_scatter", c.Attrs, zeros(b, c.In[0]), dy[0])}
}

func narrowGrad(b Builder, c *Call, dy []Value) []Value {
	start := c.Attrs.Int("start")
	d := dims(c.In[0])
	if start < 0 {
		axis := (c.Attrs.Int("dim") + len(d)) % len(d)
		start += d[axis]
	}
	a := attr("dim", c.Attrs.Int("dim"), "start", start, "end", start+c.Attrs.Int("length"), "step", 1)
	return []Value{b.Do("slice_scatter", a, zeros(b, c.In[0]), dy[0])}
}

func selectGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("select_scatter", c.Attrs, zeros(b, c.In[0]), dy[0])}
}

func diagonalGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("diagonal_scatter", c.Attrs, zeros(b, c.In[0]), dy[0])}
}

// unfoldGrad adds every window back where it came from.
func unfoldGrad(b Builder, c *Call, dy []Value) []Value {
	v, err := unfoldView(shape.Dense(dims(c.In[0])), c.Attrs)
	if err != nil {
		panic(err)
	}
	a := attr("size", v.Dims, "stride", v.Strides, "storage_offset", v.Offset)
	return []Value{b.Do("as_strided_add", a, zeros(b, c.In[0]), dy[0])}
}

func asStridedGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("as_strided_add", c.Attrs, zeros(b, c.In[0]), dy[0])}
}
