package kernel

import "github.com/tpush/tpush/runtime/simd"

// A phase is the elements of an input gradient at places (y, x) that are
// (py, px) modulo the strides: a convolution of its own, of stride 1, over the
// gradient of the result, with the taps that reach those places.
type phase struct {
	plane
	py, px int
	at     int // where its results are in the scratch memory
}

// axisTaps lists, for places ≡ at modulo the stride of an axis, the taps that
// reach them, and for each how far the place of the result is from place/stride.
func (c Conv) axisTaps(axis, at int) (taps, shifts []int) {
	for t := range c.Kernel[axis] {
		if d := at + c.Low[axis] - t*c.Dilation[axis]; d%c.Stride[axis] == 0 {
			taps, shifts = append(taps, t), append(shifts, d/c.Stride[axis])
		}
	}
	return taps, shifts
}

// gradientFrame is the frame of a gradient of o channels: it reaches from the
// least shift of a tap to the largest place that one meets.
func (c Conv) gradientFrame(o int) frame {
	extent := func(axis int) (before, count int) {
		size, stride, last := c.In[axis], c.Stride[axis], 0
		for at := range min(stride, size) {
			n := (size - at + stride - 1) / stride
			_, shifts := c.axisTaps(axis, at)
			for _, s := range shifts {
				before, last = max(before, -s), max(last, n-1+s)
			}
		}
		return before, before + last + 1
	}
	f := frame{channels: o, step: 1}
	f.top, f.rows = extent(1)
	f.left, f.cols = extent(2)
	return f
}

// convolveInputDirect is convolveInputAs by frames: dst[b,g·ci,h,w] of dy
// [b,o,oh,ow] and w [o,ci,kh,kw]. Sums run over (channel of dy, tap).
func convolveInputDirect(dst, dy, w []float32, batch, o, ci int, g Conv) {
	kh, kw, h, wd := g.Kernel[1], g.Kernel[2], g.In[1], g.In[2]
	sh, sw := g.Stride[1], g.Stride[2]
	og, in, out, taps := o/g.Groups, volume(g.In), volume(g.Out), kh*kw
	if manyChannels(ci) {
		convolveInputLanes(dst, dy, w, batch, o, ci, g)
		return
	}
	f := g.gradientFrame(o)
	kernels := simd.TapsOf(simd.Chosen())
	var phases []phase
	size, slack := 0, 0
	for py := range min(sh, h) {
		for px := range min(sw, wd) {
			ty, sy := g.axisTaps(1, py)
			tx, sx := g.axisTaps(2, px)
			p := phase{py: py, px: px, at: size, plane: plane{g: kernels, m: ci, k: og * len(ty) * len(tx),
				rows: (h - py + sh - 1) / sh, cols: (wd - px + sw - 1) / sw, rowStep: f.cols}}
			var offsets []int
			for c := range og {
				for i := range ty {
					for j := range tx {
						offsets = append(offsets, f.at(c, f.top+sy[i], f.left+sx[j]))
					}
				}
			}
			p.offsets = simd.NewOffsets(offsets)
			p.locate()
			p.a = make([]float32, g.Groups*ci*p.k) // [group, ci, (o, tap)]
			q := 0
			for gr := range g.Groups {
				for c := range ci {
					for oc := range og {
						for _, y := range ty {
							for _, x := range tx {
								p.a[q] = w[((gr*og+oc)*ci+c)*taps+y*kw+x]
								q++
							}
						}
					}
				}
			}
			size += ci * p.rows * p.cols
			slack = max(slack, p.slack())
			phases = append(phases, p)
		}
	}
	tile := kernels.Rows * kernels.Cols
	direct := len(phases) == 1 && sh == 1 && sw == 1
	if direct {
		size = 0
	}
	imageTasks(batch, o*ci*taps*out, tile+size+f.size()+slack, func(i, part, parts int, mem []float32) {
		edge, res, b := mem[:tile], mem[tile:tile+size], mem[tile+size:]
		f.fill(b, nil, dy[i*o*out:][:o*out], g.Out[1], g.Out[2])
		for gr := range g.Groups {
			to := dst[(i*g.Groups+gr)*ci*in:][:ci*in]
			src := b[gr*og*f.rows*f.cols:]
			// Parts are rows of channels of the result: a share of each phase's channels.
			lo, hi := share(ci, part, parts)
			if direct {
				p := phases[0].plane
				p.a = p.a[gr*ci*p.k:][:ci*p.k]
				lo, hi = share(p.tiles(), part, parts)
				p.run(to, src, edge, lo, hi)
				continue
			}
			for _, ph := range phases {
				p := ph.plane
				p.a, p.m = p.a[(gr*ci+lo)*p.k:], hi-lo
				r := res[ph.at+lo*p.rows*p.cols:][:(hi-lo)*p.rows*p.cols]
				if p.k == 0 {
					clear(r)
				} else if hi > lo {
					p.run(r, src, edge, 0, p.tiles())
				}
			}
			for c := lo; c < hi; c++ {
				for y := range h {
					joinPhases(to[(c*h+y)*wd:][:wd], res, phases[y%sh*min(sw, wd):][:min(sw, wd)], c, y/sh)
				}
			}
		}
	})
}

// joinPhases puts the results of row y of the phases of one row together.
func joinPhases(dst, res []float32, phases []phase, channel, y int) {
	row := func(i int) []float32 {
		p := &phases[i]
		return res[p.at+(channel*p.rows+y)*p.cols:][:p.cols]
	}
	switch len(phases) {
	case 1:
		copy(dst, row(0))
	case 2:
		simd.RunsOf(simd.Chosen()).Merge(dst, row(0), row(1))
	default:
		for i := range phases {
			for j, v := range row(i) {
				dst[j*len(phases)+i] = v
			}
		}
	}
}
