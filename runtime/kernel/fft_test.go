package kernel

import (
	"fmt"
	"math/cmplx"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// TestFFT compares transforms with their definition, for lengths of every kind:
// powers of two and four, small primes, products, and primes that need a chirp.
func TestFFT(t *testing.T) {
	lengths := []int{64, 81, 97, 100, 127, 128, 210, 256, 341, 1009}
	for n := range 40 {
		lengths = append(lengths, n+1)
	}
	for _, n := range lengths {
		for _, inverse := range []bool{false, true} {
			t.Run(fmt.Sprint(n, inverse), func(t *testing.T) {
				re, im := New(shape.Of(dtype.F64, 2, n)), New(shape.Of(dtype.F64, 2, n))
				for i := range 2 * n {
					As[float64](re.Buf)[i] = float64(i*i%17) - 8
					As[float64](im.Buf)[i] = float64(i*5%11) - 5
				}
				c := Call{In: []Array{re, im}, Out: []Array{New(re.Spec()), New(re.Spec())}, Attrs: Attrs{{Name: "inverse", Value: inverse}, {Name: "scale", Value: 0.5}}}
				if err := FFT(&c); err != nil {
					t.Fatal(err)
				}
				sign := -2.0
				if inverse {
					sign = 2
				}
				for r := range 2 {
					for k := range n {
						var want complex128
						for j := range n {
							x := complex(As[float64](re.Buf)[r*n+j], As[float64](im.Buf)[r*n+j])
							want += x * turn(sign, j*k%n, n)
						}
						want /= 2
						got := complex(As[float64](c.Out[0].Buf)[r*n+k], As[float64](c.Out[1].Buf)[r*n+k])
						if cmplx.Abs(got-want) > 1e-11*float64(n) {
							t.Fatalf("row %d, %d: %v, want %v", r, k, got, want)
						}
					}
				}
			})
		}
	}
}

func BenchmarkFFT(b *testing.B) {
	for _, n := range []int{1 << 16, 65537} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			re := New(shape.Of(dtype.F32, n))
			c := Call{In: []Array{re, {}}, Out: []Array{New(re.Spec()), New(re.Spec())}, Attrs: Attrs{{Name: "scale", Value: 1.0}}}
			for b.Loop() {
				if err := FFT(&c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
