package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/mem"
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
	a = radixSort(a, b)
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

// radixSort sorts entries by their upper halves, stably, digit by digit from
// the lowest, and gives the slice of the two that holds the result.
func radixSort(a, b []uint64) []uint64 {
	chunks := max(1, min(threads(), len(a)/radixGrain))
	size := (len(a) + chunks - 1) / chunks
	counts := make([][digits]int32, chunks)
	for d := range keyDigits {
		shift := 32 + d*digitBits
		each(chunks, chunks, func(c int) {
			n := &counts[c]
			clear(n[:])
			for _, e := range a[min(c*size, len(a)):min((c+1)*size, len(a))] {
				n[e>>shift%digits]++
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
				p := &place[e>>shift%digits]
				b[*p] = e
				*p++
			}
		})
		a, b = b, a
	}
	return a
}
