package tpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
)

// A slowView is a tensor as a list: which element of the base each of its
// elements is.
type slowView struct {
	dims []int
	from []int
}

// build fills a view of the given sizes: at gives the element of v that an
// element of the result is.
func (v slowView) build(dims []int, at func(p []int) []int) slowView {
	out := slowView{dims: slices.Clone(dims)}
	eachPosition(dims, func(p []int) {
		q, flat := at(p), 0
		for i, d := range v.dims {
			flat = flat*d + q[i]
		}
		out.from = append(out.from, v.from[flat])
	})
	return out
}

func without(p []int, i int) []int { return slices.Delete(slices.Clone(p), i, i+1) }

func with(p []int, i, x int) []int { return slices.Insert(slices.Clone(p), i, x) }

// viewStep applies one random view to the tensor and to the list; ok is false when there is none to apply.
func viewStep(r *rand.Rand, x *Tensor, v slowView) (y *Tensor, w slowView, ok bool) {
	n := len(v.dims)
	axis := func() int { return r.IntN(max(n, 1)) }
	neg := func(a int) int { // an axis counted from the end, now and then
		if r.IntN(2) == 0 {
			return a - n
		}
		return a
	}
	switch k := r.IntN(12); {
	case k == 0: // a new axis
		a := r.IntN(n + 1)
		return x.Unsqueeze(a), v.build(with(v.dims, a, 1), func(p []int) []int { return without(p, a) }), n < 6
	case n == 0:
		return nil, v, false
	case k == 1:
		a, b := axis(), axis()
		d := slices.Clone(v.dims)
		d[a], d[b] = d[b], d[a]
		return x.Transpose(neg(a), neg(b)), v.build(d, func(p []int) []int {
			q := slices.Clone(p)
			q[a], q[b] = q[b], q[a]
			return q
		}), true
	case k == 2:
		perm := r.Perm(n)
		d := make([]int, n)
		for i, p := range perm {
			d[i] = v.dims[p]
		}
		return x.Permute(perm...), v.build(d, func(p []int) []int {
			q := make([]int, n)
			for i, a := range perm {
				q[a] = p[i]
			}
			return q
		}), true
	case k == 3:
		a := axis()
		if v.dims[a] == 0 {
			return nil, v, false
		}
		i := r.IntN(v.dims[a])
		return x.Select(neg(a), i-r.IntN(2)*v.dims[a]), v.build(without(v.dims, a), func(p []int) []int { return with(p, a, i) }), true
	case k == 4 || k == 5:
		a := axis()
		lo := r.IntN(v.dims[a] + 1)
		step := 1 + r.IntN(3)
		hi := lo + r.IntN(v.dims[a]-lo+1)
		d := slices.Clone(v.dims)
		d[a] = (hi - lo + step - 1) / step
		items := make([]any, a+1)
		for i := range a {
			items[i] = Slice(nil, nil)
		}
		items[a] = SliceStep(lo, hi, step)
		return x.Index(items...), v.build(d, func(p []int) []int {
			q := slices.Clone(p)
			q[a] = lo + q[a]*step
			return q
		}), true
	case k == 6: // stretch an axis of size 1, or a new one
		a := slices.Index(v.dims, 1)
		if a < 0 || n > 5 {
			return nil, v, false
		}
		d := slices.Clone(v.dims)
		d[a] = r.IntN(4)
		return x.Expand(d...), v.build(d, func(p []int) []int {
			q := slices.Clone(p)
			q[a] = 0
			return q
		}), true
	case k == 7:
		a := slices.Index(v.dims, 1)
		if a < 0 {
			return nil, v, false
		}
		return x.Squeeze(neg(a)), v.build(without(v.dims, a), func(p []int) []int { return with(p, a, 0) }), true
	case k == 8: // windows
		a := axis()
		if v.dims[a] == 0 || n > 5 {
			return nil, v, false
		}
		size, step := 1+r.IntN(v.dims[a]), 1+r.IntN(2)
		d := append(slices.Clone(v.dims), size)
		d[a] = (v.dims[a]-size)/step + 1
		return x.Unfold(neg(a), size, step), v.build(d, func(p []int) []int {
			q := slices.Clone(p[:n])
			q[a] = p[a]*step + p[n]
			return q
		}), true
	case k == 9 && n > 1: // a diagonal
		a, b := 0, 1
		off := r.IntN(3) - 1
		size := min(v.dims[a], v.dims[b]-off)
		if off < 0 {
			size = min(v.dims[a]+off, v.dims[b])
		}
		d := append(slices.Clone(v.dims[2:]), max(size, 0))
		return x.Diagonal(DiagonalOptions{Offset: off, Dim1: a, Dim2: b}), v.build(d, func(p []int) []int {
			i := p[len(p)-1]
			return append([]int{i + max(0, -off), i + max(0, off)}, p[:len(p)-1]...)
		}), true
	case k == 10: // two axes as one, where their strides allow it
		if n < 2 {
			return nil, v, false
		}
		a := r.IntN(n - 1)
		d := slices.Clone(v.dims)
		d[a] *= d[a+1]
		d = without(d, a+1)
		var out *Tensor
		if Try(func() { out = x.View(d...) }) != nil {
			return nil, v, false
		}
		return out, slowView{d, v.from}, true
	case k == 11: // one axis as two
		a := axis()
		if v.dims[a]%2 != 0 || v.dims[a] == 0 || n > 5 {
			return nil, v, false
		}
		d := slices.Clone(v.dims)
		d[a] /= 2
		d = with(d, a+1, 2)
		return x.View(d...), slowView{d, v.from}, true
	}
	return nil, v, false
}

