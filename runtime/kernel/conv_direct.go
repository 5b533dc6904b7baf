package kernel

import "github.com/tpush/tpush/runtime/simd"

// Convolutions over one or two axes in f32 copy each image once, with its
// border, into a frame in which whatever a tap meets for neighbouring results
// lies side by side. The tiles then read the frame through offsets: no matrix of
// columns is ever written. Sums run over (channel, tap) in blocks of kBlock, as
// those of a product of columns do.
//
// The lanes of a tile hold places of one channel where the result has few
// channels, and channels of one place where it has many (conv_lanes.go).

// flat says whether c has no depth, so that the direct way applies.
func (c Conv) flat() bool {
	return c.In[0] == 1 && c.Kernel[0] == 1 && c.Out[0] == 1 && c.Low[0] == 0 && c.High[0] == 0
}

// A frame is an image with a border, its columns parted by their place modulo
// step: element (channel, y, x) is at ((channel·step + x%step)·rows + y)·cols + x/step.
type frame struct {
	channels, rows, cols, step int
	top, left                  int // where the image begins; it may begin outside
}

func (f frame) size() int { return f.channels * f.step * f.rows * f.cols }

func (f frame) at(channel, y, x int) int {
	return ((channel*f.step+x%f.step)*f.rows+y)*f.cols + x/f.step
}

// fill copies an image [channels,h,w] into dst. line has room for a row of all
// columns when step is not 1.
func (f frame) fill(dst, line, img []float32, h, w int) {
	r := simd.RunsOf(simd.Chosen())
	width := f.cols * f.step
	from, to := max(0, f.left), min(width, f.left+w) // columns of the frame inside of the image
	top, end := max(0, f.top), min(f.rows, f.top+h)  // rows
	plane := f.step * f.rows * f.cols
	for ch := range f.channels {
		part := dst[ch*plane:][:plane]
		if from >= to || top >= end {
			clear(part)
			continue
		}
		src := img[(ch*h+top-f.top)*w+from-f.left:]
		if f.step == 1 {
			clear(part[:top*f.cols+from])
			r.MoveRows(end-top, to-from, part[top*f.cols+from:], f.cols, src, w)
			for x := range f.cols - (to - from) { // what lies between two rows of the image
				for y := top; y < end-1; y++ {
					part[y*f.cols+to+x] = 0
				}
			}
			clear(part[(end-1)*f.cols+to:])
			continue
		}
		clear(part)
		row := line[:width]
		clear(row)
		for y := top; y < end; y++ {
			copy(row[from:to], src[(y-top)*w:])
			if f.step == 2 {
				r.Split(part[y*f.cols:][:f.cols], part[(f.rows+y)*f.cols:][:f.cols], row)
				continue
			}
			for x, v := range row {
				part[(x%f.step*f.rows+y)*f.cols+x/f.step] = v
			}
		}
	}
}

// A plane computes m channels of rows × cols results: each the product of a row
// of a, k long, with what the offsets meet, moved by rowStep for each row and by one for each column.
type plane struct {
	g          *simd.TapsF32
	a          []float32 // [m,k]
	m, k       int
	offsets    simd.Offsets
	rows, cols int
	rowStep    int
}

// segments gives how many segments a tile has, and how many of them a row takes.
func (p *plane) segments() (segs, width, perRow int) {
	width = p.g.Cols / 2
	if p.cols <= width/2 {
		return 4, width / 2, 1
	}
	return 2, width, (p.cols + width - 1) / width
}

// tiles is the number of tiles of the plane.
func (p *plane) tiles() int {
	segs, _, perRow := p.segments()
	return (p.rows*perRow + segs - 1) / segs
}

// slack is how much a tile may read behind the last element of a frame.
func (p *plane) slack() int { return 4*p.rowStep + 2*p.g.Cols }

