package kernel

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// Counter-based random numbers. A state is u64[2]: key and counter. Block
// number k of a stream is a pure function of key and counter + k, so any
// element can be computed anywhere; drawing never changes the state. The bits
// are those of StableHLO's rng_bit_generator with the Philox algorithm.

// Philox4x32 is one block of Philox: four words from a counter of four words and
// a key of two.
func Philox4x32(key [2]uint32, ctr [4]uint32) [4]uint32 { return simd.Philox4x32(key, ctr) }

// Threefry2x32 is one block of Threefry with twenty rounds: two words from a
// counter of two words and a key of two (Salmon et al., SC 2011).
func Threefry2x32(key, x [2]uint32) [2]uint32 {
	ks := [3]uint32{key[0], key[1], 0x1bd11bda ^ key[0] ^ key[1]}
	rot := [8]int{13, 15, 26, 6, 17, 29, 16, 24}
	x[0] += ks[0]
	x[1] += ks[1]
	for r := range 20 {
		x[0] += x[1]
		n := rot[r%8]
		x[1] = x[1]<<n | x[1]>>(32-n)
		x[1] ^= x[0]
		if r%4 == 3 {
			j := r/4 + 1
			x[0] += ks[j%3]
			x[1] += ks[(j+1)%3] + uint32(j)
		}
	}
	return x
}

// DrawOffset is how far the counter moves when n elements of the given width
// are drawn: blocks of 128 bits. Elements of fewer than 32 bits take 32.
func DrawOffset(n, bits int) uint64 {
	return (uint64(n)*uint64(max(bits, 32)) + 127) / 128
}

// A stream is a state read from an array.
type stream struct{ key, counter uint64 }

func streamOf(a Array) stream {
	s := Uint64s(a)
	return stream{s[0], s[1]}
}

// words fills d with words lo … of the stream, 32 bits each; lo is a multiple of 4.
func (s stream) words(d []uint32, lo int) {
	// XLA's counter has 128 bits: the key is its upper half too.
	c, carry := bits.Add64(s.counter, uint64(lo/4), 0)
	simd.RunsOf(simd.Chosen()).Philox(s.key, [2]uint64{c, s.key + carry}, d)
}

// draw computes every element of out from 32 random bits of its own, 64 when out is f64.
func draw(c *Call, out Array, f func(i int, bits uint64) float64) {
	drawBits(c, out, out.DType == dtype.F64, f)
}

// draw32 computes every element of out from 32 random bits of its own.
func draw32(c *Call, out Array, f func(i int, bits uint64) float64) { drawBits(c, out, false, f) }

func drawBits(c *Call, out Array, wide bool, f func(i int, bits uint64) float64) {
	s := streamOf(c.In[0])
	Parallel(out.Size(), heavyGrain, func(lo, hi int) {
		var words [2 * chunk]uint32
		var x [chunk]float64
		for ; lo < hi; lo += chunk {
			m := min(chunk, hi-lo)
			if wide {
				s.words(words[:2*m], 2*lo)
				for i := range m {
					x[i] = f(lo+i, uint64(words[2*i])|uint64(words[2*i+1])<<32)
				}
			} else {
				s.words(words[:m], lo)
				for i := range m {
					x[i] = f(lo+i, uint64(words[i]))
				}
			}
			storeRun(&out, lo, x[:m])
		}
	})
}

// unit gives the function from bits to [0, 1): as many bits as t has
// significant ones, so that no value rounds up to 1.
func unit(t dtype.DType) func(bits uint64) float64 {
	if t == dtype.F64 {
		return func(b uint64) float64 { return float64(b>>11) * (1. / (1 << 53)) }
	}
	n := 24
	if t.IsFloat() {
		n = min(n, t.Row().Mant+1)
	}
	scale := 1 / float64(uint64(1)<<n)
	return func(b uint64) float64 { return float64(b>>(32-n)) * scale }
}

// open gives the function from bits to (-1, 1): odd multiples of 2^-23 (2^-52 for f64).
func open(t dtype.DType) func(bits uint64) float64 {
	if t == dtype.F64 {
		return func(b uint64) float64 { return float64(b>>12<<1|1)*(1./(1<<52)) - 1 }
	}
	return func(b uint64) float64 { return float64(b>>9<<1|1)*(1./(1<<23)) - 1 }
}

// RandomBits writes the bits of the stream; elements narrower than 32 bits
// take the low bits of a word each.
func RandomBits(c *Call) error {
	s, out := streamOf(c.In[0]), c.Out[0]
	per := 1
	if out.DType.Bits() == 64 {
		per = 2
	}
	Parallel(out.Size(), heavyGrain, func(lo, hi int) {
		var words [2 * chunk]uint32
		var x [chunk]uint64
		for ; lo < hi; lo += chunk {
			m := min(chunk, hi-lo)
			s.words(words[:m*per], lo*per)
			for i := range m {
				x[i] = uint64(words[i*per])
				if per == 2 {
					x[i] |= uint64(words[2*i+1]) << 32
				}
			}
			storeRun(&out, lo, x[:m])
		}
	})
	return nil
}

