package op

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A Case is a call of a row on arrays in f64 and integers. An array that is not
// valid is an absent operand, a weak one a Go number.
type Case struct {
	Label string
	Def   *Def
	Attrs Attrs
	In    []kernel.Array
	Diff  []int // the inputs that have a gradient
	Grown bool  // beyond a vector, a tile or a block
}

// Cases gives the samples of every row as they are and grown, the elementwise
// ones at lengths around those of vectors and tiles.
func Cases() (all []Case) {
	samples := lowerSamples()
	for _, table := range All() {
		for i := range table {
			def := &table[i]
			if def.Class == Collective {
				continue
			}
			for k, s := range samples[def.Name] {
				if c, ok := s.asCase(def, k); ok {
					c.Label = fmt.Sprintf("%s %d", def.Name, k)
					all = append(all, c)
				}
				if k > 0 && def.Class == Elementwise {
					continue
				}
				for j, g := range s.grown(def) {
					if c, ok := g.asCase(def, k); ok {
						c.Label, c.Grown = fmt.Sprintf("%s %d grown %d", def.Name, k, j), true
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// asCase builds the inputs; no when what makes them refuses.
func (s sample) asCase(def *Def, k int) (c Case, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			c, ok = Case{}, false
		}
	}()
	in, diff := s.build(def.Name, k)
	if s.pre != nil {
		in = s.pre(evaluator{}, in)
		diff = nil
		for i, v := range in {
			if v != nil && v.Spec().DType.IsFloat() && !v.Spec().Weak {
				diff = append(diff, i)
			}
		}
	}
	c = Case{Def: def, Attrs: s.attrs, Diff: diff}
	for _, v := range in {
		var a kernel.Array
		if v != nil {
			a = v.(*ev).arr
			a.Weak = v.Spec().Weak
			if def.Class == Elementwise && a.DType == dtype.I64 && !slices.ContainsFunc(a.Buf, func(b byte) bool { return b != 0 }) {
				a = drawn(fmt.Sprint(def.Name, len(c.In)), a)
			}
		}
		c.In = append(c.In, a)
	}
	return c, true
}

// steep are parts of the names of rows that take a time beyond the square of a
// dimension, with a constant that matters.
var steep = []string{"singular", "svd", "eig", "pinv", "matrix_exp", "matrix_rank", "nuc", "lstsq", "cumprod_second", "ctc", "polygamma", "tensordot", "cdist", "solve", "lu_", "inv", "det", "qr"}

// grown gives the sample with larger dimensions. Equal dimensions grow alike, 1
// stays what it is; explicit arrays repeat their elements.
func (s sample) grown(def *Def) (all []sample) {
	rank, most := 0, 0
	for _, x := range s.in {
		if dims := dimsOf(x); dims != nil {
			rank = max(rank, len(dims))
			if len(dims) > 0 {
				most = max(most, slices.Max(dims))
			}
		}
	}
	if def.Class == Elementwise {
		if len(s.in) == 0 {
			return nil
		}
		for _, n := range []int{7, 257, 4099} {
			all = append(all, s.resized(func([]int) []int { return []int{n} }))
		}
		first := true // a matrix, then columns and rows spread over it
		all = append(all, s.resized(func([]int) []int {
			if first {
				first = false
				return []int{33, 257}
			}
			return []int{33, 1}
		}))
		first = true
		return append(all, s.resized(func([]int) []int {
			if first {
				first = false
				return []int{33, 1}
			}
			return []int{257}
		}))
	}
	if most < 2 {
		return nil
	}
	sizes := map[int][]int{1: {257}, 2: {33}, 3: {17}, 4: {14}, 5: {7}}[rank]
	switch def.Class {
	case Reduce, Normalize:
		sizes = map[int][]int{1: {4099}, 2: {131}, 3: {33}}[rank]
	case Contract:
		sizes = map[int][]int{1: {67}, 2: {67}, 3: {35}, 4: {14}, 5: {7}}[rank]
	}
	if slices.ContainsFunc(steep, func(part string) bool { return strings.Contains(string(def.Name), part) }) {
		sizes = []int{9}
	}
	for _, to := range sizes {
		by := max(2, (to-1)/(most-1))
		all = append(all, s.resized(func(dims []int) []int {
			out := make([]int, len(dims))
			for i, n := range dims {
				out[i] = n
				if n > 1 {
					out[i] = (n-1)*by + 1
				}
			}
			return out
		}))
	}
	return all
}

// dimsOf gives the dimensions of an entry of a sample; nil for what is no tensor.
func dimsOf(x any) []int {
	switch x := x.(type) {
	case []int:
		return x
	case *kernel.Array:
		return x.Dims
	case fixed:
		return x.Dims
	}
	return nil
}

// resized gives the sample with other dimensions.
func (s sample) resized(to func(dims []int) []int) sample {
	out := s
	out.in = make([]any, len(s.in))
	for i, x := range s.in {
		switch x := x.(type) {
		case []int:
			out.in[i] = to(x)
		case *kernel.Array:
			a := tiled(*x, to(x.Dims))
			out.in[i] = &a
		case fixed:
			out.in[i] = fixed{tiled(x.Array, to(x.Dims))}
		default:
			out.in[i] = x
		}
	}
	return out
}

// tiled fills an array of other dimensions with the elements of x, in turn.
func tiled(x kernel.Array, dims []int) kernel.Array {
	out := kernel.New(shape.Spec{DType: x.DType, Dims: dims})
	if x.Size() == 0 {
		return out
	}
	w := x.DType.HostBytes()
	src := kernel.Contiguous(x).Buf[:x.Size()*w]
	for i := 0; i < out.Size(); i++ {
		at := i % x.Size()
		copy(out.Buf[i*w:(i+1)*w], src[at*w:])
	}
	return out
}

// Typed gives the inputs of a case in another element type: floats as they are,
// integers as quarters rounded. No when there is nothing to convert.
func (c *Case) Typed(t dtype.DType) (in []kernel.Array, ok bool) {
	for _, a := range c.In {
		if a.Valid() && a.DType == dtype.F64 && !a.Weak {
			ok = true
			if !t.IsFloat() {
				b := kernel.New(a.Spec())
				for i, x := range kernel.Float64s(a) {
					kernel.As[float64](b.Buf)[i] = float64(int(x * 4))
				}
				a = b
			}
			a = kernel.Cast(a, t)
		}
		in = append(in, a)
	}
	return in, ok
}

// drawn makes numbers for an integer operand whose sample holds zeros.
func drawn(label string, like kernel.Array) kernel.Array {
	h := fnv.New64a()
	h.Write([]byte(label))
	r := rand.New(rand.NewPCG(h.Sum64(), 2))
	a := kernel.New(like.Spec())
	for i := range kernel.As[int64](a.Buf)[:a.Size()] {
		kernel.As[int64](a.Buf)[i] = int64(r.IntN(64))
	}
	return a
}
