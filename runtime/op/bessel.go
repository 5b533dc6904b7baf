package op

import (
	"math"

	"github.com/tpush/tpush/runtime/kernel"
)

// Functions of torch.special that StableHLO has no operation for: the lowering
// calls a routine by name.
const (
	BesselJ0          Name = "bessel_j0"
	BesselJ1          Name = "bessel_j1"
	BesselY0          Name = "bessel_y0"
	BesselY1          Name = "bessel_y1"
	BesselI0          Name = "modified_bessel_i0"
	BesselI1          Name = "modified_bessel_i1"
	BesselK0          Name = "modified_bessel_k0"
	BesselK1          Name = "modified_bessel_k1"
	ScaledBesselK0    Name = "scaled_modified_bessel_k0"
	ScaledBesselK1    Name = "scaled_modified_bessel_k1"
	SphericalBesselJ0 Name = "spherical_bessel_j0"
	AiryAi            Name = "airy_ai"
	Igamma            Name = "igamma"
	Igammac           Name = "igammac"
)

// routine is special for a function whose lowering is a call by name.
func routine(n Name, method, doc, example string, k kernel.Func, cost int64, d func(k ew) Value) Def {
	return special(n, method, doc, example, k, cost, lowerFactor(string(n)), d)
}

var besselOps = []Def{
	routine(BesselJ0, "BesselJ0", "Bessel function of the first kind of order 0.", `tpu.Of(0.0, 1.0).BesselJ0()`, kernel.BesselJ0, 60,
		func(k ew) Value { return k.neg(k.op(BesselJ1, k.a())) }),
	routine(BesselJ1, "BesselJ1", "Bessel function of the first kind of order 1.", `tpu.Of(0.0, 1.0).BesselJ1()`, kernel.BesselJ1, 60,
		func(k ew) Value { return k.sub(k.op(BesselJ0, k.a()), k.overX(k.y(), 0.5)) }),
	routine(BesselY0, "BesselY0", "Bessel function of the second kind of order 0; minus infinity at zero, NaN below.", `tpu.Of(0.5, 1.0).BesselY0()`, kernel.BesselY0, 70,
		func(k ew) Value { return k.neg(k.op(BesselY1, k.a())) }),
	routine(BesselY1, "BesselY1", "Bessel function of the second kind of order 1; minus infinity at zero, NaN below.", `tpu.Of(0.5, 1.0).BesselY1()`, kernel.BesselY1, 70,
		func(k ew) Value { return k.sub(k.op(BesselY0, k.a()), k.overX(k.y(), math.Inf(-1))) }),
	routine(BesselI0, "ModifiedBesselI0", "Modified Bessel function of the first kind of order 0.", `tpu.Of(0.5, 1.0).ModifiedBesselI0()`, kernel.BesselI0, 40,
		func(k ew) Value { return k.op(BesselI1, k.a()) }),
	routine(BesselI1, "ModifiedBesselI1", "Modified Bessel function of the first kind of order 1.", `tpu.Of(0.5, 1.0).ModifiedBesselI1()`, kernel.BesselI1, 40,
		func(k ew) Value { return k.sub(k.op(BesselI0, k.a()), k.overX(k.y(), 0.5)) }),
	routine(BesselK0, "ModifiedBesselK0", "Modified Bessel function of the second kind of order 0; infinite at zero, NaN below.", `tpu.Of(0.5, 1.0).ModifiedBesselK0()`, kernel.BesselK0, 60,
		func(k ew) Value { return k.neg(k.op(BesselK1, k.a())) }),
	routine(BesselK1, "ModifiedBesselK1", "Modified Bessel function of the second kind of order 1; infinite at zero, NaN below.", `tpu.Of(0.5, 1.0).ModifiedBesselK1()`, kernel.BesselK1, 60,
		func(k ew) Value { return k.neg(k.add(k.op(BesselK0, k.a()), k.div(k.y(), k.a()))) }),
	routine(ScaledBesselK0, "ScaledModifiedBesselK0", "Modified Bessel function of the second kind of order 0, scaled by e to the element.", `tpu.Of(0.5, 1.0).ScaledModifiedBesselK0()`, kernel.ScaledBesselK0, 60, nil),
	routine(ScaledBesselK1, "ScaledModifiedBesselK1", "Modified Bessel function of the second kind of order 1, scaled by e to the element.", `tpu.Of(0.5, 1.0).ScaledModifiedBesselK1()`, kernel.ScaledBesselK1, 60, nil),
	routine(SphericalBesselJ0, "SphericalBesselJ0", "Sine of each element divided by it; one at zero.", `tpu.Of(0.0, 1.0).SphericalBesselJ0()`, kernel.SphericalBesselJ0, 24, nil),
	routine(AiryAi, "AiryAi", "Airy function Ai.", `tpu.Of(-1.0, 1.0).AiryAi()`, kernel.AiryAi, 80, nil),
	gammaRow(Igamma, "Igamma", "Regularized lower incomplete gamma function of order input at other.", `tpu.Of(1.0, 2.0).Igamma(tpu.Of(0.5, 3.0))`, kernel.Igamma, 1),
	gammaRow(Igammac, "Igammac", "Regularized upper incomplete gamma function of order input at other.", `tpu.Of(1.0, 2.0).Igammac(tpu.Of(0.5, 3.0))`, kernel.Igammac, -1),
}

// gammaRow is a row of an incomplete gamma function; its derivative for other
// is sign times the density of the gamma distribution, the one for input has no closed form.
func gammaRow(n Name, method, doc, example string, f kernel.Func, sign float64) Def {
	return Def{Name: n, Torch: string(n), Method: method, Func: method, InPlace: true, Class: Elementwise, Traits: Composite, Params: binaryParams,
		Doc: doc, Example: example, Shape: broadcast, DType: realFloating, Kernel: f, Cost: perElement(200, EUP), Lower: lowerFactor(string(n)),
		Grad: parts(nil, func(k ew, dy Value) Value {
			log := k.sub(k.sub(k.mul(k.sub(k.a(), 1), k.op(Log, k.b())), k.b()), k.op(Lgamma, k.a()))
			return k.mul(dy, k.mul(k.op(Exp, log), sign))
		})}
}
