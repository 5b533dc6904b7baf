package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// plainProduct computes a product in the order the package promises: blocks of
// kBlock terms summed from zero, the blocks added in order.
func plainProduct[T factor](p product[T]) []T {
	out := make([]T, p.m*p.n)
	for i := range p.m {
		for j := range p.n {
			var total T
			for p0 := 0; p0 < p.k; p0 += kBlock {
				var s T
				for q := p0; q < min(p0+kBlock, p.k); q++ {
					s = simd.MulAdd(p.a.data[i*p.a.row+q*p.a.col], p.b.data[q*p.b.row+j*p.b.col], s)
				}
				if p0 == 0 {
					total = s
				} else {
					total += s
				}
			}
			out[i*p.n+j] = total
		}
	}
	return out
}

func randomMatrix[T factor](r *rand.Rand, rows, cols int, transposed bool) matrix[T] {
	m := matrix[T]{make([]T, rows*cols), cols, 1}
	if transposed {
		m.row, m.col = 1, rows
	}
	for i := range m.data {
		m.data[i] = scalarOf[T](r.Float64()*200 - 100)
	}
	return m
}

func TestProductsAreBitIdenticalForEveryPath(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 4, 5, 7, 8, 31, 33, 130, 300}
	ks := []int{0, 1, 2, 7, 64, 511, 512, 513, 1030}
	for _, procs := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			r := rand.New(rand.NewPCG(1, 2))
			for range 60 {
				m, n, k := sizes[r.IntN(len(sizes))], sizes[r.IntN(len(sizes))], ks[r.IntN(len(ks))]
				ta, tb, tc := r.IntN(2) == 1, r.IntN(2) == 1, r.IntN(4) == 1
				checkProduct[float32](t, r, m, n, k, ta, tb, tc)
				checkProduct[float64](t, r, m, n, k, ta, tb, tc)
				checkProduct[int64](t, r, m, n, k, ta, tb, tc)
			}
			for range 3 { // few rows, for which b is read along its rows
				m, n, k := 2+r.IntN(14), leastChunk+r.IntN(100), sweepRight/leastChunk+r.IntN(500)
				checkProduct[float32](t, r, m, n, k, r.IntN(2) == 1, false, false)
				checkProduct[float64](t, r, m, n, k, r.IntN(2) == 1, false, false)
			}
		})
	}
}

func checkProduct[T factor](t *testing.T, r *rand.Rand, m, n, k int, ta, tb, tc bool) {
	t.Helper()
	p := product[T]{m, n, k, randomMatrix[T](r, m, k, ta), randomMatrix[T](r, k, n, tb), randomMatrix[T](r, m, n, tc)}
	want := plainProduct(p)
	for _, l := range simd.Available() {
		c := p.c
		clear(c.data)
		multiplyAt(simd.KernelsOf[T](l), []product[T]{p})
		for i := range m {
			for j := range n {
				if got := c.data[i*c.row+j*c.col]; got != want[i*n+j] {
					t.Fatalf("%T at %v, [%d,%d]×[%d,%d] transposed %v %v %v: element %d,%d is %v, want %v", got, l, m, k, k, n, ta, tb, tc, i, j, got, want[i*n+j])
				}
			}
		}
	}
}

func TestMatMulBroadcastsBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ a, b, out []int }{
		{[]int{5}, []int{5}, nil},
		{[]int{5}, []int{5, 3}, []int{3}},
		{[]int{4, 5}, []int{5}, []int{4}},
		{[]int{2, 4, 5}, []int{5, 3}, []int{2, 4, 3}},
		{[]int{4, 5}, []int{2, 5, 3}, []int{2, 4, 3}},
		{[]int{2, 1, 4, 5}, []int{3, 5, 3}, []int{2, 3, 4, 3}},
		{[]int{2, 1, 4, 5}, []int{1, 3, 5, 2}, []int{2, 3, 4, 2}},
		{[]int{2, 4, 5}, []int{5}, []int{2, 4}},
		{[]int{5}, []int{2, 5, 3}, []int{2, 3}},
		{[]int{2, 4, 0}, []int{0, 3}, []int{2, 4, 3}},
	} {
		for _, d := range []dtype.DType{dtype.F32, dtype.BF16, dtype.F64, dtype.I32} {
			a, b := randomArray(r, d, c.a), randomArray(r, d, c.b)
			out := New(shape.Of(d, c.out...))
			for i := range out.Buf {
				out.Buf[i] = 0xA5
			}
			if err := MatMul(&Call{In: []Array{a, b}, Out: []Array{out}}); err != nil {
				t.Fatal(err)
			}
			want := naiveMatMul(a, b, c.out)
			got := Float64s(out)
			for i := range want {
				w := want[i]
				if d == dtype.BF16 {
					w = dtype.BF16.Round(float64(float32(w)))
				}
				if math.Abs(got[i]-w) > 1e-2*math.Abs(w)+1e-3 {
					t.Errorf("%v %v × %v: element %d is %v, want %v", d, c.a, c.b, i, got[i], w)
					break
				}
			}
		}
	}
}

func randomArray(r *rand.Rand, d dtype.DType, dims []int) Array {
	f := New(shape.Of(dtype.F64, dims...))
	for i := range As[float64](f.Buf) {
		As[float64](f.Buf)[i] = r.Float64()*20 - 10
	}
	return Cast(f, d)
}

// naiveMatMul is the definition, element by element in f64.
func naiveMatMul(a, b Array, out []int) []float64 {
	x, y := Float64s(a), Float64s(b)
	ad, bd := append([]int{}, a.Dims...), append([]int{}, b.Dims...)
	od := append([]int{}, out...)
	if len(ad) == 1 {
		ad = append([]int{1}, ad...)
		od = append(append(append([]int{}, od[:max(len(od)-1, 0)]...), 1), od[max(len(od)-1, 0):]...)
		if len(bd) == 1 {
			od = []int{1}
		}
	}
	if len(bd) == 1 {
		bd = append(bd, 1)
		od = append(od, 1)
	}
	m, k, n := ad[len(ad)-2], ad[len(ad)-1], bd[len(bd)-1]
	batch := od[:len(od)-2]
	sa, sb := stretch(ad[:len(ad)-2], shape.RowMajor(ad), len(batch)), stretch(bd[:len(bd)-2], shape.RowMajor(bd), len(batch))
	var res []float64
	for o := range shape.Size(batch) {
		xo, yo, rest := 0, 0, o
		for d := len(batch) - 1; d >= 0; d-- {
			xo += rest % batch[d] * sa[d]
			yo += rest % batch[d] * sb[d]
			rest /= batch[d]
		}
		for i := range m {
			for j := range n {
				s := 0.0
				for p := range k {
					s += x[xo+i*k+p] * y[yo+p*n+j]
				}
				res = append(res, s)
			}
		}
	}
	return res
}

func BenchmarkProduct(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{4, 4, 4}, {64, 64, 64}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {1, 768, 3072}, {8, 768, 3072}, {64, 128, 64}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			p := product[float32]{s[0], s[1], s[2], randomMatrix[float32](r, s[0], s[2], false), randomMatrix[float32](r, s[2], s[1], false), randomMatrix[float32](r, s[0], s[1], false)}
			for b.Loop() {
				multiply([]product[float32]{p})
			}
			b.ReportMetric(float64(2*s[0]*s[1]*s[2])*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
