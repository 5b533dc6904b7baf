package simd

import (
	"math"
	"math/bits"
)

// Philox4x32 is one block of Philox with ten rounds: four words from a counter
// of four words and a key of two (Salmon et al., SC 2011).
func Philox4x32(key [2]uint32, ctr [4]uint32) [4]uint32 {
	for range 10 {
		h0, l0 := bits.Mul32(0xd2511f53, ctr[0])
		h1, l1 := bits.Mul32(0xcd9e8d57, ctr[2])
		ctr = [4]uint32{h1 ^ ctr[1] ^ key[0], l1, h0 ^ ctr[3] ^ key[1], l0}
		key[0] += 0x9e3779b9
		key[1] += 0xbb67ae85
	}
	return ctr
}

// philoxStep is how many blocks the kernel takes at a time.
const philoxStep = 8

// Philox fills dst, four words a block, with the blocks of a key and of counters
// from ctr, a number of 128 bits of which the lower half comes first.
func (r *Runs) Philox(key uint64, ctr [2]uint64, dst []uint32) {
	k := [2]uint32{uint32(key), uint32(key >> 32)}
	for len(dst) > 0 {
		low, mid, n := uint32(ctr[0]), uint32(ctr[0]>>32), 1
		blocks := min(len(dst)/4, math.MaxUint32-int(low)) / philoxStep * philoxStep
		if r.philox != nil && blocks > 0 {
			n = blocks
			r.philox(n, low, &[5]uint32{mid, uint32(ctr[1]), uint32(ctr[1] >> 32), k[0], k[1]}, at(dst))
		} else {
			b := Philox4x32(k, [4]uint32{low, mid, uint32(ctr[1]), uint32(ctr[1] >> 32)})
			copy(dst, b[:])
		}
		var carry uint64
		ctr[0], carry = bits.Add64(ctr[0], uint64(n), 0)
		ctr[1] += carry
		dst = dst[min(4*n, len(dst)):]
	}
}
