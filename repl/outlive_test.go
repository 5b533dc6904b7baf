package repl

import "testing"

// TestGoroutinesOutlive runs operations while goroutines of an earlier cell call
// functions, hold tensors, wait and sleep: HBM is what all of them can reach, and
// nobody reads the frames of one that runs (go test -race).
func TestGoroutinesOutlive(t *testing.T) {
	holds(t, []heldAfter{
		{`import "sync/atomic"
var stop atomic.Bool
tick, asked, ended := make(chan int), make(chan bool), make(chan bool)
func down(n int, f func() int) int {
	g := f
	if n == 0 { return g() }
	return down(n-1, g)
}
func rest() { w := tpu.Ones(256, 256); <-asked; w.Add(1); w = nil; ended <- true }
go rest()
go func() {
	kept := tpu.Ones(256, 256)
	tick <- 1
	n := 0
	for !stop.Load() {
		h := func() int { return len(kept.Dims()) }
		n += down(20, h)
		n += len(strings.Repeat("x", 3))
	}
	kept.Add(1)
	kept = nil
	ended <- true
}()
<-tick`, 2},
		{"x := tpu.Ones(256, 256)\nfor i := range 200 { x = x.Add(1); _ = i }", 3},
		{"asked <- true\n<-ended", 2},
		{"x = nil\ny := tpu.Ones(2)\ny = nil", 1},
		{"stop.Store(true)\n<-ended", 0},
	})
}
