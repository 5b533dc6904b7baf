package optim

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// ClipGradNorm scales the gradients of params, in place, so that their norm
// together is at most maxNorm, and gives the norm before. normType is 2 when
// not given; math.Inf(1) takes the largest element.
func ClipGradNorm(params []*tpu.Tensor, maxNorm float64, normType ...float64) *tpu.Tensor {
	p := 2.0
	if len(normType) > 0 {
		p = normType[0]
	}
	var total *tpu.Tensor
	tpu.NoGrad(func() {
		var norms []*tpu.Tensor
		for _, x := range params {
			if g := x.LentGrad(); g != nil {
				norms = append(norms, norm(g, p))
			}
		}
		if len(norms) == 0 {
			total = tpu.Scalar(0.0)
			return
		}
		total = norm(tpu.Stack(0, norms...), p)
		scale := total.Add(1e-6).Reciprocal().Mul(maxNorm).ClampMax(1)
		for _, x := range params {
			if g := x.LentGrad(); g != nil {
				g.MulInPlace(scale.To(g.DType()))
			}
		}
	})
	return total
}

func norm(x *tpu.Tensor, p float64) *tpu.Tensor {
	switch {
	case math.IsInf(p, 1):
		return x.Abs().AMax()
	case p == 2:
		return norm2(x)
	case p == 1:
		return x.Abs().Sum()
	}
	return x.Abs().Pow(p).Sum().Pow(1 / p)
}

// ClipGradValue cuts every element of the gradients, in place, to [-limit, limit].
func ClipGradValue(params []*tpu.Tensor, limit float64) {
	tpu.NoGrad(func() {
		for _, x := range params {
			if g := x.LentGrad(); g != nil {
				g.ClampInPlace(tpu.ClampOptions{Min: -limit, Max: limit})
			}
		}
	})
}
