package bench

import (
	"math"

	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// word is the i-th pseudo-random number of a seed: the finalizer of MurmurHash3 (32 bits).
func word(seed, i int) uint32 {
	h := uint32(i) + uint32(seed)*0x9E3779B9
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// numbers are f32 in [-scale, scale).
func numbers(seed int, scale float64, dims ...int) []float32 {
	x := make([]float32, shape.Size(dims))
	s := float32(scale)
	for i := range x {
		x[i] = (float32(word(seed, i)>>8)*0x1p-23 - 1) * s
	}
	return x
}

// uniform is numbers as a tensor of F32.
func uniform(seed int, scale float64, dims ...int) *tpu.Tensor {
	return tpu.F32.From(numbers(seed, scale, dims...), dims...)
}

// shifted is base + uniform.
func shifted(base float32, seed int, scale float64, dims ...int) *tpu.Tensor {
	x := numbers(seed, scale, dims...)
	for i := range x {
		x[i] += base
	}
	return tpu.F32.From(x, dims...)
}

// integers are I64 in [0, mod).
func integers(seed, mod int, dims ...int) *tpu.Tensor {
	x := make([]int64, shape.Size(dims))
	for i := range x {
		x[i] = int64(word(seed, i) % uint32(mod))
	}
	return tpu.I64.From(x, dims...)
}

// in gives x in another type.
func in(d tpu.DType, x *tpu.Tensor) *tpu.Tensor {
	if d == x.DType() {
		return x
	}
	return x.To(d)
}

// summary is what a check compares: the numbers themselves up to eight; else
// five spread over the array, the mean and the root of the mean square.
func summary(x *tpu.Tensor) []float64 {
	v := x.To(tpu.F64).Float64s()
	n := len(v)
	if n <= 8 {
		return v
	}
	var s []float64
	for k := range 5 {
		s = append(s, v[k*(n-1)/4])
	}
	var sum, squares float64
	for _, x := range v {
		sum += x
		squares += x * x
	}
	return append(s, sum/float64(n), math.Sqrt(squares/float64(n)))
}
