package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A Conv is the geometry of a convolution over up to three spatial axes; unused
// ones come first and have size 1. Out = (In + Low + High - Dilation·(Kernel-1) - 1)/Stride + 1.
type Conv struct {
	Groups                      int
	In, Kernel, Out             [3]int
	Stride, Low, High, Dilation [3]int
}

// NewConv reads the attributes stride, padding (one number, one for each axis,
// or a low and a high one for each), dilation and groups, which default to 1,
// 0, 1 and 1, for the spatial sizes in and kernel. With padding_mode same, a
// stride of 1 keeps the size.
func NewConv(a Attrs, in, kernel []int) Conv {
	c := Conv{Groups: max(a.Int("groups"), 1)}
	n := len(in)
	for i := range 3 {
		c.In[i], c.Kernel[i], c.Stride[i], c.Dilation[i] = 1, 1, 1, 1
		j := i - (3 - n)
		if j < 0 {
			continue
		}
		c.In[i], c.Kernel[i] = in[j], kernel[j]
		c.Stride[i] = axisAttr(a.Ints("stride"), j, 1)
		c.Dilation[i] = axisAttr(a.Ints("dilation"), j, 1)
		p := a.Ints("padding")
		switch {
		case a.Str("padding_mode") == "same":
			total := c.Dilation[i] * (kernel[j] - 1)
			c.Low[i] = total / 2
			c.High[i] = total - total/2
		case len(p) == 2*n && n > 0 && len(p) != n:
			c.Low[i], c.High[i] = p[2*j], p[2*j+1]
		default:
			c.Low[i] = axisAttr(p, j, 0)
			c.High[i] = c.Low[i]
		}
	}
	for i := range 3 {
		c.Out[i] = 1
		if i >= 3-n {
			span := c.In[i] + c.Low[i] + c.High[i] - c.Dilation[i]*(c.Kernel[i]-1) - 1
			c.Out[i] = 0
			if span >= 0 {
				c.Out[i] = span/c.Stride[i] + 1
			}
		}
	}
	return c
}

// axisAttr gives the entry of an attribute for spatial axis j: one number stands for all axes.
func axisAttr(xs []int, j, otherwise int) int {
	switch {
	case len(xs) == 0:
		return otherwise
	case j < len(xs):
		return xs[j]
	}
	return xs[0]
}

func volume(d [3]int) int { return d[0] * d[1] * d[2] }

// columnBytes bounds the scratch memory of a convolution.
const columnBytes = 16 << 20

// plainKernel says whether the columns of an image are the image itself.
func (c Conv) plainKernel() bool {
	one := [3]int{1, 1, 1}
	return c.Kernel == one && c.Stride == one && c.Low == [3]int{} && c.High == [3]int{}
}

// columns writes the matrix whose row (channel, tap) and column (position) is
// the input that the tap meets there, zero outside: [channels·kernel, out],
// rows ld apart.
func columns[T factor](dst []T, ld int, x []T, channels int, c Conv) {
	taps, in := volume(c.Kernel), volume(c.In)
	Parallel(channels*taps, max(1, 1<<14/max(1, volume(c.Out))), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			ch, t := r/taps, r%taps
			c.eachRow(t, func(at, from, first, n int) {
				row := dst[r*ld+at : r*ld+at+c.Out[2]]
				if from < 0 {
					clear(row)
					return
				}
				clear(row[:first])
				clear(row[first+n:])
				src := x[ch*in+from:]
				if c.Stride[2] == 1 {
					copy(row[first:first+n], src[:n])
					return
				}
				k := 0
				for i := range n {
					row[first+i] = src[k]
					k += c.Stride[2]
				}
			})
		}
	})
}

// addColumns is the transpose of columns: it adds every column element to the input it came from.
func addColumns[T factor](x []T, src []T, ld int, channels int, c Conv) {
	taps, in := volume(c.Kernel), volume(c.In)
	for ch := range channels {
		img := x[ch*in : (ch+1)*in]
		for t := range taps {
			r := ch*taps + t
			c.eachRow(t, func(at, from, first, n int) {
				if from < 0 {
					return
				}
				row := src[r*ld+at+first:][:n]
				k := from
				for _, v := range row {
					img[k] += v
					k += c.Stride[2]
				}
			})
		}
	}
}