// run computes tiles lo to hi of c, whose channels are dense planes. edge has room for a tile.
func (p *plane) run(c, b, edge []float32, lo, hi int) {
	segs, width, perRow := p.segments()
	slots, size := p.rows*perRow, p.rows*p.cols
	for t := lo; t < hi; t++ {
		s := t * segs
		y, x := s/perRow, s%perRow*width
		seg := p.rowStep
		if segs == 2 {
			seg = 0
			if s+1 < slots {
				seg = (s+1)/perRow*p.rowStep + (s+1)%perRow*width - (y*p.rowStep + x)
			}
		}
		whole := p.cols%width == 0 && s+segs <= slots
		for i := 0; i < p.m; i += p.g.Rows {
			rows := min(p.g.Rows, p.m-i)
			dst, step := edge, p.g.Cols
			if whole {
				dst, step = c[i*size+y*p.cols+x:], size
			}
			for q := 0; q < p.k; q += kBlock {
				end := min(q+kBlock, p.k)
				p.g.Tile(rows, segs, p.a[i*p.k+q:], p.k, 1, p.offsets.Part(q, end), b[y*p.rowStep+x:], seg, dst, step, q > 0)
			}
			if whole {
				continue
			}
			for j := 0; j < segs && s+j < slots; j++ {
				y, x := (s+j)/perRow, (s+j)%perRow*width
				n := min(width, p.cols-x)
				for r := range rows {
					copy(c[(i+r)*size+y*p.cols+x:][:n], edge[r*p.g.Cols+j*width:])
				}
			}
		}
	}
}

// imageTasks runs f for every image, or for parts of it where there are few:
// f computes the given share of its tiles. Each call has scratch memory of its own.
func imageTasks(batch, work, scratch int, f func(image, part, parts int, mem []float32)) {
	n := threads()
	if work*batch < serialWork {
		n = 1
	}
	parts := 1
	if n > 1 && batch < 2*n {
		parts = (4*n + batch - 1) / batch
	}
	each(n, batch*parts, func(t int) {
		m := panelMems.Get().(*panelMem)
		defer panelMems.Put(m)
		f(t/parts, t%parts, parts, take[float32](m, scratch))
	})
}

// share gives the range of part of n things.
func share(n, part, parts int) (lo, hi int) { return n * part / parts, n * (part + 1) / parts }

// convolveDirect is convolveInto by frames.
func convolveDirect(res, x, w []float32, batch, o, ci int, g Conv) {
	kh, kw, oh, ow := g.Kernel[1], g.Kernel[2], g.Out[1], g.Out[2]
	sh, sw, dh, dw := g.Stride[1], g.Stride[2], g.Dilation[1], g.Dilation[2]
	og, in, out := o/g.Groups, volume(g.In), volume(g.Out)
	if manyChannels(og) && ci*kh*kw >= laneTerms {
		convolveLanes(res, x, w, batch, o, ci, g)
		return
	}
	f := frame{channels: g.Groups * ci, rows: (oh-1)*sh + (kh-1)*dh + 1, cols: ((ow-1)*sw + (kw-1)*dw + sw) / sw, step: sw, top: g.Low[1], left: g.Low[2]}
	offsets := make([]int, 0, ci*kh*kw)
	for c := range ci {
		for y := range kh {
			for x := range kw {
				offsets = append(offsets, f.at(c, y*dh, x*dw))
			}
		}
	}
	k := len(offsets)
	p := plane{g: simd.TapsOf(simd.Chosen()), m: og, k: k, offsets: simd.NewOffsets(offsets), rows: oh, cols: ow, rowStep: sh * f.cols}
	tile, line := p.g.Rows*p.g.Cols, f.cols*f.step
	imageTasks(batch, o*k*out, tile+line+f.size()+p.slack(), func(i, part, parts int, mem []float32) {
		edge, line, b := mem[:tile], mem[tile:tile+line], mem[tile+line:]
		f.fill(b, line, x[i*f.channels*in:][:f.channels*in], g.In[1], g.In[2])
		lo, hi := share(p.tiles(), part, parts)
		for gr := range g.Groups {
			p := p
			p.a = w[gr*og*k:][:og*k]
			p.run(res[(i*o+gr*og)*out:][:og*out], b[gr*ci*f.step*f.rows*f.cols:], edge, lo, hi)
		}
	})
}