// checkViews takes views of views, and compares what they show, what a write
// through the last one changes, and what its gradient is.
func checkViews(t testing.TB, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	dims := make([]int, 1+r.IntN(3))
	for i := range dims {
		dims[i] = r.IntN(5)
	}
	n := shape.Size(dims)
	base := F64.Arange(n).Reshape(dims...)
	leaf := base.Clone().RequireGrad()
	x, y := base, leaf
	v := slowView{dims: dims}
	for i := range n {
		v.from = append(v.from, i)
	}
	for range 1 + r.IntN(6) {
		s := r.Uint64()
		nx, w, ok := viewStep(rand.New(rand.NewPCG(s, 1)), x, v)
		if !ok || len(w.from) > 4096 {
			continue
		}
		ny, _, _ := viewStep(rand.New(rand.NewPCG(s, 1)), y, v)
		x, y, v = nx, ny, w
		if !shape.EqualDims(x.Dims(), v.dims) || !slices.Equal(toInts(x), v.from) && len(v.from) > 0 {
			t.Fatalf("seed %d: %v shows %v, want %v %v", seed, x.StorageView(), toInts(x), v.dims, v.from)
		}
		if !x.SharesStorage(base) {
			t.Fatalf("seed %d: a view is a copy", seed)
		}
	}
	y.Mul(3).Sum().Backward()
	want := make([]int, n)
	for _, f := range v.from {
		want[f] += 3
	}
	if got := toInts(leaf.Grad()); !slices.Equal(got, want) {
		t.Fatalf("seed %d: gradient through %v is %v, want %v", seed, x.StorageView(), got, want)
	}
	// A write through the view: refused when two elements share a place.
	seen := map[int]bool{}
	for _, f := range v.from {
		seen[f] = true
	}
	value := F64.Arange(len(v.from)).Add(100).Reshape(append([]int{}, v.dims...)...)
	have := toInts(base)
	version := base.Version()
	err := Try(func() { x.CopyFrom(value) })
	if len(seen) < len(v.from) {
		var e *shape.OverlapError
		if !asError(err, &e) || base.Version() != version || !slices.Equal(toInts(base), have) {
			t.Fatalf("seed %d: a write to %v, which overlaps itself: %v", seed, x.StorageView(), err)
		}
		return
	}
	for i, f := range v.from {
		have[f] = 100 + i
	}
	if err != nil || !slices.Equal(toInts(base), have) {
		t.Fatalf("seed %d: after a write through %v: %v %v, want %v", seed, x.StorageView(), err, toInts(base), have)
	}
}

// TestViewsAgreeWithReference takes random views in every mode.
func TestViewsAgreeWithReference(t *testing.T) {
	for i, m := range exec.Modes() {
		use(t, m)
		for seed := range uint64(250) {
			checkViews(t, uint64(i)*1e6+seed)
		}
	}
}

// FuzzViews: views of views show, write and differentiate what their definitions say.
func FuzzViews(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, mode uint8) {
		modes := exec.Modes()
		use(t, modes[int(mode)%len(modes)])
		checkViews(t, seed)
	})
}
