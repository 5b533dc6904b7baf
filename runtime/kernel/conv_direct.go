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
	from, to   simd.Offsets // where the tiles begin in the frame and in a plane of results
	seg        []int        // of each tile: how far apart its segments are
}

// locate lists the tiles.
func (p *plane) locate() {
	segs, width, perRow := p.segments()
	var from, to []int
	for t := range p.tiles() {
		s := t * segs
		y, x := s/perRow, s%perRow*width
		seg := p.rowStep
		if segs == 2 {
			seg = 0
			if s+1 < p.rows*perRow {
				seg = (s+1)/perRow*p.rowStep + (s+1)%perRow*width - (y*p.rowStep + x)
			}
		}
		from, to, p.seg = append(from, y*p.rowStep+x), append(to, y*p.cols+x), append(p.seg, seg)
	}
	p.from, p.to = simd.NewOffsets(from), simd.NewOffsets(to)
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

// tilesAtOnce bounds the tiles that are computed for a few channels before the
// next ones: what they read of the frame stays in the first-level cache.
const tilesAtOnce = 16

// run computes tiles lo to hi of c, whose channels are dense planes. edge has room for a tile.
func (p *plane) run(c, b, edge []float32, lo, hi int) {
	segs, width, perRow := p.segments()
	slots, size := p.rows*perRow, p.rows*p.cols
	whole := func(t int) bool { return p.cols%width == 0 && t*segs+segs <= slots }
	panels := (p.m + p.g.Rows - 1) / p.g.Rows
	for t, n := lo, 0; t < hi; t += n {
		n = 1
		direct := whole(t)
		for direct && n < tilesAtOnce && t+n < hi && p.seg[t+n] == p.seg[t] && whole(t+n) {
			n++
		}
		for panel := range panels {
			i, end := share(p.m, panel, panels)
			dst, step, to := edge, p.g.Cols, simd.Here
			if direct {
				dst, step, to = c[i*size:], size, p.to.Part(t, t+n)
			}
			for q := 0; q < p.k; q += kBlock {
				p.g.Tiles(end-i, segs, p.a[i*p.k+q:], p.k, 1, p.offsets.Part(q, min(q+kBlock, p.k)), b, p.seg[t], p.from.Part(t, t+n), dst, step, to, q > 0)
			}
			if direct {
				continue
			}
			for j := 0; j < segs && t*segs+j < slots; j++ {
				s := t*segs + j
				y, x := s/perRow, s%perRow*width
				for r := range end - i {
					copy(c[(i+r)*size+y*p.cols+x:][:min(width, p.cols-x)], edge[r*p.g.Cols+j*width:])
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
	p.locate()
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
