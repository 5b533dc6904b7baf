package kernel

import (
	"sync"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
)

// The driver of elementwise operations. It walks the result in chunks; for
// each chunk it hands the loop slices of one compute type: the operand's own
// memory where that is dense and of that type, else a scratch buffer filled by
// converting, striding and broadcasting. So an operation is written once per
// compute type, and works on any mix of layouts and element types.

// chunk is the number of elements handed to a loop when a scratch buffer is
// involved: four buffers of eight bytes an element stay in the L1 cache.
const chunk = 512

// maxRank bounds the axes left after neighbours were merged.
const maxRank = 32

// mode is how an operand is read.
type mode uint8

const (
	dense mode = iota // elements lie one after the other
	splat             // one element, repeated
	walk              // through strides
)

// A view is an operand stretched to the dimensions of the result.
type view struct {
	arr           Array
	mode          mode
	off           int
	rank          int
	dims, strides [maxRank]int
}

// see points v at a, stretched to dims by numpy's rule.
func (v *view) see(a *Array, dims []int) {
	v.arr, v.off = *a, a.Offset
	n := 1
	for _, d := range a.Dims {
		n *= d
	}
	if n == 1 {
		v.mode = splat
		return
	}
	if len(a.Dims) == len(dims) && a.Contiguous() {
		same := true
		for i, d := range dims {
			if a.Dims[i] != d {
				same = false
				break
			}
		}
		if same {
			v.mode = dense
			return
		}
	}
	v.mode = walk
	r := 0
	lead := len(dims) - len(a.Dims)
	for i, d := range dims {
		if d == 1 {
			continue
		}
		st := 0
		if i >= lead && a.Dims[i-lead] != 1 {
			st = a.Strides[i-lead]
		}
		if r > 0 && v.strides[r-1] == st*d {
			v.dims[r-1] *= d
			v.strides[r-1] = st
			continue
		}
		v.dims[r], v.strides[r] = d, st
		r++
	}
	v.rank = r
}

// runs calls f for each stretch of equal stride among elements lo … lo+n of
// the row-major order: f(i, off, stride, n) covers elements lo+i … lo+i+n.
func (v *view) runs(lo, n int, f func(i, off, stride, n int)) {
	switch v.mode {
	case dense:
		f(0, v.off+lo, 1, n)
		return
	case splat:
		f(0, v.off, 0, n)
		return
	}
	var at [maxRank]int
	off := v.off
	for k, rest := v.rank-1, lo; k >= 0; k-- {
		at[k] = rest % v.dims[k]
		rest /= v.dims[k]
		off += at[k] * v.strides[k]
	}
	last := v.rank - 1
	for i := 0; i < n; {
		m := min(n-i, v.dims[last]-at[last])
		f(i, off, v.strides[last], m)
		i += m
		off += m * v.strides[last]
		at[last] += m
		for k := last; k > 0 && at[k] == v.dims[k]; k-- {
			off += v.strides[k-1] - v.dims[k]*v.strides[k]
			at[k] = 0
			at[k-1]++
		}
	}
}

// loadReal fills d with elements lo … of v.
func loadReal[T number](d []T, v *view, lo int) {
	v.runs(lo, len(d), func(i, off, stride, n int) {
		if n == 1 || stride == 0 {
			loadRun(d[i:i+1], &v.arr, off, 1)
			fill(d[i+1:i+n], d[i])
			return
		}
		loadRun(d[i:i+n], &v.arr, off, stride)
	})
}

func fill[T any](d []T, x T) {
	for i := range d {
		d[i] = x
	}
}

// loadComplex fills d with elements lo … of v.
func (v *view) loadComplex(d []complex64, lo int) {
	if v.arr.DType != dtype.C64 {
		var re [chunk]float32
		loadReal(re[:len(d)], v, lo)
		for i := range d {
			d[i] = complex(re[i], 0)
		}
		return
	}
	s := As[complex64](v.arr.Buf)
	v.runs(lo, len(d), func(i, off, stride, n int) {
		for k := range d[i : i+n] {
			d[i+k] = s[off+k*stride]
		}
	})
}

// storeComplex writes s to elements lo … of the dense array out.
func storeComplex(out *Array, lo int, s []complex64) {
	switch out.DType {
	case dtype.C64:
		copy(As[complex64](out.Buf)[lo:], s)
	case dtype.Bool:
		for i, x := range s {
			out.Buf[lo+i] = 0
			if x != 0 {
				out.Buf[lo+i] = 1
			}
		}
	default:
		var re [chunk]float32
		for i, x := range s {
			re[i] = real(x)
		}
		storeRun(out, lo, re[:len(s)])
	}
}

// Params are the attributes of one call, as its loop wants them.
type Params struct {
	F [4]float64
	I [4]int64
	N int
}

// work is the scratch of one goroutine.
type work struct {
	in  [3]view
	p   Params
	buf [4][chunk]uint64
}

var works = sync.Pool{New: func() any { return new(work) }}

func newWork() *work { return works.Get().(*work) }

// free gives w back; it forgets the buffers it saw.
func (w *work) free() {
	for i := range w.in {
		w.in[i].arr = Array{}
	}
	works.Put(w)
}

// buffer gives scratch buffer i as elements of type T.
func buffer[T number | complex64](w *work, i int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&w.buf[i][0])), chunk)
}
