package tpu

import (
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestFourierTransformsInvert runs every transform and its inverse.
func TestFourierTransformsInvert(t *testing.T) {
	use(t, exec.Debug)
	x := Randn(3, 5)
	near := func(name string, a, b *Tensor) {
		t.Helper()
		if d := a.Sub(b).Abs().Max().Item(); d > 1e-5 {
			t.Errorf("%s is off by %v", name, d)
		}
	}
	c := Complex{x, Randn(3, 5)}
	for _, norm := range []string{"", "ortho", "forward"} {
		o := FFTOptions{Norm: norm}
		back := IFFT(FFT(c, o), o)
		near("ifft real "+norm, back.Re, c.Re)
		near("ifft imaginary "+norm, back.Im, c.Im)
		near("irfft "+norm, IRFFT(RFFT(x, o), FFTOptions{N: 5, Norm: norm}), x)
		near("hfft "+norm, HFFT(IHFFT(x, o), FFTOptions{N: 5, Norm: norm}), x)
	}
	near("irfftn", IRFFTN(RFFTN(x, FFTNOptions{}), FFTNOptions{Sizes: []int{3, 5}}), x)
	near("ifftshift", x.FFTShift().IFFTShift(), x)
	if got := FFT(Complex{Re: Ones(4)}).Re.Float64s(); math.Abs(got[0]-4) > 1e-6 || math.Abs(got[1]) > 1e-6 {
		t.Errorf("transform of ones is %v", got)
	}
}

// TestPolynomialsOfSeveralDegrees compares with closed forms.
func TestPolynomialsOfSeveralDegrees(t *testing.T) {
	use(t, exec.Debug)
	x := Of(0.3)
	n := Of(0, 2, 3, -1)
	got := Polynomial("legendre_polynomial_p", x, n).Float64s()
	want := []float64{1, (3*0.09 - 1) / 2, (5*0.027 - 3*0.3) / 2, 0}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("got %v, want %v", got, want)
			break
		}
	}
}
