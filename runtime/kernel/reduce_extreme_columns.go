package kernel

import (
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// Extremes along columns are taken row by row: which comes first does not
// matter, and neighbouring columns lie side by side.

// extremeRows is how many rows are looked at at a time.
const extremeRows = 8

// extremeColumns is how many columns: what was found so far stays in the nearest cache.
const extremeColumns = 2048

// extremeKernels holds the programs, by element type and whether the largest is meant.
var extremeKernels sync.Map // of extremeKey to *[extremeRows + 1]*jit.Kernel

type extremeKey struct {
	d     dtype.DType
	large bool
}

// extremeKernelsOf gives programs that bring rows together with what was found so
// far, by the number of rows.
func extremeKernelsOf(d dtype.DType, large bool) *[extremeRows + 1]*jit.Kernel {
	key := extremeKey{d, large}
	if ks, ok := extremeKernels.Load(key); ok {
		return ks.(*[extremeRows + 1]*jit.Kernel)
	}
	pick := (*jit.Builder).Min
	if large {
		pick = (*jit.Builder).Max
	}
	var ks [extremeRows + 1]*jit.Kernel
	for n := 1; n <= extremeRows; n++ {
		b := jit.NewBuilder()
		x := b.In(d)
		for range n {
			x = pick(b, x, b.In(d))
		}
		b.Out(d, x)
		ks[n] = programs.Kernel(b.Program())
	}
	extremeKernels.Store(key, &ks)
	return &ks
}

// columnsExtreme finds the extremes of x over neighbouring axes that are not the
// last: no when x is not dense, of one row, or of a type without signed order.
func columnsExtreme(x, out Array, axes []int, large bool) bool {
	a, n, b, ok := blocksOf(x, axes)
	if !ok || n < 2 || b < sumLanes || x.DType != out.DType || x.DType == dtype.U64 || jit.Natural(x.DType) == jit.NoType {
		return false
	}
	ks := extremeKernelsOf(x.DType, large)
	size := x.DType.HostBytes()
	tiles := (b + extremeColumns - 1) / extremeColumns
	Parallel(a*tiles, max(1, (1<<15)/(n*min(b, extremeColumns))), func(lo, hi int) {
		in, to := make([]jit.Operand, extremeRows+1), make([]jit.Operand, 1)
		for i := lo; i < hi; i++ {
			j := i % tiles * extremeColumns
			w := min(extremeColumns, b-j)
			at := x.Offset + i/tiles*n*b + j
			to[0] = jit.Operand{Buf: out.Buf, Offset: i/tiles*b + j}
			copy(out.Buf[to[0].Offset*size:][:w*size], x.Buf[at*size:])
			in[0] = to[0]
			for r := 1; r < n; {
				m := min(extremeRows, n-r)
				for k := range m {
					in[1+k] = jit.Operand{Buf: x.Buf, Offset: at + (r+k)*b}
				}
				if err := ks[m].RunFlat(w, &jit.Call{In: in[:m+1], Out: to}); err != nil {
					panic(err)
				}
				r += m
			}
		}
	})
	return true
}

// extremeAlong is extreme where the rows or columns of a dense array are meant.
func extremeAlong(c *Call, o *rowOp, y Array, axes []int, large bool) (bool, error) {
	x := c.In[0]
	if o.suits(x, axes) {
		return o.run(&Call{In: c.In[:1], Out: []Array{y}}, axes)
	}
	return columnsExtreme(x, y, axes, large), nil
}
