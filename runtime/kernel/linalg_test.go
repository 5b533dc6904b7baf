package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// matrices makes a batch of random ones in f64.
func matrices(r *rand.Rand, dims ...int) Array {
	a := New(shape.Of(dtype.F64, dims...))
	for i := range As[float64](a.Buf) {
		As[float64](a.Buf)[i] = r.NormFloat64()
	}
	return a
}

func run(t *testing.T, f Func, in []Array, out []shape.Spec, attrs ...Attr) []Array {
	t.Helper()
	c := &Call{In: in, Attrs: attrs}
	for _, s := range out {
		c.Out = append(c.Out, New(s))
	}
	if err := f(c); err != nil {
		t.Fatal(err)
	}
	return c.Out
}

func near(t *testing.T, what string, got, want Array) {
	t.Helper()
	g, w := Float64s(got), Float64s(want)
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= 1e-9*(1+math.Abs(w[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g[i], w[i])
		}
	}
}

// TestSolversAgree solves the same systems by LU, LDL, Cholesky and elimination.
func TestSolversAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 9; n++ {
		f64 := func(d ...int) shape.Spec { return shape.Of(dtype.F64, d...) }
		i32 := func(d ...int) shape.Spec { return shape.Of(dtype.I32, d...) }
		a, b := matrices(r, 3, n, n), matrices(r, 3, n, 2)
		want := run(t, Solve, []Array{a, b}, []shape.Spec{f64(3, n, 2)})[0]
		lu := run(t, LUFactor, []Array{a}, []shape.Spec{f64(3, n, n), i32(3, n), i32(3)}, Attr{Name: "pivot", Value: true})
		left := []Attr{{Name: "left", Value: true}, {Name: "adjoint", Value: false}}
		near(t, "lu", run(t, LUSolve, []Array{lu[0], lu[1], b}, []shape.Spec{f64(3, n, 2)}, left...)[0], want)

		s := New(f64(3, n, n)) // symmetric, with eigenvalues of both signs
		for k := range 3 {
			for i := range n {
				for j := range n {
					As[float64](s.Buf)[(k*n+i)*n+j] = As[float64](a.Buf)[(k*n+i)*n+j] + As[float64](a.Buf)[(k*n+j)*n+i]
				}
			}
			if k == 1 { // zeros on the diagonal ask for blocks of two
				for i := range n - n%2 {
					As[float64](s.Buf)[(k*n+i)*n+i] = 0
				}
			}
		}
		want = run(t, Solve, []Array{s, b}, []shape.Spec{f64(3, n, 2)})[0]
		ld := run(t, LDLFactor, []Array{s}, []shape.Spec{f64(3, n, n), i32(3, n), i32(3)})
		near(t, "ldl", run(t, LDLSolve, []Array{ld[0], ld[1], b}, []shape.Spec{f64(3, n, 2)})[0], want)
	}
}

// TestMatrixExpOfRotation compares with sines and cosines, with and without squarings.
func TestMatrixExpOfRotation(t *testing.T) {
	for _, x := range []float64{0, 0.1, 3, 40} {
		a, want := New(shape.Of(dtype.F64, 2, 2)), New(shape.Of(dtype.F64, 2, 2))
		copy(As[float64](a.Buf), []float64{0, -x, x, 0})
		copy(As[float64](want.Buf), []float64{math.Cos(x), -math.Sin(x), math.Sin(x), math.Cos(x)})
		near(t, "exp", run(t, MatrixExp, []Array{a}, []shape.Spec{a.Spec()})[0], want)
	}
}

// TestReflections rebuilds a matrix of the factors that Geqrf and QR give.
func TestReflections(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range [][2]int{{4, 3}, {3, 4}, {3, 3}, {1, 1}} {
		m, n := d[0], d[1]
		k := min(m, n)
		a := matrices(r, m, n)
		f := run(t, Geqrf, []Array{a}, []shape.Spec{a.Spec(), shape.Of(dtype.F64, k)})
		upper := New(a.Spec())
		for i := range m {
			copy(As[float64](upper.Buf)[i*n+min(i, n):(i+1)*n], As[float64](f[0].Buf)[i*n+min(i, n):(i+1)*n])
		}
		got := run(t, Ormqr, []Array{f[0], f[1], upper}, []shape.Spec{a.Spec()}, Attr{Name: "left", Value: true}, Attr{Name: "transpose", Value: false})[0]
		near(t, "ormqr", got, a)
		qr := run(t, QR, []Array{a}, []shape.Spec{shape.Of(dtype.F64, m, m), shape.Of(dtype.F64, m, n)})
		q := Float64s(qr[0])
		back := New(a.Spec())
		for i := range m {
			for j := range n {
				for l := range m {
					As[float64](back.Buf)[i*n+j] += q[i*m+l] * Float64s(qr[1])[l*n+j]
				}
			}
		}
		near(t, "qr", back, a)
	}
}
