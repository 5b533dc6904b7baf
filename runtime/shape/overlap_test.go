package shape

import (
	"math/rand/v2"
	"testing"
)

func bruteOverlaps(v View) bool {
	seen := map[int]bool{}
	for _, a := range addresses(v) {
		if seen[a] {
			return true
		}
		seen[a] = true
	}
	return false
}

func bruteRelate(v, w View) Relation {
	a, b := addresses(v), addresses(w)
	same := EqualDims(v.Dims, w.Dims) && len(a) > 0
	seen := map[int]bool{}
	for i := range a {
		same = same && a[i] == b[i]
		seen[a[i]] = true
	}
	if same {
		return Same
	}
	for _, x := range b {
		if seen[x] {
			return Partial
		}
	}
	return Disjoint
}

func checkOverlap(t *testing.T, v, w View) {
	t.Helper()
	if got, want := Overlaps(v), bruteOverlaps(v); got != want {
		t.Fatalf("Overlaps(%v) = %v", v, got)
	}
	if got, want := Relate(v, w), bruteRelate(v, w); got != want {
		t.Fatalf("Relate(%v, %v) = %v, want %v", v, w, got, want)
	}
}

func randomView(r *rand.Rand) View {
	v := View{Offset: r.IntN(20)}
	for range r.IntN(4) {
		v.Dims = append(v.Dims, r.IntN(5))
		v.Strides = append(v.Strides, r.IntN(12))
	}
	return v
}

func TestOverlapIsExact(t *testing.T) {
	for _, v := range samples(t) {
		for _, w := range samples(t) {
			checkOverlap(t, v, w)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		checkOverlap(t, randomView(r), randomView(r))
	}
}

func TestRelationsUsersMeet(t *testing.T) {
	x := Dense([]int{5})
	a, _ := x.Slice(0, 1, 5, 1)
	b, _ := x.Slice(0, 0, 4, 1)
	even, _ := x.Slice(0, 0, 5, 2)
	odd, _ := x.Slice(0, 1, 5, 2)
	m := Dense([]int{1 << 12, 1 << 12})
	mt, _ := m.Transpose(0, 1)
	left, _ := m.Slice(1, 0, 1<<11, 1)
	right, _ := m.Slice(1, 1<<11, 1<<12, 1)
	row, _ := m.Select(0, 7)
	for _, c := range []struct {
		v, w View
		want Relation
	}{{x, x, Same}, {a, b, Partial}, {even, odd, Disjoint}, {m, mt, Partial}, {left, right, Disjoint}, {m, row, Partial}, {left, row, Partial}} {
		if got := Relate(c.v, c.w); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.v, c.w, got, c.want)
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		checkOverlap(t, randomView(r), randomView(r))
	})
}

func FuzzReshape(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		v := randomView(r)
		n := Size(v.Dims)
		if n == 0 {
			return
		}
		all := shapesOf(n, r.IntN(4)+1)
		dims := all[r.IntN(len(all))]
		want := addresses(v)
		w, ok := v.Reshape(dims)
		if ok != viewable(want, dims) {
			t.Fatalf("%v to %v: view %v", v, dims, ok)
		}
		if ok {
			got := addresses(w)
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%v to %v gives %v", v, dims, w)
				}
			}
		}
	})
}
