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
	holds  bool               // that body went on up to the operation before
	stale  bool               // run has not been kept up meanwhile
}

// seen takes the next operation and says whether a loop body has just ended.
func (l *loopDetector) seen(h uint64) bool {
	mask := len(l.window) - 1
	l.window[l.n&mask] = h
	best := 0
	if s := l.last; s > 0 && l.holds && l.window[(l.n-s)&mask] == h {
		best, l.stale = s, true // the body goes on: nothing else can win
	} else {
		if l.stale {
			l.recount()
		}
		best = l.count(h)
		l.holds = best > 0 && best == l.last
	}
	l.n++
	if l.skip > 0 {
		l.skip--
		return false
	}
	if best == 0 {
		return false
	}
	l.last, l.skip, l.holds = best, best-1, true
	return true
}

// count brings run up to date with the next operation and gives the length of
// the body that has been repeated, 0 for none.
func (l *loopDetector) count(h uint64) (best int) {
	mask := len(l.window) - 1
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
	return best
}

// recount finds run from the window, up to the operation before the next.
func (l *loopDetector) recount() {
	mask := len(l.window) - 1
	l.stale = false
	for s := 2; s <= maxBody; s++ {
		var k int32
		for at := l.n - 1; int(k) < 2*s && at-s >= 0 && l.window[at&mask] == l.window[(at-s)&mask]; at-- {
			k++
		}
		l.run[s] = k
	}
}
