package op

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// oneType demands one element type of all operands, and that it is not bool.
func oneType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		for _, s := range in[1:] {
			if s.Valid() && s.DType != in[0].DType {
				return dtype.Invalid, &TypesError{Op: name, Left: in[0], Right: s}
			}
		}
		if in[0].DType == dtype.Bool {
			return dtype.Invalid, &TypeError{Op: name, Arg: "input", DType: dtype.Bool, Want: "a number"}
		}
		return in[0].DType, nil
	}
}

// wantRank refuses an operand whose rank is not r.
func wantRank(name, arg string, s shape.Spec, r int) error {
	if s.Rank() != r {
		return wrongRank(name, arg, s, r, r)
	}
	return nil
}

// innerDiffer is the error of two matrices that cannot be multiplied.
func innerDiffer(name string, x, y shape.Spec, axis, m, n int) error {
	return &shape.MismatchError{Op: name, Left: x, Right: y, Axis: axis, Why: fmt.Sprintf("inner sizes %d and %d differ", m, n)}
}

// matmulShape is PyTorch's rule for matmul:
// [..,m,k] × [..,k,n] → [..,m,n]; a vector on the left is a row, on the right a
// column, and its axis is left out of the result.
func matmulShape(in []shape.Spec, _ Attrs) ([]int, error) { return matmulDims("matmul", in[0], in[1]) }

func matmulDims(name string, x, y shape.Spec) ([]int, error) {
	if x.Rank() == 0 {
		return nil, wrongRank(name, "input", x, 1, -1)
	}
	if y.Rank() == 0 {
		return nil, wrongRank(name, "other", y, 1, -1)
	}
	rx, ry := x.Rank(), y.Rank()
	if k, l := x.Dims[rx-1], y.Dims[max(ry-2, 0)]; k != l {
		return nil, innerDiffer(name, x, y, rx-1, k, l)
	}
	batch, ok := shape.Broadcast(x.Dims[:max(rx-2, 0)], y.Dims[:max(ry-2, 0)])
	if !ok {
		return nil, &shape.MismatchError{Op: name, Left: x, Right: y, Axis: -1, Why: fmt.Sprintf("batch sizes %s and %s do not broadcast",
			shape.FormatDims(x.Dims[:rx-2]), shape.FormatDims(y.Dims[:ry-2]))}
	}
	dims := append([]int{}, batch...)
	if rx > 1 {
		dims = append(dims, x.Dims[rx-2])
	}
	if ry > 1 {
		dims = append(dims, y.Dims[ry-1])
	}
	return dims, nil
}

// ranked is matmulShape for operands of fixed ranks whose batch does not broadcast.
func ranked(name string, rx, ry int) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, _ Attrs) ([]int, error) { return rankedDims(name, in[0], in[1], rx, ry) }
}

func rankedDims(name string, x, y shape.Spec, rx, ry int) ([]int, error) {
	if err := wantRank(name, "input", x, rx); err != nil {
		return nil, err
	}
	if err := wantRank(name, "other", y, ry); err != nil {
		return nil, err
	}
	if rx == 3 && ry == 3 && x.Dims[0] != y.Dims[0] {
		return nil, &shape.MismatchError{Op: name, Left: x, Right: y, Axis: 0, Why: fmt.Sprintf("batch sizes %d and %d differ", x.Dims[0], y.Dims[0])}
	}
	return matmulDims(name, x, y)
}

// addedShape is the rule of addmm and its family: the product of the second
// and third operand, to which the first broadcasts.
func addedShape(name string, rx, ry int, product func(x, y shape.Spec) ([]int, error)) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, _ Attrs) ([]int, error) {
		if err := wantRank(name, "mat1", in[1], rx); err != nil {
			return nil, err
		}
		if err := wantRank(name, "mat2", in[2], ry); err != nil {
			return nil, err
		}
		dims, err := product(in[1], in[2])
		if err != nil {
			return nil, err
		}
		if d, ok := shape.Broadcast(in[0].Dims, dims); !ok || !shape.EqualDims(d, dims) {
			return nil, &shape.MismatchError{Op: name, Left: in[0], Right: shape.Spec{DType: in[1].DType, Dims: dims}, Axis: -1, Why: "the added operand does not broadcast to the product"}
		}
		return dims, nil
	}
}

func mmDims(name string, rx, ry int) func(x, y shape.Spec) ([]int, error) {
	return func(x, y shape.Spec) ([]int, error) { return rankedDims(name, x, y, rx, ry) }
}

func addbmmDims(x, y shape.Spec) ([]int, error) {
	d, err := rankedDims("addbmm", x, y, 3, 3)
	if err != nil {
		return nil, err
	}
	return d[1:], nil
}

func outerDims(x, y shape.Spec) ([]int, error) { return []int{x.Dims[0], y.Dims[0]}, nil }

func outerShape(in []shape.Spec, _ Attrs) ([]int, error) {
	if err := wantRank("outer", "input", in[0], 1); err != nil {
		return nil, err
	}
	if err := wantRank("outer", "vec2", in[1], 1); err != nil {
		return nil, err
	}
	return outerDims(in[0], in[1])
}

func innerShape(in []shape.Spec, _ Attrs) ([]int, error) {
	x, y := in[0], in[1]
	if x.Rank() == 0 || y.Rank() == 0 {
		return append(append([]int{}, x.Dims...), y.Dims...), nil
	}
	i, j := x.Rank()-1, y.Rank()-1
	if x.Dims[i] != y.Dims[j] {
		return nil, innerDiffer("inner", x, y, i, x.Dims[i], y.Dims[j])
	}
	return append(append([]int{}, x.Dims[:i]...), y.Dims[:j]...), nil
}

