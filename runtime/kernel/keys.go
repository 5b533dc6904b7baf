package kernel

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
)

// A Key is the key of a counter-based generator in JAX's manner: functions of
// a key are pure, and new keys are derived from it. The bits are those of JAX's
// threefry2x32 in its partitionable form.
type Key [2]uint32

// KeyOf is the key of a seed: its high and low words.
func KeyOf(seed uint64) Key { return Key{uint32(seed >> 32), uint32(seed)} }

// block encrypts counter i.
func (k Key) block(i uint64) [2]uint32 {
	return Threefry2x32(k, [2]uint32{uint32(i >> 32), uint32(i)})
}

// Split derives n keys.
func (k Key) Split(n int) []Key {
	out := make([]Key, n)
	for i := range out {
		out[i] = k.block(uint64(i))
	}
	return out
}

// FoldIn derives a key from k and a number.
func (k Key) FoldIn(data uint32) Key { return Threefry2x32(k, KeyOf(uint64(data))) }

// Word is the i-th number of 32 random bits.
func (k Key) Word(i int) uint32 { b := k.block(uint64(i)); return b[0] ^ b[1] }

// Bits is the i-th number of the given width: 8, 16, 32 or 64 bits.
func (k Key) Bits(i, width int) uint64 {
	if width == 64 {
		b := k.block(uint64(i))
		return uint64(b[0])<<32 | uint64(b[1])
	}
	return uint64(k.Word(i)) & (1<<width - 1)
}

// Uniform is the i-th number of type t, uniform in [lo, hi): the top bits
// become the mantissa of a number in [1, 2), in the arithmetic of t.
func (k Key) Uniform(i int, t dtype.DType, lo, hi float64) float64 {
	mant := t.Row().Mant
	width := t.Bits()
	if mant < 8 {
		width = 8
	}
	f := t.Round(math.Ldexp(float64(k.Bits(i, width)>>(width-mant)), -mant))
	scaled := f * t.Round(hi-lo)
	if t != dtype.F32 { // in F32 the compiler fuses the product and the sum
		scaled = t.Round(scaled)
	}
	return math.Max(lo, t.Round(scaled+lo))
}

// Normal is the i-th number of the normal distribution, in F32.
func (k Key) Normal(i int) float32 {
	lo := float64(math.Nextafter32(-1, 0))
	return float32(math.Sqrt2 * math.Erfinv(k.Uniform(i, dtype.F32, lo, 1)))
}

// RandInt is the i-th integer in [lo, hi).
func (k Key) RandInt(i int, lo, hi int32) int32 {
	two := k.Split(2)
	high, low := two[0].Word(i), two[1].Word(i)
	span := uint32(hi - lo)
	m := uint32(1<<16) % span
	m = m * m % span
	return lo + int32((high%span*m+low%span)%span)
}

// Permutation is an order of 0, …, n-1: sorting by random words, several times.
func (k Key) Permutation(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	rounds := int(math.Ceil(3 * math.Log(float64(max(1, n))) / math.Log(math.MaxUint32)))
	for range rounds {
		two := k.Split(2)
		k = two[0]
		type pair struct {
			word uint32
			x    int32
		}
		ps := make([]pair, n)
		for i := range ps {
			ps[i] = pair{two[1].Word(i), out[i]}
		}
		slices.SortStableFunc(ps, func(a, b pair) int {
			switch {
			case a.word < b.word:
				return -1
			case a.word > b.word:
				return 1
			}
			return 0
		})
		for i := range ps {
			out[i] = ps[i].x
		}
	}
	return out
}

// ThreeFryBits is XLA's rng_bit_generator with the algorithm THREE_FRY: it
// fills out from the state (key, counter) and gives the state after it.
func ThreeFryBits(state [2]uint64, out Array) [2]uint64 {
	key := [2]uint32{uint32(state[0]), uint32(state[0] >> 32)}
	// The generator makes pairs of words. They lie side by side along the first
	// axis of even size, else along the first axis, whose last odd word is lost.
	wide := out.DType.Bits() == 64
	pre, dim, post := 1, 1, 1
	if len(out.Dims) > 0 && !wide {
		split := 0
		for i, d := range out.Dims {
			if d%2 == 0 {
				split = i
				break
			}
		}
		dim = out.Dims[split]
		for i, d := range out.Dims {
			switch {
			case i < split:
				pre *= d
			case i > split:
				post *= d
			}
		}
	}
	n := out.Size()
	pair := func(b int) [2]uint32 {
		c := state[1] + uint64(b)
		return Threefry2x32(key, [2]uint32{uint32(c), uint32(c >> 32)})
	}
	half := (dim + 1) / 2
	for i := range n {
		if wide {
			w := pair(i)
			As[uint64](out.Buf)[i] = uint64(w[0]) | uint64(w[1])<<32
			continue
		}
		p, k, q := i/(dim*post), i/post%dim, i%post
		w := pair((p*half+k/2)*post + q)[k%2]
		switch out.DType.Bits() {
		case 32:
			As[uint32](out.Buf)[i] = w
		case 16:
			As[uint16](out.Buf)[i] = uint16(w)
		default:
			out.Buf[i] = uint8(w)
		}
	}
	blocks := pre * half * post
	if wide || n == 0 {
		blocks = n
	}
	return [2]uint64{state[0], state[1] + uint64(blocks)}
}
