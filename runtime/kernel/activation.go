package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
	recipes "github.com/tpush/tpush/runtime/jit/recipe"
)

// Activation functions. Those of arithmetic alone are computed in the type;
// the others in f64 and rounded once.

// The constants of SELU.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

var (
	reluOp      = &elementwise{recipe: reluRecipe}
	relu6Op     = &elementwise{recipe: relu6Recipe}
	hardtanhOps = clampsOf(prepNumbers("min_val", "max_val"))
	leakyOp     = &elementwise{recipe: leakyRecipe, prep: prepNumbers("negative_slope")}
	preluOp     = &elementwise{recipe: preluRecipe}
	thresholdOp = &elementwise{recipe: thresholdRecipe, prep: prepNumbers("threshold", "value")}

	sigmoidOp    = heavy(sigmoid).narrow(recipe1(recipes.Sigmoid)).over(sigmoidComplex)
	logSigmoidOp = heavy(func(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }).narrow(recipe1(recipes.LogSigmoid))
	siluOp       = heavy(func(x float64) float64 { return x * sigmoid(x) }).narrow(recipe1(recipes.SiLU))
	geluOp       = heavy(func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }).narrow(recipe1(recipes.GELU))
	geluTanhOp   = heavy(func(x float64) float64 {
		return x * sigmoid(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
	}).narrow(recipe1(recipes.GELUTanh))
	geluBackOp = slopeOf(func(x float64) float64 {
		return math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}, recipes.GELUSlope)
	geluTanhBackOp = slopeOf(func(x float64) float64 {
		c := 2 * math.Sqrt(2/math.Pi)
		s := sigmoid(c * (x + 0.044715*x*x*x))
		return s + x*s*(1-s)*c*(1+3*0.044715*x*x)
	}, recipes.GELUTanhSlope)
	mishOp = heavy(func(x float64) float64 { return x * math.Tanh(softplus(x)) }).narrow(recipe1(recipes.Mish))
	seluOp = heavy(func(x float64) float64 { return seluScale * elu(x, seluAlpha) }).narrow(seluRecipe)
	eluOp  = curve(func(x float64, p *Params) float64 { return elu(x, p.F[0]) }, eluRecipe, "alpha")
	celuOp = curve(func(x float64, p *Params) float64 {
		if x > 0 {
			return x
		}
		return p.F[0] * math.Expm1(x/p.F[0])
	}, celuRecipe, "alpha")
	softplusOp = curve(func(x float64, p *Params) float64 {
		if x*p.F[0] > p.F[1] {
			return x
		}
		return math.Log1p(math.Exp(x*p.F[0])) / p.F[0]
	}, softplusRecipe, "beta", "threshold")
	hardsigmoidOp = &elementwise{recipe: hardsigmoidRecipe}
	hardswishOp   = &elementwise{recipe: hardswishRecipe}
	softsignOp    = &elementwise{recipe: softsignRecipe}
	tanhshrinkOp  = heavy(func(x float64) float64 { return x - math.Tanh(x) }).narrow(tanhshrinkRecipe)
	hardshrinkOp  = &elementwise{recipe: hardshrinkRecipe, prep: prepNumbers("lambd")}
	softshrinkOp  = &elementwise{recipe: softshrinkRecipe, prep: prepNumbers("lambd")}
)

// curve makes an operation of an f64 function of x and the parameters; narrow
// types have a recipe.
func curve(f func(x float64, p *Params) float64, r recipe, attrs ...string) *elementwise {
	return &elementwise{
		recipe: narrowOnly(r),
		f64: func(d, a, _, _ []float64, p *Params) {
			a = a[:len(d)]
			for i := range d {
				d[i] = f(a[i], p)
			}
		},
		heavy: true,
		prep:  prepNumbers(attrs...),
	}
}

// slopeOf makes the gradient of an activation function of its derivative:
// operand 0, the gradient of the result, times the derivative at operand 1.
func slopeOf(f func(x float64) float64, r func(b *jit.Builder, x jit.Value) jit.Value) *elementwise {
	return &elementwise{
		recipe: narrowOnly(func(e *expr) jit.Value { return e.Mul(e.x(0), r(e.Builder, e.x(1))) }),
		f64: func(d, a, b, _ []float64, _ *Params) {
			a, b = a[:len(d)], b[:len(d)]
			for i := range d {
				d[i] = a[i] * f(b[i])
			}
		},
		heavy: true,
	}
}

