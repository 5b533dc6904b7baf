package kernel

import (
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// columnWork is how many elements are worth the program that adds columns in
// vectors; fewer are added in place.
const columnWork = 1 << 13

// columnKernels holds the programs that add columns, by element type and type of the sum.
var columnKernels sync.Map // of [2]dtype.DType to *jit.Kernel

// columnKernel adds elements of type from in the compute type sum.
func columnKernel(from, sum dtype.DType) *jit.Kernel {
	key := [2]dtype.DType{from, sum}
	if k, ok := columnKernels.Load(key); ok {
		return k.(*jit.Kernel)
	}
	b := jit.NewBuilder()
	b.ColOut(sum, b.InAs(from, jit.Natural(sum)))
	k := programs.Kernel(b.Program())
	columnKernels.Store(key, k)
	return k
}

// sumColumnsAs adds the middle axis of the dense array x, seen as a×n×b, in the
// order of sumRow.
func sumColumnsAs[T accum](x Array, a, n, b int, dst []T) {
	k := columnKernel(x.DType, classOf[T]())
	buf := bytesOf(dst)
	for i := range a {
		err := k.Run(&jit.Call{
			Dims:     []int{n, b},
			In:       []jit.Operand{{Buf: x.Buf, Offset: x.Offset + i*n*b, Strides: []int{b, 1}}},
			Out:      []jit.Operand{{Buf: buf, Offset: i * b, Strides: []int{0, 1}}},
			Parallel: Parallel,
		})
		if err != nil {
			panic(err)
		}
	}
}
