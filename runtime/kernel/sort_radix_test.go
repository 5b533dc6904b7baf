package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/shape"
)

// The radix sort must do what comparing does: order, stability, values with
// their bits, whatever the keys are.
func TestRadixAgreesWithComparing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, next := range map[string]func() float32{
		"uniform": func() float32 { return r.Float32()*2 - 1 },
		"few": func() float32 {
			return []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.NaN()), -float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[r.IntN(8)]
		},
		"bits":  func() float32 { return math.Float32frombits(r.Uint32()) },
		"equal": func() float32 { return 3 },
	} {
		for _, n := range []int{radixLeast, radixLeast + 1, 5000, 3*radixGrain + 17} {
			for _, descending := range []bool{false, true} {
				x := make([]float32, n)
				for i := range x {
					x[i] = next()
				}
				testRadix(t, name, x, descending)
				values, want, places := make([]float32, n), make([]float32, n), make([]int64, n)
				sortValues(x, values)
				radixRow(x, want, places, false)
				for i := range want {
					if math.Float32bits(values[i]) != math.Float32bits(want[i]) {
						t.Fatalf("%s: place %d of %d has %v, want %v", name, i, n, values[i], want[i])
					}
				}
				ints := make([]int64, n)
				for i := range ints {
					ints[i] = int64(r.IntN(n)) - 100
				}
				testRadix(t, name+" ints", ints, descending)
			}
		}
	}
	if radixRow([]int64{math.MinInt64, math.MaxInt64}, make([]int64, 2), make([]int64, 2), false) {
		t.Error("a short row was taken")
	}
	far := make([]int64, radixLeast)
	far[0], far[1] = math.MinInt64, math.MaxInt64
	if radixRow(far, make([]int64, len(far)), make([]int64, len(far)), false) {
		t.Error("a row that is too wide for the keys was taken")
	}
}

func testRadix[T accum](t *testing.T, name string, x []T, descending bool) {
	t.Helper()
	y, idx := make([]T, len(x)), make([]int64, len(x))
	if !radixRow(x, y, idx, descending) {
		t.Fatalf("%s: %d elements were not taken", name, len(x))
	}
	want := make([]int, len(x))
	for i := range want {
		want[i] = i
	}
	slices.SortStableFunc(want, func(a, b int) int {
		if descending {
			return compare3(x[b], x[a])
		}
		return compare3(x[a], x[b])
	})
	for i, k := range want {
		if idx[i] != int64(k) || y[i] != x[k] && (y[i] == y[i] || x[k] == x[k]) {
			t.Fatalf("%s, %d elements, descending %v: place %d has %v of %d, want %v of %d", name, len(x), descending, i, y[i], idx[i], x[k], k)
		}
	}
}

func BenchmarkRowOps(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	long, wide := New(shape.Spec{DType: typeOf[float32](), Dims: []int{1 << 20}}), New(shape.Spec{DType: typeOf[float32](), Dims: []int{4096, 1024}})
	for _, a := range []Array{long, wide} {
		for i := range As[float32](a.Buf) {
			As[float32](a.Buf)[i] = r.Float32()*2 - 1
		}
	}
	index := func(dims ...int) Array { return New(shape.Spec{DType: typeOf[int64](), Dims: dims}) }
	for _, c := range []struct {
		name string
		f    Func
		call Call
	}{
		{"sort", Sort, Call{In: []Array{long}, Out: []Array{New(long.Spec()), index(1 << 20)}, Attrs: Attrs{{Name: "dim", Value: 0}, {Name: "descending", Value: false}}}},
		{"msort", Msort, Call{In: []Array{long}, Out: []Array{New(long.Spec())}}},
		{"argmax", Argmax, Call{In: []Array{wide}, Out: []Array{index(4096)}, Attrs: Attrs{{Name: "dim", Value: 1}}}},
		{"cumsum", Cumsum, Call{In: []Array{wide}, Out: []Array{New(wide.Spec())}, Attrs: Attrs{{Name: "dim", Value: 1}}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.f(&c.call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Counting digits sorts what the processor's kernels sort elsewhere.
func TestRadixSort(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 1000, 3*radixGrain + 5} {
		a := make([]uint64, n)
		for i := range a {
			a[i] = r.Uint64()&0xffffffff<<32 | uint64(i)
		}
		want := slices.Clone(a)
		slices.Sort(want)
		if got := radixSort(a, make([]uint64, n), 32); !slices.Equal(got, want) {
			t.Errorf("%d entries are not sorted", n)
		}
	}
}
