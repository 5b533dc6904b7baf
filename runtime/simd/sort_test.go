package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func testSorter[T Sortable](t *testing.T, most T) {
	r := rand.New(rand.NewPCG(1, 5))
	kinds := map[string]func(i int) T{
		"random": func(int) T { return T(r.Float64() * 1e6) },
		"few":    func(int) T { return T(r.IntN(3)) },
		"ends":   func(int) T { return []T{0, most}[r.IntN(2)] },
		"equal":  func(int) T { return most },
		"up":     func(i int) T { return T(i) },
		"down":   func(i int) T { return T(30000 - i) },
		"saw":    func(i int) T { return T(i % 37) },
		"signs":  func(i int) T { return T(1+i) * (1 - 2*T(i%2)) },
	}
	for _, l := range Available() {
		s := SorterOf[T](l)
		if s == nil {
			continue
		}
		sizes := []int{500, 1000, 4099, 20000}
		for n := range 300 {
			sizes = append(sizes, n)
		}
		for name, f := range kinds {
			for _, n := range sizes {
				buf := make([]T, n+2)
				for i := range buf {
					buf[i] = f(i)
				}
				a := buf[1 : n+1]
				want, edge := slices.Clone(a), [2]T{buf[0], buf[n+1]}
				slices.Sort(want)
				rest := make([]T, n)
				copy(rest, a)
				s.Sort(a, rest)
				if !slices.Equal(a, want) {
					t.Fatalf("%v %T: %d %s are not sorted", l, a, n, name)
				}
				if below, ok := s.Part(a, rest); ok { // of what is sorted
					copy(a, rest)
					s.Finish(rest[:below], a)
					s.Finish(rest[below:], a[below:])
					if !slices.Equal(a, want) {
						t.Fatalf("%v %T: %d %s in two parts are not sorted", l, a, n, name)
					}
				}
				if edge != [2]T{buf[0], buf[n+1]} {
					t.Fatalf("%v %T: %d %s: wrote beside the run", l, a, n, name)
				}
			}
		}
	}
}

func TestSorters(t *testing.T) {
	testSorter(t, uint32(math.MaxUint32))
	testSorter(t, uint64(math.MaxUint64))
	testSorter(t, float32(math.Inf(1)))
}

func TestOdd(t *testing.T) {
	for _, l := range Available() {
		run := RunsOf(l)
		for _, n := range []int{0, 1, 15, 16, 17, 100} {
			x := fill[float32](n, 1)
			for i := range n / 2 {
				x[2*i] = []float32{0, float32(math.Inf(1)), float32(math.Inf(-1)), 1e-45, -1e-45}[i%5]
			}
			if run.OddF32(x) {
				t.Errorf("%v: %d numbers are odd", l, n)
			}
			for i := range n {
				for _, odd := range []float32{float32(math.NaN()), float32(math.Copysign(0, -1))} {
					y := slices.Clone(x)
					if y[i] = odd; !run.OddF32(y) {
						t.Errorf("%v: %v at %d of %d was not seen", l, odd, i, n)
					}
				}
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{100, 1000, 1 << 20} {
		from := make([]uint32, n)
		for i := range from {
			from[i] = r.Uint32()
		}
		a, rest := make([]uint32, n), make([]uint32, n)
		if s := SorterOf[uint32](Chosen()); s != nil {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				for b.Loop() {
					copy(a, from)
					s.Sort(a, rest)
				}
			})
		}
	}
}
