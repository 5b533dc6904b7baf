package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// pool makes a pool of n threads, on machines with fewer cores too.
func pool(t testing.TB, n int) *Pool {
	old := runtime.GOMAXPROCS(max(n, runtime.GOMAXPROCS(0)))
	p := New(n)
	t.Cleanup(func() {
		p.Close()
		runtime.GOMAXPROCS(old)
	})
	return p
}

func TestRunCallsEachIndexOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		p := pool(t, threads)
		for _, n := range []int{0, 1, 2, 7, 100, 5000} {
			seen := make([]atomic.Int32, n)
			p.Run(n, func(i int) { seen[i].Add(1) })
			for i := range seen {
				if got := seen[i].Load(); got != 1 {
					t.Fatalf("%d threads, Run(%d): index %d was run %d times", threads, n, i, got)
				}
			}
		}
	}
}

func TestRangesCover(t *testing.T) {
	p := pool(t, 4)
	for _, c := range []struct{ n, grain int }{{0, 1}, {1, 1}, {5, 0}, {7, 3}, {1000, 1}, {1000, 1000}, {1001, 1000}, {100000, 64}, {100003, 77}} {
		seen := make([]atomic.Int32, c.n)
		var short atomic.Int32
		p.Ranges(c.n, c.grain, func(lo, hi int) {
			if hi-lo < c.grain && hi != c.n {
				short.Add(1)
			}
			for i := lo; i < hi; i++ {
				seen[i].Add(1)
			}
		})
		for i := range seen {
			if got := seen[i].Load(); got != 1 {
				t.Fatalf("Ranges(%d, %d): index %d was visited %d times", c.n, c.grain, i, got)
			}
		}
		if short.Load() != 0 {
			t.Errorf("Ranges(%d, %d): a range is shorter than the grain", c.n, c.grain)
		}
	}
}

// Two threads must really meet: each index waits for the other.
func TestRunUsesWorkers(t *testing.T) {
	p := pool(t, 2)
	for range 100 {
		var meet sync.WaitGroup
		meet.Add(2)
		p.Run(2, func(int) {
			meet.Done()
			meet.Wait()
		})
	}
}

func TestNestedRunsInline(t *testing.T) {
	p := pool(t, 4)
	var count atomic.Int32
	p.Run(16, func(int) {
		inside := 0 // no other goroutine may touch it
		p.Run(16, func(int) { inside++ })
		count.Add(int32(inside))
	})
	if got := count.Load(); got != 16*16 {
		t.Errorf("%d calls, want %d", got, 16*16)
	}
}

func TestRunFromManyGoroutines(t *testing.T) {
	p := pool(t, 4)
	var total atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				p.Run(9, func(i int) { total.Add(int64(i)) })
			}
		})
	}
	wg.Wait()
	if got := total.Load(); got != 8*200*36 {
		t.Errorf("sum %d, want %d", got, 8*200*36)
	}
}

func TestRunRaisesPanics(t *testing.T) {
	for _, at := range []int{0, 37, 99} {
		p := pool(t, 4)
		var active atomic.Int32
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Errorf("recovered %v, want boom", r)
				}
				if n := active.Load(); n != 0 {
					t.Errorf("%d calls run after the panic was raised", n)
				}
			}()
			p.Run(100, func(i int) {
				active.Add(1)
				defer active.Add(-1)
				if i == at {
					panic("boom")
				}
			})
			t.Error("Run returned")
		}()
		p.Run(10, func(int) { active.Add(1) })
		if n := active.Load(); n != 10 {
			t.Errorf("%d calls after a panic, want 10", n)
		}
	}
}

func TestClosedPoolRunsInline(t *testing.T) {
	p := pool(t, 4)
	p.Run(100, func(int) {})
	p.Close()
	p.Close()
	n := 0
	p.Run(100, func(int) { n++ })
	if n != 100 {
		t.Errorf("%d calls, want 100", n)
	}
}

// Closing while others call must neither hang nor lose an index.
func TestCloseWhileRunning(t *testing.T) {
	for range 50 {
		p := pool(t, 3)
		var total atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 20 {
					p.Run(5, func(int) { total.Add(1) })
				}
			})
		}
		p.Close()
		wg.Wait()
		if got := total.Load(); got != 3*20*5 {
			t.Fatalf("%d calls, want %d", got, 3*20*5)
		}
	}
}

// Workers that went to sleep come back, and those just about to are not lost.
func TestSleepAndWake(t *testing.T) {
	p := pool(t, 3)
	p.Run(3, func(int) {})
	for range 200 {
		for _, w := range p.acquire() {
			for range 3 {
				w.wake()
				runtime.Gosched()
			}
		}
		p.taken.Store(false)
		var meet sync.WaitGroup
		meet.Add(3)
		p.Run(3, func(int) {
			meet.Done()
			meet.Wait()
		})
	}
}

func TestThreads(t *testing.T) {
	p := pool(t, 3)
	if got := p.Threads(); got != 3 {
		t.Errorf("Threads() = %d, want 3", got)
	}
	p.SetThreads(0)
	if got, want := p.Threads(), min(runtime.GOMAXPROCS(0), runtime.NumCPU()); got != want {
		t.Errorf("Threads() = %d, want %d", got, want)
	}
	p.SetThreads(1)
	n := 0
	p.Run(10, func(int) { n++ }) // a race if a worker came
	if n != 10 {
		t.Errorf("%d calls, want 10", n)
	}
}

func BenchmarkFork(b *testing.B) {
	p := pool(b, runtime.NumCPU())
	for b.Loop() {
		p.Run(8, func(int) {})
	}
}
