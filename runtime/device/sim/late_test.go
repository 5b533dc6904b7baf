package sim

import (
	"testing"

	"github.com/tpush/tpush/runtime/device"
)

// TestResultsWaitWhileOthersReadThem: a chain waits again and again; after as many
// results as a slab has, none of which reads another, the next ones are computed
// at once for a while. The numbers are the same.
func TestResultsWaitWhileOthersReadThem(t *testing.T) {
	d := open(t, Options{})
	x, ok := compile(t, d, double(f32(100)), device.FastCompile).(*executable)
	if !ok || !x.Singly() || !x.singly.waits {
		t.Fatal("the result of an addition of 100 numbers does not wait")
	}
	ones := make([]float32, 100)
	for i := range ones {
		ones[i] = 1
	}
	in := upload(t, d, []int{100}, ones...)
	apply := func(in device.Buffer) *buffer {
		b, ok := x.RunSingle(&device.Single{In: []device.Buffer{in}, Late: true, Tenant: device.Tenant{Kind: &device.Kind{What: "add"}}})
		if !ok {
			t.Fatal("no result")
		}
		return b.(*buffer)
	}
	waited := func(n int, chain bool) (k int) {
		from := in
		for range n {
			b := apply(from)
			if b.slab != nil {
				k++
			}
			if chain {
				from = b
			} else if got := numbersOfWaiting(b); got != 0 && got != 2 {
				t.Errorf("1 + 1 is %v", got)
			}
		}
		return k
	}
	if k := waited(3*lateTasks, true); k != 3*lateTasks {
		t.Errorf("%d of %d results of a chain waited", k, 3*lateTasks)
	}
	if k := waited(lateTasks, false); k != lateTasks {
		t.Errorf("%d of the first %d results that nobody reads waited", k, lateTasks)
	}
	if k := waited(atOnce, false); k != 0 {
		t.Errorf("%d of the %d after them waited", k, atOnce)
	}
	if k := waited(2*lateTasks, true); k != 2*lateTasks {
		t.Errorf("%d of %d results of a later chain waited", k, 2*lateTasks)
	}
}

// numbersOfWaiting gives the first number of a buffer, 0 while it waits.
func numbersOfWaiting(b *buffer) float32 {
	if b.buf == nil {
		return 0
	}
	return numbers(b)[0]
}
