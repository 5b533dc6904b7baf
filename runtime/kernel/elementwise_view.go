package kernel

// maxRank bounds the axes left after neighbours were merged.
const maxRank = 32

// mode is how an operand is read.
type mode uint8

const (
	dense  mode = iota // elements lie one after the other
	splat              // one element, repeated
	walk               // through strides
	repeat             // one dense row, repeated
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

// row gives the length of the dense row that the operand repeats, when it is
// long enough for a loop of its own; else 0.
func (v *view) row() int {
	if v.mode == walk && v.rank == 2 && v.strides[0] == 0 && v.strides[1] == 1 && v.dims[1] >= 32 {
		return v.dims[1]
	}
	return 0
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
