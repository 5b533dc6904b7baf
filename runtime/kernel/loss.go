package kernel

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Losses compute in float64 for every type and round once. The reduction is
// one of none, mean, sum, batchmean (sum divided by the first size).

// reduceLoss stores the losses of the elements: all of them, their sum or their mean.
func reduceLoss(c *Call, each []float64) {
	out := c.Out[0]
	dst := dest[float64](out)
	switch c.Attrs.Str("reduction") {
	case "none":
		copy(dst, each)
	case "sum":
		dst[0] = sumRow(each)
	default:
		dst[0] = sumRow(each) / float64(len(each))
	}
	settle(out, dst)
}

// pointLoss stretches all inputs to one shape, calls f for each element (an
// absent operand reads as 1) and reduces, in the fixed order of a sum.
func pointLoss(c *Call, f func(v *[4]float64) float64) error {
	t := dtype.F32
	for _, a := range c.In {
		if a.Valid() && computeType(a.DType) != dtype.F32 {
			t = dtype.F64
		}
	}
	if t == dtype.F32 {
		pointLossAs[float32](c, f)
	} else {
		pointLossAs[float64](c, f)
	}
	return nil
}

func pointLossAs[T float32 | float64](c *Call, f func(v *[4]float64) float64) {
	dims := commonDims(c.In)
	n := shape.Size(dims)
	var in [4][]T
	for i, a := range c.In {
		if a.Valid() {
			in[i] = load[T](spread(a, dims))
		}
	}
	out := c.Out[0]
	dst := dest[float64](out)
	none := c.Attrs.Str("reduction") == "none"
	blocks := (n + sumBlock - 1) / sumBlock
	var one [1]float64
	part := one[:]
	if blocks > 1 && !none {
		part = make([]float64, blocks)
	}
	Parallel(blocks, 4, func(lo, hi int) {
		v := [4]float64{1, 1, 1, 1}
		for b := lo; b < hi; b++ {
			var s [sumLanes]float64
			for i := b * sumBlock; i < min((b+1)*sumBlock, n); i++ {
				for k, x := range in {
					if x != nil {
						v[k] = float64(x[i])
					}
				}
				if y := f(&v); none {
					dst[i] = y
				} else {
					s[i%sumLanes] += y
				}
			}
			if !none {
				part[b] = foldLanes(&s)
			}
		}
	})
	if !none {
		dst[0] = foldPairs(part)
		switch c.Attrs.Str("reduction") {
		case "mean":
			dst[0] /= float64(n)
		case "batchmean":
			if len(dims) > 0 {
				dst[0] /= float64(dims[0])
			}
		}
	}
	settle(out, dst)
}

// MSELoss is (x−y)², times the weight.
func MSELoss(c *Call) error {
	return pointLoss(c, func(v *[4]float64) float64 { d := v[0] - v[1]; return d * d * v[2] })
}

// L1Loss is |x−y|, times the weight.
func L1Loss(c *Call) error {
	return pointLoss(c, func(v *[4]float64) float64 { return math.Abs(v[0]-v[1]) * v[2] })
}

// SmoothL1Loss is d²/(2·beta) below beta and |d| − beta/2 above, d = x−y.
func SmoothL1Loss(c *Call) error {
	beta := c.Attrs.Float("beta")
	return pointLoss(c, func(v *[4]float64) float64 {
		d := math.Abs(v[0] - v[1])
		if d < beta {
			return d * d / (2 * beta)
		}
		return d - beta/2
	})
}

// HuberLoss is d²/2 up to delta and delta·(|d| − delta/2) above, times the weight.
func HuberLoss(c *Call) error {
	delta := c.Attrs.Float("delta")
	return pointLoss(c, func(v *[4]float64) float64 {
		d := math.Abs(v[0] - v[1])
		if d <= delta {
			return d * d / 2 * v[2]
		}
		return delta * (d - delta/2) * v[2]
	})
}

// A ProbabilityError says that a probability lies outside [0, 1].
type ProbabilityError struct {
	Arg   string // input or target
	Value float64
}

// Error names the value.
func (e *ProbabilityError) Error() string {
	return "binary_cross_entropy: " + e.Arg + " is outside [0, 1]"
}

