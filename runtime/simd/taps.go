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

// OffsetsEvery gives n offsets, a step of elements apart.
func OffsetsEvery(n, step int) Offsets {
	elems := make([]int, n)
	for i := range elems {
		elems[i] = i * step
	}
	return NewOffsets(elems)
}

// Here is the offset of a tile that begins where its operands do.
var Here = NewOffsets([]int{0})

// At is offset i, in elements.
func (o Offsets) At(i int) int { return o.bytes[i] / 4 }

// Part gives the terms from lo up to hi.
func (o Offsets) Part(lo, hi int) Offsets { return Offsets{o.bytes[lo:hi], o.most} }

type tapsFunc func(tiles, k int, a *byte, ra, ka uintptr, offset *int, b *byte, seg uintptr, from *int, c *byte, rc uintptr, to *int, accumulate uint64)

type placesFunc func(tiles, k int, a *byte, from, offset *int, b *byte, c *byte, to *int, accumulate uint64)

// TapsF32 are tiles of products one of whose operands is read through Offsets.
type TapsF32 struct {
	Rows, Cols int             // of a tile
	Narrow     int             // half of Cols
	taps       [2][]tapsFunc   // of two and of four segments, by rows
	places     [2][]placesFunc // of Narrow and of Cols columns, by rows
}

// TapsOf gives the tiles of a level, which the processor must have.
func TapsOf(l Level) *TapsF32 { return tapsF32[l] }

var goTaps = TapsF32{Rows: 4, Cols: 8, Narrow: 4}

// Tiles computes tiles whose right operand is read through o, of rows ≤ Rows and
// Cols columns over all of o, as many as from has. Of tile t it is
//
//	c[to[t]+i*cRow+j] = (c[to[t]+i*cRow+j] +) Σ a[i*aRow+p*aK] · b[from[t]+o[p] + j/w*seg + j%w]
//
// where w is Cols/segs and segs is 2 or 4: the columns are segments of b, seg
// elements apart. Sums and products are those of Kernels.
func (g *TapsF32) Tiles(rows, segs int, a []float32, aRow, aK int, o Offsets, b []float32, seg int, from Offsets, c []float32, cRow int, to Offsets, accumulate bool) {
	k := o.Len()
	_ = a[(rows-1)*aRow+(k-1)*aK]
	for t, f := range from.bytes {
		_ = b[f/4+o.most+(segs-1)*seg+g.Cols/segs-1]
		_ = c[to.bytes[t]/4+(rows-1)*cRow+g.Cols-1]
	}
	if seg < 0 {
		panic("simd: a negative stride")
	}
	if from.Len() == 0 {
		return
	}
	table := g.taps[segs/4]
	if table == nil {
		for t, f := range from.bytes {
			g.tile(rows, segs, a, aRow, aK, o, b[f/4:], seg, c[to.bytes[t]/4:], cRow, accumulate)
		}
		return
	}
	table[rows](from.Len(), k, at(a), strideBytes[float32](aRow), strideBytes[float32](aK), unsafe.SliceData(o.bytes), at(b), strideBytes[float32](seg), unsafe.SliceData(from.bytes),
		at(c), strideBytes[float32](cRow), unsafe.SliceData(to.bytes), flag(accumulate))
}

// PlaceTiles computes rows that lie anywhere, as many as from has, of Cols or
// Narrow columns over all of o:
//
//	c[to[i]+j] = (c[to[i]+j] +) Σ a[from[i]+o[p]] · b[p*cols+j]
func (g *TapsF32) PlaceTiles(cols int, a []float32, from, o Offsets, b, c []float32, to Offsets, accumulate bool) {
	k, rows := o.Len(), from.Len()
	_ = b[k*cols-1]
	for i, f := range from.bytes {
		_ = a[f/4+o.most]
		_ = c[to.bytes[i]/4+cols-1]
	}
	if cols != g.Cols && cols != g.Narrow {
		panic("simd: no such tile")
	}
	table := g.places[cols/g.Cols]
	if table == nil {
		for i, f := range from.bytes {
			row := c[to.bytes[i]/4:][:cols]
			for j := range row {
				var s float32
				for p, off := range o.bytes {
					x, y := a[(f+off)/4], b[p*cols+j]
					if d := float64(x)*float64(y) + float64(s); roundsOnce(d) {
						s = float32(d)
					} else {
						s = FMA32(x, y, s)
					}
				}
				if accumulate {
					s = row[j] + s
				}
				row[j] = s
			}
		}
		return
	}
	for i := 0; i < rows; {
		n, tiles := tilesOf(rows-i, len(table)-1)
		table[n](tiles, k, at(a), &from.bytes[i], unsafe.SliceData(o.bytes), at(b), at(c), &to.bytes[i], flag(accumulate))
		i += tiles * n
	}
}

// tilesOf gives the size of the next tiles of a number of rows, and how many
// there are. Two tiles of half the size are faster than a whole one and a small
// one, whose sums wait for each other.
func tilesOf(rows, most int) (n, tiles int) {
	switch {
	case rows%most == 0:
		return most, rows / most
	case rows > 2*most:
		return most, rows/most - 1
	case rows > most:
		return (rows + 1) / 2, 1
	}
	return rows, 1
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
