package tpu

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

const prime = 0x9e3779b97f4a7c15

func mix(h, x uint64) uint64 {
	h = (h ^ x) * prime
	return h ^ h>>29
}

func mixString(h uint64, s string) uint64 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h ^ h>>32
}

func mixSpec(h uint64, s shape.Spec) uint64 {
	h = mix(h, uint64(s.DType)<<8|uint64(len(s.Dims)))
	if s.Weak {
		h = mix(h, 1)
	}
	for _, d := range s.Dims {
		h = mix(h, uint64(d))
	}
	return h
}

// usageKey fingerprints all that a gradient rule can see without numbers.
func usageKey(n *node, needs []bool) uint64 {
	h := mixString(prime, string(n.def.Name))
	for i, s := range n.inSpecs {
		h = mixSpec(h, s)
		if needs[i] {
			h = mix(h, 2)
		}
	}
	for _, a := range n.attrs {
		switch v := a.Value.(type) {
		case nil:
			h = mix(h, 3)
		case int:
			h = mix(h, uint64(v))
		case float64:
			h = mix(h, math.Float64bits(v))
		case bool:
			if v {
				h = mix(h, 5)
			} else {
				h = mix(h, 7)
			}
		case string:
			h = mixString(h, v)
		case []int:
			h = mix(h, uint64(len(v)))
			for _, x := range v {
				h = mix(h, uint64(x))
			}
		case dtype.DType:
			h = mix(h, uint64(v)+11)
		}
	}
	return h
}
