package kernel

import (
	"github.com/tpush/tpush/runtime/mem"
	"github.com/tpush/tpush/runtime/simd"
)

// frameBytes bounds the frames of the images that are worked on at a time: they
// are read once for every panel of rows and stay in the second-level cache.
const frameBytes = 1 << 19

// A pixels is an image with a border, its channels side by side: element
// (channel, y, x) is at (y·cols + x)·channels + channel.
type pixels struct {
	channels, rows, cols int
	top, left            int
}

func (f pixels) size() int { return f.channels * f.rows * f.cols }

// pixels is the frame of images of some channels for the gradient of the weight.
func (c Conv) pixels(channels int) pixels {
	extent := func(axis int) int {
		return (c.Out[axis]-1)*c.Stride[axis] + (c.Kernel[axis]-1)*c.Dilation[axis] + 1
	}
	return pixels{channels: channels, rows: extent(1), cols: extent(2), top: c.Low[1], left: c.Low[2]}
}

// places lists where the first tap meets the image, for each result.
func (f pixels) places(c Conv) simd.Offsets {
	elems := make([]int, 0, volume(c.Out))
	for y := range c.Out[1] {
		for x := range c.Out[2] {
			elems = append(elems, (y*c.Stride[1]*f.cols+x*c.Stride[2])*f.channels)
		}
	}
	return simd.NewOffsets(elems)
}

// runs counts the runs of (tap, channel) that lie side by side, and their
// length: taps of one row are neighbours when they are not dilated.
func (f pixels) runs(c Conv) (n, length int) {
	if c.Dilation[2] == 1 {
		return c.Kernel[1], c.Kernel[2] * f.channels
	}
	return volume(c.Kernel), f.channels
}

// run is where run i begins.
func (f pixels) run(c Conv, i int) int {
	if c.Dilation[2] == 1 {
		return i * c.Dilation[1] * f.cols * f.channels
	}
	return (i/c.Kernel[2]*c.Dilation[1]*f.cols + i%c.Kernel[2]*c.Dilation[2]) * f.channels
}

// fill copies an image [channels,h,w] into dst.
func (f pixels) fill(g *simd.Kernels[float32], dst, img []float32, h, w int) {
	from, to := max(0, f.left), min(f.cols, f.left+w)
	n := f.channels
	for y := range f.rows {
		row := dst[y*f.cols*n:][:f.cols*n]
		sy := y - f.top
		if sy < 0 || sy >= h || from >= to {
			clear(row)
			continue
		}
		clear(row[:from*n])
		clear(row[to*n:])
		simd.TurnerOf[float32](g.Level).Turn(n, to-from, img[sy*w+from-f.left:], h*w, row[from*n:], n)
	}
}

// convolveWeightDirect is convolveWeight by frames: dst[o,ci,kh,kw] of x
// [b,g·ci,h,w] and dy [b,o,oh,ow]. Sums run over the places of a result in
// blocks of kBlock, and over the images in order.
func convolveWeightDirect(dst, x, dy []float32, batch, o, ci int, g Conv) {
	og, in, out, taps := o/g.Groups, volume(g.In), volume(g.Out), volume(g.Kernel)
	if manyChannels(og) {
		convolveWeightLanes(dst, x, dy, batch, o, ci, g)
		return
	}
	f := g.pixels(ci)
	offsets := f.places(g)
	groups, width := f.runs(g)
	kernels, t := simd.KernelsOf[float32](simd.Chosen()), simd.TapsOf(simd.Chosen())
	n := threadsFor(batch * o * ci * taps * out)
	size := f.size() + 2*t.Cols
	step := min(batch, max(n, frameBytes/(4*size*g.Groups)))
	raw, s := mem.Default().Scratch(4 * (step*g.Groups*size + o*taps*ci))
	defer s.Release()
	frames := As[float32](raw)
	sums := frames[step*g.Groups*size:][:o*taps*ci] // [o, kh, kw, ci]
	panels := (og + t.Rows - 1) / t.Rows
	for b0 := 0; b0 < batch; b0 += step {
		nb := min(step, batch-b0)
		each(n, nb*g.Groups, func(i int) {
			f.fill(kernels, frames[i*size:], x[(b0*g.Groups+i)*ci*in:][:ci*in], g.In[1], g.In[2])
		})
		each(n, g.Groups*panels*groups, func(task int) {
			gr, rest := task/(panels*groups), task%(panels*groups)
			r0, tap := rest/groups*t.Rows, rest%groups
			p := weightPanel{t: t, rows: min(t.Rows, og-r0), width: width, c: sums[(gr*og+r0)*taps*ci+tap*width:], cRow: taps * ci, out: out}
			for i := range nb {
				p.add(frames[(i*g.Groups+gr)*size+f.run(g, tap):], dy[((b0+i)*o+gr*og+r0)*out:], offsets, b0+i > 0)
			}
		})
	}
	for oc := range o {
		for c := range ci {
			for k := range taps {
				dst[(oc*ci+c)*taps+k] = sums[(oc*taps+k)*ci+c]
			}
		}
	}
}

// A weightPanel is a few rows of a gradient of the weight, for neighbouring taps.
type weightPanel struct {
	t           *simd.TapsF32
	rows, width int
	c           []float32
	cRow, out   int
}

// add adds what one image gives. The rows of dy are copied: they lie at
// distances that fall into the same cache sets.
func (p *weightPanel) add(b, dy []float32, offsets simd.Offsets, accumulate bool) {
	m := panelMems.Get().(*panelMem)
	defer panelMems.Put(m)
	const ld = kBlock + 16
	buf := take[float32](m, p.t.Rows*(ld+p.t.Cols))
	a, edge := buf[:p.t.Rows*ld], buf[p.t.Rows*ld:]
	for q := 0; q < p.out; q += kBlock {
		end := min(q+kBlock, p.out)
		for r := range p.rows {
			copy(a[r*ld:], dy[r*p.out+q:r*p.out+end])
		}
		for j := 0; j < p.width; j += p.t.Cols {
			o, add := offsets.Part(q, end), accumulate || q > 0
			if j+p.t.Cols <= p.width {
				p.t.Tiles(p.rows, 2, a, ld, 1, o, b[j:], p.t.Cols/2, simd.Here, p.c[j:], p.cRow, simd.Here, add)
				continue
			}
			p.t.Tiles(p.rows, 2, a, ld, 1, o, b[j:], p.t.Cols/2, simd.Here, edge, p.t.Cols, simd.Here, false)
			for r := range p.rows {
				storeSums(matrix[float32]{p.c[r*p.cRow+j:], 0, 1}, edge[r*p.t.Cols:][:p.width-j], add)
			}
		}
	}
}
