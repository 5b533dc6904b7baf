package nn

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// uniform makes a parameter drawn from [-bound, bound).
func uniform(t tpu.DType, bound float64, dims ...int) *tpu.Tensor {
	return t.Empty(dims...).UniformInPlace(-bound, bound).RequireGrad()
}

func orF32(t tpu.DType) tpu.DType {
	if t == 0 {
		return tpu.F32
	}
	return t
}

// A Linear is x·Weightᵀ + Bias: [..,in] → [..,out].
type Linear struct {
	Weight *tpu.Tensor // [out,in]
	Bias   *tpu.Tensor // [out], nil for none
}

// LinearOptions are the options of NewLinear.
type LinearOptions struct {
	NoBias bool
	DType  tpu.DType // F32 when not set
}

// NewLinear draws a layer as PyTorch does: uniform within 1/√in.
func NewLinear(in, out int, opts ...LinearOptions) *Linear {
	o := first(opts)
	b := 1 / math.Sqrt(float64(max(in, 1)))
	l := &Linear{Weight: uniform(orF32(o.DType), b, out, in)}
	if !o.NoBias {
		l.Bias = uniform(orF32(o.DType), b, out)
	}
	return l
}

func first[T any](opts []T) (o T) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// Forward applies the layer.
func (l *Linear) Forward(x *tpu.Tensor) *tpu.Tensor {
	return tpu.Linear(x, l.Weight, tpu.LinearOptions{Bias: l.Bias})
}

// An Embedding is a table whose rows are looked up: [..] of integers → [..,dim].
type Embedding struct {
	Weight *tpu.Tensor // [count,dim]
}

// EmbeddingOptions are the options of NewEmbedding.
type EmbeddingOptions struct {
	Std   float64   // deviation of the rows; 1 when not set
	DType tpu.DType // F32 when not set
}

// NewEmbedding draws a table of normal numbers.
func NewEmbedding(count, dim int, opts ...EmbeddingOptions) *Embedding {
	o := first(opts)
	if o.Std == 0 {
		o.Std = 1
	}
	return &Embedding{orF32(o.DType).Empty(count, dim).NormalInPlace(0, o.Std).RequireGrad()}
}

// Forward looks rows up.
func (e *Embedding) Forward(index *tpu.Tensor) *tpu.Tensor { return tpu.Embedding(index, e.Weight) }

// A LayerNorm standardizes over the last axes, then scales and shifts.
type LayerNorm struct {
	Weight, Bias *tpu.Tensor
	Eps          float64
}

// NewLayerNorm makes a LayerNorm over axes of the given sizes: ones and zeros, eps 1e-5.
func NewLayerNorm(dims ...int) *LayerNorm {
	return &LayerNorm{tpu.Ones(dims...).RequireGrad(), tpu.Zeros(dims...).RequireGrad(), 1e-5}
}

// Forward applies the layer.
func (l *LayerNorm) Forward(x *tpu.Tensor) *tpu.Tensor {
	return tpu.LayerNorm(x, l.Weight.Dims(), tpu.LayerNormOptions{Weight: l.Weight, Bias: l.Bias, Eps: l.Eps})
}

// An RMSNorm divides by the root of the mean square over the last axes, then scales.
type RMSNorm struct {
	Weight *tpu.Tensor
	Eps    float64
}

// NewRMSNorm makes an RMSNorm over axes of the given sizes: ones, eps 1e-6.
func NewRMSNorm(dims ...int) *RMSNorm {
	return &RMSNorm{tpu.Ones(dims...).RequireGrad(), 1e-6}
}

// Forward applies the layer.
func (l *RMSNorm) Forward(x *tpu.Tensor) *tpu.Tensor {
	return tpu.RMSNorm(x, l.Weight.Dims(), tpu.RMSNormOptions{Weight: l.Weight, Eps: l.Eps})
}

// A GroupNorm standardizes groups of channels, then scales and shifts by channel.
type GroupNorm struct {
	Weight, Bias *tpu.Tensor
	Groups       int
	Eps          float64
}

// NewGroupNorm makes a GroupNorm: ones and zeros, eps 1e-5.
func NewGroupNorm(groups, channels int) *GroupNorm {
	return &GroupNorm{tpu.Ones(channels).RequireGrad(), tpu.Zeros(channels).RequireGrad(), groups, 1e-5}
}

