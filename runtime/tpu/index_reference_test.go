package tpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A slow reference of PyTorch's indexing: it enumerates the positions of the
// result one by one and shares nothing with the runtime.

// refItem is one item of an index.
type refItem struct {
	kind        byte // i: integer, s: slice, n: new axis, d: ellipsis, b: bool, t: tensor of integers, m: mask
	at          int
	start, stop any // int or nil
	step        int
	dims        []int // of a tensor
	ints        []int
}

// item is what Index takes.
func (x refItem) item(r *rand.Rand) any {
	switch x.kind {
	case 'i':
		return x.at
	case 's':
		if x.step == 1 && r.IntN(2) == 0 {
			return Slice(x.start, x.stop)
		}
		return SliceStep(x.start, x.stop, x.step)
	case 'n':
		return NewAxis
	case 'd':
		return Ellipsis
	case 'b':
		return x.at == 1
	case 'm':
		return intTensor(U8, x.ints, x.dims).Ne(0)
	}
	if len(x.dims) == 1 && r.IntN(3) == 0 {
		return slices.Clone(x.ints)
	}
	return intTensor([]DType{I64, I32}[r.IntN(2)], x.ints, x.dims)
}

func intTensor(t DType, xs, dims []int) *Tensor {
	any := make([]any, len(xs))
	for i, x := range xs {
		any[i] = x
	}
	return t.Of(any...).Reshape(append([]int{}, dims...)...)
}

// takes is the number of axes an item uses up.
func (x refItem) takes() int {
	switch x.kind {
	case 'i', 's', 't':
		return 1
	case 'm':
		return len(x.dims)
	}
	return 0
}

