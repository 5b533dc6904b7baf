package exec

// maxBody is the longest loop body the detector sees: three repetitions must
// fit the real system's window of 512 operations.
const maxBody = 170

// A loopDetector watches the stream of operations for a repeating loop body.
// It fires when the last s operations equal the s before them and those the s
// before (three repetitions), for s ≥ 2, and then again after every s.
type loopDetector struct {
	window [512]uint64
	n      int                // operations seen
	run    [maxBody + 1]int32 // run[s]: how many operations in a row equal the one s before
	skip   int                // operations to wait before firing again
	last   int                // body length found last, tried first
}

// seen takes the next operation and says whether a loop body has just ended.
func (l *loopDetector) seen(h uint64) bool {
	mask := len(l.window) - 1
	l.window[l.n&mask] = h
	best := 0
	for s := 2; s <= maxBody && s <= l.n; s++ {
		if l.window[(l.n-s)&mask] == h {
			l.run[s]++
			if int(l.run[s]) >= 2*s && (best == 0 || s == l.last) {
				best = s
			}
		} else {
			l.run[s] = 0
		}
	}
	l.n++
	if l.skip > 0 {
		l.skip--
		return false
	}
	if best == 0 {
		return false
	}
	l.last, l.skip = best, best-1
	return true
}
