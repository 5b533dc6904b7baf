package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

func bf16Array(r *rand.Rand, dims ...int) Array {
	a := New(shape.Spec{DType: dtype.BF16, Dims: dims})
	bits := As[uint16](a.Buf)
	for i := range bits {
		bits[i] = uint16(r.Uint32())&0x81ff | 0x3e00
	}
	return a
}

func swapped(a Array) Array {
	a.View = swapLast(a.View)
	return a
}

// Widening piece by piece must give the bits of widening as a whole, for every
// layout of the operands and at every level.
func TestHalvesAgreeWithWidening(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, d := range []struct{ m, n, k int }{
		{1, 300, 700}, {1, 1024, 512}, {2, 333, 513}, {8, 160, 1100}, {16, 257, 64}, {33, 130, 600}, {100, 2100, 530}, {700, 1, 400}, {97, 31, 129}, {130, 7, 1025},
	} {
		for layout := range 4 {
			a, b := bf16Array(r, d.m, d.k), bf16Array(r, d.k, d.n)
			if layout&1 != 0 {
				a = swapped(bf16Array(r, d.k, d.m))
			}
			if layout&2 != 0 {
				b = swapped(bf16Array(r, d.n, d.k))
			}
			x, _ := halvesOf(a, []int{d.m}, []int{d.k}, a.Strides[:1], a.Strides[1:])
			y, _ := halvesOf(b, []int{d.k}, []int{d.n}, b.Strides[:1], b.Strides[1:])
			wa, wb := Float32s(a), Float32s(b)
			want := make([]float32, d.m*d.n)
			multiply([]product[float32]{{d.m, d.n, d.k, matrix[float32]{wa, d.k, 1}, matrix[float32]{wb, d.n, 1}, matrix[float32]{want, d.n, 1}}})
			for _, l := range simd.Available() {
				for _, n := range []int{1, 2} {
					got := make([]float32, d.m*d.n)
					q := halfProduct{simd.KernelsOf[float32](l), simd.RunsOf(l), d.m, d.n, d.k, x, y, matrix[float32]{got, d.n, 1}}
					q.multiply(n)
					if !slices.Equal(got, want) {
						t.Fatalf("%v, %+v, layout %d, %d threads differ", l, d, layout, n)
					}
				}
			}
		}
	}
}

// A batch of bf16 products is each of its products.
func TestHalvesOfBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for _, same := range []bool{false, true} {
		const m, n, k = 24, 96, 80
		a, b := bf16Array(r, 3, m, k), bf16Array(r, 3, k, n)
		if same {
			b = bf16Array(r, k, n)
		}
		got, want := New(shape.Spec{DType: dtype.BF16, Dims: []int{3, m, n}}), New(shape.Spec{DType: dtype.BF16, Dims: []int{3, m, n}})
		con := matmulViews(a.View, b.View, got.Dims)
		if !contractHalves(got, con, a, b, nil) {
			t.Fatal("the product was not taken")
		}
		contractAs[float32](want, con, a, b, nil)
		if !slices.Equal(got.Buf, want.Buf) {
			t.Errorf("one right operand %v: the batch differs", same)
		}
	}
}

func BenchmarkHalves(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, d := range []struct{ m, n, k int }{{1, 4096, 4096}, {8, 4096, 4096}, {16, 4096, 4096}, {1024, 1024, 1024}} {
		for _, turned := range []bool{false, true} {
			x, y, out := bf16Array(r, d.m, d.k), bf16Array(r, d.k, d.n), New(shape.Spec{DType: dtype.BF16, Dims: []int{d.m, d.n}})
			if turned {
				y = swapped(bf16Array(r, d.n, d.k))
			}
			con := matmulViews(x.View, y.View, out.Dims)
			b.Run(fmt.Sprintf("%dx%dx%d/turned=%v", d.m, d.k, d.n, turned), func(b *testing.B) {
				for b.Loop() {
					contractWide(out, con, x, y, nil)
				}
			})
		}
	}
}
