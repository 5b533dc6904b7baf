package exec

import (
	"math"
	"math/bits"

	"github.com/tpush/tpush/runtime/dtype"
)

// seed starts every hash; the value has no meaning.
const seed uint64 = 0x9e3779b97f4a7c15

// mix folds x into h: one multiplication of 64×64 bits, both halves kept
// (the wyhash step). The results are the same in every process, so keys can be printed and compared.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, x^0xe7037ed1a0b428db)
	return hi ^ lo ^ h
}

func hashString(h uint64, s string) uint64 {
	h = mix(h, uint64(len(s)))
	for len(s) >= 8 {
		h = mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
		s = s[8:]
	}
	var x uint64
	for i := range len(s) {
		x |= uint64(s[i]) << (8 * i)
	}
	return mix(h, x)
}

func hashInts(h uint64, xs []int) uint64 {
	h = mix(h, uint64(len(xs)))
	for _, x := range xs {
		h = mix(h, uint64(x))
	}
	return h
}

// hashAttr folds an attribute value into h; the tag keeps 1, 1.0 and true apart.
func hashAttr(h uint64, v any) uint64 {
	switch v := v.(type) {
	case nil:
		return mix(h, 1)
	case int:
		return mix(mix(h, 2), uint64(v))
	case []int:
		return hashInts(mix(h, 3), v)
	case float64:
		return mix(mix(h, 4), math.Float64bits(v))
	case bool:
		if v {
			return mix(h, 5)
		}
		return mix(h, 6)
	case string:
		return hashString(mix(h, 7), v)
	case dtype.DType:
		return mix(mix(h, 8), uint64(v))
	case []bool:
		h = mix(mix(h, 9), uint64(len(v)))
		for _, b := range v {
			h = hashAttr(h, b)
		}
		return h
	case []string:
		h = mix(mix(h, 10), uint64(len(v)))
		for _, s := range v {
			h = hashString(h, s)
		}
		return h
	case [][]int:
		h = mix(mix(h, 11), uint64(len(v)))
		for _, s := range v {
			h = hashInts(h, s)
		}
		return h
	}
	panic("exec: attribute of unknown type") // a row declared a kind that Kind does not have
}
