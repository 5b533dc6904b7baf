package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// maxInline is how many operands a call holds without an allocation.
const maxInline = 6

// do applies a row with one result. in has one entry for each tensor
// parameter: *Tensor, a Go number, nil for an absent one.
func do(def *op.Def, attrs op.Attrs, in ...any) *Tensor {
	if def.View == nil && def.Infer == nil && def.Host == nil {
		var room [maxPlain]*exec.Value
		if e, vals := plainly(in, room[:0]); e != nil {
			t, err := e.apply1(def, attrs, vals)
			if err != nil {
				e.fail(string(def.Name), err)
			}
			return t
		}
	}
	e := engineFor(in)
	if def.View != nil && len(in) > 0 {
		return view(e, def, attrs, in)
	}
	if def.Infer != nil {
		return many(e, def, attrs, in)[0]
	}
	var buf [maxInline]operand
	ops := buf[:0]
	var vbuf [maxInline]*exec.Value
	vals := vbuf[:0]
	taped := false // perhaps
	for i, x := range in {
		var o operand
		if t, ok := x.(*Tensor); ok && t != nil && t.engine() == e {
			o = operand{t, t.value()}
			taped = taped || t.hist != nil || t.base != nil
		} else if o = e.resolve(string(def.Name), x); o.v == nil {
			e.absent(def, i)
		}
		vals = append(vals, o.v)
		ops = append(ops, o)
	}
	if def.Host != nil {
		attrs = e.counted(def, attrs, vals)
	}
	if taped && e.noGrad == 0 && wants(ops) {
		v, err := e.d.Apply1(def, attrs, vals...)
		if err != nil {
			e.fail(string(def.Name), err)
		}
		if c := e.capture; c != nil {
			c.applied(def, v)
		}
		t := e.wrap(v)
		e.record(def, attrs, ops, t)
		return t
	}
	t, err := e.apply1(def, attrs, vals)
	if err != nil {
		e.fail(string(def.Name), err)
	}
	return t
}

// maxPlain is how many operands plainly takes.
const maxPlain = 3

// plainly gives the engine of a call and the values of its operands when all are
// whole tensors that take no part in gradients, as most are; else nil.
func plainly(in []any, vals []*exec.Value) (*engine, []*exec.Value) {
	var e *engine
	for _, x := range in {
		t, ok := x.(*Tensor)
		if !ok || t == nil || t.s == nil || t.hist != nil || t.base != nil || len(vals) == maxPlain {
			return nil, nil
		}
		s := t.s
		if e == nil {
			e = s.e
		}
		if s.e != e || e.capture != nil || s.freed || t.view != &s.value.Type().Seen {
			return nil, nil
		}
		vals = append(vals, s.value)
	}
	return e, vals
}

// doAll applies a row and gives all its results.
func doAll(def *op.Def, attrs op.Attrs, in ...any) []*Tensor {
	return many(engineFor(in), def, attrs, in)
}

func many(e *engine, def *op.Def, attrs op.Attrs, in []any) []*Tensor {
	var buf [maxInline]operand
	ops := buf[:0]
	vals := make([]*exec.Value, len(in))
	for i, x := range in {
		o := e.resolve(string(def.Name), x)
		if o.v == nil {
			e.absent(def, i)
		}
		vals[i] = o.v
		ops = append(ops, o)
	}
	if def.Host != nil {
		attrs = e.counted(def, attrs, vals)
	}
	vs, err := e.d.Apply(def, attrs, vals...)
	if err != nil {
		e.fail(string(def.Name), err)
	}
	if c := e.capture; c != nil {
		c.applied(def, vs[0])
	}
	ts := make([]*Tensor, len(vs))
	for i, v := range vs {
		ts[i] = e.wrap(v)
	}
	if e.noGrad == 0 && wants(ops) {
		e.record(def, attrs, ops, ts...)
	}
	return ts
}

// counted completes the attributes of a row whose sizes hang on data: it reads
// the operands, unless the sizes are given.
func (e *engine) counted(def *op.Def, attrs op.Attrs, vals []*exec.Value) op.Attrs {
	specs := make([]shape.Spec, len(vals))
	for i, v := range vals {
		if v != nil {
			specs[i] = v.Spec()
		}
	}
	if _, err := def.Specs(specs, attrs); err == nil {
		return attrs
	}
	arrs := make([]kernel.Array, len(vals))
	for i, v := range vals {
		if v == nil {
			continue
		}
		a, err := e.d.Read(v, exec.ReasonDataSize)
		if err != nil {
			e.fail(string(def.Name), err)
		}
		arrs[i] = a
	}
	attrs, err := def.Host(arrs, attrs)
	if err != nil {
		e.fail(string(def.Name), err)
	}
	return attrs
}

