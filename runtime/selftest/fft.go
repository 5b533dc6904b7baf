package selftest

import (
	"strings"

	"github.com/tpush/tpush/runtime/tpu"
)

// transform runs a Fourier transform; complex tensors are pairs in a last axis.
func transform(c *composite, name string) []*tpu.Tensor {
	a := c.r.Attrs
	x := c.t(0)
	in := tpu.Complex{Re: x}
	if yes(a["pairs_in"]) {
		in = tpu.ComplexOf(x)
	}
	norm, _ := a["norm"].(string)
	one := tpu.FFTOptions{N: whole(c.num(1, "n", 0)), Dim: c.num(2, "dim", nil), Norm: norm}
	many := tpu.FFTNOptions{Norm: norm}
	if l, ok := a["s"].([]any); ok {
		many.Sizes = ints(l)
	}
	switch d := a["dim"].(type) {
	case []any:
		many.Dims = ints(d)
	case int:
		many.Dims = []int{d}
	}
	two := many
	if two.Dims == nil {
		two.Dims = []int{-2, -1}
	}
	pairs := func(c tpu.Complex) []*tpu.Tensor { return list1(c.Pairs()) }
	switch name {
	case "fft":
		return pairs(tpu.FFT(in, one))
	case "ifft":
		return pairs(tpu.IFFT(in, one))
	case "rfft":
		return pairs(tpu.RFFT(x, one))
	case "irfft":
		return list1(tpu.IRFFT(in, one))
	case "hfft":
		return list1(tpu.HFFT(in, one))
	case "ihfft":
		return pairs(tpu.IHFFT(x, one))
	case "fft2":
		return pairs(tpu.FFTN(in, two))
	case "ifft2":
		return pairs(tpu.IFFTN(in, two))
	case "rfft2":
		return pairs(tpu.RFFTN(x, two))
	case "irfft2":
		return list1(tpu.IRFFTN(in, two))
	case "hfft2":
		return list1(tpu.HFFTN(in, two))
	case "ihfft2":
		return pairs(tpu.IHFFTN(x, two))
	case "fftn":
		return pairs(tpu.FFTN(in, many))
	case "ifftn":
		return pairs(tpu.IFFTN(in, many))
	case "rfftn":
		return pairs(tpu.RFFTN(x, many))
	case "irfftn":
		return list1(tpu.IRFFTN(in, many))
	case "hfftn":
		return list1(tpu.HFFTN(in, many))
	case "ihfftn":
		return pairs(tpu.IHFFTN(x, many))
	case "fftshift", "ifftshift":
		var dims []int
		switch d := a["dim"].(type) {
		case int:
			dims = []int{d}
		case []any:
			dims = ints(d)
		}
		if name == "fftshift" {
			return list1(x.FFTShift(dims...))
		}
		return list1(x.IFFTShift(dims...))
	}
	panic(skip("no transform " + name))
}

// transformed runs a record that is a Fourier transform.
func (ts tensors) transformed(name string) (f func(c *composite) []*tpu.Tensor, ok bool) {
	n, ok := strings.CutPrefix(name, "fft.")
	if !ok {
		n, ok = strings.CutPrefix(name, "fft_")
	}
	if !ok {
		return nil, false
	}
	return func(c *composite) []*tpu.Tensor { return transform(c, n) }, true
}
