package shape

import (
	"math"
	"strconv"
	"strings"
)

// The tile of the TPU's vector registers: 8 sublanes of 128 lanes, 32 bits each.
const (
	lanes    = 128
	sublanes = 8
)

// hugeElements is the element count from which sizes saturate; no padding
// rule multiplies bits by more than 2^14, so smaller ones cannot overflow.
const hugeElements = 1 << 48

// A Layout is how the TPU compiler lays out an array at the boundary of a
// program: the order of dimensions from the fastest changing one on, and the
// tiles the two fastest are cut into. Measured with libtpu 0.0.52; generations
// v3 to 7x agree.
type Layout struct {
	Element      string // XLA's element type: bf16
	Dims         []int
	MinorToMajor []int
	// Tiles are nested: the first in elements of the array, the second packs
	// narrow elements into 32-bit words.
	Tiles       [][]int
	ElementBits int
	Bytes       int64 // HBM bytes, padding included
}

// String is the compiler's text: bf16[33,7]{0,1:T(8,128)(2,1)}.
func (l Layout) String() string {
	var b strings.Builder
	b.WriteString(l.Element)
	b.WriteString(FormatDims(l.Dims))
	if len(l.Dims) == 0 && len(l.Tiles) == 0 {
		return b.String()
	}
	b.WriteByte('{')
	writeInts(&b, l.MinorToMajor)
	if len(l.Tiles) > 0 {
		b.WriteString(":T")
		for _, t := range l.Tiles {
			b.WriteByte('(')
			writeInts(&b, t)
			b.WriteByte(')')
		}
		if l.ElementBits < 8 {
			b.WriteString("E(")
			b.WriteString(strconv.Itoa(l.ElementBits))
			b.WriteByte(')')
		}
	}
	b.WriteByte('}')
	return b.String()
}

func writeInts(b *strings.Builder, xs []int) {
	for i, x := range xs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(x))
	}
}

// LayoutOf gives the compact layout the compiler chooses for a parameter or result.
func LayoutOf(s Spec) Layout { return LayoutFor(s.DType.Row().HLO, s.DType.Bits(), s.Dims) }

// LayoutFor is LayoutOf for an element type by XLA's name and width in bits.
func LayoutFor(element string, bits int, dims []int) Layout {
	var order []int
	if len(dims) >= 2 && Size(dims) != 0 {
		minor, second, _ := compact(dims, packOf(bits))
		order = append(order, minor, second)
	}
	for i := len(dims) - 1; i >= 0; i-- {
		if len(order) < 2 || i != order[0] && i != order[1] {
			order = append(order, i)
		}
	}
	return layoutInOrder(element, bits, dims, order)
}

// PinnedLayout is the row-major layout, which a program gets when it pins its
// layouts or asks for one by an operation that needs it. A small last
// dimension then costs up to 128 times its bytes.
func PinnedLayout(s Spec) Layout {
	order := make([]int, len(s.Dims))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	return layoutInOrder(s.DType.Row().HLO, s.DType.Bits(), s.Dims, order)
}

func layoutInOrder(element string, bits int, dims, order []int) Layout {
	l := Layout{Element: element, Dims: dims, MinorToMajor: order, ElementBits: bits}
	pack := packOf(bits)
	words := [][]int{{lanes}, {pack, 1}}
	switch n := Size(dims); {
	case n == 0:
		return l
	case len(dims) == 0:
		l.Tiles = [][]int{{lanes * pack}}
	case len(dims) == 1:
		l.Tiles = append([][]int{{rowTile(dims[0], pack)}}, words...)
	default:
		l.Tiles = append([][]int{{sublaneTile(dims[order[1]], pack), lanes}}, words[1])
	}
	if pack == 1 {
		l.Tiles = l.Tiles[:1]
	}
	minor, second := -1, -1
	if len(order) >= 2 {
		minor, second = order[0], order[1]
	}
	l.Bytes = paddedBytes(dims, bits, minor, second)
	return l
}

