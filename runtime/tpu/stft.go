package tpu

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// STFTOptions are the options of STFT and ISTFT.
type STFTOptions struct {
	Hop        int     // distance of frames; a quarter of the length when not set
	Window     *Tensor // factors of a frame, at most as many as it is long; ones when not set
	NotCenter  bool    // frames start at their first sample, not around it
	PadMode    string  // how the ends are filled for centered frames: reflect when not set
	Normalized bool    // divide by the square root of the length
	TwoSided   bool    // all frequencies, not only those a real signal needs
}

// window gives the factors of a frame of n samples, in its middle.
func (o STFTOptions) window(t *Tensor, n int) *Tensor {
	if o.Window == nil {
		return DType(t.dt).Ones(n)
	}
	have := o.Window.Size()
	if have > n {
		t.s.e.fail("stft", &shape.ArgumentError{Op: "stft", Arg: "window", Value: have, Why: "it is longer than a frame"})
	}
	left := (n - have) / 2
	return call("pad", op.Attrs{{Name: "pad", Value: []int{left, n - have - left}}}, o.Window)
}

func (o STFTOptions) hop(n int) int {
	if o.Hop > 0 {
		return o.Hop
	}
	return n / 4
}

func (o STFTOptions) norm() string {
	if o.Normalized {
		return "ortho"
	}
	return "backward"
}

// STFT gives the spectra of frames of n samples: [..,samples] → complex [..,frequencies,frames].
func (t *Tensor) STFT(n int, opts ...STFTOptions) Complex {
	t.engine()
	o := firstOption(opts)
	lead := t.view.Dims[:len(t.view.Dims)-1]
	x := t.Reshape(shape.Size(lead), 1, t.Dim(-1))
	if !o.NotCenter {
		mode := o.PadMode
		if mode == "" {
			mode = "reflect"
		}
		x = call("pad", op.Attrs{{Name: "pad", Value: []int{n / 2, n / 2}}, {Name: "mode", Value: mode}}, x)
	}
	frames := x.Reshape(shape.Size(lead), x.Dim(-1)).Unfold(1, n, o.hop(n)).Mul(o.window(t, n)) // [b,frames,n]
	var c Complex
	if o.TwoSided {
		c = FFT(Complex{Re: frames}, FFTOptions{Norm: o.norm()})
	} else {
		c = RFFT(frames, FFTOptions{Norm: o.norm()})
	}
	back := func(x *Tensor) *Tensor {
		x = x.T()
		return x.Reshape(append(append([]int{}, lead...), x.view.Dims[1:]...)...)
	}
	return Complex{back(c.Re), back(c.imag())}
}

// ISTFT is the least-squares inverse of STFT: complex [..,frequencies,frames] → [..,samples]; length 0: what the frames hold.
func ISTFT(c Complex, n, length int, opts ...STFTOptions) *Tensor {
	t := c.Re
	e := someTensors("istft", t)
	o := firstOption(opts)
	d := t.view.Dims
	if len(d) < 2 {
		e.fail("istft", &shape.RankError{Op: "istft", Dims: d, Min: 2, Max: -1})
	}
	lead := d[:len(d)-2]
	b, frames, hop := shape.Size(lead), d[len(d)-1], o.hop(n)
	in := func(x *Tensor) *Tensor { return x.Reshape(b, d[len(d)-2], frames).T() } // [b,frames,frequencies]
	spectra := Complex{in(c.Re), in(c.imag())}
	var x *Tensor
	if o.TwoSided {
		x = IFFT(spectra, FFTOptions{Norm: o.norm()}).Re
	} else {
		x = IRFFT(spectra, FFTOptions{N: n, Norm: o.norm()})
	}
	w := o.window(x, n)
	total := n + hop*(frames-1)
	at := I64.Arange(frames).Mul(hop).Unsqueeze(1).Add(I64.Arange(n)).Reshape(-1)
	lay := func(x *Tensor) *Tensor { // adds the frames [b,frames,n] where they lie
		return DType(x.dt).Zeros(x.Dim(0), total).IndexAdd(1, at, x.Reshape(x.Dim(0), frames*n))
	}
	y := lay(x.Mul(w))
	envelope := lay(w.Square().Reshape(1, 1, n).expandTo([]int{1, frames, n}))
	start, end := 0, total
	if !o.NotCenter {
		start, end = n/2, total-n/2
	}
	if length > 0 {
		end = min(start+length, total)
	}
	y = y.narrow(1, start, end-start).Div(envelope.narrow(1, start, end-start))
	if more := length - (end - start); more > 0 {
		y = call("pad", op.Attrs{{Name: "pad", Value: []int{0, more}}}, y)
	}
	return y.Reshape(append(append([]int{}, lead...), y.Dim(-1))...)
}