// linearShape: [..,k] × [n,k] + [n] → [..,n]; a weight [k] gives [..].
func linearShape(in []shape.Spec, _ Attrs) ([]int, error) {
	x, w := in[0], in[1]
	if x.Rank() == 0 {
		return nil, wrongRank("linear", "input", x, 1, -1)
	}
	if w.Rank() != 1 && w.Rank() != 2 {
		return nil, wrongRank("linear", "weight", w, 1, 2)
	}
	i, j := x.Rank()-1, w.Rank()-1
	if x.Dims[i] != w.Dims[j] {
		return nil, innerDiffer("linear", x, w, i, x.Dims[i], w.Dims[j])
	}
	dims := append(append([]int{}, x.Dims[:i]...), w.Dims[:j]...)
	if len(in) > 2 && in[2].Valid() {
		if d, ok := shape.Broadcast(in[2].Dims, dims); !ok || !shape.EqualDims(d, dims) {
			return nil, &shape.MismatchError{Op: "linear", Left: in[2], Right: shape.Spec{DType: x.DType, Dims: dims}, Axis: -1, Why: "the bias does not broadcast to the result"}
		}
	}
	return dims, nil
}

// tensordotAxes gives the contracted axes of both operands, normalized.
func tensordotAxes(in []shape.Spec, a Attrs) (x, y []int, err error) {
	x, y = a.Ints("dims_self"), a.Ints("dims_other")
	if x == nil && y == nil {
		n := a.Int("dims")
		if n < 0 || n > in[0].Rank() || n > in[1].Rank() {
			return nil, nil, &shape.ArgumentError{Op: "tensordot", Arg: "dims", Value: n, Why: "more axes than an operand has"}
		}
		for i := range n {
			x = append(x, in[0].Rank()-n+i)
			y = append(y, i)
		}
	}
	if len(x) != len(y) {
		return nil, nil, &shape.ArgumentError{Op: "tensordot", Arg: "dims_other", Value: y, Why: fmt.Sprintf("%d axes on the left and %d on the right", len(x), len(y))}
	}
	if x, err = shape.Axes("tensordot", x, in[0].Rank()); err != nil {
		return nil, nil, err
	}
	if y, err = shape.Axes("tensordot", y, in[1].Rank()); err != nil {
		return nil, nil, err
	}
	for i := range x {
		if m, n := in[0].Dims[x[i]], in[1].Dims[y[i]]; m != n && m != 1 && n != 1 {
			return nil, nil, innerDiffer("tensordot", in[0], in[1], x[i], m, n)
		}
	}
	return x, y, nil
}

func tensordotShape(in []shape.Spec, a Attrs) ([]int, error) {
	x, y, err := tensordotAxes(in, a)
	if err != nil {
		return nil, err
	}
	return append(dimsAt(in[0].Dims, otherAxes(x, in[0].Rank())), dimsAt(in[1].Dims, otherAxes(y, in[1].Rank()))...), nil
}

// otherAxes lists the axes of 0 … rank-1 that are not in axes.
func otherAxes(axes []int, rank int) []int {
	out := []int{}
next:
	for i := range rank {
		for _, a := range axes {
			if a == i {
				continue next
			}
		}
		out = append(out, i)
	}
	return out
}

func dimsAt(dims, axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = dims[a]
	}
	return out
}

// matmulCost is the work of a product whose operands are at positions x and y of the inputs.
func matmulCost(x, y int) func(in, out []shape.Spec, a Attrs) Cost {
	return func(in, out []shape.Spec, _ Attrs) Cost {
		n := out[0].Size()
		k := 1
		if r := in[x].Rank(); r > 0 {
			k = in[x].Dims[r-1]
		}
		c := Cost{FLOPs: 2 * int64(n) * int64(k), Unit: MXU, M: 1, N: 1, K: k, B: 1}
		rx, ry, ro := in[x].Rank(), in[y].Rank(), out[0].Rank()
		if ry > 1 && ro > 0 {
			c.N = out[0].Dims[ro-1]
		}
		if rx > 1 {
			c.M = in[x].Dims[rx-2]
		}
		if c.M*c.N > 0 {
			c.B = max(n/(c.M*c.N), 1)
		}
		if ry <= 2 && c.B > 1 { // one matrix for the whole batch: a taller product
			c.M, c.B = c.M*c.B, 1
		}
		return c
	}
}

// productCost is the work of contracting k terms for each element of the result.
func productCost(k func(in []shape.Spec, a Attrs) int) func(in, out []shape.Spec, a Attrs) Cost {
	return func(in, out []shape.Spec, a Attrs) Cost {
		kk := k(in, a)
		n := out[0].Size()
		return Cost{FLOPs: 2 * int64(n) * int64(kk), Unit: MXU, M: max(n, 1), N: 1, K: kk, B: 1}
	}
}

func linearCost(in, out []shape.Spec, _ Attrs) Cost {
	k, n := in[0].Dims[in[0].Rank()-1], 1
	if in[1].Rank() == 2 {
		n = in[1].Dims[0]
	}
	m := 1
	if n > 0 {
		m = out[0].Size() / n
	}
	c := Cost{FLOPs: 2 * int64(m) * int64(n) * int64(k), M: m, N: n, K: k, B: 1, Unit: MXU}
	if len(in) > 2 && in[2].Valid() {
		c.VPUOps = int64(m) * int64(n)
		c.FLOPs += c.VPUOps
	}
	return c
}
