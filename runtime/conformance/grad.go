package conformance

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// value is a computed array as a Value of the op package.
type value struct{ arr kernel.Array }

// Spec gives the type of the value.
func (v value) Spec() shape.Spec { return v.arr.Spec() }

// eager is a Builder that runs every kernel at once.
type eager struct{}

// Do applies a row and gives its first result.
func (b eager) Do(n op.Name, a op.Attrs, in ...op.Value) op.Value { return b.All(n, a, in...)[0] }

// All applies a row.
func (eager) All(n op.Name, a op.Attrs, in ...op.Value) []op.Value {
	d := op.Lookup(n)
	if d == nil {
		panic(&BindError{n, "operation", "no row"})
	}
	a, err := d.Complete(a)
	if err != nil {
		panic(err)
	}
	arrs := make([]kernel.Array, max(len(in), len(d.Inputs())))
	for i, v := range in {
		if v != nil {
			arrs[i] = v.(value).arr
		}
	}
	out, err := Apply(d, arrs, a)
	if err != nil {
		panic(fmt.Errorf("%s: %w", n, err))
	}
	vs := make([]op.Value, len(out))
	for i, o := range out {
		vs[i] = value{o}
	}
	return vs
}

// Scalar makes a weak number.
func (eager) Scalar(x float64) op.Value { return value{scalar(x).Array} }

// Full makes a constant.
func (eager) Full(s shape.Spec, x float64) op.Value {
	v := scalar(x).Array
	v.Dims, v.Strides = s.Dims, make([]int, len(s.Dims))
	out := kernel.New(shape.Spec{DType: s.DType, Dims: s.Dims})
	kernel.Convert(out, v)
	return value{out}
}

// Backward runs the gradient rule of row d: from the inputs, the results and
// the cotangents (absent ones invalid) to one gradient per input, in the
// input's shape and type; invalid where there is none. Only floating-point
// inputs that are not weak ask for one, except those in skip.
func Backward(d *op.Def, in []kernel.Array, attrs op.Attrs, out, cotangents []kernel.Array, skip ...int) (grads []kernel.Array, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	grads = make([]kernel.Array, len(in))
	if d.Grad == nil {
		return grads, nil
	}
	c := &op.Call{Attrs: attrs, Needs: make([]bool, len(in))}
	for i, a := range in {
		c.Needs[i] = a.DType.IsFloat() && !a.Weak
		for _, s := range skip {
			if s == i {
				c.Needs[i] = false
			}
		}
		if !a.Valid() {
			c.In = append(c.In, nil)
			continue
		}
		c.In = append(c.In, value{a})
	}
	dy := make([]op.Value, len(out))
	for i, o := range out {
		c.Out = append(c.Out, value{o})
		if i < len(cotangents) && cotangents[i].Valid() {
			dy[i] = value{cotangents[i]}
		}
	}
	for i, g := range d.Grad(eager{}, c, dy) {
		if g != nil && c.Needs[i] {
			grads[i] = fit(g.(value).arr, in[i].Spec())
		}
	}
	return grads, nil
}

// fit sums g over the axes that were broadcast and converts it to the type of s.
func fit(g kernel.Array, s shape.Spec) kernel.Array {
	if !shape.EqualDims(g.Dims, s.Dims) {
		sum := kernel.New(shape.Of(dtype.F64, s.Dims...))
		acc, xs := kernel.As[float64](sum.Buf), kernel.Float64s(g)
		lead := len(g.Dims) - len(s.Dims)
		st := shape.RowMajor(s.Dims)
		for i, x := range xs {
			to := 0
			for k, at := range unravel(i, g.Dims) {
				if k >= lead && s.Dims[k-lead] != 1 {
					to += at * st[k-lead]
				}
			}
			acc[to] += x
		}
		g = sum
	}
	return kernel.Cast(g, s.DType)
}
