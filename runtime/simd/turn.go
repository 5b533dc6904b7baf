package simd

import "unsafe"

// A Turner transposes matrices of elements of one size, whatever they mean.
type Turner[T uint16 | uint32 | float32 | uint64] struct{ squareTurner }

// TurnerOf gives the transposing kernel of a level, which the processor must have.
func TurnerOf[T uint16 | uint32 | float32 | uint64](l Level) Turner[T] {
	return Turner[T]{squares[l][unsafe.Sizeof(*new(T))/4]}
}

// A squareTurner turns squares of a side in registers.
type squareTurner struct {
	side int // 0: none are
	turn moveFunc
}

// Turn writes the transpose of src[rows,cols]: dst[j*dstRow+i] = src[i*srcRow+j].
func (t Turner[T]) Turn(rows, cols int, src []T, srcRow int, dst []T, dstRow int) {
	turn(t.squareTurner, rows, cols, src, srcRow, dst, dstRow)
}

func turn[T any](t squareTurner, rows, cols int, src []T, srcRow int, dst []T, dstRow int) {
	if rows == 0 || cols == 0 {
		return
	}
	_ = src[(rows-1)*srcRow+cols-1]
	_ = dst[(cols-1)*dstRow+rows-1]
	i, whole := 0, 0
	if t.side > 0 && cols >= t.side {
		whole = cols / t.side * t.side
		for ; i+t.side <= rows; i += t.side {
			t.turn(whole, at(src[i*srcRow:]), strideBytes[T](srcRow), at(dst[i:]), strideBytes[T](dstRow))
		}
	}
	for r := range rows {
		j := 0
		if r < i {
			j = whole
		}
		for ; j < cols; j++ {
			dst[j*dstRow+r] = src[r*srcRow+j]
		}
	}
}
