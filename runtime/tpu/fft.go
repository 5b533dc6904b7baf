package tpu

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// All Fourier transforms are made of one row, the complex transform of the last
// axis: real ones keep half of it, or are given the other half. So one gradient
// serves them all.

// A Complex is a complex tensor as two real ones of the same shape. Im is nil
// for real numbers.
type Complex struct{ Re, Im *Tensor }

// ComplexOf makes a Complex of pairs in the last axis, which has size 2.
func ComplexOf(pairs *Tensor) Complex {
	if pairs.Dim(-1) != 2 {
		pairs.engine().fail("complex", &shape.ArgumentError{Op: "complex", Arg: "pairs", Value: pairs.Dim(-1), Why: "the last axis must have size 2"})
	}
	return Complex{pairs.selectAt(-1, 0), pairs.selectAt(-1, 1)}
}

// Pairs puts real and imaginary parts side by side in a new last axis.
func (c Complex) Pairs() *Tensor { return Stack(-1, c.Re, c.imag()) }

// Conj turns the sign of the imaginary part.
func (c Complex) Conj() Complex {
	if c.Im == nil {
		return c
	}
	return Complex{c.Re, c.Im.Neg()}
}

func (c Complex) imag() *Tensor {
	if c.Im == nil {
		return c.Re.Mul(0)
	}
	return c.Im
}

// float gives a Complex of floats: integers become F32.
func (c Complex) float() Complex {
	f := func(t *Tensor) *Tensor {
		if t != nil && !t.dt.IsFloat() {
			return t.to(dtype.F32)
		}
		return t
	}
	return Complex{f(c.Re), f(c.Im)}
}

// FFTOptions are the options of Fourier transforms.
type FFTOptions struct {
	N    int    // length; the axis is cut or filled with zeros; its own when not set
	Dim  any    // axis, the last by default
	Norm string // backward, ortho or forward: where the factor 1/N is; backward when not set
}

// FFTNOptions are the options of Fourier transforms of several axes.
type FFTNOptions struct {
	Sizes []int // lengths, one for each axis; their own when not set
	Dims  []int // axes; all by default, or as many last ones as Sizes has
	Norm  string
}

// scaleOf is the factor of a transform of length n.
func scaleOf(e *engine, n int, norm string, inverse bool) float64 {
	switch norm {
	case "", "backward":
		if inverse {
			return 1 / float64(n)
		}
		return 1
	case "ortho":
		return 1 / math.Sqrt(float64(n))
	case "forward":
		if inverse {
			return 1
		}
		return 1 / float64(n)
	}
	e.fail("fft", &shape.ArgumentError{Op: "fft", Arg: "norm", Value: norm, Why: "backward, ortho or forward is wanted"})
	return 0
}

// fitted moves an axis to the end and cuts or fills it to n elements.
func fitted(t *Tensor, axis, n int) *Tensor {
	if t == nil {
		return nil
	}
	t = call("movedim", op.Attrs{{Name: "source", Value: []int{axis}}, {Name: "destination", Value: []int{-1}}}, t)
	switch have := t.Dim(-1); {
	case have > n:
		return t.narrow(len(t.view.Dims)-1, 0, n)
	case have < n:
		return call("pad", op.Attrs{{Name: "pad", Value: []int{0, n - have}}}, t)
	}
	return t
}

func backTo(t *Tensor, axis int) *Tensor {
	return call("movedim", op.Attrs{{Name: "source", Value: []int{-1}}, {Name: "destination", Value: []int{axis}}}, t)
}

// axisAndSize reads the options of a transform of one axis.
func (c Complex) axisAndSize(o []FFTOptions, half bool) (opt FFTOptions, axis, n int) {
	if len(o) > 0 {
		opt = o[0]
	}
	axis = -1
	if v, ok := numberAttr(opt.Dim).(int); ok {
		axis = v
	}
	axis = c.Re.axisOf("fft", axis)
	n = opt.N
	if n == 0 {
		if n = c.Re.view.Dims[axis]; half {
			n = 2 * (n - 1)
		}
	}
	if n < 1 {
		c.Re.engine().fail("fft", &shape.ArgumentError{Op: "fft", Arg: "n", Value: n, Why: "it must be positive"})
	}
	return opt, axis, n
}

