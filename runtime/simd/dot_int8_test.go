package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestInt8Tiles(t *testing.T) {
	fast, slow := DotsOf(Tiles, false), DotsOf(Tiles, true)
	if !fast.HasInt8() {
		t.Skip("the processor does not multiply bytes")
	}
	r := rand.New(rand.NewPCG(1, 2))
	bytes := func(n int) []int8 {
		x := make([]int8, n)
		for i := range x {
			x[i] = int8(r.Uint32())
		}
		return x
	}
	for _, rows := range []int{1, 16, 17, 40} {
		for steps := 1; steps < 4; steps++ {
			as, bs := steps*StepBytes+64, steps*StepBytes+128
			a, b := bytes((rows+15)/16*as), bytes(2*bs)
			for _, acc := range []bool{false, true} {
				c := make([]int32, (rows+15)/16*16*33)
				for i := range c {
					c[i] = int32(r.Uint32()) // sums wrap
				}
				want := slices.Clone(c)
				fast.MultiplyInt8(steps, a, as, b, bs, c, 33, rows, acc)
				slow.MultiplyInt8(steps, a, as, b, bs, want, 33, rows, acc)
				if !slices.Equal(c, want) {
					t.Fatalf("%d rows, %d steps, accumulate %v differ", rows, steps, acc)
				}
			}
		}
	}
	if !panics(func() {
		fast.MultiplyInt8(2, make([]int8, 2*StepBytes-1), 0, make([]int8, 4*StepBytes), 2*StepBytes, make([]int32, 512), 32, 1, false)
	}) {
		t.Error("a strip too short was accepted")
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
