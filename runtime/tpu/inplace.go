package tpu

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A LeafWriteError says that a leaf that wants a gradient was to be written in place.
type LeafWriteError struct {
	Spec shape.Spec
	View bool // through a view of it
}

// Error names the leaf.
func (e *LeafWriteError) Error() string {
	if e.View {
		return fmt.Sprintf("a view of the leaf %v, which requires a gradient, is written in place", e.Spec)
	}
	return fmt.Sprintf("the leaf %v, which requires a gradient, is written in place", e.Spec)
}

// A ViewWriteError says that a view may not be written in place while gradients are recorded.
type ViewWriteError struct {
	Spec shape.Spec
	// Multi: one of several views made by one call. Else the view was made without gradients.
	Multi bool
}

// Error says why.
func (e *ViewWriteError) Error() string {
	if e.Multi {
		return fmt.Sprintf("%v is one of several views made by one call and is written in place with gradients", e.Spec)
	}
	return fmt.Sprintf("the view %v was made without gradients and is written in place with them", e.Spec)
}

// An OutGradError says that a result was to be written into a tensor while an operand wants a gradient.
type OutGradError struct{ Spec shape.Spec }

// Error names the tensor.
func (e *OutGradError) Error() string {
	return fmt.Sprintf("out = %v: a result written into a given tensor takes no part in gradients", e.Spec)
}

// inPlace replaces target, the first operand, by the result of a row.
func inPlace(def *op.Def, attrs op.Attrs, in ...any) *Tensor {
	t, ok := in[0].(*Tensor)
	if !ok || t == nil {
		refuse(string(def.Name), &NilTensorError{})
	}
	return t.write(def, attrs, in, false)
}

// Into applies a row by its name and stores the result in out, whose shape it
// must have: PyTorch's out=. out may be an operand. Gradients are not recorded.
func Into(out *Tensor, name string, attrs op.Attrs, in ...any) *Tensor {
	def, a := lookup(op.Name(name), attrs)
	return out.write(def, a, in, true)
}

// InPlace applies a row by its name and stores the result in the first operand.
func InPlace(name string, attrs op.Attrs, in ...any) *Tensor {
	def, a := lookup(op.Name(name), attrs)
	return inPlace(def, a, in...)
}

// mayWrite refuses targets that share memory with themselves or, in part, with
// an operand, and writes that gradients forbid.
func (t *Tensor) mayWrite(name string, in []any) {
	e := t.engine()
	if t.s.freed {
		e.fail(name, &FreedError{t.Spec()})
	}
	t.outside(name, "written in place")
	if e.noGrad == 0 {
		r := t.root()
		switch h, rh := t.history(), r.history(); {
		case h != nil && h.fn == nil:
			e.fail(name, &LeafWriteError{Spec: t.Spec()})
		case rh != nil && rh.fn == nil:
			e.fail(name, &LeafWriteError{Spec: r.Spec(), View: true})
		case t.multi && (h != nil || rh != nil || anyRequires(in)):
			e.fail(name, &ViewWriteError{Spec: t.Spec(), Multi: true})
		case t.quiet && (rh != nil || anyRequires(in)):
			e.fail(name, &ViewWriteError{Spec: t.Spec()})
		}
	}
	v := t.layout()
	if !t.whole && shape.Overlaps(v) {
		e.fail(name, &shape.OverlapError{Op: name, Target: v})
	}
	for _, x := range in {
		y, ok := x.(*Tensor)
		if !ok || y == nil || y == t || y.s != t.s {
			continue
		}
		if w := y.layout(); shape.Relate(v, w) == shape.Partial {
			e.fail(name, &shape.OverlapError{Op: name, Target: v, Other: w})
		}
	}
}

func anyRequires(in []any) bool {
	for _, x := range in {
		if t, ok := x.(*Tensor); ok && t != nil && t.requires() {
			return true
		}
	}
	return false
}

