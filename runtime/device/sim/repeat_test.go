package sim

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
)

// TestRepeats runs turns of x·a and then + b together, from one result to the next,
// and compares what is looked at with turns that are run alone; once such turns
// have been computed as one program they are not written down anew.
func TestRepeats(t *testing.T) {
	const elements, turns = 80, 16 // as many results as wait
	kinds := []device.Kind{{What: "mul"}, {What: "add"}}
	start := func() (*Device, *executable, []device.Buffer) {
		d := open(t, Options{})
		s := f32(elements)
		b := &builder{}
		x, y, z := b.input(s), b.input(s), b.input(s)
		p := b.do(op.Must("mul"), s, x, y)
		e := compile(t, d, b.graph(p, b.do(op.Must("add"), s, p, z)), device.FastRun).(*executable)
		in := make([]device.Buffer, 3)
		for k := range in {
			xs := make([]float32, elements)
			for i := range xs {
				xs[i] = float32(k+1)/4 + float32(i%7)/8
			}
			in[k] = upload(t, d, []int{elements}, xs...)
		}
		for k := range kinds {
			kinds[k].Spec = &s
		}
		if err := e.Run(&device.Launch{In: in}); err != nil {
			t.Fatal(err)
		}
		return d, e, in
	}
	results := func(shelf *device.Shelf, n int) []device.Result {
		out := make([]device.Result, n)
		for i := range out {
			out[i] = device.Result{Tenant: device.Tenant{Kind: &kinds[i%2], Value: uint64(i + 1), Op: uint64(i + 1), Launch: i/2 + 1}, Shelf: shelf, At: i}
		}
		return out
	}
	alone, x, in := start()
	together, y, feed := start()
	if !y.Repeats() {
		t.Fatal("the program has no shorter way")
	}
	patterns := 0
	for round := range 8 {
		want := results(alone.HBM().NewShelf(), 2*turns)
		for from := 0; from < len(want); from += 2 {
			l := &device.Several{In: in, Out: want[from : from+2]}
			if !x.RunSeveral(l) {
				t.Fatal("refused")
			}
			in[0] = want[from+1].Buffer
		}
		got := results(together.HBM().NewShelf(), 2*turns)
		if y.pattern != nil {
			patterns++
		}
		if !y.RunRepeat(&device.Repeat{In: feed, Next: []int{1, -1, -1}, Attrs: make([]op.Attrs, 2), Out: got}) {
			t.Fatal("refused")
		}
		feed[0] = got[len(got)-1].Buffer
		for _, i := range []int{len(got) - 1, 5, 0, 18, round} { // some of them were passed over
			if a, b := numbers(want[i].Buffer), numbers(got[i].Buffer); !slices.Equal(a, b) {
				t.Fatalf("round %d, result %d: %v, want %v", round, i, b, a)
			}
		}
		if a, b := alone.HBM(), together.HBM(); a.Used() != b.Used() || a.Peak() != b.Peak() || a.Live() != b.Live() {
			t.Fatalf("round %d: HBM %d %d %d, want %d %d %d", round, b.Used(), b.Peak(), b.Live(), a.Used(), a.Peak(), a.Live())
		}
	}
	if patterns == 0 {
		t.Error("every round was written down anew")
	}
	used := together.HBM().Used()
	got := results(together.HBM().NewShelf(), 2*turns)
	feed[1].Free()
	if y.RunRepeat(&device.Repeat{In: feed, Next: []int{1, -1, -1}, Attrs: make([]op.Attrs, 2), Out: got}) || together.HBM().Used() != used-feed[1].PaddedBytes() {
		t.Error("an input without HBM is read")
	}
}