func eachPosition(dims []int, f func(at []int)) {
	at := make([]int, len(dims))
	for _, d := range dims {
		if d == 0 {
			return
		}
	}
	for {
		f(at)
		k := len(dims) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < dims[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// refAxis is an axis of the result before the index tensors are looked at.
type refAxis struct{ size, src, start, step int } // src < 0: new axis

// refColumn is one index tensor: where it stands among the axes, the source axis it points into.
type refColumn struct {
	place, src int
	dims, ints []int
}

// reference gives the sizes of x[items] and, for every element, its position
// in x in row-major order; ok is false when PyTorch refuses.
func reference(dims []int, items []refItem) (out []int, from []int, ok bool) {
	used, dots := 0, 0
	for _, x := range items {
		used += x.takes()
		if x.kind == 'd' {
			dots++
		}
	}
	if used > len(dims) || dots > 1 {
		return nil, nil, false
	}
	if dots == 0 {
		items = append(slices.Clone(items), refItem{kind: 'd'})
	}
	fixed := make([]int, len(dims)) // what integers choose
	var axes []refAxis
	var cols []refColumn
	src := 0
	for _, x := range items {
		switch x.kind {
		case 'i':
			i := x.at
			if i < 0 {
				i += dims[src]
			}
			if i < 0 || i >= dims[src] {
				return nil, nil, false
			}
			fixed[src] = i
			src++
		case 's':
			if x.step <= 0 {
				return nil, nil, false
			}
			n := dims[src]
			bound := func(v any, open int) int {
				i, ok := v.(int)
				if !ok {
					return open
				}
				if i < 0 {
					i += n
				}
				return min(max(i, 0), n)
			}
			lo, hi := bound(x.start, 0), bound(x.stop, n)
			axes = append(axes, refAxis{(max(hi-lo, 0) + x.step - 1) / x.step, src, lo, x.step})
			src++
		case 'n':
			axes = append(axes, refAxis{1, -1, 0, 1})
		case 'd':
			for range len(dims) - used {
				axes = append(axes, refAxis{dims[src], src, 0, 1})
				src++
			}
		case 'b':
			axes = append(axes, refAxis{1, -1, 0, 1})
			ints := []int{}
			if x.at == 1 {
				ints = []int{0}
			}
			cols = append(cols, refColumn{len(axes) - 1, -1, []int{len(ints)}, ints})
		case 't':
			axes = append(axes, refAxis{dims[src], src, 0, 1})
			cols = append(cols, refColumn{len(axes) - 1, src, x.dims, x.ints})
			src++
		case 'm':
			if !slices.Equal(x.dims, dims[src:src+len(x.dims)]) {
				return nil, nil, false
			}
			ks := make([]refColumn, len(x.dims))
			n := 0
			for k := range ks {
				axes = append(axes, refAxis{dims[src+k], src + k, 0, 1})
				ks[k] = refColumn{place: len(axes) - 1, src: src + k}
			}
			k := 0
			eachPosition(x.dims, func(at []int) {
				if x.ints[k] != 0 {
					for j := range ks {
						ks[j].ints = append(ks[j].ints, at[j])
					}
					n++
				}
				k++
			})
			for j := range ks {
				ks[j].dims = []int{n}
			}
			cols = append(cols, ks...)
			src += len(x.dims)
		}
	}
	// Broadcast the index tensors.
	var common []int
	for _, c := range cols {
		for len(common) < len(c.dims) {
			common = append([]int{1}, common...)
		}
		for i := range c.dims {
			p := len(common) - len(c.dims) + i
			switch {
			case common[p] == 1:
				common[p] = c.dims[i]
			case c.dims[i] != 1 && c.dims[i] != common[p]:
				return nil, nil, false
			}
		}
	}
	size := func(d []int) int {
		n := 1
		for _, x := range d {
			n *= x
		}
		return n
	}
	for i, c := range cols {
		n := 1
		if c.src >= 0 {
			n = dims[c.src]
		}
		cols[i].ints = slices.Clone(c.ints)
		for k, v := range cols[i].ints {
			if v < 0 {
				v += n
			}
			if v < 0 || v >= n {
				return nil, nil, false
			}
			cols[i].ints[k] = v
		}
		if n == 0 && size(common) > 0 {
			return nil, nil, false
		}
	}
	// Axes of the result: -1-k is axis k of the broadcast indices, else an axis.
	var order []int
	if len(cols) > 0 {
		first, adjacent := cols[0].place, true
		for i, c := range cols {
			adjacent = adjacent && c.place == first+i
		}
		put := func() {
			for k := range common {
				order = append(order, -1-k)
			}
		}
		if !adjacent {
			put()
		}
		for i := range axes {
			if adjacent && i == first {
				put()
			}
			if !slices.ContainsFunc(cols, func(c refColumn) bool { return c.place == i }) {
				order = append(order, i)
			}
		}
	} else {
		for i := range axes {
			order = append(order, i)
		}
	}
	out = []int{}
	for _, o := range order {
		if o < 0 {
			out = append(out, common[-1-o])
		} else {
			out = append(out, axes[o].size)
		}
	}
	eachPosition(out, func(at []int) {
		pos := slices.Clone(fixed)
		which := make([]int, len(common))
		for i, o := range order {
			switch {
			case o < 0:
				which[-1-o] = at[i]
			case axes[o].src >= 0:
				pos[axes[o].src] = axes[o].start + at[i]*axes[o].step
			}
		}
		for _, c := range cols {
			flat := 0
			for i, d := range c.dims {
				w := which[len(common)-len(c.dims)+i]
				if d == 1 {
					w = 0
				}
				flat = flat*d + w
			}
			if c.src >= 0 {
				pos[c.src] = c.ints[flat]
			}
		}
		flat := 0
		for i, d := range dims {
			flat = flat*d + pos[i]
		}
		from = append(from, flat)
	})
	return out, from, true
}

// randomItems draws an index for a tensor of the given sizes, seldom a wrong one.
func randomItems(r *rand.Rand, dims []int) []refItem {
	var items []refItem
	left := dims
	bound := func(n int) any {
		if r.IntN(3) == 0 {
			return nil
		}
		return r.IntN(2*n+4) - n - 2
	}
	var common []int
	for range r.IntN(3) {
		common = append(common, r.IntN(3)+r.IntN(2))
	}
	dots := false
	for n := r.IntN(len(dims) + 3); n > 0; n-- {
		size := 1
		if len(left) > 0 {
			size = left[0]
		}
		var x refItem
		switch k := r.IntN(22); {
		case k < 4:
			x = refItem{kind: 'i', at: r.IntN(2*size+1) - size}
			if x.at == size && r.IntN(8) > 0 {
				x.at = 0
			}
		case k < 9:
			x = refItem{kind: 's', start: bound(size), stop: bound(size), step: 1 + r.IntN(3)}
			if r.IntN(60) == 0 {
				x.step = -r.IntN(2)
			}
		case k < 11:
			x = refItem{kind: 'n'}
		case k < 12:
			if dots && r.IntN(10) > 0 {
				continue
			}
			x, dots = refItem{kind: 'd'}, true
			if skip := r.IntN(len(left) + 1); skip > 0 {
				left = left[skip:]
			}
		case k < 13:
			x = refItem{kind: 'b', at: min(1, r.IntN(5))}
		case k < 19:
			if size == 0 && r.IntN(4) > 0 {
				continue
			}
			x = refItem{kind: 't', dims: slices.Clone(common[r.IntN(len(common)+1):])}
			for i := range x.dims {
				if r.IntN(4) == 0 {
					x.dims[i] = 1
				}
			}
			if r.IntN(30) == 0 {
				x.dims = append(x.dims, 2)
			}
			if len(x.dims) == 0 { // PyTorch takes a tensor without axes for an integer
				x = refItem{kind: 'i', at: r.IntN(max(size, 1))}
				break
			}
			x.ints = []int{}
			eachPosition(x.dims, func([]int) {
				v := 0
				if size > 0 {
					v = r.IntN(2*size) - size
				}
				if r.IntN(150) == 0 {
					v = size
				}
				x.ints = append(x.ints, v)
			})
		default:
			k := min(1+r.IntN(2), len(left))
			if k == 0 {
				continue
			}
			x = refItem{kind: 'm', dims: slices.Clone(left[:k]), ints: []int{}}
			if r.IntN(40) == 0 {
				x.dims[k-1]++
			}
			eachPosition(x.dims, func([]int) { x.ints = append(x.ints, r.IntN(2)) })
		}
		items = append(items, x)
		left = left[min(x.takes(), len(left)):]
	}
	return items
}

// seenTensor makes f64[dims] of 0, 1, … that lies in its storage in one of several ways.
func seenTensor(r *rand.Rand, dims []int) *Tensor {
	n := shape.Size(dims)
	dense := F64.Arange(n).Reshape(append([]int{}, dims...)...)
	if len(dims) == 0 {
		return dense
	}
	switch r.IntN(4) {
	case 0: // the axes in reverse order
		rev := make([]int, len(dims))
		for i := range rev {
			rev[i] = len(dims) - 1 - i
		}
		return dense.Permute(rev...).Contiguous().Clone().Permute(rev...)
	case 1: // every second element of a wider one
		big := F64.Full(-1, append(slices.Clone(dims[:len(dims)-1]), 2*dims[len(dims)-1]+1)...)
		v := big.Index(Ellipsis, SliceStep(1, nil, 2))
		v.CopyFrom(dense)
		return v
	case 2: // some rows of a longer one
		big := F64.Full(-1, append([]int{dims[0] + 2}, dims[1:]...)...)
		v := big.Index(Slice(1, dims[0]+1))
		v.CopyFrom(dense)
		return v
	}
	return dense
}

func toInts(t *Tensor) []int {
	out := []int{}
	for _, f := range kernel.Float64s(kernel.Contiguous(t.Array())) {
		out = append(out, int(f))
	}
	return out
}

// checkIndexing compares one random index, read, written and differentiated, with the reference.
func checkIndexing(t testing.TB, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	dims := make([]int, r.IntN(5))
	for i := range dims {
		dims[i] = min(r.IntN(5), 3)
	}
	items := randomItems(r, dims)
	want, from, ok := reference(dims, items)
	fatal := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d: f64%s index %+v: %s", seed, shape.FormatDims(dims), items, fmt.Sprintf(format, args...))
	}
	x := seenTensor(r, dims)
	args := make([]any, len(items))
	for i, it := range items {
		args[i] = it.item(r)
	}
	var y *Tensor
	err := Try(func() { y = x.Index(args...); y.Array() })
	if ok != (err == nil) {
		fatal("the reference accepts: %v; error %v", ok, err)
	}
	if !ok {
		before := toInts(x)
		if err := Try(func() { x.SetIndex(5, args...); x.Array() }); err == nil {
			fatal("a write is accepted")
		}
		if !slices.Equal(before, toInts(x)) {
			fatal("a refused write changed the target")
		}
		return
	}
	if !shape.EqualDims(y.Dims(), want) || !slices.Equal(toInts(y), from) && len(from) > 0 {
		fatal("got %v %v, want %v %v", y.Dims(), toInts(y), want, from)
	}
	basic := !slices.ContainsFunc(items, func(x refItem) bool { return x.kind == 't' || x.kind == 'm' || x.kind == 'b' })
	if y.SharesStorage(x) != basic {
		fatal("shares the storage: %v, want %v", !basic, basic)
	}
	// The gradient of a sum of the result counts how often each element was read.
	leaf := x.Detach().Clone().RequireGrad()
	leaf.Index(args...).Mul(2).Sum().Backward()
	count := make([]int, shape.Size(dims))
	for _, f := range from {
		count[f] += 2
	}
	if g := leaf.Grad(); !slices.Equal(toInts(g), count) {
		fatal("gradient %v, want %v", toInts(g), count)
	}
	checkWrite(r, x, args, want, from, fatal)
}

// checkWrite writes a value that broadcasts to the result and compares the target.
func checkWrite(r *rand.Rand, x *Tensor, args []any, want, from []int, fatal func(string, ...any)) {
	vd := slices.Clone(want[r.IntN(len(want)+1):])
	for i := range vd {
		if r.IntN(4) == 0 {
			vd[i] = 1
		}
	}
	if r.IntN(5) == 0 {
		vd = append([]int{1}, vd...)
	}
	v := F64.Arange(shape.Size(vd)).Add(1000).Reshape(append([]int{}, vd...)...)
	value := any(v)
	if shape.Size(vd) == 1 && r.IntN(2) == 0 {
		value, vd = 1000, nil
	}
	have := toInts(x)
	k := 0
	unique := map[int]bool{}
	eachPosition(want, func(at []int) {
		flat := 0
		for i, d := range vd {
			if j := len(want) - len(vd) + i; j >= 0 && d > 1 {
				flat = flat*d + at[j]
			}
		}
		have[from[k]] = 1000 + flat
		unique[from[k]] = true
		k++
	})
	base := x
	if len(unique) < len(from) && shape.Size(vd) > 1 {
		return // which of several writes wins is not said
	}
	version := base.Version()
	if err := Try(func() { base.SetIndex(value, args...); base.Array() }); err != nil {
		fatal("write of %v: %v", vd, err)
	}
	if !slices.Equal(toInts(base), have) {
		fatal("after a write of %v: %v, want %v", vd, toInts(base), have)
	}
	if base.Version() <= version {
		fatal("the write does not count")
	}
}

// TestIndexingAgreesWithReference draws indices of every kind, in every mode.
func TestIndexingAgreesWithReference(t *testing.T) {
	for i, m := range exec.Modes() {
		use(t, m).SetChecks(exec.ChecksOn)
		for seed := range uint64(250) {
			checkIndexing(t, uint64(i)*1e6+seed)
		}
	}
}

// FuzzIndexing: any index reads, writes and differentiates as the reference says.
func FuzzIndexing(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, mode uint8) {
		modes := exec.Modes()
		use(t, modes[int(mode)%len(modes)]).SetChecks(exec.ChecksOn)
		checkIndexing(t, seed)
	})
}
