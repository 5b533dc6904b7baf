package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// axisLetters spells the axes of an operand of a convolution: two letters and n digits.
func axisLetters(two string, n int) string { return two + "012"[:n] }

// last gives the last n of the three axes of a geometry.
func last(d [3]int, n int) []int { return slices.Clone(d[3-n:]) }

// withBatch gives x the batch axis that it may lack.
func withBatch(w *stablehlo.Writer, x stablehlo.Value, n int) stablehlo.Value {
	if x.Spec.Rank() == n+2 {
		return x
	}
	return w.Reshape(x, append([]int{1}, x.Spec.Dims...))
}

// withBias adds a bias to channel axis 1 and gives the result its shape.
func withBias(w *stablehlo.Writer, y stablehlo.Value, c *LowerCall) []stablehlo.Value {
	if len(c.In) > 2 && c.In[2].ID != "" {
		y = w.Do("add", y.Spec, "", y, w.BroadcastInDim(c.In[2], y.Spec.Dims, []int{1}))
	}
	return []stablehlo.Value{w.Reshape(y, c.Out[0].Dims)}
}

func lowerConv(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	n := c.In[1].Spec.Rank() - 2
	x, k := withBatch(w, c.In[0], n), c.In[1]
	g := kernel.NewConv(c.Attrs, x.Spec.Dims[2:], k.Spec.Dims[2:])
	conv := stablehlo.Conv{Strides: last(g.Stride, n), RHSDilation: last(g.Dilation, n), FeatureGroups: g.Groups,
		Input: axisLetters("bf", n), Kernel: axisLetters("oi", n), Output: axisLetters("bf", n), Precision: stablehlo.Highest}
	for i := 3 - n; i < 3; i++ {
		conv.Padding = append(conv.Padding, [2]int{g.Low[i], g.High[i]})
	}
	return withBias(w, w.Convolution(x, k, conv, c.Out[0].DType), c)
}

// inputGradHLO writes the transpose of a convolution for its input: a
// convolution of the stretched gradient with the turned weight.
func inputGradHLO(w *stablehlo.Writer, dy, k stablehlo.Value, g kernel.Conv, n int, t dtype.DType) stablehlo.Value {
	if g.Groups > 1 {
		// [g·o, c, …] → [o, g·c, …]: the channels of a group together.
		d := k.Spec.Dims
		o := d[0] / g.Groups
		k = w.Reshape(k, append([]int{g.Groups, o}, d[1:]...))
		k = w.Transpose(k, append([]int{1, 0}, span(2, k.Spec.Rank())...))
		k = w.Reshape(k, append([]int{o, g.Groups * d[1]}, d[2:]...))
	}
	conv := stablehlo.Conv{LHSDilation: last(g.Stride, n), RHSDilation: last(g.Dilation, n), FeatureGroups: g.Groups,
		Input: axisLetters("bf", n), Kernel: axisLetters("io", n), Output: axisLetters("bf", n), Precision: stablehlo.Highest}
	for i := 3 - n; i < 3; i++ {
		reach := g.Dilation[i] * (g.Kernel[i] - 1)
		long := 0
		if g.Out[i] > 0 {
			long = (g.Out[i]-1)*g.Stride[i] + 1
		}
		lo := reach - g.Low[i]
		conv.Padding = append(conv.Padding, [2]int{lo, g.In[i] + reach - long - lo})
		conv.Reversal = append(conv.Reversal, true)
	}
	return w.Convolution(dy, k, conv, t)
}

func lowerConvInput(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	dy, k, out := c.In[0], c.In[1], c.Out[0]
	n := k.Spec.Rank() - 2
	g := kernel.NewConv(c.Attrs, out.Dims[2:], k.Spec.Dims[2:])
	copy(g.Out[3-n:], dy.Spec.Dims[2:])
	return []stablehlo.Value{inputGradHLO(w, dy, k, g, n, out.DType)}
}