// prepNumbers reads attributes into the slots, in order.
func prepNumbers(attrs ...string) func(c *Call, p *Params) {
	return func(c *Call, p *Params) {
		for i, name := range attrs {
			p.number(i, c.Attrs.Get(name))
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func elu(x, alpha float64) float64 {
	if x > 0 {
		return x
	}
	return alpha * math.Expm1(x)
}

// ReLU computes max(x, 0).
func ReLU(c *Call) error { return reluOp.run(c) }

// ReLU6 computes min(max(x, 0), 6).
func ReLU6(c *Call) error { return relu6Op.run(c) }

// Hardtanh limits x to [min_val, max_val].
func Hardtanh(c *Call) error { return hardtanhOps.of(c.Attrs, "min_val", "max_val").run(c) }

// LeakyReLU multiplies what is not positive by attribute negative_slope.
func LeakyReLU(c *Call) error { return leakyOp.run(c) }

// PReLU multiplies what is not positive by the weight of its channel: axis 1
// of the input, or one weight for all.
func PReLU(c *Call) error {
	x, w := c.In[0], c.In[1]
	if w.Size() == 1 || len(x.Dims) < 2 {
		return preluOp.run(&Call{In: []Array{x, w}, Out: c.Out})
	}
	dims, strides := make([]int, len(x.Dims)), make([]int, len(x.Dims))
	for i := range dims {
		dims[i] = 1
	}
	dims[1], strides[1] = w.Dims[0], w.Strides[0]
	w.Dims, w.Strides = dims, strides
	return preluOp.run(&Call{In: []Array{x, w}, Out: c.Out})
}

// Threshold replaces what is not above attribute threshold by attribute value.
func Threshold(c *Call) error { return thresholdOp.run(c) }

// Sigmoid computes 1/(1 + e⁻ˣ).
func Sigmoid(c *Call) error { return sigmoidOp.run(c) }

// LogSigmoid computes log(sigmoid(x)) without underflow.
func LogSigmoid(c *Call) error { return logSigmoidOp.run(c) }

// SiLU computes x·sigmoid(x).
func SiLU(c *Call) error { return siluOp.run(c) }

// GELU computes x·Φ(x), or its tanh approximation when attribute approximate says so.
func GELU(c *Call) error {
	return geluOf(c.Attrs).run(c)
}

// GELUBackward computes the gradient of GELU. Inputs: that of the result, and x.
func GELUBackward(c *Call) error {
	return geluBackOf(c.Attrs).run(c)
}

func geluOf(a Attrs) *elementwise { return approximated(a, geluOp, geluTanhOp) }

func geluBackOf(a Attrs) *elementwise { return approximated(a, geluBackOp, geluTanhBackOp) }

// approximated chooses by the attribute of GELU.
func approximated(a Attrs, exact, tanh *elementwise) *elementwise {
	if a.Str("approximate") == "tanh" {
		return tanh
	}
	return exact
}

// Mish computes x·tanh(softplus(x)).
func Mish(c *Call) error { return mishOp.run(c) }

// SELU computes the self-normalizing exponential unit.
func SELU(c *Call) error { return seluOp.run(c) }

// ELU computes x above zero, alpha·(eˣ - 1) below.
func ELU(c *Call) error { return eluOp.run(c) }

// CELU computes x above zero, alpha·(exp(x/alpha) - 1) below.
func CELU(c *Call) error { return celuOp.run(c) }

// Softplus computes log(1 + exp(beta·x))/beta, and x where beta·x is above threshold.
func Softplus(c *Call) error { return softplusOp.run(c) }

// Hardsigmoid computes min(max(x+3, 0), 6)/6.
func Hardsigmoid(c *Call) error { return hardsigmoidOp.run(c) }

// Hardswish computes x·min(max(x+3, 0), 6)/6.
func Hardswish(c *Call) error { return hardswishOp.run(c) }

// Softsign computes x/(1 + |x|).
func Softsign(c *Call) error { return softsignOp.run(c) }

// Tanhshrink computes x - tanh(x).
func Tanhshrink(c *Call) error { return tanhshrinkOp.run(c) }

// Hardshrink sets what lies within ±lambd to zero.
func Hardshrink(c *Call) error { return hardshrinkOp.run(c) }

// Softshrink moves x toward zero by lambd.
func Softshrink(c *Call) error { return softshrinkOp.run(c) }

var gluOp = &elementwise{
	recipe: narrowOnly(func(e *expr) jit.Value { return e.Mul(e.x(0), recipes.Sigmoid(e.Builder, e.x(1))) }),
	f64: func(d, a, b, _ []float64, _ *Params) {
		for i, x := range a {
			d[i] = x * sigmoid(b[i])
		}
	},
	heavy: true,
}

// GLU multiplies the first half along attribute dim by the sigmoid of the second.
func GLU(c *Call) error {
	x := c.In[0]
	axis := c.Attrs.Int("dim")
	if axis < 0 {
		axis += len(x.Dims)
	}
	half := x
	half.Dims = c.Out[0].Dims
	gate := half
	gate.Offset += half.Dims[axis] * x.Strides[axis]
	return gluOp.run(&Call{In: []Array{half, gate}, Out: c.Out})
}