// write stores the result of a row in t.
func (t *Tensor) write(def *op.Def, attrs op.Attrs, in []any, out bool) *Tensor {
	e, name := t.engine(), string(def.Name)
	wantsGrad := e.noGrad == 0 && (t.requires() || anyRequires(in))
	if out && wantsGrad {
		e.fail(name, &OutGradError{t.Spec()})
	}
	t.mayWrite(name, in)
	vals := make([]*exec.Value, len(in))
	specs := make([]shape.Spec, len(in))
	donor := -1
	for i, x := range in {
		o := e.resolve(name, x)
		if o.v == nil {
			e.absent(def, i)
		}
		if vals[i] = o.v; o.v != nil {
			specs[i] = o.v.Spec()
		}
		if o.t == t && t.whole && donor < 0 {
			donor = i
		}
	}
	want, err := def.Specs(specs, attrs)
	if err != nil {
		e.fail(name, err)
	}
	switch r := want[0]; {
	case !shape.EqualDims(r.Dims, t.view.Dims):
		e.fail(name, &shape.MismatchError{Op: name, Left: t.Spec(), Right: r, Axis: -1, Why: "the result does not have the shape of the target"})
	case !dtype.CanCast(r.DType, t.dt):
		e.fail(name, &CastError{r.DType, t.dt})
	}
	if wantsGrad && def.Grad != nil {
		t.writeRecorded(def, attrs, in)
		return t
	}
	if want[0].DType != t.dt {
		donor = -1
	}
	var v *exec.Value
	if def.Infer != nil {
		var vs []*exec.Value
		if vs, err = e.d.Apply(def, attrs, vals...); err == nil {
			v = vs[0]
		}
	} else {
		v, err = e.d.ApplyInto(def, attrs, donor, vals...)
	}
	if err != nil {
		e.fail(name, err)
	}
	if c := e.capture; c != nil {
		c.applied(def, v)
	}
	if want[0].DType != t.dt {
		v = e.castValue(v, t.dt)
	}
	t.store(name, v)
	if e.noGrad == 0 && t.base == nil && t.hist != nil {
		t.hist = nil // a result without a gradient
		t.gen++
		e.rebound(t.s)
	}
	return t
}

// castValue converts a value that belongs to no storage.
func (e *engine) castValue(v *exec.Value, to dtype.DType) *exec.Value {
	def, attrs := lookup("to", op.Attrs{{Name: "dtype", Value: to}})
	w, err := e.d.Apply1(def, attrs, v)
	if err != nil {
		e.fail("to", err)
	}
	return w
}

// store puts the value, which has the target's type and shape, into the
// storage: as a whole, or scattered into the present value.
func (t *Tensor) store(name string, v *exec.Value) {
	s := t.s
	if t.whole {
		s.set(v, name, false)
		return
	}
	base, err := s.e.d.ApplyInto(op.Must("as_strided_scatter"), stridedAttrs(t.layout()), 0, s.value, v)
	if err != nil {
		s.e.fail(name, err)
	}
	if s.batch != nil {
		s.e.d.Drop(v)
	}
	s.set(base, name, false)
}

// writeRecorded is write with a tape node. The operands see the target as it
// was; the target then takes the history of the result.
func (t *Tensor) writeRecorded(def *op.Def, attrs op.Attrs, in []any) {
	e := t.engine()
	snap := &Storage{e: e, value: t.s.value}
	snap.value.Hold()
	old := &Tensor{s: snap, view: t.view, dt: t.dt, whole: t.whole, hist: t.history()}
	ops := append([]any(nil), in...)
	for i, x := range ops {
		if x == any(t) {
			ops[i] = old
		}
	}
	r := do(def, attrs, ops...)
	n := (*node)(nil)
	if r.hist != nil {
		n = r.hist.fn
	}
	if r.dt != t.dt {
		r = r.to(t.dt)
	}
	keep := false
	if n != nil {
		for _, s := range n.saved {
			keep = keep || s != nil && s.s == snap
		}
	}
	t.become(string(def.Name), r, keep, true)
	if keep {
		snap.adopt()
	}
	if n != nil && t.whole {
		for _, s := range n.saved { // a saved result is the target's new content
			if s != nil && s.s == r.s {
				s.s, s.version = t.s, t.s.version // nothing has pinned it: the node has just been made
			}
		}
	}
}

// become stores the tensor r in t and gives t, and what it is a view of, their
// new histories. direct says that r was made of t: its history is then all of
// t's; else what t was before stays an ancestor that gets no gradient from here.
func (t *Tensor) become(name string, r *Tensor, keep, direct bool) {
	e := t.engine()
	root := t.root()
	rootHist := root.history()
	oldRoot := &Tensor{s: t.s, view: root.view, dt: root.dt, whole: true, hist: rootHist}
	v := r.value()
	if t.whole {
		r.s.disown()
		v.Unhold()
		r.s.keep = true // its value is the target's now: no Tidy may free it
		t.s.set(v, name, keep)
	} else {
		base, err := e.d.ApplyInto(op.Must("as_strided_scatter"), stridedAttrs(t.layout()), scatterDonor(keep), t.s.value, v)
		if err != nil {
			e.fail(name, err)
		}
		t.s.set(base, name, keep)
	}
	if e.noGrad > 0 {
		return
	}
	if rootHist != nil || r.hist != nil {
		e.rebound(t.s)
	}
	if t == root && direct {
		if root.hist = r.hist; r.hist != nil {
			r.hist.spec = root.Spec()
		}
		root.gen++
		return
	}
	if rootHist == nil && r.hist == nil {
		return
	}
	attrs := stridedAttrs(t.layout())
	e.record(op.Must("as_strided_write"), attrs, []operand{{t: oldRoot}, {t: r}}, root)
	root.gen++
}

