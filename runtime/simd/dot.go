package simd

import (
	"math"
	"os"
	"strings"
	"sync"
)

// A Unit is what multiplies bf16. Exact widens both factors to f32, whose
// products then are exact, and adds one after the other, at every level alike.
// The other two are instructions of some processors, many times as fast, that
// add in an order of their own and take subnormal numbers for zero. All give
// the same bits at each run.
type Unit uint8

// The units. Pairs is VDPBF16PS (Cooper Lake, Zen 4), Tiles is TDPBF16PS
// (Sapphire Rapids).
const (
	Exact Unit = iota
	Pairs
	Tiles
)

var unitNames = [...]string{Exact: "exact", Pairs: "pairs", Tiles: "tiles"}

func (u Unit) String() string { return unitNames[u] }

// Units lists the units of this processor, the slowest first.
func Units() []Unit {
	us := []Unit{Exact}
	if hasPairs() {
		us = append(us, Pairs)
	}
	if hasTiles() {
		us = append(us, Tiles)
	}
	return us
}

// ChosenUnit is the unit the process multiplies bf16 with: the fastest of the
// processor, Exact where TPUSH_CPU names a level, the named one where it names
// a unit (exact, pairs, tiles) that the processor has.
var ChosenUnit = sync.OnceValue(func() Unit {
	us := Units()
	want := strings.ToLower(os.Getenv("TPUSH_CPU"))
	for _, l := range levelNames {
		if want == l {
			return Exact
		}
	}
	for _, u := range us {
		if want == u.String() {
			return u
		}
	}
	return us[len(us)-1]
})

const (
	// StripRows is the number of rows, or columns, of a strip.
	StripRows = 16
	// StepTerms is the number of terms of a step.
	StepTerms = 32
	// StepSize is the number of elements of a step of a strip.
	StepSize = StripRows * StepTerms
)

// Steps is the number of steps that k terms take.
func Steps(k int) int { return (k + StepTerms - 1) / StepTerms }

// Dots are the kernels of a unit other than Exact. Operands are read from
// strips: 16 rows of the left matrix or 16 columns of the right one, in steps
// of 32 terms, padded with zeros. In step s,
//
//	left[s*StepSize + i*32 + p]           is term 32s+p of row i,
//	right[s*StepSize + p/2*32 + 2*j + p%2] is term 32s+p of column j.
type Dots struct {
	Unit Unit
	// step adds the products of one step to c.
	step    func(c float32, a, b []uint16, column int) float32
	product productFunc
	packs   *stripFuncs
}

type productFunc func(steps int, a *byte, sa uintptr, b *byte, sb uintptr, c *byte, rc uintptr, rows int, accumulate uint64)

// stripFuncs make whole strips.
type stripFuncs struct {
	lines, linesTurned, pairs, pairsTurned func(steps int, src *byte, ld uintptr, dst *byte)
	wide                                   func(steps int, src *byte, ld uintptr, dst *byte, pd uintptr)
}

// DotsOf gives the kernels of a unit: in Go, with the same bits, where the
// processor does not have it or with slow set.
func DotsOf(u Unit, slow bool) *Dots {
	if slow || u == Exact {
		return &goDots[u]
	}
	return fastDots[u]()
}

var (
	goDots   = [...]Dots{Pairs: {Unit: Pairs, step: stepPairs}, Tiles: {Unit: Tiles, step: stepTiles}}
	fastDots = [...]func() *Dots{
		Pairs: sync.OnceValue(func() *Dots { return fast(Pairs, hasPairs()) }),
		Tiles: sync.OnceValue(func() *Dots { return fast(Tiles, hasTiles()) }),
	}
)

func fast(u Unit, has bool) *Dots {
	d := goDots[u]
	if has {
		d.product, d.packs = dotFuncs(u)
	}
	return &d
}

// stripsOf gives the number of strips that rows take and panics where a slice is
// too short for them: strips of size elements, one of b more than the first.
func stripsOf[T, S any](a []T, aStrip int, b []T, bStrip, size int, c []S, cRow, rows int) int {
	strips := (rows + StripRows - 1) / StripRows
	_ = a[(strips-1)*aStrip+size-1]
	_ = b[bStrip+size-1]
	_ = c[(strips*StripRows-1)*cRow+2*StripRows-1]
	return strips
}

