package shape

// Broadcast gives the common shape of a and b by numpy's rule: axes are
// aligned at the end, and a size of 1 stretches. ok is false when they do not fit.
func Broadcast(a, b []int) (dims []int, ok bool) {
	if EqualDims(a, b) {
		return a, true
	}
	n := max(len(a), len(b))
	dims = make([]int, n)
	for i := 1; i <= n; i++ {
		da, db := 1, 1
		if i <= len(a) {
			da = a[len(a)-i]
		}
		if i <= len(b) {
			db = b[len(b)-i]
		}
		switch {
		case da == db || db == 1:
			dims[n-i] = da
		case da == 1:
			dims[n-i] = db
		default:
			return nil, false
		}
	}
	return dims, true
}

// Axis normalizes an axis that may count from the end; rank 0 allows 0 and -1.
func Axis(op string, axis, rank int) (int, error) {
	r := max(rank, 1)
	if axis < -r || axis >= r {
		return 0, &AxisError{op, axis, rank}
	}
	if axis < 0 {
		axis += r
	}
	return axis, nil
}