// Forward applies the layer.
func (l *GroupNorm) Forward(x *tpu.Tensor) *tpu.Tensor {
	return tpu.GroupNorm(x, l.Groups, tpu.GroupNormOptions{Weight: l.Weight, Bias: l.Bias, Eps: l.Eps})
}

// A BatchNorm standardizes each channel: over the batch in training, which
// also moves the running statistics, else by those.
type BatchNorm struct {
	Weight, Bias            *tpu.Tensor
	RunningMean, RunningVar *tpu.Tensor
	Momentum, Eps           float64
	Evaluating              bool
}

// NewBatchNorm makes a BatchNorm in training: momentum 0.1, eps 1e-5.
func NewBatchNorm(channels int) *BatchNorm {
	return &BatchNorm{tpu.Ones(channels).RequireGrad(), tpu.Zeros(channels).RequireGrad(), tpu.Zeros(channels), tpu.Ones(channels), 0.1, 1e-5, false}
}

func (l *BatchNorm) setTraining(on bool) { l.Evaluating = !on }

// Forward applies the layer.
func (l *BatchNorm) Forward(x *tpu.Tensor) *tpu.Tensor {
	y, mean, variance := tpu.BatchNorm(x, tpu.BatchNormOptions{RunningMean: l.RunningMean, RunningVar: l.RunningVar,
		Weight: l.Weight, Bias: l.Bias, Training: !l.Evaluating, Momentum: l.Momentum, Eps: l.Eps})
	if !l.Evaluating {
		tpu.NoGrad(func() {
			l.RunningMean.CopyFrom(mean)
			l.RunningVar.CopyFrom(variance)
		})
	}
	return y
}

// A Conv2D convolves images: [b,in,h,w] → [b,out,h',w'].
type Conv2D struct {
	Weight  *tpu.Tensor // [out,in/groups,kh,kw]
	Bias    *tpu.Tensor // [out], nil for none
	Options tpu.Conv2DOptions
}

// Conv2DOptions are the options of NewConv2D.
type Conv2DOptions struct {
	Stride, Padding, Dilation int // 1, 0 and 1 when not set
	Groups                    int // 1 when not set
	NoBias                    bool
	DType                     tpu.DType // F32 when not set
}

// NewConv2D draws a convolution with a kernel×kernel window as PyTorch does: uniform within 1/√fan-in.
func NewConv2D(in, out, kernel int, opts ...Conv2DOptions) *Conv2D {
	o := first(opts)
	groups := max(o.Groups, 1)
	b := 1 / math.Sqrt(float64(max(in/groups*kernel*kernel, 1)))
	c := &Conv2D{Weight: uniform(orF32(o.DType), b, out, in/groups, kernel, kernel)}
	if !o.NoBias {
		c.Bias = uniform(orF32(o.DType), b, out)
	}
	c.Options = tpu.Conv2DOptions{Stride: []int{max(o.Stride, 1)}, Padding: []int{o.Padding}, Dilation: []int{max(o.Dilation, 1)}, Groups: groups}
	return c
}

// Forward applies the layer.
func (c *Conv2D) Forward(x *tpu.Tensor) *tpu.Tensor {
	o := c.Options
	o.Bias = c.Bias
	return tpu.Conv2D(x, c.Weight, o)
}

// A Dropout sets elements to zero with probability P in training.
type Dropout struct {
	P          float64
	Evaluating bool
}

// NewDropout makes a Dropout in training.
func NewDropout(p float64) *Dropout { return &Dropout{P: p} }

func (d *Dropout) setTraining(on bool) { d.Evaluating = !on }

// Forward applies the layer.
func (d *Dropout) Forward(x *tpu.Tensor) *tpu.Tensor {
	if d.Evaluating {
		return x
	}
	return x.Dropout(d.P)
}

// A Layer maps one tensor to one.
type Layer interface {
	Forward(x *tpu.Tensor) *tpu.Tensor
}

// A Func is a layer without parameters.
type Func func(x *tpu.Tensor) *tpu.Tensor

// Forward calls the function.
func (f Func) Forward(x *tpu.Tensor) *tpu.Tensor { return f(x) }

// A Sequential applies layers one after the other.
type Sequential struct{ Layers []Layer }

// NewSequential makes a Sequential.
func NewSequential(layers ...Layer) *Sequential { return &Sequential{layers} }

// Forward applies all layers.
func (s *Sequential) Forward(x *tpu.Tensor) *tpu.Tensor {
	for _, l := range s.Layers {
		x = l.Forward(x)
	}
	return x
}
