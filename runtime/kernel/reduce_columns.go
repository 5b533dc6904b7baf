package kernel

import (
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
	"github.com/tpush/tpush/runtime/simd"
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
	switch d := any(dst).(type) {
	case []float32:
		if x.DType == dtype.F32 {
			sumStreams(As[float32](x.Buf)[x.Offset:], a, n, b, d)
			return
		}
	case []float64:
		if x.DType == dtype.F64 {
			sumStreams(As[float64](x.Buf)[x.Offset:], a, n, b, d)
			return
		}
	}
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

// addedColumns is how many columns are added at a time: a row of sums and eight
// rows of addends stay in the first-level cache.
const addedColumns = 1024

// sumStreams is sumColumnsAs of elements that are added as they are. A lane's
// rows are one row of a product of ones and the matrix of these rows.
func sumStreams[T float32 | float64](x []T, a, n, b int, dst []T) {
	g := simd.KernelsOf[T](simd.Chosen())
	w := min(addedColumns, b)
	if t := threads(); t > 1 && a*((b+w-1)/w) < 2*t {
		w = min(b, max(columnTile, roundUp((b+2*t-1)/(2*t), columnTile)))
	}
	tiles := (b + w - 1) / w
	one := []T{1}
	Parallel(a*tiles, max(1, (1<<14)/max(n*w, 1)), func(lo, hi int) {
		mem := panelMems.Get().(*panelMem)
		defer panelMems.Put(mem)
		blocks := max((n+sumBlock-1)/sumBlock, 1)
		buf := take[T](mem, sumLanes*w+blocks*w)
		for i := lo; i < hi; i++ {
			j, m := i%tiles*w, x[i/tiles*n*b:]
			w := min(w, b-j)
			lanes, part := buf[:sumLanes*w], buf[sumLanes*w:]
			for k := range blocks {
				rows := min(sumBlock, n-k*sumBlock)
				for l := range sumLanes {
					count := max(0, (rows-l+sumLanes-1)/sumLanes)
					var from []T
					if count > 0 {
						from = m[(k*sumBlock+l)*b+j:]
					}
					g.Stream(count, one, 0, from, sumLanes*b, lanes[l*w:(l+1)*w], false)
				}
				for h := sumLanes / 2; h > 0; h /= 2 {
					addTo(lanes[:h*w], lanes[h*w:2*h*w])
				}
				copy(part[k*w:], lanes[:w])
			}
			for c := blocks; c > 1; c = (c + 1) / 2 { // foldPairs of each column
				for p := range c / 2 {
					to := part[p*w:][:w]
					copy(to, part[2*p*w:])
					addTo(to, part[(2*p+1)*w:][:w])
				}
				if c%2 == 1 {
					copy(part[c/2*w:][:w], part[(c-1)*w:])
				}
			}
			copy(dst[i/tiles*b+j:][:w], part)
		}
	})
}

func addTo[T float32 | float64](to, from []T) {
	from = from[:len(to)]
	for i, v := range from {
		to[i] += v
	}
}
