package kernel

import (
	"math"
	"math/bits"
)

// FFT computes, for each row x = re + i·im along the last axis of n numbers,
//
//	y[k] = scale · Σ x[j] · exp(∓2πi·j·k/n)
//
// with + in the exponent when inverse is set. Inputs re and im, which may be
// absent; outputs the two parts of y. Sums are in f64 for every type. The cost
// is n·log n for every n.
func FFT(c *Call) error {
	re := c.In[0]
	n := re.Dims[len(re.Dims)-1]
	if re.Size() == 0 {
		return nil
	}
	x := wideElems[float64](re)
	var y []float64
	if len(c.In) > 1 && c.In[1].Valid() {
		y = wideElems[float64](c.In[1])
	}
	u, v := wideResult[float64](c.Out[0]), wideResult[float64](c.Out[1])
	plan := newFFT(n, c.Attrs.Bool("inverse"))
	scale := c.Attrs.Float("scale")
	rows := len(x) / n
	Parallel(rows, max(1, (1<<13)/n), func(lo, hi int) {
		a, b := make([]complex128, n), make([]complex128, plan.room())
		for r := lo; r < hi; r++ {
			for j := range n {
				a[j] = complex(x[r*n+j], 0)
				if y != nil {
					a[j] = complex(x[r*n+j], y[r*n+j])
				}
			}
			z := plan.run(a, b)
			for k := range n {
				u[r*n+k], v[r*n+k] = scale*real(z[k]), scale*imag(z[k])
			}
		}
	})
	storeWide(c.Out[0], u)
	storeWide(c.Out[1], v)
	return nil
}

// An fft is what transforms of one length share.
type fft struct {
	n       int
	factors []int        // their product is n; nil: a chirp transform
	wave    []complex128 // wave[k] = exp(∓2πi·k/n)

	// A length with a large prime factor is a convolution with a chirp, done by
	// transforms of a power of two (Bluestein, 1970).
	chirp  []complex128 // exp(∓πi·k²/n)
	filter []complex128 // the transform of the conjugated chirp, over m
	there  *fft
	back   *fft
}

// largestFactor is the largest prime that is summed directly.
const largestFactor = 31

func newFFT(n int, inverse bool) *fft {
	f := &fft{n: n, wave: make([]complex128, n)}
	sign := -2.0
	if inverse {
		sign = 2
	}
	for k := range f.wave {
		f.wave[k] = turn(sign, k, n)
	}
	rest := n
	for _, p := range []int{4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, largestFactor} {
		for rest%p == 0 {
			f.factors = append(f.factors, p)
			rest /= p
		}
	}
	if rest == 1 {
		return f
	}
	f.factors = nil
	m := 1 << bits.Len(uint(2*n-2))
	f.there, f.back = newFFT(m, false), newFFT(m, true)
	f.chirp = make([]complex128, n)
	w := make([]complex128, m)
	for k := range n {
		// k² modulo 2n keeps the angle exact.
		f.chirp[k] = turn(sign/2, k*k%(2*n), n)
		c := complex(real(f.chirp[k]), -imag(f.chirp[k]))
		w[k] = c
		w[(m-k)%m] = c
	}
	f.filter = append([]complex128(nil), f.there.run(w, make([]complex128, m))...)
	return f
}

// turn is exp(half·πi·k/n).
func turn(half float64, k, n int) complex128 {
	s, c := math.Sincos(half * math.Pi * float64(k) / float64(n))
	return complex(c, s)
}

// room is how much scratch run wants.
func (f *fft) room() int {
	if f.factors != nil || f.n == 1 {
		return f.n
	}
	return 2 * f.there.n
}

// run transforms x, using scratch; the result is in one of the two.
func (f *fft) run(x, scratch []complex128) []complex128 {
	if f.chirp != nil {
		return f.runChirp(x, scratch)
	}
	y := scratch[:f.n]
	l, s := f.n, 1
	for _, r := range f.factors {
		m := l / r
		switch r {
		case 2:
			f.pass2(x, y, m, s)
		case 4:
			f.pass4(x, y, m, s)
		default:
			f.pass(x, y, m, s, r)
		}
		x, y = y, x
		l, s = m, s*r
	}
	return x
}

// The passes are Stockham's: what is read in r strides is written in order, so
// that no bits need to be reversed. l = m·r, and s transforms lie interleaved:
//
//	y[q+s(rp+j)] = wave[j·p·s] · Σₖ x[q+s(p+mk)] · exp(∓2πi·jk/r)

func (f *fft) pass2(x, y []complex128, m, s int) {
	for p := range m {
		w := f.wave[p*s]
		a, b := x[s*p:][:s], x[s*(p+m):][:s]
		u, v := y[2*s*p:][:s], y[2*s*p+s:][:s]
		for q := range a {
			u[q], v[q] = a[q]+b[q], (a[q]-b[q])*w
		}
	}
}

func (f *fft) pass4(x, y []complex128, m, s int) {
	// exp(∓πi/2) is ∓i.
	quarter := -1.0
	if imag(f.wave[f.n/4]) > 0 {
		quarter = 1
	}
	for p := range m {
		w1 := f.wave[p*s]
		w2, w3 := f.wave[2*p*s%f.n], f.wave[3*p*s%f.n]
		a, b, c, d := x[s*p:][:s], x[s*(p+m):][:s], x[s*(p+2*m):][:s], x[s*(p+3*m):][:s]
		o := y[4*s*p:]
		y0, y1, y2, y3 := o[:s], o[s:][:s], o[2*s:][:s], o[3*s:][:s]
		for q := range a {
			ac, bd := a[q]+c[q], b[q]+d[q]
			e, g := a[q]-c[q], b[q]-d[q]
			t := complex(-quarter*imag(g), quarter*real(g))
			y0[q] = ac + bd
			y1[q] = (e + t) * w1
			y2[q] = (ac - bd) * w2
			y3[q] = (e - t) * w3
		}
	}
}

func (f *fft) pass(x, y []complex128, m, s, r int) {
	step := f.n / r // wave[k·step] = exp(∓2πi·k/r)
	for p := range m {
		for q := range s {
			for j := range r {
				var sum complex128
				for k := range r {
					sum += x[q+s*(p+m*k)] * f.wave[j*k%r*step]
				}
				y[q+s*(r*p+j)] = sum * f.wave[j*p*s]
			}
		}
	}
}

func (f *fft) runChirp(x, scratch []complex128) []complex128 {
	m := f.there.n
	a, b := scratch[:m], scratch[m:2*m]
	for k := range f.n {
		a[k] = x[k] * f.chirp[k]
	}
	clear(a[f.n:])
	z := f.there.run(a, b)
	for k := range z {
		z[k] *= f.filter[k]
	}
	other := a
	if &z[0] == &a[0] {
		other = b
	}
	z = f.back.run(z, other)
	for k := range f.n {
		x[k] = z[k] * f.chirp[k] * complex(1/float64(m), 0)
	}
	return x
}