// BinaryCrossEntropy is −(y·log x + (1−y)·log(1−x)), logarithms clamped at −100, times the weight.
func BinaryCrossEntropy(c *Call) error {
	for i, arg := range []string{"input", "target"} {
		for _, v := range Float64s(c.In[i]) {
			if !(v >= 0 && v <= 1) {
				return &ProbabilityError{arg, v}
			}
		}
	}
	return pointLoss(c, func(v *[4]float64) float64 {
		x, y := v[0], v[1]
		return ((y-1)*max(math.Log1p(-x), -100) - y*max(math.Log(x), -100)) * v[2]
	})
}

// BinaryCrossEntropyWithLogits is (1−y)·x + (1 + (pos−1)·y)·log(1 + e^−x),
// times the weight. Inputs x, y, weight, positive weight.
func BinaryCrossEntropyWithLogits(c *Call) error {
	return pointLoss(c, func(v *[4]float64) float64 {
		x, y := v[0], v[1]
		return ((1-y)*x + (1+(v[3]-1)*y)*softplus(-x)) * v[2]
	})
}

// KLDiv is y·(log y − x), 0 where y is 0; e^y·(y − x) when the target is a logarithm.
func KLDiv(c *Call) error {
	if c.Attrs.Bool("log_target") {
		return pointLoss(c, func(v *[4]float64) float64 { return math.Exp(v[1]) * (v[1] - v[0]) })
	}
	return pointLoss(c, func(v *[4]float64) float64 {
		x, y := v[0], v[1]
		switch {
		case y == 0:
			return 0
		case y > 0 || y != y:
			return y * (math.Log(y) - x)
		}
		return math.NaN()
	})
}

// HingeEmbeddingLoss is x where y = 1 and max(0, margin − x) where y = −1 (their sum for any other y).
func HingeEmbeddingLoss(c *Call) error {
	margin := c.Attrs.Float("margin")
	return pointLoss(c, func(v *[4]float64) float64 {
		s := 0.0
		if v[1] != 1 {
			s += max(0, margin-v[0])
		}
		if v[1] != -1 {
			s += v[0]
		}
		return s
	})
}

// MarginRankingLoss is max(0, −y·(x1−x2) + margin).
func MarginRankingLoss(c *Call) error {
	margin := c.Attrs.Float("margin")
	return pointLoss(c, func(v *[4]float64) float64 { return max(0, -v[2]*(v[0]-v[1])+margin) })
}

// SoftMarginLoss is log(1 + e^(−x·y)).
func SoftMarginLoss(c *Call) error {
	return pointLoss(c, func(v *[4]float64) float64 { return softplus(-v[0] * v[1]) })
}

// GaussianNLLLoss is (log v + (x−y)²/v)/2 with v = max(variance, eps); full adds log(2π)/2.
func GaussianNLLLoss(c *Call) error {
	if x, v := c.In[0], c.In[2]; len(v.Dims) == len(x.Dims)-1 && shape.EqualDims(v.Dims, x.Dims[:len(v.Dims)]) {
		one := *c
		v.View = shape.View{Dims: append(slices.Clone(v.Dims), 1), Strides: append(slices.Clone(v.Strides), 0), Offset: v.Offset}
		one.In = []Array{x, c.In[1], v}
		c = &one
	}
	eps, full := c.Attrs.Float("eps"), 0.0
	if c.Attrs.Bool("full") {
		full = math.Log(2*math.Pi) / 2
	}
	return pointLoss(c, func(v *[4]float64) float64 {
		w := max(v[2], eps)
		d := v[0] - v[1]
		return (math.Log(w)+d*d/w)/2 + full
	})
}

// PoissonNLLLoss is e^x − y·x, or x − y·log(x+eps) without log_input; full adds
// Stirling's y·log y − y + log(2πy)/2 where y > 1.
func PoissonNLLLoss(c *Call) error {
	eps, isLog, full := c.Attrs.Float("eps"), c.Attrs.Bool("log_input"), c.Attrs.Bool("full")
	return pointLoss(c, func(v *[4]float64) float64 {
		x, y := v[0], v[1]
		s := x - y*math.Log(x+eps)
		if isLog {
			s = math.Exp(x) - y*x
		}
		if full && y > 1 {
			s += y*math.Log(y) - y + math.Log(2*math.Pi*y)/2
		}
		return s
	})
}
