package hlo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Shape is a type with the layout that the compiler gave it.
type Shape struct {
	Type  string // f32, bf16, tuple, …
	Dims  []int64
	Elems []Shape   // of a tuple
	Order []int64   // dimensions, the minor ones first
	Tiles [][]int64 // folded marks a dimension that joins the next one
	Space int64     // HBM, VMEM, …
	Bits  int64     // of an element, when they differ from the type's
}

// The memory spaces of a layout.
const (
	HBM  = 0
	VMEM = 1
	Sync = 2 // semaphores
	CMEM = 3 // v4 only
	SMEM = 6 // small numbers that steer
)

// SpaceName names a memory space as people do.
func SpaceName(space int64) string {
	switch space {
	case HBM:
		return "HBM"
	case VMEM:
		return "VMEM"
	case Sync:
		return "sync"
	case CMEM:
		return "CMEM"
	case SMEM:
		return "SMEM"
	}
	return fmt.Sprintf("S(%d)", space)
}

const folded = math.MinInt64

// tuple is the number of the type of tuples.
const tuple = 13

// A primitive is an element type by its number (openxla/xla, xla/xla_data.proto);
// the numbers are not those of PJRT.
type primitive struct {
	name string
	bits int64
}

var primitives = map[int64]primitive{
	1: {"pred", 8}, 2: {"s8", 8}, 3: {"s16", 16}, 4: {"s32", 32}, 5: {"s64", 64}, 6: {"u8", 8}, 7: {"u16", 16},
	8: {"u32", 32}, 9: {"u64", 64}, 10: {"f16", 16}, 11: {"f32", 32}, 12: {"f64", 64}, tuple: {"tuple", 0}, 14: {"opaque", 0},
	15: {"c64", 64}, 16: {"bf16", 16}, 17: {"token", 0}, 18: {"c128", 128}, 19: {"f8e5m2", 8}, 20: {"f8e4m3fn", 8},
	21: {"s4", 4}, 22: {"u4", 4}, 23: {"f8e4m3b11fnuz", 8}, 24: {"f8e5m2fnuz", 8}, 25: {"f8e4m3fnuz", 8},
	26: {"s2", 2}, 27: {"u2", 2}, 28: {"f8e4m3", 8}, 29: {"f8e3m4", 8}, 30: {"s1", 1}, 31: {"u1", 1}, 32: {"f4e2m1fn", 4}, 33: {"f8e8m0fnu", 8},
}

// maxNesting bounds how deep tuples and computations are followed.
const maxNesting = 32

func parseShape(b wire, depth int) Shape {
	n := b.int(2)
	s := Shape{Type: primitives[n].name, Dims: b.ints(3)}
	if s.Type == "" {
		s.Type = "type" + strconv.FormatInt(n, 10)
	}
	if depth < maxNesting {
		for _, e := range b.subs(4) {
			s.Elems = append(s.Elems, parseShape(e, depth+1))
		}
	}
	l := b.sub(5)
	s.Order, s.Bits, s.Space = l.ints(1), l.int(7), l.int(8)
	for _, t := range l.subs(6) {
		s.Tiles = append(s.Tiles, t.ints(1))
	}
	return s
}

// IsTuple says whether the shape is of several results.
func (s Shape) IsTuple() bool { return s.Type == "tuple" }

// Leaves lists the arrays of a tuple, or the shape itself.
func (s Shape) Leaves() []Shape {
	if !s.IsTuple() {
		return []Shape{s}
	}
	var all []Shape
	for _, e := range s.Elems {
		all = append(all, e.Leaves()...)
	}
	return all
}

// At gives the element of a tuple at a path; false when there is none.
func (s Shape) At(path []int64) (Shape, bool) {
	for _, i := range path {
		if i < 0 || i >= int64(len(s.Elems)) {
			return Shape{}, false
		}
		s = s.Elems[i]
	}
	return s, true
}

// Bytes is what the elements need without padding, 0 for a tuple.
func (s Shape) Bytes() int64 {
	bits := s.Bits
	for _, p := range primitives {
		if p.name == s.Type && bits == 0 {
			bits = p.bits
		}
	}
	n := int64(1)
	for _, d := range s.Dims {
		if d < 0 || d > 0 && n > math.MaxInt64/256/d {
			return 0
		}
		n *= d
	}
	return (n*bits + 7) / 8
}

// PaddedBytes is what the array takes with its tiles filled up; for a tuple, 0.
func (s Shape) PaddedBytes() int64 {
	if len(s.Tiles) == 0 {
		return s.Bytes()
	}
	p := s
	p.Dims = append([]int64(nil), s.Dims...)
	tile := s.Tiles[0]
	for i := range tile { // the last size of a tile is along the minor dimension
		t := tile[len(tile)-1-i]
		if t <= 0 || i < len(s.Dims) && i >= len(s.Order) {
			return s.Bytes()
		}
		if i >= len(s.Dims) {
			p.Dims = append(p.Dims, t)
			continue
		}
		d := s.Order[i]
		if d < 0 || d >= int64(len(p.Dims)) || p.Dims[d] < 0 || p.Dims[d] > math.MaxInt64-t {
			return s.Bytes()
		}
		p.Dims[d] = (p.Dims[d] + t - 1) / t * t
	}
	return p.Bytes()
}

// Array is the type without its layout: f32[128,256].
func (s Shape) Array() string {
	if !s.IsTuple() {
		return s.Type + "[" + join(s.Dims) + "]"
	}
	parts := make([]string, len(s.Elems))
	for i, e := range s.Elems {
		parts[i] = e.Array()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Layout is the layout as the compiler writes it: {1,0:T(8,128)S(1)}.
func (s Shape) Layout() string {
	var note strings.Builder
	for i, t := range s.Tiles {
		if i == 0 {
			note.WriteString("T")
		}
		dims := make([]string, len(t))
		for k, d := range t {
			if dims[k] = strconv.FormatInt(d, 10); d == folded {
				dims[k] = "*"
			}
		}
		note.WriteString("(" + strings.Join(dims, ",") + ")")
	}
	if s.Bits != 0 {
		fmt.Fprintf(&note, "E(%d)", s.Bits)
	}
	if s.Space != 0 {
		fmt.Fprintf(&note, "S(%d)", s.Space)
	}
	switch {
	case note.Len() > 0:
		return "{" + join(s.Order) + ":" + note.String() + "}"
	case len(s.Order) > 0:
		return "{" + join(s.Order) + "}"
	}
	return ""
}

// String is the type with its layout: bf16[512,1000]{0,1:T(8,128)(2,1)S(1)}.
func (s Shape) String() string {
	if !s.IsTuple() {
		return s.Array() + s.Layout()
	}
	parts := make([]string, len(s.Elems))
	for i, e := range s.Elems {
		parts[i] = e.String()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func join(v []int64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = strconv.FormatInt(x, 10)
	}
	return strings.Join(s, ",")
}
