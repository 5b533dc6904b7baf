package recipe

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// a function of the package, what it approximates, and how closely.
type function struct {
	name  string
	build func(*jit.Builder, jit.Value) jit.Value
	want  func(float64) float64
	ulps  float64
	// atol is an error that does not count: where results vanish.
	atol float64
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func log1pexp(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

var functions = []function{
	{"exp", Exp, math.Exp, 1, 0},
	{"exp2", Exp2, math.Exp2, 1, 0},
	{"expm1", Expm1, math.Expm1, 1.5, 0},
	{"sigmoid", Sigmoid, sigmoid, 2, 5e-39},
	{"silu", SiLU, func(x float64) float64 { return x * sigmoid(x) }, 2.5, 5e-37},
	{"tanh", Tanh, math.Tanh, 2, 0},
	{"sinh", Sinh, math.Sinh, 3, 0},
	{"cosh", Cosh, math.Cosh, 1.5, 0},
	{"mish", Mish, func(x float64) float64 { return x * math.Tanh(log1pexp(x)) }, 4, 1e-36},
	{"gelu_tanh", GELUTanh, func(x float64) float64 {
		return x * sigmoid(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
	}, 4, 1e-7},
	{"gelu", GELU, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, 8, 1e-8},
	{"gelu_slope", GELUSlope, func(x float64) float64 {
		return math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}, 1, 5e-7},
	{"gelu_tanh_slope", GELUTanhSlope, func(x float64) float64 {
		c := 2 * math.Sqrt(2/math.Pi)
		s := sigmoid(c * (x + 0.044715*x*x*x))
		return s + x*s*(1-s)*c*(1+3*0.044715*x*x)
	}, 1, 3e-6},
	{"ndtr", Phi, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }, 8, 1e-8},
	{"erf", Erf, math.Erf, 1.5, 0},
	{"erfc", Erfc, math.Erfc, 6, 0},
	{"log", Log, math.Log, 1, 0},
	{"log2", Log2, log2, 1.5, 0},
	{"log1p", Log1p, math.Log1p, 1.5, 0},
	{"softplus", Softplus, log1pexp, 2.5, 0},
	{"log_sigmoid", LogSigmoid, func(x float64) float64 { return -log1pexp(-x) }, 2.5, 0},
	{"asinh", Asinh, math.Asinh, 2, 0},
	{"atanh", Atanh, math.Atanh, 2, 0},
	{"sin", Sin, math.Sin, 0.51, 0},
	{"cos", Cos, math.Cos, 0.51, 0},
	{"tan", Tan, math.Tan, 0.51, 0},
	{"asin", Asin, math.Asin, 0.51, 0},
	{"acos", Acos, math.Acos, 0.51, 0},
	{"atan", Atan, math.Atan, 0.51, 0},
	{"log10", Log10, math.Log10, 0.51, 0},
	{"acosh", Acosh, math.Acosh, 0.51, 0},
}

func log2(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) {
		return math.Log(x)
	}
	return math.Log2(x)
}

// samples covers every exponent and sign, and the edges of the reductions.
func samples() []float32 {
	s := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
		1, -1, 2, 0.5, 1e-45, -1e-45, 1.1754942e-38, math.MaxFloat32, -math.MaxFloat32, 0.625, 0.921875,
		88.72283, 88.72284, 88.7229, -87.33654, -87.33655, -103.97207, -103.97208, -103.9721, -104.1, 127.99999, 128, -149, -150, -150.1, 10, -10.1}
	for u := uint64(0); u < 1<<32; u += 300007 {
		s = append(s, math.Float32frombits(uint32(u)))
	}
	for i := -4000; i <= 4000; i++ {
		s = append(s, float32(i)*0.00417, float32(i)*0.0253)
	}
	return s
}

