package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

func dotOperands(r *rand.Rand, m, n, k, layout int) (x, y halves) {
	a, b := bf16Array(r, m, k), bf16Array(r, k, n)
	if layout&1 != 0 {
		a = swapped(bf16Array(r, k, m))
	}
	if layout&2 != 0 {
		b = swapped(bf16Array(r, n, k))
	}
	x, _ = halvesOf(a, []int{m}, []int{k}, a.Strides[:1], a.Strides[1:])
	y, _ = halvesOf(b, []int{k}, []int{n}, b.Strides[:1], b.Strides[1:])
	return x, y
}

// A unit gives the same bits for every layout of the operands, number of
// threads and block, which are those of its description in Go.
func TestUnitsAgreeWithTheirDescription(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, u := range simd.Units()[1:] {
		for _, d := range []struct{ m, n, k int }{
			{2, 300, 70}, {8, 2100, 67}, {16, 33, 1100}, {33, 130, 600}, {100, 31, 129}, {300, 17, 33}, {260, 520, 40}, {31, 7, 1025},
		} {
			for layout := range 4 {
				x, y := dotOperands(r, d.m, d.n, d.k, layout)
				want := make([]float32, d.m*d.n)
				slow := dotProduct{d: simd.DotsOf(u, true), run: simd.RunsOf(simd.Generic), m: d.m, n: d.n, k: d.k, a: x, b: y, c: want}
				slow.multiply(1)
				for _, threads := range []int{1, 2} {
					got, out := make([]float32, d.m*d.n), make([]uint16, d.m*d.n)
					q := dotProduct{d: simd.DotsOf(u, false), run: simd.RunsOf(simd.Chosen()), m: d.m, n: d.n, k: d.k, a: x, b: y, c: got}
					q.multiply(threads)
					if !slices.Equal(got, want) {
						t.Fatalf("%v, %+v, layout %d, %d threads differ", u, d, layout, threads)
					}
					q.out = out
					q.multiply(threads)
					for i := range out {
						if out[i] != dtype.RoundBF16(want[i]) {
							t.Fatalf("%v, %+v, layout %d, %d threads: rounded element %d differs", u, d, layout, threads, i)
						}
					}
				}
			}
		}
	}
}

// A unit is as near to the exact product as sums in f32 are.
func TestUnitsAreNearTheExactProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	const m, n, k = 64, 96, 1000
	for _, u := range simd.Units()[1:] {
		x, y := dotOperands(r, m, n, k, 0)
		got := make([]float32, m*n)
		(&dotProduct{d: simd.DotsOf(u, false), run: simd.RunsOf(simd.Chosen()), m: m, n: n, k: k, a: x, b: y, c: got}).multiply(1)
		for i := range m {
			for j := range n {
				var s, size float64
				for p := range k {
					v := float64(dtype.BF16ToF32(x.bits[i*k+p])) * float64(dtype.BF16ToF32(y.bits[p*n+j]))
					s += v
					size += math.Abs(v)
				}
				if d := math.Abs(float64(got[i*n+j]) - s); d > size*1e-6 {
					t.Fatalf("%v: element %d,%d is off by %v of %v", u, i, j, d, size)
				}
			}
		}
	}
}

// A batch on a unit is each of its products.
func TestUnitsOfBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for _, same := range []bool{false, true} {
		const batch, m, n, k = 5, 48, 96, 80
		a, b := bf16Array(r, batch, m, k), bf16Array(r, batch, k, n)
		if same {
			b = bf16Array(r, k, n)
		}
		out := New(shape.Spec{DType: dtype.BF16, Dims: []int{batch, m, n}})
		con := matmulViews(a.View, b.View, out.Dims)
		for _, u := range simd.Units()[1:] {
			x, _ := halvesOf(a, con.m, con.k, con.aM, con.aK)
			y, _ := halvesOf(b, con.k, con.n, con.bK, con.bN)
			q := dotProduct{d: simd.DotsOf(u, false), run: simd.RunsOf(simd.Chosen()), m: m, n: n, k: k, a: x, b: y}
			got, want := make([]float32, batch*m*n), make([]float32, batch*m*n)
			q.c = got
			q.multiplyAll(con)
			for i := range batch {
				p := q
				p.a.bits = x.bits[i*m*k:]
				if !same {
					p.b.bits = y.bits[i*k*n:]
				}
				p.c = want[i*m*n:]
				p.multiply(1)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: one right operand %v: the batch differs", u, same)
			}
		}
	}
}

// Tiles survive what interrupts a thread: signals that preempt goroutines,
// collections, dumps of all stacks, other threads that use tiles too.
func TestUnitsAreInterrupted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	const m, n, k = 128, 256, 512
	for _, u := range simd.Units()[1:] {
		x, y := dotOperands(r, m, n, k, 1)
		product := func(threads int) []float32 {
			c := make([]float32, m*n)
			(&dotProduct{d: simd.DotsOf(u, false), run: simd.RunsOf(simd.Chosen()), m: m, n: n, k: k, a: x, b: y, c: c}).multiply(threads)
			return c
		}
		want := product(1)
		var wrong atomic.Bool
		var done atomic.Int32
		var wg sync.WaitGroup
		const workers = 4
		for w := range workers {
			wg.Go(func() {
				defer done.Add(1)
				for range 60 {
					if !slices.Equal(product(1+w%2), want) {
						wrong.Store(true)
					}
				}
			})
		}
		stacks := make([]byte, 1<<16)
		for done.Load() < workers {
			runtime.GC() // stops every goroutine by a signal to its thread
			runtime.Stack(stacks, true)
		}
		wg.Wait()
		if wrong.Load() {
			t.Errorf("%v: a product that was interrupted differs", u)
		}
	}
}

func TestWhichProductsTakeAUnit(t *testing.T) {
	for _, c := range []struct {
		m, n, k int
		want    bool
	}{{64, 64, 64, true}, {63, 64, 64, false}, {1, 4096, 4096, false}, {4096, 1, 4096, false}, {2, 4096, 4096, true}, {512, 512, 1, true}} {
		if got := takesUnit(c.m, c.n, c.k); got != c.want {
			t.Errorf("%d×%d×%d: %v", c.m, c.n, c.k, got)
		}
	}
}

func BenchmarkUnits(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, u := range simd.Units()[1:] {
		for _, s := range [][3]int{{256, 256, 256}, {1024, 1024, 1024}, {8, 4096, 4096}, {128, 512, 512}} {
			for _, layout := range []int{0, 2} {
				x, y := dotOperands(r, s[0], s[1], s[2], layout)
				q := dotProduct{d: simd.DotsOf(u, false), run: simd.RunsOf(simd.Chosen()), m: s[0], n: s[1], k: s[2], a: x, b: y, out: make([]uint16, s[0]*s[1])}
				b.Run(fmt.Sprintf("%v/%dx%dx%d/turned=%v", u, s[0], s[2], s[1], layout == 2), func(b *testing.B) {
					for b.Loop() {
						q.multiply(1)
					}
					b.ReportMetric(float64(2*s[0]*s[1]*s[2])*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
				})
			}
		}
	}
}
