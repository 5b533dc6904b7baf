package kernel

import "github.com/tpush/tpush/runtime/simd"

// Where a convolution has many channels of results, the lanes of its tiles hold
// channels: the weights are packed once a call into panels, and the places of
// the frame are read one by one, whatever the stride. The results of a few rows
// of places are transposed into planes together.

// manyChannels says whether m channels of results fill the lanes of a tile.
func manyChannels(m int) bool { return m >= simd.TapsOf(simd.Chosen()).Narrow }

// laneTerms is the number of terms from which a convolution gains what writing
// its results channel by channel costs.
const laneTerms = 64

// panelWidth is the width of the panel of channels that begins at channel i of m.
func panelWidth(t *simd.TapsF32, m, i int) int {
	if m-i <= t.Narrow {
		return t.Narrow
	}
	return t.Cols
}

// A lattice is m channels of rows × cols results, whose places are those of its
// phases. Neighbouring places of a phase are strideY and strideX apart in the
// result and meet elements that are fromY and fromX apart in the frame.
type lattice struct {
	g                *simd.Kernels[float32]
	t                *simd.TapsF32
	m, rows, cols    int
	strideY, strideX int
	fromY, fromX     int
	phases           []latticePhase
	turner           simd.Turner[float32]
}

// A latticePhase is places that all meet the same taps.
type latticePhase struct {
	y, x    int // the first place
	offsets simd.Offsets
	b       []float32 // for each group the panels of its channels: a row of them a term
	// Of the places of a band: where the first tap meets the frame, and where the
	// results of whole and of narrow panels go.
	from      simd.Offsets
	to        [2]simd.Offsets
	rowPlaces int
}

// bandPlaces is about how many places are computed before they are written: their
// results stay in the first-level cache.
const bandPlaces = 192

// band is the number of rows that are computed before they are written: whole
// strides, and whole vectors of places if that is possible.
func (l *lattice) band() int {
	rows := l.strideY
	for rows < l.rows && (rows*l.cols < bandPlaces || l.g.Lanes > 0 && rows*l.cols%l.g.Lanes != 0 && rows*l.cols < 4*bandPlaces) {
		rows += l.strideY
	}
	return min(rows, l.rows)
}

// locate lists the places of each phase.
func (l *lattice) locate() {
	band := l.band()
	for i := range l.phases {
		p := &l.phases[i]
		var from, whole, narrow []int
		for y := p.y; y < band; y += l.strideY {
			for x := p.x; x < l.cols; x += l.strideX {
				from = append(from, y/l.strideY*l.fromY+x/l.strideX*l.fromX)
				whole = append(whole, (y*l.cols+x)*l.t.Cols)
				narrow = append(narrow, (y*l.cols+x)*l.t.Narrow)
			}
		}
		p.from = simd.NewOffsets(from)
		p.to = [2]simd.Offsets{simd.NewOffsets(narrow), simd.NewOffsets(whole)}
		p.rowPlaces = (l.cols - p.x + l.strideX - 1) / l.strideX
	}
}

func (l *lattice) panels() int { return (l.m + l.t.Cols - 1) / l.t.Cols }

// size is the number of elements that the weights of a phase of k terms take for each group.
func (l *lattice) size(k int) int { return roundUp(l.m, l.t.Narrow) * k }

// tasks is the number of pieces that run computes.
func (l *lattice) tasks() int {
	band := l.band()
	return (l.rows + band - 1) / band * l.panels()
}

// scratch is the number of elements of sums.
func (l *lattice) scratch() int { return l.band() * l.cols * l.t.Cols }

// run computes pieces lo to hi of the planes dst of a group from a frame.
func (l *lattice) run(dst, frame, sums []float32, group, lo, hi int) {
	band, panels := l.band(), l.panels()
	for task := lo; task < hi; task++ {
		y, i := task/panels*band, task%panels*l.t.Cols
		rows := min(band, l.rows-y)
		w := panelWidth(l.t, l.m, i)
		for p := range l.phases {
			l.phase(&l.phases[p], frame[y/l.strideY*l.fromY:], sums, group, rows, i, w)
		}
		l.turner.Turn(rows*l.cols, min(w, l.m-i), sums, w, dst[(i*l.rows+y)*l.cols:], l.rows*l.cols)
	}
}

// phase computes the places of p in the first rows of a band for w channels from i on.
func (l *lattice) phase(p *latticePhase, frame, sums []float32, group, rows, i, w int) {
	k := p.offsets.Len()
	places := (rows - p.y + l.strideY - 1) / l.strideY * p.rowPlaces
	to := p.to[w/l.t.Cols]
	if k == 0 {
		for j := range places {
			clear(sums[to.At(j):][:w])
		}
		return
	}
	from, b := p.from.Part(0, places), p.b[group*l.size(k)+i*k:]
	for q := 0; q < k; q += kBlock {
		l.t.PlaceTiles(w, frame, from, p.offsets.Part(q, min(q+kBlock, k)), b[q*w:], sums, to, q > 0)
	}
}