// run applies f to each element.
func run(t *testing.T, f func(*jit.Builder, jit.Value) jit.Value, x []float32) []float32 {
	t.Helper()
	b := jit.NewBuilder()
	b.Out(dtype.F32, f(b, b.In(dtype.F32)))
	y := make([]float32, len(x))
	err := jit.NewEngine(jit.Best()).Kernel(b.Program()).Run(&jit.Call{Dims: []int{len(x)},
		In:  []jit.Operand{{Buf: bytesOf(x), Strides: []int{1}}},
		Out: []jit.Operand{{Buf: bytesOf(y), Strides: []int{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

// ulps is how far got lies from want, in units of the last place of want.
func ulps(got float32, want float64) float64 {
	g := float64(got)
	switch {
	case g != g && want != want || g == want:
		return 0
	case g != g || want != want:
		return math.Inf(1)
	case math.IsInf(g, 0) && math.Abs(want) >= 0x1.ffffffp127 && g*want > 0:
		return 0
	}
	e := max(math.Ilogb(want), -126)
	if want == 0 {
		e = -126
	}
	return math.Abs(g-want) / math.Ldexp(1, e-23)
}

func TestFunctions(t *testing.T) {
	x := samples()
	for _, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			y := run(t, f.build, x)
			worst, at := 0.0, 0
			for i, v := range x {
				want := f.want(float64(v))
				u := ulps(y[i], want)
				if math.Abs(float64(y[i])-want) <= f.atol {
					u = 0
				}
				if u > worst {
					worst, at = u, i
				}
				if v == 0 && want == 0 && math.Signbit(want) != math.Signbit(float64(y[i])) {
					t.Errorf("sign of %v(%v)", f.name, v)
				}
			}
			t.Logf("%.2f ulp at %v", worst, x[at])
			if worst > f.ulps {
				t.Errorf("%v units in the last place at %v: got %v, want %v", worst, x[at], y[at], f.want(float64(x[at])))
			}
		})
	}
}

func TestFunctionsOfTwo(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, -2.5, 1e-45, -1e-45, 1.1754942e-38, math.MaxFloat32,
		-math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1 << 23, 1<<24 - 1, -(1<<24 - 1), 1 << 24, 0.99999994, 1.0000001, 127, -149, 33554432}
	var x, y []float32
	for _, v := range special {
		for _, w := range special {
			x, y = append(x, v), append(y, w)
		}
	}
	r := rand.New(rand.NewPCG(2, 6))
	for range 200000 {
		v := math.Exp2(r.Float64()*40-20) * float64(1-2*r.IntN(2))
		w := (r.Float64() - 0.5) * 16
		if v < 0 {
			w = math.Round(w)
		}
		x, y = append(x, float32(v)), append(y, float32(w))
		x, y = append(x, math.Float32frombits(r.Uint32())), append(y, math.Float32frombits(r.Uint32()))
	}
	for name, f := range map[string]struct {
		build func(b *jit.Builder, x, y jit.Value) jit.Value
		want  func(x, y float64) float64
	}{"pow": {Pow, math.Pow}, "atan2": {Atan2, math.Atan2}} {
		b := jit.NewBuilder()
		b.Out(dtype.F32, f.build(b, b.In(dtype.F32), b.In(dtype.F32)))
		got := make([]float32, len(x))
		one := []int{1}
		if err := jit.NewEngine(jit.Best()).Kernel(b.Program()).Run(&jit.Call{Dims: []int{len(x)},
			In:  []jit.Operand{{Buf: bytesOf(x), Strides: one}, {Buf: bytesOf(y), Strides: one}},
			Out: []jit.Operand{{Buf: bytesOf(got), Strides: one}}}); err != nil {
			t.Fatal(err)
		}
		bad := 0
		for i, g := range got {
			want := f.want(float64(x[i]), float64(y[i]))
			w := float32(want)
			if u := ulps(g, want); u > 0.51 && g != w || g == g && math.Signbit(float64(g)) != math.Signbit(want) {
				if bad++; bad < 10 {
					t.Errorf("%s(%v, %v) = %v, want %v (%.2f units)", name, x[i], y[i], g, want, u)
				}
			}
		}
	}
}