func lowerConvTranspose(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	k, out := c.In[1], c.Out[0]
	n := k.Spec.Rank() - 2
	x := withBatch(w, c.In[0], n)
	g := kernel.NewConv(c.Attrs, out.Dims[out.Rank()-n:], k.Spec.Dims[2:])
	copy(g.Out[3-n:], x.Spec.Dims[2:])
	return withBias(w, inputGradHLO(w, x, k, g, n, out.DType), c)
}

// lowerConvWeight convolves the input with the gradient: batch and channels
// change places, stride and dilation too.
func lowerConvWeight(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, dy, out := c.In[0], c.In[1], c.Out[0]
	n := out.Rank() - 2
	g := kernel.NewConv(c.Attrs, x.Spec.Dims[2:], out.Dims[2:])
	copy(g.Out[3-n:], dy.Spec.Dims[2:])
	conv := stablehlo.Conv{Strides: last(g.Dilation, n), RHSDilation: last(g.Stride, n), BatchGroup: g.Groups,
		Input: axisLetters("fb", n), Kernel: axisLetters("io", n), Output: axisLetters("fb", n), Precision: stablehlo.Highest}
	for i := 3 - n; i < 3; i++ {
		long := 0
		if g.Out[i] > 0 {
			long = (g.Out[i]-1)*g.Stride[i] + 1
		}
		hi := (g.Kernel[i]-1)*g.Dilation[i] + long - g.In[i] - g.Low[i]
		conv.Padding = append(conv.Padding, [2]int{g.Low[i], hi})
	}
	return []stablehlo.Value{w.Convolution(x, dy, conv, out.DType)}
}

// lowerUnfold2D is a convolution with a kernel that picks one pixel for each output channel.
func lowerUnfold2D(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := withBatch(w, c.In[0], 2), c.Out[0]
	k, ch, g := windowOf(c.Attrs, x.Spec.Dims[2:], x.Spec.Dims[1])
	pick := pickHLO(w, k, ch, out.DType)
	conv := stablehlo.Conv{Strides: last(g.Stride, 2), RHSDilation: last(g.Dilation, 2), FeatureGroups: ch,
		Input: "bf01", Kernel: "oi01", Output: "bf01", Precision: stablehlo.Highest}
	for i := 1; i < 3; i++ {
		conv.Padding = append(conv.Padding, [2]int{g.Low[i], g.High[i]})
	}
	return []stablehlo.Value{w.Reshape(w.Convolution(x, pick, conv, out.DType), out.Dims)}
}

func windowOf(a Attrs, in []int, ch int) ([]int, int, kernel.Conv) {
	k := []int{axisEntry(a, "kernel_size", 0, 1), axisEntry(a, "kernel_size", 1, 1)}
	g := kernel.NewConv(a, in, k)
	g.Groups = ch
	return k, ch, g
}

// pickHLO writes the kernel [ch·taps, 1, k0, k1] whose row (channel, tap) is 1 at that tap.
func pickHLO(w *stablehlo.Writer, k []int, ch int, t dtype.DType) stablehlo.Value {
	taps := k[0] * k[1]
	s := shape.Spec{DType: indexHLO, Dims: []int{taps, taps}}
	eye := w.Convert(w.Compare("EQ", w.Iota(s, 0), w.Iota(s, 1)), t)
	full := w.BroadcastInDim(eye, []int{ch, taps, taps}, []int{1, 2})
	return w.Reshape(full, []int{ch * taps, 1, k[0], k[1]})
}

func lowerFold2D(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := c.In[0], c.Out[0]
	r := out.Rank()
	k, ch, g := windowOf(c.Attrs, out.Dims[r-2:], out.Dims[r-3])
	batch := 1
	if r == 4 {
		batch = out.Dims[0]
	}
	x = w.Reshape(x, []int{batch, ch * k[0] * k[1], g.Out[1], g.Out[2]})
	y := inputGradHLO(w, x, pickHLO(w, k, ch, out.DType), g, 2, out.DType)
	return []stablehlo.Value{w.Reshape(y, out.Dims)}
}
