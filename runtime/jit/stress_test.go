package jit

import (
	"bytes"
	"io"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
)

// TestRunsWhileTheRuntimeWorks runs machine code in several goroutines while
// garbage is collected, stacks are walked and grown, and the profiler's signals
// arrive in the middle of it.
func TestRunsWhileTheRuntimeWorks(t *testing.T) {
	for _, e := range levels() {
		b := NewBuilder()
		chains[2].build(b)
		k := e.engine.Kernel(b.Program())
		b = NewBuilder()
		rowPrograms[0].build(b)
		rows := e.engine.Kernel(b.Program())
		n := 1 << 16
		if e.engine.level == Tiles {
			n = 1 << 10
		}
		want, wantRows := denseCall(k.program, n), denseCall(rows.program, n/256, 256)
		if k.Run(want) != nil || rows.Run(wantRows) != nil {
			t.Fatal("the first run failed")
		}
		profiling := pprof.StartCPUProfile(io.Discard) == nil
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Go(func() {
			stacks := make([]byte, 1<<16)
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
					runtime.Stack(stacks, true)
				}
			}
		})
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(func() {
				for range 5 {
					grow(40)
					c, d := denseCall(k.program, n), denseCall(rows.program, n/256, 256)
					if k.Run(c) != nil || rows.Run(d) != nil {
						t.Error("a run failed")
					}
					if !bytes.Equal(c.Out[0].Buf, want.Out[0].Buf) || !bytes.Equal(d.Out[0].Buf, wantRows.Out[0].Buf) {
						t.Errorf("%s: a run gives other bits", e.name)
					}
				}
			})
		}
		runs.Wait()
		close(stop)
		wg.Wait()
		if profiling {
			pprof.StopCPUProfile()
		}
	}
}

// grow makes the stack larger, so that it is moved.
func grow(n int) byte {
	var pad [512]byte
	if n > 0 {
		pad[n] = grow(n - 1)
	}
	return pad[0]
}
