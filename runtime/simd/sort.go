package simd

import (
	"math"
	"math/bits"
	"slices"
)

// Sortable lists the types of elements whose order says where each goes, so that
// it does not matter how they are sorted: of floats only those without NaN and negative zeros.
type Sortable interface{ uint32 | uint64 | float32 }

// A Sorter sorts.
type Sorter[T Sortable] struct {
	small []func(n int, src, dst *byte) // by the number of registers they take
	part  func(n int, src, dst *byte, pivot uint64) (below int)
	lanes int
	bits  func(T) uint64
	next  func(T) T // the next larger element
	most  T
}

// SorterOf gives the kernels of a level, nil when it has none.
func SorterOf[T Sortable](l Level) *Sorter[T] {
	s, _ := sorters(l, *new(T)).(*Sorter[T])
	return s
}

// atOnce is how many elements are sorted at once.
func (s *Sorter[T]) atOnce() int { return (len(s.small) - 1) * s.lanes }

// Sort sorts a; rest, which is as long, is scratch memory.
func (s *Sorter[T]) Sort(a, rest []T) {
	s.sort(a, rest[:len(a)], true, 2*bits.Len(uint(len(a)))+8)
}

// sort sorts x, and leaves the result there with final set, else in y.
func (s *Sorter[T]) sort(x, y []T, final bool, depth int) {
	for len(x) > s.atOnce() {
		if depth--; depth < 0 { // the choice of pivots fails
			slices.Sort(x)
			if !final {
				copy(y, x)
			}
			return
		}
		below, equal := s.part2(x, y)
		if equal {
			// Twice: the elements are where they were.
			if !final {
				copy(y[:below], x)
			}
			x, y = x[below:], y[below:]
			continue
		}
		x, y, final = y, x, !final
		if below <= len(x)/2 {
			s.sort(x[:below], y[:below], final, depth)
			x, y = x[below:], y[below:]
		} else {
			s.sort(x[below:], y[below:], final, depth)
			x, y = x[:below], y[:below]
		}
	}
	if final {
		y = x
	}
	s.sortSmall(x, y)
}

func (s *Sorter[T]) sortSmall(src, dst []T) {
	n := len(src)
	if n == 0 {
		return
	}
	_ = dst[n-1]
	v := (n + s.lanes - 1) / s.lanes
	for s.small[v] == nil {
		v++
	}
	s.small[v](n, at(src), at(dst))
}

// part2 parts x by some element of it and brings the parts to y. If no element
// is below that one, x itself is parted, into those equal to it and the rest.
func (s *Sorter[T]) part2(x, y []T) (below int, equal bool) {
	pivot := s.pivot(x, y)
	if n := s.part(len(x), at(x), at(y), s.bits(pivot)); n > 0 {
		return n, false
	}
	if pivot == s.most {
		return len(x), true
	}
	return s.part(len(x), at(y), at(x), s.bits(s.next(pivot))), true
}

// pivot is the median of elements taken from all over x.
func (s *Sorter[T]) pivot(x, scratch []T) T {
	sample := scratch[:s.lanes]
	if len(x) > 1<<12 {
		sample = scratch[:8*s.lanes]
	}
	step := len(x) / len(sample)
	for i := range sample {
		sample[i] = x[i*step+step/2]
	}
	s.sortSmall(sample, sample)
	return sample[len(sample)/2]
}

// Part begins to sort: it brings the elements of x to y in two parts, all of the
// first being below all of the second, and gives the length of the first. It
// reports false, having moved nothing, when it finds no such parts.
func (s *Sorter[T]) Part(x, y []T) (int, bool) {
	if len(x) <= s.atOnce() {
		return 0, false
	}
	y = y[:len(x)]
	n := s.part(len(x), at(x), at(y), s.bits(s.pivot(x, y)))
	return n, n > 0
}

// Finish sorts x into y.
func (s *Sorter[T]) Finish(x, y []T) {
	s.sort(x, y[:len(x)], false, 2*bits.Len(uint(len(x)))+8)
}

// OddF32 says whether there is a NaN or a negative zero, which a Sorter does not
// tell from other zeros.
func (r *Runs) OddF32(x []float32) bool {
	n := 0
	if r.odd != nil {
		if n = len(x) / 16 * 16; n > 0 && r.odd(n, at(x)) != 0 {
			return true
		}
	}
	for _, v := range x[n:] {
		if v != v || math.Float32bits(v) == 1<<31 {
			return true
		}
	}
	return false
}
