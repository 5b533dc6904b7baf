package tpu

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// GridSampleOptions are the options of GridSample and AffineGrid; the zero
// value is PyTorch's default.
type GridSampleOptions struct {
	Mode         string // bilinear (default) or nearest
	PaddingMode  string // zeros (default), border or reflection
	AlignCorners bool   // -1 and 1 are the centers of the corner pixels, else their outer edges
}

// AffineGrid gives the positions that an affine map takes the pixels of an
// image from: theta [n,2,3] and the size [n,c,h,w] of the result → [n,h,w,2].
func AffineGrid(theta *Tensor, size []int, opts ...GridSampleOptions) *Tensor {
	const name = "affine_grid"
	e := someTensors(name, theta)
	o := firstOption(opts)
	d := theta.view.Dims
	if len(size) != 4 || len(d) != 3 || d[0] != size[0] || d[1] != 2 || d[2] != 3 {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "size", Value: size, Why: "theta must be [n,2,3] and size [n,c,h,w]"})
	}
	h, w := size[2], size[3]
	axis := func(n int) *Tensor {
		if n == 1 {
			return e.fullOf(shape.Spec{DType: theta.dt, Dims: []int{1}}, 0.0)
		}
		x := Linspace(-1, 1, n).to(theta.dt)
		if !o.AlignCorners {
			x = x.Mul(float64(n-1) / float64(n))
		}
		return x
	}
	x := axis(w).Reshape(1, w).expandTo([]int{h, w})
	y := axis(h).Reshape(h, 1).expandTo([]int{h, w})
	base := Stack(-1, x, y, e.fullOf(shape.Spec{DType: theta.dt, Dims: []int{h, w}}, 1.0)).Reshape(1, h*w, 3)
	return base.MatMul(theta.T()).Reshape(size[0], h, w, 2)
}

// someTensors refuses absent operands and gives the engine of the first.
func someTensors(name string, xs ...*Tensor) *engine {
	for _, x := range xs {
		if x == nil {
			refuse(name, &NilTensorError{})
		}
	}
	return xs[0].s.e
}

func firstOption[T any](opts []T) T {
	var o T
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// GridSample reads an image at the positions of a grid: input [n,c,h,w] and
// grid [n,i,j,2], of x and y from -1 to 1 → [n,c,i,j].
func GridSample(input, grid *Tensor, opts ...GridSampleOptions) *Tensor {
	const name = "grid_sample"
	e := someTensors(name, input, grid)
	o := firstOption(opts)
	d, g := input.view.Dims, grid.view.Dims
	if len(d) != 4 {
		e.fail(name, &shape.RankError{Op: name, Arg: "input", Dims: d, Min: 4, Max: 4})
	}
	if len(g) != 4 || g[0] != d[0] || g[3] != 2 {
		e.fail(name, &shape.MismatchError{Op: name, Left: input.Spec(), Right: grid.Spec(), Axis: 0, Why: "the grid must be [n,i,j,2]"})
	}
	if input.dt != grid.dt {
		e.fail(name, &op.TypesError{Op: name, Left: input.Spec(), Right: grid.Spec()})
	}
	switch o.PaddingMode {
	case "", "zeros", "border", "reflection":
	default:
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "padding_mode", Value: o.PaddingMode, Why: "it is none of zeros, border, reflection"})
	}
	n, c, h, w := d[0], d[1], d[2], d[3]
	pixels := g[1] * g[2]
	image := input.Reshape(n, c, h*w)
	x := gridPosition(grid.Select(3, 0), w, o).Reshape(n, pixels)
	y := gridPosition(grid.Select(3, 1), h, o).Reshape(n, pixels)
	// read gives the pixels at whole positions, zero outside: [n,c,pixels].
	read := func(px, py *Tensor) *Tensor {
		inside := px.Ge(0).LogicalAnd(px.Le(w - 1)).LogicalAnd(py.Ge(0)).LogicalAnd(py.Le(h - 1))
		at := py.Clamp(ClampOptions{Min: 0, Max: h - 1}).Mul(w).Add(px.Clamp(ClampOptions{Min: 0, Max: w - 1})).To(I64)
		v := image.Gather(2, at.Unsqueeze(1).expandTo([]int{n, c, pixels}))
		return Where(inside.Unsqueeze(1), v, 0.0).to(input.dt)
	}
	var out *Tensor
	switch o.Mode {
	case "nearest":
		out = read(x.Detach().Round(), y.Detach().Round())
	case "", "bilinear":
		x0, y0 := x.Detach().Floor(), y.Detach().Floor()
		x1, y1 := x0.Add(1), y0.Add(1)
		corner := func(px, py, wx, wy *Tensor) *Tensor { return read(px, py).Mul(wx.Mul(wy).Unsqueeze(1)) }
		left, right, up, down := x1.Sub(x), x.Sub(x0), y1.Sub(y), y.Sub(y0)
		out = corner(x0, y0, left, up).Add(corner(x1, y0, right, up)).Add(corner(x0, y1, left, down)).Add(corner(x1, y1, right, down))
	default:
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "mode", Value: o.Mode, Why: "it is neither bilinear nor nearest"})
	}
	return out.Reshape(n, c, g[1], g[2])
}

