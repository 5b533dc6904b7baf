package op

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A sample is one call whose gradient is checked against central differences.
// Each entry of in is
//
//	[]int          dimensions of an f64 tensor, filled from [lo, hi) away from each other
//	*kernel.Array  an explicit tensor (see f64s, i64s, bools): floats get a gradient
//	fixed          the same, but no gradient is asked for
//	float64        a Go number as operand
//	nil            an absent optional operand
type sample struct {
	// pre is applied to the inputs before the row, and differentiated with it; nil: nothing.
	pre    func(b Builder, in []Value) []Value
	in     []any
	lo, hi float64 // both 0: -2 and 2
	attrs  Attrs
	first  bool  // the second derivative is not checked
	still  bool  // the rule gives 0 where the slope is undefined
	out    []int // the results that get a cotangent; nil: every floating-point one
}

// fixed is a floating-point input that asks for no gradient.
type fixed struct{ kernel.Array }

// attrs makes attributes of pairs: attrs("dim", []int{1}, "keepdim", true).
func attrs(kv ...any) Attrs {
	var a Attrs
	for i := 0; i < len(kv); i += 2 {
		a = append(a, Attr{Name: kv[i].(string), Value: kv[i+1]})
	}
	return a
}

func dense[T any](d dtype.DType, dims []int, xs []T) *kernel.Array {
	a := kernel.New(shape.Spec{DType: d, Dims: dims})
	copy(kernel.As[T](a.Buf), xs)
	return &a
}

// f64s makes an explicit f64 tensor; i64s and bools likewise.
func f64s(dims []int, xs ...float64) *kernel.Array { return dense(dtype.F64, dims, xs) }
func i64s(dims []int, xs ...int64) *kernel.Array   { return dense(dtype.I64, dims, xs) }
func bools(dims []int, xs ...bool) *kernel.Array   { return dense(dtype.Bool, dims, xs) }

// d makes dimensions.
func d(dims ...int) []int {
	if dims == nil {
		return []int{}
	}
	return dims
}

// build makes the inputs of a sample.
func (s sample) build(name Name, k int) (in []Value, diff []int) {
	h := fnv.New64a()
	fmt.Fprint(h, name, k)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	lo, hi := s.lo, s.hi
	if lo == 0 && hi == 0 {
		lo, hi = -2, 2
	}
	for i, x := range s.in {
		switch x := x.(type) {
		case nil:
			in = append(in, nil)
		case []int:
			a := kernel.New(shape.Of(dtype.F64, x...))
			n := a.Size()
			// A stratified permutation keeps elements apart, so that no difference quotient crosses a tie.
			for j, p := range r.Perm(n) {
				kernel.As[float64](a.Buf)[j] = lo + (hi-lo)*(float64(p)+0.2+0.6*r.Float64())/float64(n)
			}
			in = append(in, value(a))
			diff = append(diff, i)
		case *kernel.Array:
			in = append(in, value(*x))
			if x.DType.IsFloat() {
				diff = append(diff, i)
			}
		case fixed:
			in = append(in, value(x.Array))
		case float64:
			in = append(in, evaluator{}.Scalar(x))
		default:
			panic(fmt.Sprintf("%s: sample input of type %T", name, x))
		}
	}
	return in, diff
}

// withoutSample is how many rows may have a gradient but no sample; it only falls.
const withoutSample = 2

// TestGradients compares every gradient rule of the table, and the gradient of
// that gradient, with central differences in f64.
func TestGradients(t *testing.T) {
	known := gradSamples()
	var bare []Name
	for _, table := range All() {
		for i := range table {
			row := &table[i]
			if row.Grad == nil {
				if len(known[row.Name]) > 0 {
					t.Errorf("%s: has samples but no gradient", row.Name)
				}
				continue
			}
			if len(known[row.Name]) == 0 {
				bare = append(bare, row.Name)
			}
			for k, s := range known[row.Name] {
				t.Run(fmt.Sprintf("%s/%d", row.Name, k), func(t *testing.T) { checkGradient(t, row, s, k) })
			}
		}
	}
	if len(bare) > withoutSample {
		t.Errorf("rows with a gradient but no sample: %v; at most %d", bare, withoutSample)
	}
	for n := range known {
		if Lookup(n) == nil {
			t.Errorf("samples for %s, which is no row", n)
		}
	}
}

func checkGradient(t *testing.T, row *Def, s sample, k int) {
	in, diff := s.build(row.Name, k)
	first := func(in []Value) (out, xs []Value) {
		xs = pick(in, diff)
		if s.pre != nil {
			in = s.pre(evaluator{}, in)
		}
		return evaluator{}.All(row.Name, s.attrs, in...), xs
	}
	out, xs := first(in)
	r := rand.New(rand.NewPCG(7, uint64(k)))
	dy := make([]Value, len(out))
	for i, o := range out {
		if o.Spec().DType.IsFloat() && (s.out == nil || contains(s.out, i)) {
			dy[i] = value(noise(r, o.Spec()))
		}
	}
	g := backward(out, dy, xs)
	for i, x := range xs {
		compareGradient(t, fmt.Sprintf("input %d", diff[i]), g[i], x, func() float64 {
			if s.still {
				return 0
			}
			o, _ := first(in)
			return dot(o, dy)
		})
	}
	if s.first || s.still || t.Failed() {
		return
	}
	// The second derivative: the gradient of sum(g·v) for the inputs and the cotangents.
	vs := make([]Value, len(g))
	for i := range g {
		if g[i] != nil {
			vs[i] = value(noise(r, g[i].Spec()))
		}
	}
	var all []Value
	all = append(all, xs...)
	for _, c := range dy {
		if c != nil {
			all = append(all, c)
		}
	}
	gg := backward(g, vs, all)
	for i, x := range all {
		compareGradient(t, fmt.Sprintf("second order, operand %d", i), gg[i], x, func() float64 {
			o, xs := first(in)
			return dot(backward(o, dy, xs), vs)
		})
	}
}

// compareGradient perturbs each element of x, in place, and compares f's slope with g.
func compareGradient(t *testing.T, what string, g, x Value, f func() float64) {
	t.Helper()
	a := x.(*ev).arr
	const h = 1e-5
	for i := range a.Size() {
		x0 := elem(a, i)
		put(a, i, x0+h)
		up := f()
		put(a, i, x0-h)
		down := f()
		put(a, i, x0)
		want := (up - down) / (2 * h)
		got := 0.0
		if g != nil {
			got = elem(g.(*ev).arr, i)
		}
		if diff := math.Abs(got - want); !(diff <= 2e-6+2e-6*math.Abs(want)) {
			t.Errorf("%s: element %d: gradient %.8g, slope %.8g", what, i, got, want)
			return
		}
	}
}

func noise(r *rand.Rand, s shape.Spec) kernel.Array {
	a := kernel.New(shape.Spec{DType: s.DType, Dims: s.Dims})
	for i := range a.Size() {
		put(a, i, r.Float64()*2-1)
	}
	return a
}

func dot(xs, ys []Value) float64 {
	s := 0.0
	for i, x := range xs {
		if x == nil || ys[i] == nil {
			continue
		}
		for j := range x.(*ev).arr.Size() {
			s += elem(x.(*ev).arr, j) * elem(ys[i].(*ev).arr, j)
		}
	}
	return s
}

func pick(in []Value, at []int) []Value {
	out := make([]Value, len(at))
	for i, j := range at {
		out[i] = in[j]
	}
	return out
}

func contains(xs []int, x int) bool {
	for _, y := range xs {
		if y == x {
			return true
		}
	}
	return false
}
