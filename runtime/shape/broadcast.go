package shape

// Broadcast gives the common shape of a and b by numpy's rule: axes are
// aligned at the end, and a size of 1 stretches. ok is false when they do not fit.
// When the result is one of the two, it is that slice.
func Broadcast(a, b []int) (dims []int, ok bool) {
	switch {
	case stretches(b, a):
		return a, true
	case stretches(a, b):
		return b, true
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

// stretches says whether dims stretches to to.
func stretches(dims, to []int) bool {
	lead := len(to) - len(dims)
	if lead < 0 {
		return false
	}
	for i, d := range dims {
		if d != 1 && d != to[lead+i] {
			return false
		}
	}
	return true
}
