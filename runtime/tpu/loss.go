package tpu

// LinearCrossEntropy is the cross entropy of a linear layer's results: input
// [..,k], weight [classes,…,k] and targets as CrossEntropy has them.
func LinearCrossEntropy(input, weight, target *Tensor, bias *Tensor, opts ...CrossEntropyOptions) *Tensor {
	someTensors("linear_cross_entropy", input, weight, target)
	d, w := input.view.Dims, weight.view.Dims
	if bias != nil {
		bias = bias.Reshape(-1)
	}
	logits := linear(input, weight.Reshape(-1, w[len(w)-1]), bias)
	logits = logits.Reshape(append(append([]int{}, d[:len(d)-1]...), w[:len(w)-1]...)...)
	return CrossEntropy(logits, target, opts...)
}

// RReLU is ReLU whose slope below zero is drawn between lower and upper for each
// element when training, and their mean otherwise.
func (t *Tensor) RReLU(lower, upper float64, training bool) *Tensor {
	t.engine()
	if !training {
		return t.LeakyReLU(LeakyReLUOptions{NegativeSlope: (lower + upper) / 2})
	}
	slope := t.RandLike().Mul(upper - lower).Add(lower)
	return Where(t.Lt(0), t.Mul(slope), t)
}

// ScaledMM is the product of matrices of narrow floats times the scales of both,
// in type out: [m,k] × [k,n] + [n] → [m,n]. A scale is one number, or one for
// each row of a and column of b.
func ScaledMM(a, b, scaleA, scaleB, bias *Tensor, out DType) *Tensor {
	someTensors("scaled_mm", a, b, scaleA, scaleB)
	y := a.To(F32).MatMul(b.To(F32)).Mul(scaleA).Mul(scaleB)
	if bias != nil {
		y = y.Add(bias.To(F32))
	}
	return y.To(out)
}