// wants says whether an operand takes part in gradients.
func wants(ops []operand) bool {
	for i := range ops {
		if t := ops[i].t; t != nil && (t.hist != nil || t.base != nil) && t.requires() {
			return true
		}
	}
	return false
}

// copies are the rows that copy when no view has the shape.
func copies(n op.Name) bool {
	switch n {
	case "reshape", "flatten", "ravel", "reshape_as":
		return true
	}
	return false
}

// view applies a row whose result sees the storage of its first operand.
func view(e *engine, def *op.Def, attrs op.Attrs, in []any) *Tensor {
	t, ok := in[0].(*Tensor)
	if !ok || t == nil {
		e.fail(string(def.Name), &NilTensorError{})
	}
	if t.s.freed {
		e.fail(string(def.Name), &FreedError{t.Spec()})
	}
	if def.Shape != nil {
		var buf [maxInline]shape.Spec
		specs := buf[:0]
		for _, x := range in {
			if y, ok := x.(*Tensor); ok && y != nil {
				specs = append(specs, y.Spec())
			}
		}
		if _, err := def.Spec(specs, attrs); err != nil {
			e.fail(string(def.Name), err)
		}
	}
	v, err := def.View(t.layout(), attrs)
	if err != nil {
		if _, no := err.(*shape.NotViewableError); no && copies(def.Name) {
			c := do(op.Must("clone"), nil, t)
			in = append([]any{c}, in[1:]...)
			return view(e, def, attrs, in)
		}
		e.fail(string(def.Name), err)
	}
	if def.Name == "as_strided" {
		if v, err = shape.AsStrided(v.Dims, v.Strides, v.Offset, t.s.size()); err != nil {
			e.fail(string(def.Name), err)
		}
	}
	x := t.seenAs(v)
	x.base = t.root()
	x.gen = x.base.gen
	if t.requires() {
		if e.noGrad == 0 && def.Name == "as_strided" && !t.whole {
			e.recordRestride(t, x)
		} else if e.noGrad == 0 {
			ops := make([]operand, len(in))
			for i, y := range in {
				ops[i].t, _ = y.(*Tensor)
			}
			e.record(def, attrs, ops, x)
		} else {
			x.quiet = true
		}
	}
	return x
}

// call applies a row found by name with attributes in any order.
func call(name op.Name, given op.Attrs, in ...any) *Tensor {
	def, attrs := lookup(name, given)
	return do(def, attrs, in...)
}

// callAll is call for a row with several results.
func callAll(name op.Name, given op.Attrs, in ...any) []*Tensor {
	def, attrs := lookup(name, given)
	return doAll(def, attrs, in...)
}

func lookup(name op.Name, given op.Attrs) (*op.Def, op.Attrs) {
	def := op.Lookup(name)
	if def == nil {
		refuse(string(name), &exec.MissingRowError{Name: string(name), Nearest: string(op.Nearest(string(name)))})
	}
	attrs, err := def.Complete(given)
	if err != nil {
		refuse(string(name), err)
	}
	return def, attrs
}

// Apply applies a row by its name: attributes in any order, defaults filled
// in; operands are tensors, Go numbers, nil for an absent one.
func Apply(name string, attrs op.Attrs, in ...any) []*Tensor {
	def, a := lookup(op.Name(name), attrs)
	if def.View != nil || def.Infer == nil {
		return []*Tensor{do(def, a, in...)}
	}
	return doAll(def, a, in...)
}

// to gives x in the given type; x itself when it has it.
func (t *Tensor) to(d dtype.DType) *Tensor {
	if t.dt == d {
		return t
	}
	return call("to", op.Attrs{{Name: "dtype", Value: d}}, t)
}

// absent refuses a missing operand at position i of a call, unless its parameter is optional.
func (e *engine) absent(def *op.Def, i int) {
	inputs := def.Inputs()
	p := inputs[min(i, len(inputs)-1)]
	if p.Kind == op.KOptTensor {
		return
	}
	arg := p.Name
	if i == 0 {
		arg = "" // the receiver
	}
	e.fail(string(def.Name), &NilTensorError{Arg: arg})
}