// gridPosition turns coordinates from -1 to 1 into positions of an axis of n pixels.
func gridPosition(x *Tensor, n int, o GridSampleOptions) *Tensor {
	if o.AlignCorners {
		x = x.Add(1).Mul(float64(n-1) / 2)
	} else {
		x = x.Add(1).Mul(float64(n) / 2).Sub(0.5)
	}
	switch o.PaddingMode {
	case "reflection":
		low, span := -0.5, float64(n)
		if o.AlignCorners {
			low, span = 0, float64(n-1)
		}
		if span == 0 {
			return x.Mul(0)
		}
		// A triangle wave of period 2·span.
		t := x.Sub(low).Abs().Remainder(2 * span)
		t = Where(t.Gt(span), t.Neg().Add(2*span), t)
		x = t.Add(low)
		fallthrough
	case "border":
		x = x.Clamp(ClampOptions{Min: 0, Max: n - 1})
	}
	return x
}

// LPPool1D gives the p-norm of every window.
func LPPool1D(x *Tensor, p float64, kernel []int, stride ...int) *Tensor {
	return lpPool("lp_pool1d", 1, x, p, kernel, stride)
}

// LPPool2D gives the p-norm of every window over two axes.
func LPPool2D(x *Tensor, p float64, kernel []int, stride ...int) *Tensor {
	return lpPool("lp_pool2d", 2, x, p, kernel, stride)
}

// LPPool3D gives the p-norm of every window over three axes.
func LPPool3D(x *Tensor, p float64, kernel []int, stride ...int) *Tensor {
	return lpPool("lp_pool3d", 3, x, p, kernel, stride)
}

func lpPool(name string, axes int, x *Tensor, p float64, kernel, stride []int) *Tensor {
	e := someTensors(name, x)
	if len(kernel) != 1 && len(kernel) != axes {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "kernel_size", Value: kernel, Why: "one number or one for each axis is needed"})
	}
	size := 1
	for i := range axes {
		size *= kernel[min(i, len(kernel)-1)]
	}
	a := op.Attrs{{Name: "kernel_size", Value: kernel}}
	if len(stride) > 0 {
		a = append(a, op.Attr{Name: "stride", Value: stride})
	}
	sum := call(op.Name("avg"+name[2:]), a, x.Pow(p))
	return sum.Sign().Mul(sum.Abs().ReLU().Mul(size).Pow(1 / p))
}

// MaxUnpool puts the results of a max pooling back to the positions it gave,
// into planes of the given sizes, zero elsewhere.
func MaxUnpool(x, indices *Tensor, size ...int) *Tensor {
	const name = "max_unpool"
	e := someTensors(name, x, indices)
	d := x.view.Dims
	k := len(d) - len(size)
	if k < 0 || !shape.EqualDims(d, indices.view.Dims) {
		e.fail(name, &shape.MismatchError{Op: name, Left: x.Spec(), Right: indices.Spec(), Axis: -1, Why: "each element needs one position"})
	}
	lead, plane, n := shape.Size(d[:k]), shape.Size(size), shape.Size(d[k:])
	flat := e.fullOf(shape.Spec{DType: x.dt, Dims: []int{lead, plane}}, 0.0).Scatter(1, indices.Reshape(lead, n), x.Reshape(lead, n))
	return flat.Reshape(append(append([]int{}, d[:k]...), size...)...)
}