// eachRow calls f for every row of output positions of tap t: at is where the
// row begins in the output, from the input position of its first element that
// is inside (-1: none is), first that element, n their count.
func (c Conv) eachRow(t int, f func(at, from, first, n int)) {
	kw := t % c.Kernel[2]
	kh := t / c.Kernel[2] % c.Kernel[1]
	kd := t / (c.Kernel[2] * c.Kernel[1])
	first, n := c.inside(2, kw)
	w0 := first*c.Stride[2] - c.Low[2] + kw*c.Dilation[2]
	for d := range c.Out[0] {
		z := d*c.Stride[0] - c.Low[0] + kd*c.Dilation[0]
		for h := range c.Out[1] {
			y := h*c.Stride[1] - c.Low[1] + kh*c.Dilation[1]
			at := (d*c.Out[1] + h) * c.Out[2]
			if n == 0 || z < 0 || z >= c.In[0] || y < 0 || y >= c.In[1] {
				f(at, -1, 0, 0)
				continue
			}
			f(at, (z*c.In[1]+y)*c.In[2]+w0, first, n)
		}
	}
}

// inside gives the first output position along axis i at which tap k meets the input, and how many do.
func (c Conv) inside(i, k int) (first, n int) {
	o := k*c.Dilation[i] - c.Low[i]
	s := c.Stride[i]
	if o < 0 {
		first = (-o + s - 1) / s
	}
	last := c.In[i] - 1 - o // the input position of first·s must not pass In-1
	if last < 0 {
		return first, 0
	}
	n = min(last/s, c.Out[i]-1) - first + 1
	return first, max(n, 0)
}

// Convolve computes out[b,o,p] = Σ x[b,c,p·stride-low+k·dilation]·w[o,c,k] + bias[o].
// x is [b,c,…] or [c,…], w [o,c/groups,…]. It runs as products over columns,
// as many images at a time as fit in 16 MiB.
func Convolve(c *Call) error {
	x, w, out := c.In[0], c.In[1], c.Out[0]
	n := len(w.Dims) - 2
	g := NewConv(c.Attrs, x.Dims[len(x.Dims)-n:], w.Dims[2:])
	var bias Array
	if len(c.In) > 2 {
		bias = c.In[2]
	}
	switch wideType(out.DType) {
	case dtype.F32:
		convolve[float32](out, x, w, bias, g)
	case dtype.F64:
		convolve[float64](out, x, w, bias, g)
	case dtype.C64:
		convolve[complex64](out, x, w, bias, g)
	case dtype.C128:
		convolve[complex128](out, x, w, bias, g)
	default:
		convolve[int64](out, x, w, bias, g)
	}
	return nil
}

// images counts the batch of an input that may lack its batch axis.
func images(x Array, spatial int) int {
	if len(x.Dims) == spatial+2 {
		return x.Dims[0]
	}
	return 1
}

func convolve[T factor](out, x, w, bias Array, g Conv) {
	res := wideResult[T](out)
	convolveInto(res, wideElems[T](x), wideElems[T](w), images(x, len(w.Dims)-2), w.Dims[0], w.Dims[1], g)
	addBias(res, bias, w.Dims[0], volume(g.Out))
	storeWide(out, res)
}

// addBias adds bias[o] to every element of plane o.
func addBias[T factor](res []T, bias Array, planes, size int) {
	if !bias.Valid() || size == 0 {
		return
	}
	b := wideElems[T](bias)
	Parallel(len(res)/size, max(1, 1<<14/size), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			v := b[p%planes]
			for i := p * size; i < (p+1)*size; i++ {
				res[i] += v
			}
		}
	})
}

// convolveInto: o output channels, ci input channels of each group.
func convolveInto[T factor](res, x, w []T, batch, o, ci int, g Conv) {
	taps, out, in := volume(g.Kernel), volume(g.Out), volume(g.In)
	k, og := ci*taps, o/g.Groups
	if batch*o*out == 0 {
		return
	}
	if k == 0 {
		clear(res)
		return
	}
	if r, ok := any(res).([]float32); ok && g.flat() && !g.plainKernel() {
		convolveDirect(r, any(x).([]float32), any(w).([]float32), batch, o, ci, g)
		return
	}
	step := imagesAtOnce[T](batch, g.Groups*k*out)
	var cols []T
	if !g.plainKernel() {
		cols = make([]T, step*g.Groups*k*out)
	}
	for b0 := 0; b0 < batch; b0 += step {
		nb := min(step, batch-b0)
		ps := make([]product[T], 0, nb*g.Groups)
		for i := range nb {
			img := x[(b0+i)*g.Groups*ci*in:][:g.Groups*ci*in]
			m := img
			if cols != nil {
				m = cols[i*g.Groups*k*out:][:g.Groups*k*out]
				columns(m, out, img, g.Groups*ci, g)
			}
			for gr := range g.Groups {
				ps = append(ps, product[T]{og, out, k,
					matrix[T]{w[gr*og*k:], k, 1}, matrix[T]{m[gr*k*out:], out, 1},
					matrix[T]{res[((b0+i)*o+gr*og)*out:], out, 1}})
			}
		}
		multiply(ps)
	}
}

