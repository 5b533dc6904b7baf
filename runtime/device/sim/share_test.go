package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/device"
)

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		total   int64
		weights []int64
		want    []int64
	}{
		{10, []int64{1, 1, 2}, []int64{2, 3, 5}},
		{10, []int64{0, 0, 0}, []int64{3, 3, 4}},
		{7, []int64{0, 5, 0}, []int64{0, 7, 0}},
		{0, []int64{3, 4}, []int64{0, 0}},
		{math.MaxInt64, []int64{math.MaxInt64 / 2, math.MaxInt64 / 2}, []int64{math.MaxInt64 / 2, math.MaxInt64/2 + 1}},
		{5, nil, []int64{}},
	} {
		if got := divide(c.total, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("divide(%d, %v) = %v, want %v", c.total, c.weights, got, c.want)
		}
	}
}

func TestSharesAddUpToTheTimeOfThePlan(t *testing.T) {
	for _, level := range []device.Level{device.FastCompile, device.FastRun} {
		for rows := 1; rows <= 1<<16; rows *= 16 {
			p := planOn(t, "v5e", chain(rows), level)
			var total int64
			for i, ns := range p.NodeNS {
				if ns < 0 {
					t.Errorf("node %d takes %d ns", i, ns)
				}
				total += ns
			}
			if total != p.DurationNS {
				t.Errorf("%d rows: the shares add up to %d ns of %d", rows, total, p.DurationNS)
			}
		}
	}
}
