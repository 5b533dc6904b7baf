package kernel

import (
	"math"
	"sync/atomic"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/mem"
	"github.com/tpush/tpush/runtime/simd"
)

const (
	// radixLeast is the length from which counting digits beats comparing.
	radixLeast = 1 << 10
	digitBits  = 11
	digits     = 1 << digitBits
	keyDigits  = (32 + digitBits - 1) / digitBits
	// radixGrain is the number of entries worth a thread.
	radixGrain = 1 << 15
)

// radixRow sorts a long row stably by 32-bit keys in the order of its elements:
// y gets the first len(y) of x, idx where they were. It reports false, having
// written nothing, when the elements have no such keys.
func radixRow[T accum](x, y []T, idx []int64, descending bool) bool {
	if len(x) < radixLeast || len(x) > math.MaxInt32 {
		return false
	}
	var flip uint32
	if descending {
		flip = math.MaxUint32
	}
	key, ok := keyOf(x)
	if !ok {
		return false
	}
	n := len(x)
	raw, scratch := mem.Default().Scratch(16 * n)
	defer scratch.Release()
	a, b := As[uint64](raw)[:n], As[uint64](raw)[n:2*n]
	Parallel(n, radixGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a[i] = uint64(key(x[i])^flip)<<32 | uint64(uint32(i))
		}
	})
	if s := simd.SorterOf[uint64](simd.Chosen()); s != nil { // places make all entries different
		vectorSort(s, a, a, b)
		a = b
	} else {
		a = radixSort(a, b, 32)
	}
	Parallel(len(y), radixGrain, func(lo, hi int) {
		for i, e := range a[lo:hi] {
			at := uint32(e)
			y[lo+i], idx[lo+i] = x[at], int64(at)
		}
	})
	return true
}

// keyOf gives the function from elements to keys, which are equal where
// elements count as equal; NaN is above everything.
func keyOf[T accum](x []T) (key func(T) uint32, ok bool) {
	switch x := any(x).(type) {
	case []float32:
		return any(keyF32).(func(T) uint32), true
	case []int64:
		least, most := x[0], x[0]
		for _, v := range x {
			least, most = min(least, v), max(most, v)
		}
		if uint64(most-least) > math.MaxUint32 {
			return nil, false
		}
		return any(func(v int64) uint32 { return uint32(v - least) }).(func(T) uint32), true
	}
	return nil, false
}

func keyF32(x float32) uint32 {
	if x != x {
		return math.MaxUint32
	}
	u := math.Float32bits(x + 0) // -0 becomes 0
	return u ^ (uint32(int32(u)>>31) | 1<<31)
}

// radixSort sorts entries by the 32 bits from low on, stably, digit by digit from
// the lowest, and gives the slice of the two that holds the result.
func radixSort[E uint32 | uint64](a, b []E, low int) []E {
	chunks := max(1, min(threads(), len(a)/radixGrain))
	size := (len(a) + chunks - 1) / chunks
	counts := make([][digits]int32, chunks)
	for d := range keyDigits {
		shift := low + d*digitBits
		each(chunks, chunks, func(c int) {
			n := &counts[c]
			clear(n[:])
			for _, e := range a[min(c*size, len(a)):min((c+1)*size, len(a))] {
				n[e>>(shift&63)%digits]++
			}
		})
		// A count becomes the place of the first entry of its digit and chunk.
		at, trivial := int32(0), false
		for v := range digits {
			before := at
			for c := range counts {
				counts[c][v], at = at, at+counts[c][v]
			}
			trivial = trivial || at-before == int32(len(a))
		}
		if trivial { // all have the same digit
			continue
		}
		each(chunks, chunks, func(c int) {
			place := &counts[c]
			for _, e := range a[min(c*size, len(a)):min((c+1)*size, len(a))] {
				p := &place[e>>(shift&63)%digits]
				b[*p] = e
				*p++
			}
		})
		a, b = b, a
	}
	return a
}

// Msort sorts along the first axis, without telling places.
func Msort(c *Call) error {
	x, out := c.In[0], c.Out[0]
	if computeType(out.DType) == dtype.F32 && out.Size() > 0 {
		axes := oneAxis(Attrs{{Name: "dim", Value: 0}}, len(x.Dims))
		mapRows(x, out, axes, sortValues)
		return nil
	}
	places := Array{DType: dtype.I64, View: denseView(x.Dims), Buf: AllocRaw(8 * x.Size())}
	return Sort(&Call{In: c.In, Out: []Array{out, places}, Attrs: Attrs{{Name: "dim", Value: 0}}})
}

// sortValues fills y with x in ascending order. Rows with NaN or -0, whose order
// their keys do not tell, and short ones are sorted with their places.
func sortValues(x, y []float32) {
	n := len(x)
	if n < radixLeast || n > math.MaxInt32 || !sortByBits(x, y) {
		sortRow[float32](false)(x, y, make([]int64, n))
	}
}

// sortByBits sorts a row whose elements differ where their bits do; it reports
// false when there are others.
func sortByBits(x, y []float32) bool {
	n := len(x)
	run := simd.RunsOf(simd.Chosen())
	var odd atomic.Bool
	Parallel(n, radixGrain, func(lo, hi int) {
		if run.OddF32(x[lo:hi]) {
			odd.Store(true)
		}
	})
	if odd.Load() {
		return false
	}
	raw, scratch := mem.Default().Scratch(8 * n)
	defer scratch.Release()
	if s := simd.SorterOf[float32](simd.Chosen()); s != nil {
		vectorSort(s, x, As[float32](raw)[:n], y)
		return true
	}
	a, b := As[uint32](raw)[:n], As[uint32](raw)[n:2*n]
	Parallel(n, radixGrain, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			u := math.Float32bits(v)
			a[lo+i] = u ^ (uint32(int32(u)>>31) | 1<<31)
		}
	})
	a = radixSort(a, b, 0)
	Parallel(n, radixGrain, func(lo, hi int) {
		for i, k := range a[lo:hi] {
			y[lo+i] = math.Float32frombits(k ^ (^uint32(int32(k)>>31) | 1<<31))
		}
	})
	return true
}

// vectorSort sorts from into y on all threads. x is scratch memory, which may be from.
func vectorSort[T simd.Sortable](s *simd.Sorter[T], from, x, y []T) {
	y = y[:len(from)]
	n, ok := s.Part(from, y)
	if !ok {
		copy(y, from)
		s.Sort(y, x)
		return
	}
	// A part lies in x or y. The largest is cut until there are enough of them.
	type part struct {
		lo, hi int
		inY    bool
	}
	parts := []part{{0, n, true}, {n, len(y), true}}
	threads := threads()
	if len(y) < 2*radixGrain {
		threads = 1
	}
	for threads > 1 && len(parts) < 4*threads {
		k := 0
		for i, p := range parts {
			if p.hi-p.lo > parts[k].hi-parts[k].lo {
				k = i
			}
		}
		p := parts[k]
		a, b := x[p.lo:p.hi], y[p.lo:p.hi]
		if p.inY {
			a, b = b, a
		}
		n, ok := s.Part(a, b)
		if !ok {
			break
		}
		parts[k] = part{p.lo, p.lo + n, !p.inY}
		parts = append(parts, part{p.lo + n, p.hi, !p.inY})
	}
	each(threads, len(parts), func(i int) {
		p := parts[i]
		if p.inY {
			s.Sort(y[p.lo:p.hi], x[p.lo:p.hi])
		} else {
			s.Finish(x[p.lo:p.hi], y[p.lo:p.hi])
		}
	})
}
