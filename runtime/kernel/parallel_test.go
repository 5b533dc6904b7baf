package kernel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestParallelCoversOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct{ n, grain int }{{0, 1}, {1, 1}, {5, 1}, {7, 3}, {1000, 1}, {1000, 1000}, {1001, 1000}, {100000, 64}, {100003, 77}} {
		seen := make([]int32, c.n)
		var short atomic.Int32
		Parallel(c.n, c.grain, func(lo, hi int) {
			if hi-lo < c.grain && hi != c.n {
				short.Add(1)
			}
			for i := lo; i < hi; i++ {
				atomic.AddInt32(&seen[i], 1)
			}
		})
		for i, s := range seen {
			if s != 1 {
				t.Fatalf("Parallel(%d, %d): index %d was visited %d times", c.n, c.grain, i, s)
			}
		}
		if short.Load() != 0 {
			t.Errorf("Parallel(%d, %d): a range is shorter than the grain", c.n, c.grain)
		}
	}
}

func TestParallelRaisesPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	defer func() {
		if r := recover(); r != "boom" {
			t.Errorf("recovered %v, want boom", r)
		}
	}()
	Parallel(1000, 1, func(lo, hi int) {
		if lo <= 700 && 700 < hi {
			panic("boom")
		}
	})
	t.Error("Parallel returned")
}
