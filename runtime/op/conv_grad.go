package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
)

// geometry gives the attributes of a convolution in full: low and high padding for each axis.
func geometry(a Attrs, in, k []int) Attrs {
	g := kernel.NewConv(a, in, k)
	n := len(in)
	var stride, padding, dilation []int
	for i := 3 - n; i < 3; i++ {
		stride, dilation = append(stride, g.Stride[i]), append(dilation, g.Dilation[i])
		padding = append(padding, g.Low[i], g.High[i])
	}
	return attr("stride", stride, "padding", padding, "dilation", dilation, "groups", g.Groups)
}

func withSize(a Attrs, size []int) Attrs {
	return append(attr("size", slices.Clone(size)), a...)
}

// batched gives v the batch axis that it may lack.
func batched(b Builder, v Value, n int) Value {
	if len(dims(v)) == n+2 {
		return v
	}
	return reshaped(b, v, append([]int{1}, dims(v)...)...)
}

// channelSum sums a gradient over everything but the channels.
func channelSum(b Builder, g Value, n int) Value {
	d := dims(g)
	c := len(d) - n - 1
	one := slices.Clone(d)
	for i := range one {
		if i != c {
			one[i] = 1
		}
	}
	return reshaped(b, reduceTo(b, g, one), d[c])
}

func convGrad(name Name, n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		out := make([]Value, len(c.In))
		x, w, g := batched(b, c.In[0], n), c.In[1], batched(b, dy[0], n)
		a := geometry(c.Attrs, dims(x)[2:], dims(w)[2:])
		if c.Needs[0] {
			out[0] = reshaped(b, b.Do("conv_input_grad", withSize(a, dims(x)[2:]), g, w), dims(c.In[0])...)
		}
		if c.Needs[1] {
			out[1] = b.Do("conv_weight_grad", withSize(a, dims(w)[2:]), x, g)
		}
		if len(c.In) > 2 && c.In[2] != nil && c.Needs[2] {
			out[2] = channelSum(b, dy[0], n)
		}
		return out
	}
}

// forward names the convolution over as many axes as a weight has.
func forward(w Value) Name { return Name("conv" + digits[len(dims(w))-2] + "d") }

// only keeps the attributes of a convolution's geometry.
func only(a Attrs) Attrs {
	return attr("stride", a.Ints("stride"), "padding", a.Ints("padding"), "dilation", a.Ints("dilation"), "groups", a.Int("groups"))
}

func convInputGrad(b Builder, c *Call, dy []Value) []Value {
	g, w := c.In[0], c.In[1]
	out := make([]Value, 2)
	a := only(c.Attrs)
	if c.Needs[0] {
		out[0] = b.Do(forward(w), a, dy[0], w)
	}
	if c.Needs[1] {
		out[1] = b.Do("conv_weight_grad", withSize(a, dims(w)[2:]), dy[0], g)
	}
	return out
}

func convWeightGrad(b Builder, c *Call, dy []Value) []Value {
	x, g := c.In[0], c.In[1]
	out := make([]Value, 2)
	a := only(c.Attrs)
	if c.Needs[0] {
		out[0] = b.Do("conv_input_grad", withSize(a, dims(x)[2:]), g, dy[0])
	}
	if c.Needs[1] {
		out[1] = b.Do(forward(dy[0]), a, x, dy[0])
	}
	return out
}

// convTransposeGrad: a transposed convolution is conv_input_grad, whose own
// gradients are a convolution and conv_weight_grad.
func convTransposeGrad(n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		out := make([]Value, len(c.In))
		x, w, g := batched(b, c.In[0], n), c.In[1], batched(b, dy[0], n)
		a := geometry(c.Attrs, dims(g)[2:], dims(w)[2:])
		if c.Needs[0] {
			r := b.Do(forward(w), a, g, w)
			for i, size := range dims(x)[2:] { // a large output padding makes it longer
				if dims(r)[2+i] > size {
					r = b.Do("slice", attr("dim", 2+i, "start", 0, "end", size, "step", 1), r)
				}
			}
			out[0] = reshaped(b, r, dims(c.In[0])...)
		}
		if c.Needs[1] {
			out[1] = b.Do("conv_weight_grad", withSize(a, dims(w)[2:]), g, x)
		}
		if len(c.In) > 2 && c.In[2] != nil && c.Needs[2] {
			out[2] = channelSum(b, dy[0], n)
		}
		return out
	}
}

// foldAttrs are the attributes that unfold2d and fold2d share.
func foldAttrs(c *Call) Attrs {
	return attr("kernel_size", c.Attrs.Ints("kernel_size"), "dilation", c.Attrs.Ints("dilation"), "padding", c.Attrs.Ints("padding"), "stride", c.Attrs.Ints("stride"))
}

func unfold2DGrad(b Builder, c *Call, dy []Value) []Value {
	d := dims(c.In[0])
	return []Value{b.Do("fold2d", append(attr("output_size", slices.Clone(d[len(d)-2:])), foldAttrs(c)...), dy[0])}
}

func fold2DGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("unfold2d", foldAttrs(c), dy[0])}
}