func imagesAtOnce[T factor](batch, columns int) int {
	var t T
	size := max(1, columns*int(sizeOf(t)))
	return min(batch, max(1, columnBytes/size))
}

func sizeOf(v any) uintptr {
	if _, ok := v.(float32); ok {
		return 4
	}
	return 8
}

// ConvolveInput is the transpose of Convolve for its input: the first operand
// is the gradient [b,o,…], the second the weight; "size" the spatial size of the result.
func ConvolveInput(c *Call) error {
	dy, w, out := c.In[0], c.In[1], c.Out[0]
	n := len(w.Dims) - 2
	g := NewConv(c.Attrs, out.Dims[len(out.Dims)-n:], w.Dims[2:])
	convolveInput(out, dy, w, Array{}, g)
	return nil
}

// ConvolveTransposed is ConvolveInput as a layer: weight [c,o/groups,…] and a bias.
func ConvolveTransposed(c *Call) error {
	x, w, out := c.In[0], c.In[1], c.Out[0]
	n := len(w.Dims) - 2
	g := NewConv(c.Attrs, out.Dims[len(out.Dims)-n:], w.Dims[2:])
	copy(g.Out[3-n:], x.Dims[len(x.Dims)-n:])
	var bias Array
	if len(c.In) > 2 {
		bias = c.In[2]
	}
	convolveInput(out, x, w, bias, g)
	return nil
}

func convolveInput(out, dy, w, bias Array, g Conv) {
	n := len(w.Dims) - 2
	copy(g.Out[3-n:], dy.Dims[len(dy.Dims)-n:])
	switch wideType(out.DType) {
	case dtype.F32:
		convolveInputAs[float32](out, dy, w, bias, g)
	case dtype.F64:
		convolveInputAs[float64](out, dy, w, bias, g)
	case dtype.C64:
		convolveInputAs[complex64](out, dy, w, bias, g)
	case dtype.C128:
		convolveInputAs[complex128](out, dy, w, bias, g)
	default:
		convolveInputAs[int64](out, dy, w, bias, g)
	}
}

func convolveInputAs[T factor](res, dy, w, bias Array, g Conv) {
	dst := wideResult[T](res)
	batch, o, ci := images(dy, len(w.Dims)-2), w.Dims[0], w.Dims[1]
	r, direct := any(dst).([]float32)
	switch {
	case batch*volume(g.Out)*ci*volume(g.Kernel)*o == 0:
		clear(dst)
	case direct && g.flat():
		convolveInputDirect(r, wideElems[float32](dy), wideElems[float32](w), batch, o, ci, g)
	default:
		convolveInputColumns(dst, wideElems[T](dy), wideElems[T](w), batch, o, ci, g)
	}
	addBias(dst, bias, g.Groups*ci, volume(g.In))
	storeWide(res, dst)
}

// convolveInputColumns is convolveInputAs by products whose columns are added
// up, as many images at a time as fit in 16 MiB.
func convolveInputColumns[T factor](dst, dy, w []T, batch, o, ci int, g Conv) {
	out, in := volume(g.Out), volume(g.In)
	k, og := ci*volume(g.Kernel), o/g.Groups
	clear(dst)
	step := imagesAtOnce[T](batch, g.Groups*k*out)
	cols := make([]T, step*g.Groups*k*out)
	for b0 := 0; b0 < batch; b0 += step {
		nb := min(step, batch-b0)
		ps := make([]product[T], 0, nb*g.Groups)
		for i := range nb {
			for gr := range g.Groups {
				ps = append(ps, product[T]{k, out, og,
					matrix[T]{w[gr*og*k:], 1, k}, matrix[T]{dy[((b0+i)*o+gr*og)*out:], out, 1},
					matrix[T]{cols[(i*g.Groups+gr)*k*out:], out, 1}})
			}
		}
		multiply(ps)
		Parallel(nb*g.Groups, 1, func(lo, hi int) {
			for p := lo; p < hi; p++ {
				addColumns(dst[(b0*g.Groups+p)*ci*in:][:ci*in], cols[p*k*out:], out, ci, g)
			}
		})
	}
}

// ConvolveWeight is the transpose of Convolve for its weight: the operands are
// the input [b,c,…] and the gradient [b,o,…]; "size" is the spatial size of the kernel.
func ConvolveWeight(c *Call) error {
	x, dy, out := c.In[0], c.In[1], c.Out[0]
	n := len(out.Dims) - 2
	g := NewConv(c.Attrs, x.Dims[len(x.Dims)-n:], out.Dims[2:])
	copy(g.Out[3-n:], dy.Dims[len(dy.Dims)-n:])
	switch wideType(out.DType) {
	case dtype.F32:
		convolveWeight[float32](out, x, dy, g)
	case dtype.F64:
		convolveWeight[float64](out, x, dy, g)
	case dtype.C64:
		convolveWeight[complex64](out, x, dy, g)
	case dtype.C128:
		convolveWeight[complex128](out, x, dy, g)
	default:
		convolveWeight[int64](out, x, dy, g)
	}
	return nil
}