func scatterDonor(keep bool) int {
	if keep {
		return -1
	}
	return 0
}

// disown takes the value out of a storage that gives it to another one.
func (s *Storage) disown() {
	if s.batch != nil {
		s.batch.list.put(s.slot, nil)
	}
}

// CopyFrom writes the numbers of src, broadcast and converted, into t.
func (t *Tensor) CopyFrom(src any) *Tensor {
	const name = "copy"
	e := t.engine()
	y, ok := src.(*Tensor)
	if !ok {
		return t.FillInPlace(src)
	}
	if y == nil {
		e.fail(name, &NilTensorError{})
	}
	t.mayWrite(name, []any{y})
	if y.s == t.s && !t.whole && shape.Relate(t.layout(), y.layout()) == shape.Same || y.s == t.s && t.whole && y.whole && shape.EqualDims(y.view.Dims, t.view.Dims) {
		return t
	}
	if d, ok := shape.Broadcast(y.view.Dims, t.view.Dims); !ok || !shape.EqualDims(d, t.view.Dims) {
		e.fail(name, &shape.MismatchError{Op: name, Left: t.Spec(), Right: y.Spec(), Axis: -1, Why: "the source does not stretch to the target"})
	}
	r := y.to(t.dt)
	if !shape.EqualDims(r.view.Dims, t.view.Dims) {
		r = r.expandTo(t.view.Dims)
	}
	if r.s == y.s || !r.whole {
		if t.whole {
			r = call("clone", nil, r)
		}
	}
	t.become(name, r, false, false)
	return t
}

// FillInPlace writes a number, or a tensor of one element, everywhere.
func (t *Tensor) FillInPlace(v any) *Tensor {
	if y, ok := v.(*Tensor); ok {
		if y != nil && len(y.view.Dims) > 0 {
			t.engine().fail("fill", &shape.RankError{Op: "fill", Arg: "value", Dims: y.view.Dims})
		}
		return t.CopyFrom(y)
	}
	t.mayWrite("fill", nil)
	n, ok := number(v)
	if !ok {
		t.engine().fail("fill", operandError(v, "a number is wanted"))
	}
	t.become("fill", t.engine().fullOf(shape.Spec{DType: t.dt, Dims: t.view.Dims}, n), false, false)
	return t
}

// ZeroInPlace writes zeros everywhere.
func (t *Tensor) ZeroInPlace() *Tensor { return t.FillInPlace(0) }

// SetData makes t see the storage of u: PyTorch's x.data = y. Shapes may
// differ, types may not; the histories stay.
func (t *Tensor) SetData(u *Tensor) *Tensor {
	t.engine()
	if u == nil {
		t.engine().fail("set_data", &NilTensorError{})
	}
	if u.dt != t.dt {
		t.engine().fail("set_data", &CastError{u.dt, t.dt})
	}
	t.s.e.rebound(t.s)
	t.s, t.view, t.whole, t.base = u.s, u.view, u.whole, nil
	if !u.whole {
		t.base = u.s.entire()
	}
	if t.hist != nil && t.hist.fn == nil {
		t.hist.spec = t.Spec()
	}
	t.engine().d.Touch()
	return t
}

// review changes what the handle t itself sees: PyTorch's t_, squeeze_, ….
func (t *Tensor) review(def *op.Def, attrs op.Attrs) *Tensor {
	e := t.engine()
	if h := t.history(); e.noGrad == 0 && h != nil && h.fn == nil {
		e.fail(string(def.Name), &LeafWriteError{Spec: t.Spec()})
	}
	e.rebound(t.s)
	below := *t
	below.run = e.run()
	x := view(e, def, attrs, []any{&below})
	if t.base == nil && !x.whole {
		t.base = &below
		t.gen = below.gen
	}
	t.view, t.whole, t.hist = x.view, x.whole, x.hist
	if t.base != nil {
		t.gen = t.root().gen
	}
	return t
}
