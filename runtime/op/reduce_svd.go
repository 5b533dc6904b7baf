package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// singular says whether a norm is one of singular values.
func singular(ord string) bool { return ord == "nuc" || ord == "2" || ord == "-2" }

// matrixDims are the row and column axis of a call: dim, or the last two.
func matrixDims(rank int, a Attrs) []int {
	d := a.Ints("dim")
	if len(d) != 2 {
		d = []int{-2, -1}
	}
	axes, _ := shape.Axes("", d, rank)
	return axes
}

// nuclearShape is the shape of the nuclear norm of the matrices in two axes.
func nuclearShape(n Name, in []shape.Spec, a Attrs) ([]int, error) {
	x, d := in[0], a.Ints("dim")
	if len(d) != 2 && !(len(d) == 0 && len(x.Dims) == 2) {
		return nil, &shape.ArgumentError{Op: string(n), Arg: "dim", Value: d, Why: "a nuclear norm takes two axes"}
	}
	return reduced(n)(in, a)
}

func singularGrad(b Builder, c *Call, dy []Value, ord string) []Value {
	k, x := calc{b}, c.In[0]
	a := at("ord", ord, "dim", matrixDims(len(x.Spec().Dims), c.Attrs))
	return []Value{k.to(k.Do(singularBack, a, dy[0], k.to(x, dy[0].Spec().DType)), x.Spec().DType)}
}

// jacobi orthogonalizes the columns of matrices [batch, m, n], m ≥ n, by
// rotations of pairs: the result is u·diag(s), and v accumulates the rotations.
func (h formula) jacobi(a stablehlo.Value) (us, v stablehlo.Value) {
	batch, m, n := a.Spec.Dims[0], a.Spec.Dims[1], a.Spec.Dims[2]
	t := a.Spec.DType
	row, col := h.Iota(shape.Of(t, 1, n, n), 1), h.Iota(shape.Of(t, 1, n, n), 2)
	v = h.BroadcastTo(h.Convert(h.Compare("EQ", row, col), t), []int{batch, n, n})
	if n < 2 {
		return a, v
	}
	var ps, qs []int64
	for p := range n {
		for q := p + 1; q < n; q++ {
			ps, qs = append(ps, int64(p)), append(qs, int64(q))
		}
	}
	const sweeps = 12
	pairs := len(ps)
	firsts := h.ConstantInts(shape.Of(dtype.I64, pairs), ps)
	seconds := h.ConstantInts(shape.Of(dtype.I64, pairs), qs)
	zero := h.Splat(shape.Of(dtype.I64), 0)
	out := h.While([]stablehlo.Value{zero, a, v},
		func(w *stablehlo.Writer, s []stablehlo.Value) stablehlo.Value {
			return formula{w}.is("LT", s[0], float64(sweeps*pairs))
		},
		func(w *stablehlo.Writer, s []stablehlo.Value) []stablehlo.Value {
			h := formula{w}
			k := h.two("remainder", s[0], h.num(s[0], float64(pairs)))
			pick := func(list stablehlo.Value) stablehlo.Value {
				return h.Reshape(h.DynamicSlice(list, []stablehlo.Value{k}, []int{1}), nil)
			}
			p, q := pick(firsts), pick(seconds)
			column := func(x, j stablehlo.Value, rows int) stablehlo.Value {
				return h.DynamicSlice(x, []stablehlo.Value{zero, zero, j}, []int{batch, rows, 1})
			}
			x, y := column(s[1], p, m), column(s[1], q, m)
			rows := []int{1}
			xx, yy, xy := h.sum(h.mul(x, x), rows), h.sum(h.mul(y, y), rows), h.sum(h.mul(x, y), rows)
			none := h.is("EQ", xy, 0)
			one := h.num(xy, 1)
			z := h.div(h.sub(yy, xx), h.times(h.pick(none, one, xy), 2))
			side := h.pick(h.is("GE", z, 0), one, h.num(z, -1))
			tan := h.div(side, h.add(h.abs(z), h.sqrt(h.plus(h.mul(z, z), 1))))
			tan = h.pick(none, h.num(z, 0), tan)
			cos := h.rsqrt(h.plus(h.mul(tan, tan), 1))
			sin := h.mul(cos, tan)
			turn := func(all stablehlo.Value, rows int) stablehlo.Value {
				x, y := column(all, p, rows), column(all, q, rows)
				nx, ny := h.sub(h.mul(cos, x), h.mul(sin, y)), h.add(h.mul(sin, x), h.mul(cos, y))
				all = h.DynamicUpdateSlice(all, nx, []stablehlo.Value{zero, zero, p})
				return h.DynamicUpdateSlice(all, ny, []stablehlo.Value{zero, zero, q})
			}
			return []stablehlo.Value{h.plus(s[0], 1), turn(s[1], m), turn(s[2], n)}
		})
	return out[1], out[2]
}

