package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls f on consecutive ranges that together cover [0, n), on up to
// GOMAXPROCS goroutines, and returns when all are done. No range but the last
// is shorter than grain; with n ≤ grain, f runs once, here, without a
// goroutine. Which range runs where is not fixed, so f must write only what
// belongs to its range, and must compute the same for any split. A panic in f
// is raised again in the caller, after the other ranges ended.
//
// f escapes to the heap: a caller that counts nanoseconds tests n first.
func Parallel(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	if n <= 0 {
		return
	}
	procs := runtime.GOMAXPROCS(0)
	if n <= grain || procs == 1 {
		f(0, n)
		return
	}
	// Four ranges a thread even out what the threads do not do equally fast.
	step := max(grain, (n+4*procs-1)/(4*procs))
	step = (step + alignBytes - 1) &^ (alignBytes - 1)
	if step < grain || grain < alignBytes {
		step = max(grain, (n+4*procs-1)/(4*procs))
	}
	parts := (n + step - 1) / step
	if parts == 1 {
		f(0, n)
		return
	}
	var next atomic.Int64
	var failed atomic.Pointer[any]
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.CompareAndSwap(nil, &r)
			}
		}()
		for {
			i := int(next.Add(1)) - 1
			if i >= parts {
				return
			}
			f(i*step, min((i+1)*step, n))
		}
	}
	var wg sync.WaitGroup
	for range min(procs, parts) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}
