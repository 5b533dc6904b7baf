package tpu

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// GridSampleOptions are the options of GridSample and AffineGrid; the zero
// value is PyTorch's default.
type GridSampleOptions struct {
	Mode         string // bilinear (default), nearest or bicubic
	PaddingMode  string // zeros (default), border or reflection
	AlignCorners bool   // -1 and 1 are the centers of the corner pixels, else their outer edges
}

// AffineGrid gives the positions that an affine map takes the pixels of an
// image from: theta [n,2,3] and the size [n,c,h,w] of the result → [n,h,w,2], or
// theta [n,3,4] and [n,c,d,h,w] → [n,d,h,w,3].
func AffineGrid(theta *Tensor, size []int, opts ...GridSampleOptions) *Tensor {
	const name = "affine_grid"
	e := someTensors(name, theta)
	o := firstOption(opts)
	d := theta.view.Dims
	k := len(size) - 2
	if k != 2 && k != 3 || len(d) != 3 || d[0] != size[0] || d[1] != k || d[2] != k+1 {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "size", Value: size, Why: "theta must be [n,2,3] and size [n,c,h,w], or one more of each"})
	}
	space := size[2:]
	columns := make([]*Tensor, 0, k+1)
	for a := k - 1; a >= 0; a-- { // x first
		n := space[a]
		x := e.fullOf(shape.Spec{DType: theta.dt, Dims: []int{1}}, 0.0)
		if n != 1 {
			x = Linspace(-1, 1, n).to(theta.dt)
			if !o.AlignCorners {
				x = x.Mul(float64(n-1) / float64(n))
			}
		}
		one := make([]int, k)
		for i := range one {
			one[i] = 1
		}
		one[a] = n
		columns = append(columns, x.Reshape(one...).expandTo(space))
	}
	columns = append(columns, e.fullOf(shape.Spec{DType: theta.dt, Dims: space}, 1.0))
	base := Stack(-1, columns...).Reshape(1, shape.Size(space), k+1)
	return base.MatMul(theta.T()).Reshape(append(append([]int{size[0]}, space...), k)...)
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
// grid [n,i,j,2], of x and y from -1 to 1 → [n,c,i,j]; or input [n,c,d,h,w] and
// grid [n,i,j,k,3] → [n,c,i,j,k].
func GridSample(input, grid *Tensor, opts ...GridSampleOptions) *Tensor {
	const name = "grid_sample"
	e := someTensors(name, input, grid)
	o := firstOption(opts)
	d, g := input.view.Dims, grid.view.Dims
	k := len(d) - 2
	if k != 2 && k != 3 {
		e.fail(name, &shape.RankError{Op: name, Arg: "input", Dims: d, Min: 4, Max: 5})
	}
	if len(g) != len(d) || g[0] != d[0] || g[k+1] != k {
		e.fail(name, &shape.MismatchError{Op: name, Left: input.Spec(), Right: grid.Spec(), Axis: 0, Why: "the grid must be [n,i,j,2], or [n,i,j,k,3] for volumes"})
	}
	if input.dt != grid.dt {
		e.fail(name, &op.TypesError{Op: name, Left: input.Spec(), Right: grid.Spec()})
	}
	switch o.PaddingMode {
	case "", "zeros", "border", "reflection":
	default:
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "padding_mode", Value: o.PaddingMode, Why: "it is none of zeros, border, reflection"})
	}
	s := &sampler{o: o, image: input.Reshape(d[0], d[1], shape.Size(d[2:])), space: d[2:], pixels: shape.Size(g[1 : k+1])}
	at := make([]*Tensor, k)
	for a := range at {
		at[a] = gridPixel(grid.Select(-1, k-1-a), d[2+a], o).Reshape(d[0], s.pixels)
	}
	var out *Tensor
	switch {
	case o.Mode == "nearest":
		for a := range at {
			at[a] = s.padded(at[a], a).Detach().Round()
		}
		out = s.read(at)
	case o.Mode == "" || o.Mode == "bilinear":
		for a := range at {
			at[a] = s.padded(at[a], a)
		}
		out = s.linear(at)
	case o.Mode == "bicubic":
		out = s.cubic(at)
	default:
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "mode", Value: o.Mode, Why: "it is none of bilinear, nearest, bicubic"})
	}
	return out.Reshape(append([]int{d[0], d[1]}, g[1:k+1]...)...)
}