// transform is the complex transform of an axis cut or filled to n elements,
// which then stands last.
func (c Complex) transform(axis, n int, scale float64, inverse bool) Complex {
	in := []any{fitted(c.Re, axis, n)}
	if c.Im != nil {
		in = append(in, fitted(c.Im, axis, n))
	} else {
		in = append(in, nil)
	}
	r := callAll(op.FourierPair, op.Attrs{{Name: "inverse", Value: inverse}, {Name: "scale", Value: scale}}, in...)
	return Complex{r[0], r[1]}
}

func (c Complex) fft(o []FFTOptions, inverse bool) Complex {
	c = c.float()
	opt, axis, n := c.axisAndSize(o, false)
	y := c.transform(axis, n, scaleOf(c.Re.engine(), n, opt.Norm, inverse), inverse)
	return Complex{backTo(y.Re, axis), backTo(y.Im, axis)}
}

// FFT is the discrete Fourier transform of one axis.
func FFT(c Complex, o ...FFTOptions) Complex { return c.fft(o, false) }

// IFFT is the inverse of FFT.
func IFFT(c Complex, o ...FFTOptions) Complex { return c.fft(o, true) }

// RFFT is FFT of real numbers, without the half that mirrors the other: n → n/2+1.
func RFFT(x *Tensor, o ...FFTOptions) Complex {
	c := Complex{Re: x}.float()
	opt, axis, n := c.axisAndSize(o, false)
	y := c.transform(axis, n, scaleOf(x.engine(), n, opt.Norm, false), false)
	half := func(t *Tensor) *Tensor { return backTo(t.narrow(len(t.view.Dims)-1, 0, n/2+1), axis) }
	return Complex{half(y.Re), half(y.Im)}
}

// half is the transform of half a spectrum of Hermitian symmetry, whose other
// half mirrors it. The result is real: imaginary parts where the mirror falls on itself do not count.
func (c Complex) half(o []FFTOptions, inverse bool) *Tensor {
	c = c.float()
	opt, axis, n := c.axisAndSize(o, true)
	m := n/2 + 1
	whole := func(t *Tensor, sign float64) *Tensor {
		if t == nil {
			return nil
		}
		t = fitted(t, axis, m)
		last := len(t.view.Dims) - 1
		rest := call("flip", op.Attrs{{Name: "dims", Value: []int{-1}}}, t.narrow(last, 1, n-m))
		if sign < 0 {
			rest = rest.Neg()
		}
		return Cat(-1, t, rest)
	}
	full := Complex{whole(c.Re, 1), whole(c.Im, -1)}
	y := full.transform(-1, n, scaleOf(c.Re.engine(), n, opt.Norm, inverse), inverse)
	return backTo(y.Re, axis)
}

// IRFFT is the inverse of RFFT: m → n, by default 2·(m-1).
func IRFFT(c Complex, o ...FFTOptions) *Tensor { return c.half(o, true) }

// HFFT is the transform of half a Hermitian signal, which is real: m → n, by default 2·(m-1).
func HFFT(c Complex, o ...FFTOptions) *Tensor { return c.half(o, false) }

// IHFFT is the inverse of HFFT.
func IHFFT(x *Tensor, o ...FFTOptions) Complex {
	var opt FFTOptions
	if len(o) > 0 {
		opt = o[0]
	}
	switch opt.Norm {
	case "", "backward":
		opt.Norm = "forward"
	case "forward":
		opt.Norm = "backward"
	}
	return RFFT(x, opt).Conj()
}

