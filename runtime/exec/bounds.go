package exec

import (
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// asStrided is the row by which the tensor layer reads a view.
const asStrided op.Name = "as_strided"

// maxBad is how many bad elements an error lists.
const maxBad = 8

// checkBounds looks at every index value of an operation before it runs.
func (d *Dispatcher) checkBounds(def *op.Def, attrs op.Attrs, in []*Value, st *trace.Stack) error {
	for _, c := range def.Indices(d.inputSpecs(in), attrs) {
		v := in[c.Index]
		if v == nil || v.typ.Spec.Size() == 0 {
			continue
		}
		a, err := d.indexArray(v)
		if err != nil {
			return err
		}
		if e := scanIndices(a, c); e != nil {
			e.Op, e.OpN, e.Stack = string(def.Name), d.nextOp, st
			e.Index, e.IndexAt, e.IndexStack = v.typ.Spec, c.Index, v.stack
			e.Axis, e.IntoAt = c.Axis, c.Into
			e.IndexParam, e.IntoParam = paramOf(def, c.Index), paramOf(def, c.Into)
			if c.Into >= 0 && in[c.Into] != nil {
				e.Into, e.IntoStack = in[c.Into].typ.Spec, in[c.Into].stack
			}
			if d.tracing() {
				d.emit(trace.Event{Kind: trace.Failure, AtNS: d.clock.HostNS, Stack: st, Op: d.nextOp, Name: e.Op, Reason: "bounds", Text: e.Error()})
			}
			return e
		}
	}
	return nil
}

// indexArray gives the numbers of an index operand. A view of something that is
// computed is read through its strides: looking at it launches nothing.
func (d *Dispatcher) indexArray(v *Value) (kernel.Array, error) {
	if n := v.node; v.buf == nil && n != nil && n.def.Name == asStrided && n.in[0].buf != nil {
		base, err := d.host(n.in[0])
		if err != nil {
			return kernel.Array{}, err
		}
		base.View = shape.View{Dims: v.typ.Spec.Dims, Strides: n.attrs.Ints("stride"), Offset: n.attrs.Int("storage_offset")}
		return base, nil
	}
	if err := d.force(v, ReasonBounds); err != nil {
		return kernel.Array{}, err
	}
	return d.host(v)
}

// paramOf gives the position among all parameters of the k-th input.
func paramOf(def *op.Def, k int) int {
	for i, p := range def.Params {
		if !p.Kind.IsTensor() {
			continue
		}
		if k == 0 || p.Kind == op.KTensors {
			return i + k
		}
		k--
	}
	return k
}

// scanIndices finds the values outside [c.Lo, c.Hi]; nil when there are none.
func scanIndices(a kernel.Array, c op.IndexCheck) *BoundsError {
	vals := kernel.Int64s(a)
	lo, hi := vals[0], vals[0]
	for _, x := range vals[1:] {
		lo, hi = min(lo, x), max(hi, x)
	}
	if c.Lo <= lo && hi <= c.Hi {
		return nil
	}
	e := &BoundsError{Lo: c.Lo, Hi: c.Hi, Min: lo, Max: hi, Total: len(vals)}
	for i, x := range vals {
		if x >= c.Lo && x <= c.Hi || c.Skip != nil && x == *c.Skip {
			continue
		}
		e.Bad++
		if len(e.First) < maxBad {
			e.First = append(e.First, Bad{unravel(i, a.Dims), x})
		}
	}
	if e.Bad == 0 {
		return nil
	}
	return e
}

// unravel turns a row-major position into an index.
func unravel(i int, dims []int) []int {
	at := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = i % dims[k]
		i /= dims[k]
	}
	return at
}
