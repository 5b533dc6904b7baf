package shape

import (
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

func TestBroadcast(t *testing.T) {
	for _, c := range []struct {
		a, b, want []int
		ok         bool
	}{
		{nil, nil, nil, true}, {[]int{2, 3}, nil, []int{2, 3}, true}, {nil, []int{2, 3}, []int{2, 3}, true},
		{[]int{2, 1}, []int{3}, []int{2, 3}, true}, {[]int{4, 1, 3}, []int{2, 1}, []int{4, 2, 3}, true},
		{[]int{0}, []int{1}, []int{0}, true}, {[]int{1}, []int{0}, []int{0}, true}, {[]int{2, 0}, []int{1, 1}, []int{2, 0}, true},
		{[]int{2}, []int{0}, nil, false}, {[]int{2, 3}, []int{2, 4}, nil, false}, {[]int{2, 3}, []int{2}, nil, false},
		{[]int{1, 3}, []int{2, 1}, []int{2, 3}, true},
	} {
		for _, ab := range [][2][]int{{c.a, c.b}, {c.b, c.a}} {
			got, ok := Broadcast(ab[0], ab[1])
			if ok != c.ok || ok && !EqualDims(got, c.want) {
				t.Errorf("%v and %v: %v, %v", ab[0], ab[1], got, ok)
			}
		}
	}
}

func TestBroadcastAllocatesOnlyWhenItMust(t *testing.T) {
	x, y := Of(dtype.F32, 4, 8), Of(dtype.F32, 8)
	if n := testing.AllocsPerRun(10, func() { _, _ = BroadcastAll("add", x, y) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