// each gives the options of every axis, in order.
func (o FFTNOptions) each(x *Tensor) []FFTOptions {
	dims := o.Dims
	if dims == nil {
		n := len(x.view.Dims)
		if o.Sizes != nil {
			n = len(o.Sizes)
		}
		for i := range n {
			dims = append(dims, len(x.view.Dims)-n+i)
		}
	}
	out := make([]FFTOptions, len(dims))
	for i, d := range dims {
		out[i] = FFTOptions{Dim: d, Norm: o.Norm}
		if i < len(o.Sizes) && o.Sizes[i] > 0 {
			out[i].N = o.Sizes[i]
		}
	}
	return out
}

// FFTN is FFT of several axes.
func FFTN(c Complex, o FFTNOptions) Complex {
	for _, f := range o.each(c.Re) {
		c = FFT(c, f)
	}
	return c
}

// IFFTN is the inverse of FFTN.
func IFFTN(c Complex, o FFTNOptions) Complex {
	for _, f := range o.each(c.Re) {
		c = IFFT(c, f)
	}
	return c
}

// RFFTN is RFFT of the last axis and FFT of the others.
func RFFTN(x *Tensor, o FFTNOptions) Complex {
	all := o.each(x)
	last := len(all) - 1
	c := RFFT(x, all[last])
	for _, f := range all[:last] {
		c = FFT(c, f)
	}
	return c
}

// IRFFTN is the inverse of RFFTN.
func IRFFTN(c Complex, o FFTNOptions) *Tensor {
	all := o.each(c.Re)
	last := len(all) - 1
	for _, f := range all[:last] {
		c = IFFT(c, f)
	}
	return IRFFT(c, all[last])
}

// HFFTN is HFFT of the last axis and FFT of the others.
func HFFTN(c Complex, o FFTNOptions) *Tensor {
	all := o.each(c.Re)
	last := len(all) - 1
	for _, f := range all[:last] {
		c = FFT(c, f)
	}
	return HFFT(c, all[last])
}

// IHFFTN is the inverse of HFFTN.
func IHFFTN(x *Tensor, o FFTNOptions) Complex {
	all := o.each(x)
	last := len(all) - 1
	c := IHFFT(x, all[last])
	for _, f := range all[:last] {
		c = IFFT(c, f)
	}
	return c
}

// shifted rolls axes (all by default) by a part of their size.
func (t *Tensor) shifted(name string, axes []int, by func(n int) int) *Tensor {
	if len(axes) == 0 {
		for i := range t.view.Dims {
			axes = append(axes, i)
		}
	}
	shifts := make([]int, len(axes))
	for i, a := range axes {
		shifts[i] = by(t.view.Dims[t.axisOf(name, a)])
	}
	return call("roll", op.Attrs{{Name: "shifts", Value: shifts}, {Name: "dims", Value: axes}}, t)
}

// FFTShift brings frequency 0 to the middle of axes, all by default.
func (t *Tensor) FFTShift(axes ...int) *Tensor {
	t.engine()
	return t.shifted("fftshift", axes, func(n int) int { return n / 2 })
}

// IFFTShift is the inverse of FFTShift.
func (t *Tensor) IFFTShift(axes ...int) *Tensor {
	t.engine()
	return t.shifted("ifftshift", axes, func(n int) int { return (n + 1) / 2 })
}

// FFTFreq gives the frequencies of FFT for n samples d apart.
func FFTFreq(n int, d float64) *Tensor {
	return ambientEngine().freq("fftfreq", n, n, d, func(i int) int {
		if i < (n+1)/2 {
			return i
		}
		return i - n
	})
}

// RFFTFreq gives the frequencies of RFFT for n samples d apart.
func RFFTFreq(n int, d float64) *Tensor {
	return ambientEngine().freq("rfftfreq", n, n/2+1, d, func(i int) int { return i })
}

func (e *engine) freq(name string, n, count int, d float64, k func(int) int) *Tensor {
	sized(name, []int{n, count})
	a := kernel.New(shape.Of(dtype.F32, count))
	for i := range count {
		kernel.As[float32](a.Buf)[i] = float32(float64(k(i)) / (float64(n) * d))
	}
	return e.upload(a, name)
}
