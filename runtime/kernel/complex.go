package kernel

import (
	"math"
	"math/cmplx"

	"github.com/tpush/tpush/runtime/dtype"
)

// Complex numbers: loads, stores, and functions that are computed in
// complex128 and rounded once.

type complexNumber interface{ complex64 | complex128 }

// An element is a type that loops read or write.
type element interface {
	number | complexNumber | uint8
}

// loadComplex fills d with elements lo … of v.
func loadComplex[T complexNumber](d []T, v *view, lo int) {
	switch v.arr.DType {
	case dtype.C64:
		loadParts(d, As[complex64](v.arr.Buf), v, lo)
	case dtype.C128:
		loadParts(d, As[complex128](v.arr.Buf), v, lo)
	default:
		var re [chunk]float64
		for i := 0; i < len(d); i += chunk {
			part := d[i:min(len(d), i+chunk)]
			loadReal(re[:len(part)], v, lo+i)
			for k := range part {
				part[k] = T(complex(re[k], 0))
			}
		}
	}
}

func loadParts[T, S complexNumber](d []T, s []S, v *view, lo int) {
	v.runs(lo, len(d), func(i, off, stride, n int) {
		for k := range n {
			d[i+k] = T(s[off+k*stride])
		}
	})
}

// storeComplex writes s to elements lo … of the dense array out.
func storeComplex[T complexNumber](out *Array, lo int, s []T) {
	switch out.DType {
	case dtype.C64:
		d := As[complex64](out.Buf)[lo:]
		for i, x := range s {
			d[i] = complex64(x)
		}
	case dtype.C128:
		d := As[complex128](out.Buf)[lo:]
		for i, x := range s {
			d[i] = complex128(x)
		}
	case dtype.Bool:
		for i, x := range s {
			out.Buf[lo+i] = bit(x != 0)
		}
	default:
		var re [chunk]float64
		for len(s) > 0 {
			n := min(len(s), chunk)
			for i, x := range s[:n] {
				re[i] = real(complex128(x))
			}
			storeRun(out, lo, re[:n])
			s, lo = s[n:], lo+n
		}
	}
}

// complexLoop makes a loop of an operation's complex function.
func complexLoop[T complexNumber](o *elementwise) loop[T, T] {
	return func(d, a, b, _ []T, _ *Params) {
		for i, x := range a {
			if o.z2 != nil {
				d[i] = T(o.z2(complex128(x), complex128(b[i])))
			} else {
				d[i] = T(o.z(complex128(x)))
			}
		}
	}
}

func sigmoidComplex(x complex128) complex128 { return 1 / (1 + cmplx.Exp(-x)) }

func rsqrtComplex(x complex128) complex128 { return 1 / cmplx.Sqrt(x) }

// powComplex is PyTorch's: anything to the power of 0 is 1.
func powComplex(x, y complex128) complex128 {
	switch {
	case y == 0:
		return 1
	case x == 0 && real(y) > 0:
		return 0
	}
	return cmplx.Pow(x, y)
}

// partsOf gives real and imaginary part of every element, in row-major order, as f64.
func partsOf(a Array) (re, im []float64) {
	x := As[complex128](Cast(a, dtype.C128).Buf)[:a.Size()]
	re, im = make([]float64, len(x)), make([]float64, len(x))
	for i, z := range x {
		re[i], im[i] = real(z), imag(z)
	}
	return re, im
}

// storeReal rounds numbers, in row-major order, once into the dense array out.
func storeReal(out Array, xs []float64) {
	if out.Size() > 0 {
		storeRun(&out, 0, xs)
	}
}

// byParts makes a kernel of a real function of both parts.
func byParts(f func(re, im float64) float64) Func {
	return func(c *Call) error {
		re, im := partsOf(c.In[0])
		for i := range re {
			re[i] = f(re[i], im[i])
		}
		storeReal(c.Out[0], re)
		return nil
	}
}

// Real gives the real part; of a real number itself.
func Real(c *Call) error { return byParts(func(re, _ float64) float64 { return re })(c) }

// Imag gives the imaginary part.
func Imag(c *Call) error { return byParts(func(_, im float64) float64 { return im })(c) }

// angleParts computes the angle of complex numbers.
var angleParts = byParts(func(re, im float64) float64 {
	if re != re {
		return re
	}
	return math.Atan2(im, re)
})

// absParts computes the length of complex numbers.
var absParts = byParts(math.Hypot)

// over gives an operation that has a function of complex numbers too.
func (o *elementwise) over(f func(complex128) complex128) *elementwise {
	o.z = f
	return o
}

// isComplex says whether the first operand is complex.
func isComplex(c *Call) bool { return c.In[0].DType.IsComplex() }

// askParts asks a question about both parts of every element.
func askParts(c *Call, f func(re, im float64) bool) error {
	re, im := partsOf(c.In[0])
	for i := range re {
		c.Out[0].Buf[i] = bit(f(re[i], im[i]))
	}
	return nil
}

// allTruths sees complex operands of a call as bools, not 0.
func allTruths(c *Call) *Call {
	var t *Call
	for i := range c.In {
		if c.In[i].DType.IsComplex() {
			if t == nil {
				t = &Call{In: append([]Array{}, c.In...), Out: c.Out, Attrs: c.Attrs}
			}
			t.In[i] = Cast(c.In[i], dtype.Bool)
		}
	}
	if t != nil {
		return t
	}
	return c
}

// scaledOperand is a call with alpha times operand i, for complex results.
func scaledOperand(c *Call, i int) *Call {
	var p Params
	p.number(0, c.Attrs.Get("alpha"))
	x := Cast(c.In[i], c.Out[0].DType)
	scaled := New(x.Spec())
	switch x.DType {
	case dtype.C64:
		k, s, d := complex(float32(p.F[0]), 0), As[complex64](x.Buf), As[complex64](scaled.Buf)
		for j := range d {
			d[j] = k * s[j]
		}
	default:
		k, s, d := complex(p.F[0], 0), As[complex128](x.Buf), As[complex128](scaled.Buf)
		for j := range d {
			d[j] = k * s[j]
		}
	}
	t := &Call{In: append([]Array{}, c.In...), Out: c.Out, Attrs: c.Attrs}
	t.In[i] = scaled
	return t
}

// partOf sees the real parts of complex x (k = 0), or the imaginary ones (1).
func partOf(x Array, k int) Array {
	v := Array{DType: x.DType.Part(), View: x.View, Buf: x.Buf}
	v.Offset = 2*x.Offset + k
	v.Strides = make([]int, len(x.Strides))
	for i, s := range x.Strides {
		v.Strides[i] = 2 * s
	}
	return v
}