// convolveLanes is convolveDirect for many channels.
func convolveLanes(res, x, w []float32, batch, o, ci int, g Conv) {
	kh, kw := g.Kernel[1], g.Kernel[2]
	og, in, out := o/g.Groups, volume(g.In), volume(g.Out)
	f := frame{channels: ci, step: 1, rows: g.In[1], cols: g.In[2], top: g.Low[1], left: g.Low[2]}
	need := g.pixels(ci)
	whole := f.top == 0 && f.left == 0 && need.rows <= f.rows && need.cols <= f.cols // no tap meets the border
	if !whole {
		f.rows, f.cols = need.rows, need.cols
	}
	var elems []int
	for c := range ci {
		for t := range kh * kw {
			elems = append(elems, f.at(c, t/kw*g.Dilation[1], t%kw*g.Dilation[2]))
		}
	}
	k := len(elems)
	l := lattice{g: simd.KernelsOf[float32](simd.Chosen()), t: simd.TapsOf(simd.Chosen()), turner: simd.TurnerOf[float32](simd.Chosen()), m: og, rows: g.Out[1], cols: g.Out[2],
		strideY: 1, strideX: 1, fromY: g.Stride[1] * f.cols, fromX: g.Stride[2]}
	size := l.size(k)
	p := latticePhase{offsets: simd.NewOffsets(elems), b: make([]float32, g.Groups*size)}
	l.phases = []latticePhase{p}
	for gr := range g.Groups {
		for i := 0; i < og; i += l.t.Cols {
			width := panelWidth(l.t, og, i)
			pack(l.g, p.b[gr*size+i*k:], matrix[float32]{w[(gr*og+i)*k:], k, 1}, min(width, og-i), k, width)
		}
	}
	l.locate()
	sums := l.scratch()
	imageTasks(batch, o*k*out, sums+f.size(), func(i, part, parts int, mem []float32) {
		lo, hi := share(l.tasks(), part, parts)
		for gr := range g.Groups {
			img := x[(i*g.Groups+gr)*ci*in:][:ci*in]
			if !whole {
				f.fill(mem[sums:], nil, img, g.In[1], g.In[2])
				img = mem[sums:]
			}
			l.run(res[(i*o+gr*og)*out:][:og*out], img, mem[:sums], gr, lo, hi)
		}
	})
}

// convolveInputLanes is convolveInputDirect for many channels.
func convolveInputLanes(dst, dy, w []float32, batch, o, ci int, g Conv) {
	kw, sh, sw := g.Kernel[2], g.Stride[1], g.Stride[2]
	og, in, out, taps := o/g.Groups, volume(g.In), volume(g.Out), volume(g.Kernel)
	f := g.gradientFrame(og)
	l := lattice{g: simd.KernelsOf[float32](simd.Chosen()), t: simd.TapsOf(simd.Chosen()), turner: simd.TurnerOf[float32](simd.Chosen()), m: ci, rows: g.In[1], cols: g.In[2],
		strideY: sh, strideX: sw, fromY: f.cols, fromX: 1}
	for py := range min(sh, l.rows) {
		for px := range min(sw, l.cols) {
			p := latticePhase{y: py, x: px}
			ty, sy := g.axisTaps(1, py)
			tx, sx := g.axisTaps(2, px)
			var elems, from []int // of the terms: places in the frame, and in [o, ci, tap] of the first channel
			for oc := range og {
				for i := range ty {
					for j := range tx {
						elems = append(elems, f.at(oc, f.top+sy[i], f.left+sx[j]))
						from = append(from, oc*ci*taps+ty[i]*kw+tx[j])
					}
				}
			}
			p.offsets = simd.NewOffsets(elems)
			p.b = make([]float32, 0, g.Groups*l.size(len(elems)))
			for gr := range g.Groups {
				for i := 0; i < ci; i += l.t.Cols {
					width := panelWidth(l.t, ci, i)
					for _, q := range from {
						row := p.b[len(p.b):][:width]
						p.b = p.b[:len(p.b)+width]
						for c := range min(width, ci-i) {
							row[c] = w[gr*og*ci*taps+q+(i+c)*taps]
						}
					}
				}
			}
			l.phases = append(l.phases, p)
		}
	}
	l.locate()
	sums := l.scratch()
	imageTasks(batch, o*ci*taps*out, sums+f.size(), func(i, part, parts int, mem []float32) {
		lo, hi := share(l.tasks(), part, parts)
		for gr := range g.Groups {
			f.fill(mem[sums:], nil, dy[(i*o+gr*og)*out:][:og*out], g.Out[1], g.Out[2])
			l.run(dst[(i*g.Groups+gr)*ci*in:][:ci*in], mem[sums:], mem[:sums], gr, lo, hi)
		}
	})
}