// Multiply computes
//
//	c[i*cRow+j] = (c[i*cRow+j] +) Σ a[i,p]·b[p,j]    j < 32
//
// over a number of steps: a has the strips of rows rows, aStrip elements apart,
// b two strips, bStrip apart. Rows are done by the strip, so c has room for a
// multiple of 16 of them.
func (d *Dots) Multiply(steps int, a []uint16, aStrip int, b []uint16, bStrip int, c []float32, cRow, rows int, accumulate bool) {
	if rows == 0 || steps == 0 {
		return
	}
	strips := stripsOf(a, aStrip, b, bStrip, steps*StepSize, c, cRow, rows)
	if d.product != nil {
		d.product(steps, at(a), strideBytes[uint16](aStrip), at(b), strideBytes[uint16](bStrip), at(c), strideBytes[float32](cRow), rows, flag(accumulate))
		return
	}
	for i := range strips * StripRows {
		for j := range 2 * StripRows {
			var s float32
			if accumulate {
				s = c[i*cRow+j]
			}
			for p := range steps {
				s = d.step(s, a[i/StripRows*aStrip+p*StepSize+i%StripRows*StepTerms:][:StepTerms], b[j/StripRows*bStrip+p*StepSize:][:StepSize], j%StripRows)
			}
			c[i*cRow+j] = s
		}
	}
}

// stepTiles adds a step as TDPBF16PS does: the even and the odd products are
// summed apart, then added, then added to c.
func stepTiles(c float32, a, b []uint16, column int) float32 {
	var even, odd float32
	for p := 0; p < StepTerms; p += 2 {
		even = flush(FMA32(widenFlushed(a[p]), widenFlushed(b[p*StripRows+2*column]), even))
		odd = flush(FMA32(widenFlushed(a[p+1]), widenFlushed(b[p*StripRows+2*column+1]), odd))
	}
	return flush(flush(c) + flush(even+odd))
}

// stepPairs adds a step as VDPBF16PS does, the odd product of each pair first.
func stepPairs(c float32, a, b []uint16, column int) float32 {
	c = flush(c)
	for p := 0; p < StepTerms; p += 2 {
		c = flush(FMA32(widenFlushed(a[p+1]), widenFlushed(b[p*StripRows+2*column+1]), c))
		c = flush(FMA32(widenFlushed(a[p]), widenFlushed(b[p*StripRows+2*column]), c))
	}
	return c
}

func widenFlushed(h uint16) float32 { return flush(math.Float32frombits(uint32(h) << 16)) }

// flush takes a subnormal number for zero.
func flush(x float32) float32 {
	if u := math.Float32bits(x); u&0x7f800000 == 0 {
		return math.Float32frombits(u & 0x80000000)
	}
	return x
}

// Left makes the strip of rows ≤ 16 rows and terms terms whose elements are
// src[i*row+p*term]; row or term is 1.
func (d *Dots) Left(dst, src []uint16, row, term, rows, terms int) {
	steps := d.strip(dst, src, row, term, rows, terms, true)
	for i := range rows {
		for p := steps * StepTerms; p < terms; p++ {
			dst[p/StepTerms*StepSize+i*StepTerms+p%StepTerms] = src[i*row+p*term]
		}
	}
}

// Right makes the strip of columns columns ≤ 16 whose elements are src[p*term+j*column].
func (d *Dots) Right(dst, src []uint16, term, column, columns, terms int) {
	steps := d.strip(dst, src, column, term, columns, terms, false)
	for p := steps * StepTerms; p < terms; p++ {
		for j := range columns {
			dst[p/StepTerms*StepSize+p%StepTerms/2*StepTerms+2*j+p%2] = src[p*term+j*column]
		}
	}
}

// strip makes as many steps as there is a kernel for and clears the rest.
func (d *Dots) strip(dst, src []uint16, row, term, rows, terms int, left bool) int {
	if terms == 0 {
		return 0
	}
	_ = dst[Steps(terms)*StepSize-1]
	dst = dst[:Steps(terms)*StepSize]
	if rows == 0 {
		clear(dst)
		return 0
	}
	_ = src[(rows-1)*row+(terms-1)*term]
	steps := 0
	if d.packs != nil && rows == StripRows {
		steps = terms / StepTerms
	}
	if steps > 0 {
		var f func(steps int, src *byte, ld uintptr, dst *byte)
		ld := row
		switch {
		case term == 1 && left:
			f = d.packs.lines
		case term == 1:
			f = d.packs.linesTurned
		case left:
			f, ld = d.packs.pairsTurned, term
		default:
			f, ld = d.packs.pairs, term
		}
		f(steps, at(src), strideBytes[uint16](ld), at(dst))
	}
	clear(dst[steps*StepSize:])
	return steps
}

// WideStrips is the number of strips that RightWide makes.
const WideStrips = 8

// RightWide is Right of 8 strips of 16 dense columns each, strip elements
// apart, over whole steps. It reads rows in long pieces.
func (d *Dots) RightWide(dst []uint16, strip int, src []uint16, term, steps int) {
	if steps == 0 {
		return
	}
	_ = src[(steps*StepTerms-1)*term+WideStrips*StripRows-1]
	_ = dst[(WideStrips-1)*strip+steps*StepSize-1]
	if d.packs != nil {
		d.packs.wide(steps, at(src), strideBytes[uint16](term), at(dst), strideBytes[uint16](strip))
		return
	}
	for i := range WideStrips {
		d.Right(dst[i*strip:], src[i*StripRows:], term, 1, StripRows, steps*StepTerms)
	}
}