// A sampler reads an image [n,c,size of space] at positions, one tensor [n,pixels] for each axis.
type sampler struct {
	o      GridSampleOptions
	image  *Tensor
	space  []int
	pixels int
}

// read gives the elements at whole positions, zero outside: [n,c,pixels].
func (s *sampler) read(at []*Tensor) *Tensor {
	var inside, flat *Tensor
	for a, p := range at {
		last := s.space[a] - 1
		in := p.Ge(0).LogicalAnd(p.Le(last))
		q := p.Clamp(ClampOptions{Min: 0, Max: last}).To(I64)
		if a == 0 {
			inside, flat = in, q
		} else {
			inside, flat = inside.LogicalAnd(in), flat.Mul(s.space[a]).Add(q)
		}
	}
	d := s.image.view.Dims
	v := s.image.Gather(2, flat.Unsqueeze(1).expandTo([]int{d[0], d[1], s.pixels}))
	return Where(inside.Unsqueeze(1), v, 0.0).to(s.image.dt)
}

// linear weights the corners of the cell around each position.
func (s *sampler) linear(at []*Tensor) *Tensor {
	k := len(at)
	low := make([]*Tensor, k)
	for a, p := range at {
		low[a] = p.Detach().Floor()
	}
	var sum *Tensor
	for corner := range 1 << k {
		p, w := make([]*Tensor, k), (*Tensor)(nil)
		for a := range at {
			f := at[a].Sub(low[a])
			p[a] = low[a]
			if corner>>a&1 == 1 {
				p[a] = low[a].Add(1)
			} else {
				f = low[a].Add(1).Sub(at[a])
			}
			if w == nil {
				w = f
			} else {
				w = w.Mul(f)
			}
		}
		v := s.read(p).Mul(w.Unsqueeze(1))
		if sum == nil {
			sum = v
		} else {
			sum = sum.Add(v)
		}
	}
	return sum
}

// cubic weights the four neighbours of each position along each axis by cubic
// convolution; each neighbour is padded by itself.
func (s *sampler) cubic(at []*Tensor) *Tensor {
	k := len(at)
	near, w := make([][4]*Tensor, k), make([][4]*Tensor, k)
	for a, p := range at {
		low := p.Detach().Floor()
		w[a] = cubicWeights(p.Sub(low))
		for i := range 4 {
			near[a][i] = s.padded(low.Add(i-1), a)
		}
	}
	var sum *Tensor
	for taps := range 1 << (2 * k) {
		p, f := make([]*Tensor, k), (*Tensor)(nil)
		for a := range at {
			i := taps >> (2 * a) & 3
			p[a] = near[a][i]
			if f == nil {
				f = w[a][i]
			} else {
				f = f.Mul(w[a][i])
			}
		}
		v := s.read(p).Mul(f.Unsqueeze(1))
		if sum == nil {
			sum = v
		} else {
			sum = sum.Add(v)
		}
	}
	return sum
}

// cubicWeights are the factors of the neighbours at -1, 0, 1 and 2 of a position t from 0 to 1.
func cubicWeights(t *Tensor) [4]*Tensor {
	const a = -0.75
	near := func(x *Tensor) *Tensor { return x.Mul(a + 2).Sub(a + 3).Mul(x).Mul(x).Add(1) }
	far := func(x *Tensor) *Tensor { return x.Mul(a).Sub(5 * a).Mul(x).Add(8 * a).Mul(x).Sub(4 * a) }
	u := t.Neg().Add(1)
	return [4]*Tensor{far(t.Add(1)), near(t), near(u), far(u.Add(1))}
}

// gridPixel turns coordinates from -1 to 1 into positions of an axis of n pixels.
func gridPixel(x *Tensor, n int, o GridSampleOptions) *Tensor {
	if o.AlignCorners {
		return x.Add(1).Mul(float64(n-1) / 2)
	}
	return x.Add(1).Mul(float64(n) / 2).Sub(0.5)
}

// padded brings positions of axis a into the image, as the padding mode says.
func (s *sampler) padded(x *Tensor, a int) *Tensor {
	n := s.space[a]
	switch s.o.PaddingMode {
	case "reflection":
		low, span := -0.5, float64(n)
		if s.o.AlignCorners {
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
