package kernel

import "github.com/tpush/tpush/runtime/simd"

// Copy copies src to dst element by element through both views. They have the
// same dims and the same element type, and share no memory.
func Copy(dst, src Array) {
	switch dst.DType.HostBytes() {
	case 1:
		copyAs[uint8](dst, src)
	case 2:
		copyAs[uint16](dst, src)
	case 4:
		copyAs[uint32](dst, src)
	case 8:
		copyAs[uint64](dst, src)
	case 16:
		copyAs[complex128](dst, src)
	}
}

// An axis is one loop of a strided copy.
type axis struct{ n, dst, src int }

// tileSide is the side of the square blocks of a transposing copy: two tiles of
// 8-byte elements fit in a 32 KiB cache.
const tileSide = 32

func copyAs[T any](dst, src Array) {
	if src.Size() == 0 {
		return
	}
	axes := mergeAxes(dst.View.Dims, dst.Strides, src.Strides)
	d, s := As[T](dst.Buf), As[T](src.Buf)
	if len(axes) == 0 {
		d[dst.Offset] = s[src.Offset]
		return
	}
	in := axes[len(axes)-1]
	// A transposing copy walks the two axes that are dense on either side in square tiles.
	for i, x := range axes[:len(axes)-1] {
		if in.dst == 1 && in.src != 1 && x.src == 1 && x.n >= 8 && in.n >= 8 {
			rest := append(append([]axis{}, axes[:i]...), axes[i+1:len(axes)-1]...)
			blocks := (x.n + tileSide - 1) / tileSide
			outer := loopCount(rest)
			Parallel(outer*blocks, max(1, 1<<15/(in.n*tileSide)), func(lo, hi int) {
				for o := lo; o < hi; o++ {
					do, so := loopOffsets(rest, o/blocks)
					i0 := o % blocks * tileSide
					i1 := min(i0+tileSide, x.n)
					copyTiles(d, s, dst.Offset+do, src.Offset+so, x, in, i0, i1)
				}
			})
			return
		}
	}
	rest := axes[:len(axes)-1]
	outer := loopCount(rest)
	if outer == 1 && in.dst == 1 && in.src == 1 {
		Parallel(in.n, 1<<18, func(lo, hi int) {
			copy(d[dst.Offset+lo:dst.Offset+hi], s[src.Offset+lo:src.Offset+hi])
		})
		return
	}
	if outer == 1 && in.n > 1<<15 {
		Parallel(in.n, 1<<15, func(lo, hi int) {
			copyRun(d, s, dst.Offset+lo*in.dst, src.Offset+lo*in.src, axis{hi - lo, in.dst, in.src})
		})
		return
	}
	Parallel(outer, max(1, 1<<15/in.n), func(lo, hi int) {
		if len(rest) == 0 {
			copyRun(d, s, dst.Offset, src.Offset, in)
			return
		}
		last := rest[len(rest)-1]
		for o := lo; o < hi; {
			do, so := loopOffsets(rest, o)
			run := min(hi-o, last.n-o%last.n)
			for r := range run {
				copyRun(d, s, dst.Offset+do+r*last.dst, src.Offset+so+r*last.src, in)
			}
			o += run
		}
	})
}

func copyRun[T any](d, s []T, do, so int, x axis) {
	switch {
	case x.dst == 1 && x.src == 1:
		copy(d[do:do+x.n], s[so:so+x.n])
	case x.dst == 1 && x.src == 0:
		v := s[so]
		row := d[do : do+x.n]
		for i := range row {
			row[i] = v
		}
	case x.dst == 1:
		row := d[do : do+x.n]
		for i := range row {
			row[i] = s[so]
			so += x.src
		}
	default:
		for range x.n {
			d[do] = s[so]
			do += x.dst
			so += x.src
		}
	}
}

// copyTiles copies rows i0 to i1 of axis x, all of axis in, tile by tile. do and
// so are where the two axes begin.
func copyTiles[T any](d, s []T, do, so int, x, in axis, i0, i1 int) {
	do, so = do+i0*x.dst, so+i0
	switch d := any(d).(type) {
	case []uint16:
		turnTiles(d[do:], any(s).([]uint16)[so:], i1-i0, in.n, x.dst, in.src)
		return
	case []uint32:
		turnTiles(d[do:], any(s).([]uint32)[so:], i1-i0, in.n, x.dst, in.src)
		return
	case []uint64:
		turnTiles(d[do:], any(s).([]uint64)[so:], i1-i0, in.n, x.dst, in.src)
		return
	}
	for j0 := 0; j0 < in.n; j0 += tileSide {
		j1 := min(j0+tileSide, in.n)
		for i := range i1 - i0 {
			row := d[do+i*x.dst+j0 : do+i*x.dst+j1]
			q := so + i + j0*in.src
			for j := range row {
				row[j] = s[q]
				q += in.src
			}
		}
	}
}

// turnTiles writes d[i,j] = s[j,i] for i < rows, j < cols, where rows of d and s
// are dRow and sRow apart.
func turnTiles[T uint16 | uint32 | uint64](d, s []T, rows, cols, dRow, sRow int) {
	t := simd.TurnerOf[T](simd.Chosen())
	for j := 0; j < cols; j += tileSide {
		t.Turn(min(tileSide, cols-j), rows, s[j*sRow:], sRow, d[j:], dRow)
	}
}

// mergeAxes drops axes of size 1 and joins neighbours that one loop can walk.
func mergeAxes(dims, dst, src []int) []axis {
	var out []axis
	for i, n := range dims {
		if n == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].dst == n*dst[i] && out[k].src == n*src[i] {
			out[k] = axis{out[k].n * n, dst[i], src[i]}
			continue
		}
		out = append(out, axis{n, dst[i], src[i]})
	}
	return out
}

func loopCount(axes []axis) int {
	n := 1
	for _, x := range axes {
		n *= x.n
	}
	return n
}

// loopOffsets gives where iteration o of the loops starts on both sides.
func loopOffsets(axes []axis, o int) (dst, src int) {
	for i := len(axes) - 1; i >= 0; i-- {
		k := o % axes[i].n
		o /= axes[i].n
		dst += k * axes[i].dst
		src += k * axes[i].src
	}
	return dst, src
}