// matrices sees input i as [batch, m, n] with m ≥ n; turned says that it was transposed for that.
func (h formula) matrices(x stablehlo.Value, axes []int) (a stablehlo.Value, turned bool) {
	rank := len(x.Spec.Dims)
	m, n := x.Spec.Dims[axes[0]], x.Spec.Dims[axes[1]]
	x = h.Transpose(x, append(keptAxes(rank, axes), axes...))
	a = h.Reshape(x, []int{x.Spec.Size() / max(m*n, 1), m, n})
	if m < n {
		return h.Transpose(a, []int{0, 2, 1}), true
	}
	return a, false
}

// singularNorm lowers a norm of singular values.
func (h formula) singularNorm(c *LowerCall, ord string) []stablehlo.Value {
	if c.In[0].Spec.Size() == 0 {
		return []stablehlo.Value{h.Splat(c.Out[0], 0)}
	}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	a, _ := h.matrices(x, matrixDims(len(x.Spec.Dims), c.Attrs))
	us, _ := h.jacobi(a)
	s := h.norm(us, []int{1}, 2)
	switch ord {
	case "nuc":
		s = h.sum(s, []int{2})
	case "2":
		s = h.largest(s, []int{2})
	default:
		s = h.smallest(s, []int{2})
	}
	return h.results(s, c)
}

func singularBackHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[1], wide(c.Out[0].DType))
	if x.Spec.Size() == 0 {
		return []stablehlo.Value{h.Splat(c.Out[0], 0)}
	}
	rank := len(x.Spec.Dims)
	axes := matrixDims(rank, c.Attrs)
	a, turned := h.matrices(x, axes)
	us, v := h.jacobi(a)
	s := h.norm(us, []int{1}, 2) // [batch, 1, n]
	var use stablehlo.Value
	switch c.Attrs.Str("ord") {
	case "nuc":
		use = h.is("GT", s, 0)
	case "2":
		use = h.cmp("EQ", s, h.largest(s, []int{2}))
	default:
		use = h.cmp("EQ", s, h.smallest(s, []int{2}))
	}
	dy := h.Reshape(h.Convert(c.In[0], x.Spec.DType), []int{a.Spec.Dims[0], 1, 1})
	weight := h.pick(h.and(use, h.is("GT", s, 0)), h.div(dy, s), h.num(s, 0))
	g := h.DotGeneral(h.mul(us, weight), v, stablehlo.DotDims{LHSBatch: []int{0}, RHSBatch: []int{0}, LHSContract: []int{2}, RHSContract: []int{2}}, x.Spec.DType, stablehlo.Highest)
	if turned {
		g = h.Transpose(g, []int{0, 2, 1})
	}
	order := append(keptAxes(rank, axes), axes...)
	moved, back := make([]int, rank), make([]int, rank)
	for i, o := range order {
		moved[i], back[o] = x.Spec.Dims[o], i
	}
	return h.results(h.Transpose(h.Reshape(g, moved), back), c)
}