// PaddedBytes is what the array takes in HBM in its compact layout. It
// allocates nothing. Sizes beyond 2^48 elements give the largest int64.
func (s Spec) PaddedBytes() int64 {
	bits := s.DType.Bits()
	if len(s.Dims) < 2 {
		return paddedBytes(s.Dims, bits, -1, -1)
	}
	_, _, n := compact(s.Dims, packOf(bits))
	return elementBytes(n, bits)
}

// PaddedBytesPinned is what the array takes in HBM in row-major order.
func (s Spec) PaddedBytesPinned() int64 {
	n := len(s.Dims)
	return paddedBytes(s.Dims, s.DType.Bits(), n-1, n-2)
}

// PaddedBytesPinned is Spec.PaddedBytesPinned.
func PaddedBytesPinned(s Spec) int64 { return s.PaddedBytesPinned() }

// packOf is how many elements share a 32-bit word; wider ones are pairs of words.
func packOf(bits int) int { return 32 / max(min(bits, 32), 1) }

func elementBytes(n int64, bits int) int64 {
	if n == math.MaxInt64 {
		return n
	}
	return n * int64(bits) / 8
}

// paddedBytes gives the bytes for a choice of the two minor dimensions, which rank 0 and 1 do not have.
func paddedBytes(dims []int, bits, minor, second int) int64 {
	pack := packOf(bits)
	n := int64(1)
	for i, d := range dims {
		switch {
		case d == 0:
			return 0
		case len(dims) == 1:
			d = roundUp(d, rowTile(d, pack))
		case i == minor:
			d = roundUp(d, lanes)
		case i == second:
			d = roundUp(d, sublaneTile(d, pack))
		}
		if n > hugeElements/int64(d) {
			n = hugeElements
		} else {
			n *= int64(d)
		}
	}
	if len(dims) == 0 {
		n = int64(lanes * pack)
	}
	if n >= hugeElements {
		return math.MaxInt64
	}
	return elementBytes(n, bits)
}

// compact chooses the ordered pair of minor dimensions that pads least; the
// higher numbers win a tie. elements counts the padding. rank >= 2.
func compact(dims []int, pack int) (minor, second int, elements int64) {
	var a, b, c [8]int64
	lane, sub, before := a[:], b[:], c[:]
	if len(dims) > len(a) {
		lane, sub, before = make([]int64, len(dims)), make([]int64, len(dims)), make([]int64, len(dims))
	}
	n := int64(1)
	for i, d := range dims {
		before[i] = n
		lane[i] = int64(roundUp(d, lanes))
		sub[i] = int64(roundUp(d, sublaneTile(d, pack)))
		if d == 0 {
			return len(dims) - 1, len(dims) - 2, 0
		}
		if n >= hugeElements/int64(d) {
			return len(dims) - 1, len(dims) - 2, math.MaxInt64
		}
		n *= int64(d)
	}
	elements = math.MaxInt64
	after := int64(1)
	for hi := len(dims) - 1; hi > 0; hi-- {
		between := after // times the dimensions between lo and hi
		for lo := hi - 1; lo >= 0; lo-- {
			rest := before[lo] * between
			if e := rest * lane[hi] * sub[lo]; e < elements || e == elements && (hi > minor || hi == minor && lo > second) {
				minor, second, elements = hi, lo, e
			}
			if e := rest * lane[lo] * sub[hi]; e < elements || e == elements && (lo > minor || lo == minor && hi > second) {
				minor, second, elements = lo, hi, e
			}
			between *= int64(dims[lo])
		}
		after *= int64(dims[hi])
	}
	return minor, second, elements
}

// rowTile is the tile of a vector: the smallest of 128·pack doubled up to 1024 that holds it.
func rowTile(n, pack int) int {
	t := lanes * pack
	for t < n && t < lanes*sublanes {
		t *= 2
	}
	return t
}

// sublaneTile is the height of the tile along the second-minor dimension.
func sublaneTile(n, pack int) int {
	if n <= sublanes {
		t := pack
		for t < n {
			t *= 2
		}
		return t
	}
	if pack >= 4 && n%(sublanes*pack) == 0 {
		return sublanes * pack
	}
	return max(sublanes, pack)
}

func roundUp(n, to int) int {
	return (n + to - 1) / to * to
}