func convolveWeight[T factor](res, x, dy Array, g Conv) {
	dst := wideResult[T](res)
	clear(dst)
	o, ci := res.Dims[0], res.Dims[1]
	batch := images(x, len(res.Dims)-2)
	taps, out, in := volume(g.Kernel), volume(g.Out), volume(g.In)
	k, og := ci*taps, o/g.Groups
	if batch*out*len(dst) > 0 {
		xs, ds := wideElems[T](x), wideElems[T](dy)
		if r, ok := any(dst).([]float32); ok && g.flat() {
			convolveWeightDirect(r, any(xs).([]float32), any(ds).([]float32), batch, o, ci, g)
			storeWide(res, dst)
			return
		}
		step := imagesAtOnce[T](batch, g.Groups*(k+og)*out)
		cols := make([]T, g.Groups*k*step*out)
		grad := make([]T, o*step*out)
		sum := make([]T, len(dst))
		for b0 := 0; b0 < batch; b0 += step {
			nb := min(step, batch-b0)
			ld := nb * out
			for i := range nb {
				columns(cols[i*out:], ld, xs[(b0+i)*g.Groups*ci*in:][:g.Groups*ci*in], g.Groups*ci, g)
				for ch := range o {
					copy(grad[ch*ld+i*out:][:out], ds[((b0+i)*o+ch)*out:])
				}
			}
			ps := make([]product[T], 0, g.Groups)
			for gr := range g.Groups {
				ps = append(ps, product[T]{og, k, ld,
					matrix[T]{grad[gr*og*ld:], ld, 1}, matrix[T]{cols[gr*k*ld:], 1, ld},
					matrix[T]{sum[gr*og*k:], k, 1}})
			}
			multiply(ps)
			for i, v := range sum {
				dst[i] += v
			}
		}
	}
	storeWide(res, dst)
}

// Unfold2D lists the windows of an image as columns: [b,c,h,w] → [b,c·kernel,windows].
func Unfold2D(c *Call) error {
	x, out := c.In[0], c.Out[0]
	n := len(x.Dims)
	g := NewConv(c.Attrs, x.Dims[n-2:], pairOf(c.Attrs.Ints("kernel_size")))
	switch wideType(out.DType) {
	case dtype.F32:
		unfold2D[float32](out, x, g)
	case dtype.F64:
		unfold2D[float64](out, x, g)
	case dtype.C64:
		unfold2D[complex64](out, x, g)
	case dtype.C128:
		unfold2D[complex128](out, x, g)
	default:
		unfold2D[int64](out, x, g)
	}
	return nil
}

func pairOf(xs []int) []int { return []int{axisAttr(xs, 0, 1), axisAttr(xs, 1, 1)} }

func unfold2D[T factor](out, x Array, g Conv) {
	res := wideResult[T](out)
	xs := wideElems[T](x)
	n := len(x.Dims)
	ch, in := x.Dims[n-3], volume(g.In)
	size := ch * volume(g.Kernel) * volume(g.Out)
	for b := range images(x, 2) {
		columns(res[b*size:], volume(g.Out), xs[b*ch*in:], ch, g)
	}
	storeWide(out, res)
}

// Fold2D is the transpose of Unfold2D: windows that share a pixel add up.
// "output_size" is the size of the image.
func Fold2D(c *Call) error {
	x, out := c.In[0], c.Out[0]
	n := len(out.Dims)
	g := NewConv(c.Attrs, out.Dims[n-2:], pairOf(c.Attrs.Ints("kernel_size")))
	switch wideType(out.DType) {
	case dtype.F32:
		fold2D[float32](out, x, g)
	case dtype.F64:
		fold2D[float64](out, x, g)
	case dtype.C64:
		fold2D[complex64](out, x, g)
	case dtype.C128:
		fold2D[complex128](out, x, g)
	default:
		fold2D[int64](out, x, g)
	}
	return nil
}

func fold2D[T factor](out, x Array, g Conv) {
	res := wideResult[T](out)
	clear(res)
	xs := wideElems[T](x)
	n := len(out.Dims)
	ch, in := out.Dims[n-3], volume(g.In)
	size := ch * volume(g.Kernel) * volume(g.Out)
	batch := shape.Size(out.Dims[:n-3])
	Parallel(batch, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			addColumns(res[b*ch*in:(b+1)*ch*in], xs[b*size:], volume(g.Out), ch, g)
		}
	})
	storeWide(out, res)
}
