package simd

import (
	"math"
	"slices"
	"testing"
)

func TestPhiloxAtAllLevels(t *testing.T) {
	for _, ctr := range [][2]uint64{{0, 0}, {math.MaxUint32 - 20, 7}, {math.MaxUint64 - 9, 3}, {1 << 40, math.MaxUint64}} {
		const key, blocks = 0x0123456789abcdef, 67
		var want []uint32
		for i := range uint64(blocks) {
			low, high := ctr[0]+i, ctr[1]
			if low < i {
				high++
			}
			b := Philox4x32([2]uint32{key & math.MaxUint32, key >> 32}, [4]uint32{uint32(low), uint32(low >> 32), uint32(high), uint32(high >> 32)})
			want = append(want, b[:]...)
		}
		for _, l := range Available() {
			for _, n := range []int{0, 1, 3, 31, 32, 33, 100, 4*blocks - 1, 4 * blocks} {
				got := make([]uint32, n+1)
				RunsOf(l).Philox(key, ctr, got[:n])
				if !slices.Equal(got[:n], want[:n]) || got[n] != 0 {
					t.Fatalf("%v: %d words from %x differ", l, n, ctr)
				}
			}
		}
	}
}
