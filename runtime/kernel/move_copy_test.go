package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// laidOut gives an array of the dims whose axes lie in memory in the order given.
func laidOut(d dtype.DType, dims, order []int) Array {
	a := New(shape.Of(d, dims...))
	strides, step := make([]int, len(dims)), 1
	for _, k := range order {
		strides[k] = step
		step *= dims[k]
	}
	a.View = shape.View{Dims: dims, Strides: strides}
	return a
}

// TestCopyOfPermutedAxes compares with one element after the other, for every
// size of elements, axes in every order and sizes around those of the tiles.
func TestCopyOfPermutedAxes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	orders := [][]int{{2, 1, 0}, {1, 2, 0}, {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}}
	for _, d := range []dtype.DType{dtype.I8, dtype.BF16, dtype.F32, dtype.F64, dtype.C128} {
		for _, dims := range [][]int{{3, 33, 65}, {40, 17, 9}, {1, 8, 8}, {70, 1, 64}} {
			for _, order := range orders {
				src, dst := laidOut(d, dims, order), New(shape.Of(d, dims...))
				for i := range src.Buf {
					src.Buf[i] = byte(r.Uint32())
				}
				Copy(dst, src)
				size := d.HostBytes()
				for i := range src.Size() {
					at := 0
					for k, rest := len(dims)-1, i; k >= 0; k-- {
						at += rest % dims[k] * src.Strides[k]
						rest /= dims[k]
					}
					if got, want := fmt.Sprint(dst.Buf[i*size:][:size]), fmt.Sprint(src.Buf[at*size:][:size]); got != want {
						t.Fatalf("%v%v in order %v: element %d is %s, want %s", d, dims, order, i, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkTransposedCopy(b *testing.B) {
	for _, d := range []dtype.DType{dtype.I8, dtype.BF16, dtype.F32, dtype.F64} {
		b.Run(d.String(), func(b *testing.B) {
			src, dst := laidOut(d, []int{1024, 1024}, []int{0, 1}), New(shape.Of(d, 1024, 1024))
			b.SetBytes(int64(2 * len(dst.Buf)))
			for range b.N {
				Copy(dst, src)
			}
		})
	}
}
