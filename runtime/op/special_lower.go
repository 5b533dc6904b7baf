package op

import (
	"math"

	"github.com/tpush/tpush/runtime/stablehlo"
)

// lowerDigamma is XLA's, which has no sign at zero: there it is ∓∞ for ±0.
func lowerDigamma(h hlo) stablehlo.Value {
	x := h.in(0)
	return h.Select(h.Compare("EQ", x, h.num(0)), h.div(h.num(-1), x), h.chlo("digamma", x))
}

// lowerPolygamma is (-1)^(n+1) n! ζ(n+1, x); the first derivative is reflected
// below one half: π²/sin²(πx) - ψ′(1-x).
func lowerPolygamma(h hlo) stablehlo.Value {
	x := h.in(0)
	switch n := h.c.Attrs.Int("n"); n {
	case 0:
		return lowerDigamma(h)
	case 1:
		low := h.Compare("LT", x, h.num(0.5))
		z := h.zeta(2, h.Select(low, h.sub(h.num(1), x), x))
		s := h.do("sine", h.mul(x, h.num(math.Pi)))
		return h.Select(low, h.sub(h.div(h.num(math.Pi*math.Pi), h.mul(s, s)), z), z)
	default:
		f, _ := math.Lgamma(float64(n + 1))
		f = math.Exp(f)
		if n%2 == 0 {
			f = -f
		}
		return h.mul(h.num(f), h.zeta(n+1, x))
	}
}

// zeta is Hurwitz's Σ (q+k)^-s for s ≥ 2 as the kernel has it: terms up to
// ten, then the Euler-Maclaurin formula; infinite at 0, -1, -2, ….
func (h hlo) zeta(s int, q stablehlo.Value) stablehlo.Value {
	pole := h.and(h.Compare("LE", q, h.num(0)), h.Compare("EQ", q, h.do("floor", q)))
	axes := make([]int, q.Spec.Rank())
	for i := range axes {
		axes[i] = i
	}
	power := func(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
		return w.Do("power", x.Spec, "", x, w.Splat(x.Spec, -float64(s)))
	}
	low := func(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
		return w.Compare("LT", x, w.Splat(x.Spec, 10))
	}
	r := h.While([]stablehlo.Value{h.Select(pole, h.num(10), q), h.num(0)},
		func(w *stablehlo.Writer, a []stablehlo.Value) stablehlo.Value {
			return w.Reduce("or", low(w, a[0]), axes, 0)
		},
		func(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
			x, sum := a[0], a[1]
			more := low(w, x)
			return []stablehlo.Value{
				w.Select(more, w.Do("add", x.Spec, "", x, w.Splat(x.Spec, 1)), x),
				w.Select(more, w.Do("add", x.Spec, "", sum, power(w, x)), sum),
			}
		})
	w, sum := r[0], r[1]
	p := h.do("power", w, h.num(float64(1-s))) // finite also where w is not
	sum = h.add(sum, h.div(p, h.num(float64(s-1))))
	p = h.div(p, w)
	sum = h.add(sum, h.mul(p, h.num(0.5)))
	square := h.mul(w, w)
	f := h.div(h.mul(p, h.num(float64(s)/2)), w)
	for j, b := range [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510} {
		sum = h.add(sum, h.mul(h.num(b), f))
		m := float64(2*j + 1)
		f = h.div(h.mul(f, h.num((float64(s)+m)*(float64(s)+m+1)/((m+2)*(m+3)))), square)
	}
	return h.Select(pole, h.num(math.Inf(1)), sum)
}

// Cephes' rational functions of the normal quantile: around one half, and in
// the tail by 1/√(-2 log p), below and from 8. A denominator begins with x⁹.
var (
	ndtriP0 = []float64{-59.9633501014107895267, 98.0010754185999661536, -56.6762857469070293439, 13.9312609387279679503, -1.23916583867381258016}
	ndtriQ0 = []float64{1, 1.95448858338141759834, 4.67627912898881538453, 86.3602421390890590575, -225.462687854119370527, 200.260212380060660359, -82.0372256168333339912, 15.9056225126211695515, -1.18331621121330003142}
	ndtriP1 = []float64{4.05544892305962419923, 31.5251094599893866154, 57.1628192246421288162, 44.0805073893200834700, 14.6849561928858024014, 2.18663306850790267539, -0.140256079171354495875, -3.50424626827848203418e-2, -8.57456785154685413611e-4}
	ndtriQ1 = []float64{1, 15.7799883256466749731, 45.3907635128879210584, 41.3172038254672030440, 15.0425385692907503408, 2.50464946208309415979, -0.142182922854787788574, -3.80806407691578277194e-2, -9.33259480895457427372e-4}
	ndtriP2 = []float64{3.23774891776946035970, 6.91522889068984211695, 3.93881025292474443415, 1.33303460815807542389, 0.201485389549179081538, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9}
	ndtriQ2 = []float64{1, 6.02427039364742014255, 3.67983563856160859403, 1.37702099489081330271, 0.216236993594496635890, 1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9}
)

// lowerNdtri keeps its digits in the tails, where the inverse of erf loses
// them. It is NaN outside of 0 to 1.
func lowerNdtri(h hlo) stablehlo.Value {
	x := h.in(0)
	y := h.sub(x, h.num(0.5))
	y2 := h.mul(y, y)
	mid := h.mul(h.add(y, h.mul(y, h.mul(y2, h.ratio(y2, ndtriP0, ndtriQ0)))), h.num(math.Sqrt(2*math.Pi)))
	upper := h.sub(h.num(1), x)
	p := h.min(x, upper)
	z := h.do("sqrt", h.mul(h.log(p), h.num(-2)))
	r := h.div(h.num(1), z)
	t := h.mul(r, h.Select(h.Compare("LT", z, h.num(8)), h.ratio(r, ndtriP1, ndtriQ1), h.ratio(r, ndtriP2, ndtriQ2)))
	tail := h.sub(h.sub(z, h.div(h.log(z), z)), t)
	tail = h.Select(h.Compare("EQ", p, h.num(0)), h.num(math.Inf(1)), tail)
	tail = h.Select(h.Compare("LT", x, upper), h.neg(tail), tail)
	return h.Select(h.Compare("GT", p, h.num(math.Exp(-2))), mid, tail)
}

// ratio is a quotient of polynomials, the coefficient of the highest power first.
func (h hlo) ratio(x stablehlo.Value, p, q []float64) stablehlo.Value {
	return h.div(h.polynomial(x, p), h.polynomial(x, q))
}

func (h hlo) polynomial(x stablehlo.Value, c []float64) stablehlo.Value {
	y := h.num(c[0])
	for _, a := range c[1:] {
		y = h.add(h.mul(y, x), h.num(a))
	}
	return y
}