// Uniform draws from [from, to), attributes.
func Uniform(c *Call) error {
	a, b := c.Attrs.Float("from"), c.Attrs.Float("to")
	u := unit(c.Out[0].DType)
	draw(c, c.Out[0], func(_ int, bits uint64) float64 { return a + (b-a)*u(bits) })
	return nil
}

// Normal draws from the normal distribution with attributes mean and std, by
// the inverse of its distribution function.
func Normal(c *Call) error {
	mean, std := c.Attrs.Float("mean"), c.Attrs.Float("std")
	u := open(c.Out[0].DType)
	draw(c, c.Out[0], func(_ int, bits uint64) float64 { return mean + std*math.Sqrt2*math.Erfinv(u(bits)) })
	return nil
}

// Exponential draws from the exponential distribution with attribute lambd as rate.
func Exponential(c *Call) error {
	rate := c.Attrs.Float("lambd")
	u := unit(c.Out[0].DType)
	draw(c, c.Out[0], func(_ int, bits uint64) float64 { return -math.Log1p(-u(bits)) / rate })
	return nil
}

// RandInt draws integers from [low, high), attributes, as the remainder of 32
// random bits, or of 64 when the range is wider.
func RandInt(c *Call) error {
	low, high := int64(c.Attrs.Int("low")), int64(c.Attrs.Int("high"))
	span := uint64(high - low)
	s, out := streamOf(c.In[0]), c.Out[0]
	per := 1
	if span > 1<<32 {
		per = 2
	}
	Parallel(out.Size(), heavyGrain, func(lo, hi int) {
		var words [2 * chunk]uint32
		var x [chunk]int64
		for ; lo < hi; lo += chunk {
			m := min(chunk, hi-lo)
			s.words(words[:m*per], lo*per)
			for i := range m {
				b := uint64(words[i*per])
				if per == 2 {
					b |= uint64(words[2*i+1]) << 32
				}
				x[i] = low + int64(b%span)
			}
			storeRun(&out, lo, x[:m])
		}
	})
	return nil
}

// Bernoulli draws 1 with the probability of each element of the second input, else 0.
func Bernoulli(c *Call) error {
	p := Float64s(c.In[1])
	u := unit(dtype.F32)
	draw32(c, c.Out[0], func(i int, bits uint64) float64 { return float64(bit(u(bits) < p[i])) })
	return nil
}

// BernoulliP draws 1 with probability p, attribute, else 0.
func BernoulliP(c *Call) error {
	p := c.Attrs.Float("p")
	u := unit(dtype.F32)
	draw32(c, c.Out[0], func(_ int, bits uint64) float64 { return float64(bit(u(bits) < p)) })
	return nil
}

// Dropout keeps each element of the second input with probability 1 - p,
// attribute, divided by that; the second result says which were kept.
func Dropout(c *Call) error {
	keep := 1 - c.Attrs.Float("p")
	mask := c.Out[1]
	u := unit(dtype.F32)
	draw32(c, mask, func(_ int, bits uint64) float64 { return float64(bit(u(bits) < keep)) })
	scale := New(shape.Of(dtype.F64))
	if keep > 0 {
		As[float64](scale.Buf)[0] = 1 / keep
	}
	scale.Weak = true
	return dropoutOp.run(&Call{In: []Array{c.In[1], mask, scale}, Out: c.Out[:1]})
}

var (
	dropoutOp     = &elementwise{recipe: dropoutRecipe, wide: true}
	dropoutBackOp = &elementwise{recipe: dropoutBackRecipe, prep: func(c *Call, p *Params) { p.number(0, c.Attrs.Get("scale")) }}
)

// DropoutBackward computes gradient · mask · scale, an attribute.
func DropoutBackward(c *Call) error { return dropoutBackOp.run(c) }

// RandPerm writes a permutation of 0 … n-1: the order of n random 64-bit keys.
func RandPerm(c *Call) error {
	out := c.Out[0]
	n := out.Size()
	keys := New(shape.Of(dtype.U64, n))
	if err := RandomBits(&Call{In: c.In, Out: []Array{keys}}); err != nil {
		return err
	}
	k := As[uint64](keys.Buf)
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(i, j int64) int {
		switch {
		case k[i] < k[j]:
			return -1
		case k[i] > k[j]:
			return 1
		}
		return 0
	})
	storeRun(&out, 0, order)
	return nil
}
