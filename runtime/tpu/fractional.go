package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// FractionalMaxPoolOptions are the options of FractionalMaxPool.
type FractionalMaxPoolOptions struct {
	OutputSize  []int     // sizes of the result, one for each axis
	OutputRatio []float64 // or their ratio to those of the input
	Samples     *Tensor   // numbers from 0 to 1 that place the windows, [n,c,axes]; drawn when not set
}

// FractionalMaxPool takes the largest element of windows whose places are partly
// random: input [c,…] or [n,c,…] with as many last axes as kernel has sizes. It
// also gives the position of each element in its plane.
func FractionalMaxPool(x *Tensor, kernel []int, o FractionalMaxPoolOptions) (out, indices *Tensor) {
	const name = "fractional_max_pool"
	e := someTensors(name, x)
	k := len(kernel)
	d := x.view.Dims
	if len(d) != k+1 && len(d) != k+2 {
		e.fail(name, &shape.RankError{Op: name, Arg: "input", Dims: d, Min: k + 1, Max: k + 2})
	}
	space := d[len(d)-k:]
	sizes := make([]int, k)
	for i := range sizes {
		switch {
		case len(o.OutputSize) > 0:
			sizes[i] = o.OutputSize[min(i, len(o.OutputSize)-1)]
		case len(o.OutputRatio) > 0:
			sizes[i] = int(float64(space[i]) * o.OutputRatio[min(i, len(o.OutputRatio)-1)])
		}
		if sizes[i] < 1 || sizes[i]+kernel[i]-1 > space[i] {
			e.fail(name, &shape.ArgumentError{Op: name, Arg: "output_size", Value: sizes[i], Why: "the windows must fit and there must be one"})
		}
	}
	lead := d[:len(d)-k]
	n, c := 1, lead[len(lead)-1]
	if len(lead) == 2 {
		n = lead[0]
	}
	u := o.Samples
	if u == nil {
		u = DType(x.dt).Rand(n, c, k)
	}
	u = u.Detach().Reshape(n*c, k)
	// The flat position of every element of every window: [n·c, windows, window].
	var starts, offsets *Tensor
	count, volume := 1, 1
	for i := range k {
		draw := i
		if k == 2 { // PyTorch's numbers of an image are for the width first
			draw = 1 - i
		}
		at := windowStarts(u.selectAt(1, draw), space[i], kernel[i], sizes[i]) // [n·c,size]
		in := I64.Arange(kernel[i])
		if i == 0 {
			starts, offsets = at, in
		} else {
			starts = starts.Mul(space[i]).Unsqueeze(2).Add(at.Unsqueeze(1)).Reshape(n*c, count*sizes[i])
			offsets = offsets.Mul(space[i]).Unsqueeze(1).Add(in).Reshape(volume * kernel[i])
		}
		count, volume = count*sizes[i], volume*kernel[i]
	}
	at := starts.Unsqueeze(2).Add(offsets).Reshape(n*c, count*volume)
	v, best := x.Reshape(n*c, shape.Size(space)).Gather(1, at).Reshape(n*c, count, volume).MaxAxis(2)
	indices = at.Reshape(n*c, count, volume).Gather(2, best.Unsqueeze(2))
	dims := append(append([]int{}, lead...), sizes...)
	return v.Reshape(dims...), indices.Reshape(dims...)
}

// windowStarts gives where the windows of an axis start: [m] → I64 [m,out].
func windowStarts(u *Tensor, in, kernel, out int) *Tensor {
	last := I64.Full(in-kernel, u.Size(), 1)
	if out == 1 {
		return last
	}
	u = u.to(dtype.F32).Unsqueeze(1)
	alpha := float64(float32(in-kernel) / float32(out-1))
	first := F32.Arange(out - 1)
	at := first.Add(u).Mul(alpha).Trunc().Sub(u.Mul(alpha).Trunc())
	return Cat(1, at.To(I64), last)
}
