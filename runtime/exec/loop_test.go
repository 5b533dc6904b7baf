package exec

import (
	"math/rand/v2"
	"testing"
)

// TestLoopDetectorSkipsNothing compares the detector, which counts nothing but
// the present body while that goes on, with one that always counts everything.
func TestLoopDetectorSkipsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fired := 0
	for range 60 {
		var quick, slow loopDetector
		for range 40 {
			body := make([]uint64, 1+r.IntN(12))
			if r.IntN(8) == 0 {
				body = make([]uint64, 1+r.IntN(200))
			}
			for i := range body {
				body[i] = 1 + r.Uint64N(3)
			}
			for i := range len(body)*r.IntN(6) + r.IntN(len(body)+1) {
				h := body[i%len(body)]
				slow.holds = false
				a, b := quick.seen(h), slow.seen(h)
				if a != b || quick.last != slow.last {
					t.Fatalf("operation %d: %v with body %d, want %v with %d", quick.n, a, quick.last, b, slow.last)
				}
				if a {
					fired++
				}
			}
		}
	}
	if fired < 100 {
		t.Errorf("only %d loops", fired)
	}
}
