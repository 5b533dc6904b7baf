package op

import (
	"math"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Window functions.
const (
	HannWindow           Name = "hann_window"
	HammingWindow        Name = "hamming_window"
	BlackmanWindow       Name = "blackman_window"
	NuttallWindow        Name = "nuttall_window"
	GeneralHammingWindow Name = "general_hamming_window"
	GeneralCosineWindow  Name = "general_cosine_window"
	BartlettWindow       Name = "bartlett_window"
	CosineWindow         Name = "cosine_window"
	ExponentialWindow    Name = "exponential_window"
	GaussianWindow       Name = "gaussian_window"
	KaiserWindow         Name = "kaiser_window"
)

var windowOps = []Def{
	taper(HannWindow, "HannWindow", "Hann window: a raised cosine.", `tpu.HannWindow(5)`, kernel.CosineSumWindow(0.5, 0.5), cosinesHLO(0.5, 0.5)),
	taper(HammingWindow, "HammingWindow", "Hamming window: a raised cosine that does not reach zero.", `tpu.HammingWindow(5)`, kernel.CosineSumWindow(0.54, 0.46), cosinesHLO(0.54, 0.46)),
	taper(BlackmanWindow, "BlackmanWindow", "Blackman window: a sum of two cosines.", `tpu.BlackmanWindow(5)`, kernel.CosineSumWindow(0.42, 0.5, 0.08), cosinesHLO(0.42, 0.5, 0.08)),
	taper(NuttallWindow, "NuttallWindow", "Nuttall window: a sum of three cosines.", `tpu.NuttallWindow(5)`,
		kernel.CosineSumWindow(nuttall[:]...), cosinesHLO(nuttall[:]...)),
	taper(GeneralHammingWindow, "GeneralHammingWindow", "Alpha minus the rest times a cosine.", `tpu.GeneralHammingWindow(5)`, kernel.GeneralHammingWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			a := h.c.Attrs.Float("alpha")
			return cosinesHLO(a, 1-a)(h, i, m)
		}, shapeParam("alpha", 0.54, "constant part")),
	taper(GeneralCosineWindow, "GeneralCosineWindow", "Alternating sum of cosines of multiples of the base frequency.", `tpu.GeneralCosineWindow(5)`, kernel.GeneralCosineWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			var coef []float64
			for _, n := range []string{"a0", "a1", "a2", "a3", "a4"} {
				coef = append(coef, h.c.Attrs.Float(n))
			}
			return cosinesHLO(coef...)(h, i, m)
		}, shapeParam("a0", 0.5, "constant part"), shapeParam("a1", 0.5, "coefficient of the base frequency"), shapeParam("a2", 0, "coefficient of twice the base frequency"),
		shapeParam("a3", 0, "coefficient of three times the base frequency"), shapeParam("a4", 0, "coefficient of four times the base frequency")),
	taper(BartlettWindow, "BartlettWindow", "Bartlett window: a triangle.", `tpu.BartlettWindow(5)`, kernel.BartlettWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			return h.sub(h.num(1), h.abs(h.sub(h.mul(i, h.num(2/m)), h.num(1))))
		}),
	taper(CosineWindow, "CosineWindow", "Half a sine wave.", `tpu.CosineWindow(5)`, kernel.CosineWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			return h.do("sine", h.mul(h.add(i, h.num(0.5)), h.num(math.Pi/(m+1))))
		}),
	taper(ExponentialWindow, "ExponentialWindow", "Exponential fall from the middle.", `tpu.ExponentialWindow(5)`, kernel.ExponentialWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			return h.exp(h.mul(h.abs(h.sub(i, h.num(m/2))), h.num(-1/h.c.Attrs.Float("tau"))))
		}, shapeParam("tau", 1, "distance over which it falls by e")),
	taper(GaussianWindow, "GaussianWindow", "Bell curve.", `tpu.GaussianWindow(5)`, kernel.GaussianWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			t := h.mul(h.sub(i, h.num(m/2)), h.num(1/h.c.Attrs.Float("std")))
			return h.exp(h.mul(h.mul(t, t), h.num(-0.5)))
		}, shapeParam("std", 1, "standard deviation in points")),
	taper(KaiserWindow, "KaiserWindow", "Kaiser window, made of Bessel functions.", `tpu.KaiserWindow(5)`, kernel.KaiserWindow,
		func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
			beta := h.c.Attrs.Float("beta")
			t := h.sub(h.mul(i, h.num(2/m)), h.num(1))
			x := h.mul(h.do("sqrt", h.max(h.sub(h.num(1), h.mul(t, t)), h.num(0))), h.num(beta))
			return h.div(h.mul(h.exp(h.sub(x, h.num(beta))), h.i0e(x)), h.i0e(h.num(beta)))
		}, shapeParam("beta", 12, "narrowness of the peak")),
}

// nuttall are the coefficients of Nuttall's window with continuous first derivative.
var nuttall = [4]float64{0.3635819, 0.4891775, 0.1365995, 0.0106411}

// shapeParam is an attribute that a window's shape depends on.
func shapeParam(name string, def float64, doc string) Param {
	return Param{Name: name, Kind: KFloat, Default: def, Doc: doc}
}

// taper makes a row; f writes the value at position i between ends that are m apart.
func taper(n Name, fn, doc, example string, k kernel.Func, f func(h hlo, i stablehlo.Value, m float64) stablehlo.Value, extra ...Param) Def {
	params := []Param{{Name: "window_length", Kind: KInt, Doc: "number of points"}, {Name: "periodic", Kind: KBool, Default: true, Doc: "for use with a Fourier transform: the last point is left out"}}
	return Def{Name: n, Torch: string(n), Func: fn, Class: Factory, Params: append(append(params, extra...), resultDType),
		Doc: doc, Example: example, NoGrad: "it has no inputs",
		Shape: windowShape, DType: floatDraw, Kernel: k, Cost: perElement(24, EUP),
		Lower: func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
			n := c.Attrs.Int("window_length")
			m := float64(n - 1)
			if c.Attrs.Bool("periodic") {
				m = float64(n)
			}
			h := hlo{w, c, shape.Spec{DType: floatOf(c.Out[0].DType), Dims: c.Out[0].Dims}}
			if n <= 1 {
				return []stablehlo.Value{w.Splat(like1(c.Out[0]), 1)}
			}
			return []stablehlo.Value{w.Convert(f(h, w.Iota(h.spec, 0), m), c.Out[0].DType)}
		}}
}

func windowShape(_ []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("window_length")
	return []int{n}, notNegative("window", "window_length", n)
}

// cosinesHLO is a0 - a1 cos(2πi/m) + a2 cos(4πi/m) - …
func cosinesHLO(coef ...float64) func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
	return func(h hlo, i stablehlo.Value, m float64) stablehlo.Value {
		sum := h.num(coef[0])
		for k := 1; k < len(coef); k++ {
			a := coef[k]
			if k%2 == 1 {
				a = -a
			}
			if a != 0 {
				sum = h.add(sum, h.mul(h.do("cosine", h.mul(i, h.num(2*math.Pi*float64(k)/m))), h.num(a)))
			}
		}
		return sum
	}
}
