package simd

import "testing"

// Elements next to the transpose are left alone, borders are turned too.
func testTurn[T uint16 | uint32 | float32 | uint64](t *testing.T) {
	for _, l := range Available() {
		turn := TurnerOf[T](l)
		for _, rows := range []int{0, 1, 3, 4, 8, 15, 16, 17, 33, 64} {
			for _, cols := range []int{0, 1, 4, 7, 8, 16, 19, 32, 65} {
				srcRow, dstRow := cols+2, rows+3
				src, dst := make([]T, rows*srcRow+cols), make([]T, cols*dstRow+rows)
				for i := range src {
					src[i] = T(i + 1)
				}
				turn.Turn(rows, cols, src, srcRow, dst, dstRow)
				for i, got := range dst {
					var want T
					if r, c := i%dstRow, i/dstRow; r < rows && c < cols {
						want = src[r*srcRow+c]
					}
					if got != want {
						t.Fatalf("%v: %T %d×%d: element %d is %v, want %v", l, want, rows, cols, i, got, want)
					}
				}
			}
		}
	}
}

// The kernels of products turn as the others do.
func testTurnOfKernels[T Factor](t *testing.T) {
	for _, l := range Available() {
		for _, rows := range []int{1, 7, 16, 33} {
			for _, cols := range []int{1, 8, 19} {
				src, dst := fill[T](rows*cols, 1), make([]T, rows*cols)
				KernelsOf[T](l).Turn(rows, cols, src, cols, dst, rows)
				for i, x := range src {
					if dst[i%cols*rows+i/cols] != x {
						t.Fatalf("%v: %T %d×%d: element %d is wrong", l, x, rows, cols, i)
					}
				}
			}
		}
	}
}

func TestTurn(t *testing.T) {
	testTurnOfKernels[float32](t)
	testTurnOfKernels[float64](t)
	testTurnOfKernels[int64](t)
	testTurnOfKernels[complex128](t)

	testTurn[uint16](t)
	testTurn[uint32](t)
	testTurn[float32](t)
	testTurn[uint64](t)
}

// Matrices that are too short must not reach assembly.
func TestTurnOfShortMatrices(t *testing.T) {
	for _, l := range Available() {
		turn := TurnerOf[uint32](l)
		long := make([]uint32, 1024)
		for name, f := range map[string]func(){
			"src": func() { turn.Turn(16, 16, long[:16*16-1], 16, long, 16) },
			"dst": func() { turn.Turn(16, 16, long, 16, long[:16*16-1], 16) },
		} {
			t.Run(l.String()+"/"+name, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("a short matrix was taken")
					}
				}()
				f()
			})
		}
	}
}

func BenchmarkTurn(b *testing.B) {
	const n = 1024
	src, dst := make([]uint32, n*n), make([]uint32, n*n)
	for _, l := range Available() {
		b.Run(l.String(), func(b *testing.B) {
			b.SetBytes(2 * 4 * n * n)
			for range b.N {
				TurnerOf[uint32](l).Turn(n, n, src, n, dst, n)
			}
		})
	}
}
