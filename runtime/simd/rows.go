package simd

import "unsafe"

type (
	addRowsFunc  func(n int, x, from *byte, at *int, count int, out *byte)
	pickRowsFunc func(count, size int, src *byte, at *int, dst *byte)
)

// RowsAhead is the number of places that AddRows and PickRows read behind those
// they use: what comes next is brought into the cache.
const RowsAhead = 2

// addRowsStep is the number of elements that addRows takes at a time.
func (g *Kernels[T]) addRowsStep() int {
	if g.addRows[0] == nil {
		return 0
	}
	return 2 * g.Cols
}

// AddRows adds count rows of from to x, one after the other:
//
//	out[j] = x[j] + from[places[0]+j] + from[places[1]+j] + …    j < len(out)
//
// places has RowsAhead places more, which are hints. With past, the sum is not left in the cache.
func (g *Kernels[T]) AddRows(out, x, from []T, places []int, count int, past bool) {
	n := len(out)
	if n == 0 {
		return
	}
	x = x[:n]
	_ = places[count+RowsAhead-1]
	for _, p := range places[:count] {
		_ = from[p : p+n]
	}
	done := 0
	if step := g.addRowsStep(); step > 0 {
		if done = n / step * step; done > 0 {
			k := g.addRows[0]
			if past && aligned(out) {
				k = g.addRows[1]
			}
			k(done, at(x), at(from), &places[0], count, at(out))
		}
	}
	if done == n {
		return
	}
	copy(out[done:], x[done:])
	for _, p := range places[:count] {
		for j := done; j < n; j++ {
			out[j] += from[p+j]
		}
	}
}

// PickRows copies count rows of size bytes: row i of dst is src[places[i]:places[i]+size].
// places has RowsAhead places more, which are hints. With past, the copy is not left in the cache.
func (r *Runs) PickRows(dst, src []byte, size int, places []int, count int, past bool) {
	if count == 0 || size == 0 {
		return
	}
	_ = dst[count*size-1]
	_ = places[count+RowsAhead-1]
	for _, p := range places[:count] {
		_ = src[p : p+size]
	}
	k := r.pickRows[0]
	if past && aligned(dst) {
		k = r.pickRows[1]
	}
	if k != nil && size%64 == 0 {
		k(count, size, at(src), &places[0], at(dst))
		return
	}
	for i, p := range places[:count] {
		copy(dst[i*size:][:size], src[p:])
	}
}

// aligned says whether s, which is not empty, begins at a cache line.
func aligned[T any](s []T) bool { return uintptr(unsafe.Pointer(&s[0]))%64 == 0 }
