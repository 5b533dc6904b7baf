package simd

import "unsafe"

// Offsets are where the terms of an operand begin that does not lie as a
// matrix: the pixels that the taps of a convolution meet.
type Offsets struct {
	bytes []int
	most  int // the largest, in elements
}

// NewOffsets takes offsets in elements of 4 bytes, which are not negative.
func NewOffsets(elems []int) Offsets {
	o := Offsets{bytes: make([]int, len(elems))}
	for i, e := range elems {
		if e < 0 {
			panic("simd: a negative offset")
		}
		o.bytes[i] = 4 * e
		o.most = max(o.most, e)
	}
	return o
}

// Len is the number of terms.
func (o Offsets) Len() int { return len(o.bytes) }

// Part gives the terms from lo up to hi.
func (o Offsets) Part(lo, hi int) Offsets { return Offsets{o.bytes[lo:hi], o.most} }

type tapsFunc func(k int, a *byte, ra, ka uintptr, offset *int, b *byte, seg uintptr, c *byte, rc uintptr, accumulate uint64)

type leftTapsFunc func(k int, a *byte, ra uintptr, offset *int, b *byte, c *byte, rc uintptr, accumulate uint64)

// TapsF32 are tiles of products one of whose operands is read through Offsets.
type TapsF32 struct {
	Rows, Cols int               // of a tile
	Narrow     int               // half of Cols
	taps       [2][]tapsFunc     // of two and of four segments, by rows
	left       [2][]leftTapsFunc // of Narrow and of Cols columns, by rows
}

// TapsOf gives the tiles of a level, which the processor must have.
func TapsOf(l Level) *TapsF32 { return tapsF32[l] }

var goTaps = TapsF32{Rows: 4, Cols: 8, Narrow: 4}

// Tile computes a tile whose right operand is read through o, of rows ≤ Rows and
// Cols columns over all of o:
//
//	c[i*cRow+j] = (c[i*cRow+j] +) Σ a[i*aRow+p*aK] · b[o[p] + j/w*seg + j%w]
//
// where w is Cols/segs and segs is 2 or 4: the columns are segments of b, seg
// elements apart. Sums and products are those of Kernels.
func (g *TapsF32) Tile(rows, segs int, a []float32, aRow, aK int, o Offsets, b []float32, seg int, c []float32, cRow int, accumulate bool) {
	k := o.Len()
	_ = a[(rows-1)*aRow+(k-1)*aK]
	_ = b[o.most+(segs-1)*seg+g.Cols/segs-1]
	_ = c[(rows-1)*cRow+g.Cols-1]
	if seg < 0 {
		panic("simd: a negative stride")
	}
	table := g.taps[segs/4]
	if table == nil {
		g.tile(rows, segs, a, aRow, aK, o, b, seg, c, cRow, accumulate)
		return
	}
	table[rows](k, at(a), strideBytes[float32](aRow), strideBytes[float32](aK), unsafe.SliceData(o.bytes), at(b), strideBytes[float32](seg), at(c), strideBytes[float32](cRow), flag(accumulate))
}

// LeftTile computes a tile whose left operand is read through o, of rows ≤ Rows
// and Cols or Narrow columns over all of o:
//
//	c[i*cRow+j] = (c[i*cRow+j] +) Σ a[o[p]+i*aRow] · b[p*cols+j]
func (g *TapsF32) LeftTile(rows, cols int, a []float32, aRow int, o Offsets, b, c []float32, cRow int, accumulate bool) {
	k := o.Len()
	_ = a[o.most+(rows-1)*aRow]
	_ = b[k*cols-1]
	_ = c[(rows-1)*cRow+cols-1]
	if aRow < 0 || cols != g.Cols && cols != g.Narrow {
		panic("simd: no such tile")
	}
	if table := g.left[cols/g.Cols]; table != nil {
		table[rows](k, at(a), strideBytes[float32](aRow), unsafe.SliceData(o.bytes), at(b), at(c), strideBytes[float32](cRow), flag(accumulate))
		return
	}
	for i := range rows {
		for j := range cols {
			var s float32
			for p, off := range o.bytes {
				x, y := a[off/4+i*aRow], b[p*cols+j]
				if d := float64(x)*float64(y) + float64(s); roundsOnce(d) {
					s = float32(d)
				} else {
					s = FMA32(x, y, s)
				}
			}
			if accumulate {
				s = c[i*cRow+j] + s
			}
			c[i*cRow+j] = s
		}
	}
}

func (g *TapsF32) tile(rows, segs int, a []float32, aRow, aK int, o Offsets, b []float32, seg int, c []float32, cRow int, accumulate bool) {
	w := g.Cols / segs
	for i := range rows {
		for j := range g.Cols {
			from := j/w*seg + j%w
			var s float32
			for p, off := range o.bytes {
				x, y := a[i*aRow+p*aK], b[from+off/4]
				if d := float64(x)*float64(y) + float64(s); roundsOnce(d) {
					s = float32(d)
				} else {
					s = FMA32(x, y, s)
				}
			}
			if accumulate {
				s = c[i*cRow+j] + s
			}
			c[i*cRow+j] = s
		}
	}
}
