package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// All kernels of bytes give the sums of the one in Go, for the bytes of largest
// magnitude too, whose products saturate in narrower sums.
func TestInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bytes := func(n int, extreme bool) []int8 {
		x := make([]int8, n)
		for i := range x {
			x[i] = int8(r.Uint32())
			if extreme {
				x[i] = []int8{-128, 127, -127}[r.IntN(3)]
			}
		}
		return x
	}
	kernels := Int8s(Detected())
	for _, fast := range kernels[1:] {
		for _, rows := range []int{1, 2, 8, 9, 16, 17, 40} {
			for steps := 1; steps < 4; steps++ {
				as, bs := steps*StepBytes+64, steps*StepBytes+128
				for mode := range 4 {
					a, b := bytes((rows+15)/16*as, mode&1 != 0), bytes(2*bs, mode&1 != 0)
					c := make([]int32, (rows+15)/16*16*33)
					for i := range c {
						c[i] = int32(r.Uint32()) // sums wrap
					}
					want := slices.Clone(c)
					fast.Multiply(steps, a, as, b, bs, c, 33, rows, mode&2 != 0)
					kernels[0].Multiply(steps, a, as, b, bs, want, 33, rows, mode&2 != 0)
					for i := range rows {
						if !slices.Equal(c[i*33:][:32], want[i*33:][:32]) {
							t.Fatalf("%s: row %d of %d, %d steps, mode %d differs", fast.Name, i, rows, steps, mode)
						}
					}
				}
			}
		}
		for name, n := range map[string][3]int{"a": {2*StepBytes - 1, 4 * StepBytes, 512}, "b": {2 * StepBytes, 4*StepBytes - 1, 512}, "c": {2 * StepBytes, 4 * StepBytes, 511}} {
			if !panics(func() {
				fast.Multiply(2, make([]int8, n[0]), 0, make([]int8, n[1]), 2*StepBytes, make([]int32, n[2]), 32, 1, false)
			}) {
				t.Errorf("%s: operand %s is too short and was accepted", fast.Name, name)
			}
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
