package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A history says how a tensor takes part in gradients: as a leaf that gathers
// one, or as a result of a tape node. An in-place write gives its target a new
// history; whoever saved the old one keeps it.
type history struct {
	fn     *node // nil for a leaf
	out    int   // which result of fn
	grad   *Tensor
	retain bool
	shown  bool // somebody was given the handle of grad
	hooks  []*hook
	after  []*postHook // of a leaf: once its gradient was added to
	name   string
	spec   shape.Spec
	held   held
}

type hook struct{ f func(*Tensor) *Tensor }

type postHook struct {
	t *Tensor
	f func(*Tensor)
}

// A node is one application on the tape.
type node struct {
	e        *engine
	def      *op.Def
	attrs    op.Attrs
	ins      []*history // nil where no gradient is wanted
	inSpecs  []shape.Spec
	outs     []*history
	outSpecs []shape.Spec
	saved    []*saved // inputs, then outputs; nil where the gradient does not need it
	seq      uint64
	stack    *trace.Stack
	freed    bool // a backward pass gave the saved values back
	epoch    uint32
	custom   func(dy []*Tensor) []*Tensor // instead of the row's rule
	refs     int32                        // histories of it that are live, see liveness
}

// A saved is a tensor kept for the backward pass.
type saved struct {
	s       *Storage
	view    *shape.View
	dt      dtype.DType
	whole   bool
	weak    bool
	version uint32
	hist    *history
	pinned  bool // a live node has it, see liveness
}

func save(t *Tensor) *saved {
	return &saved{s: t.s, view: t.view, dt: t.dt, whole: t.whole, weak: t.weak, version: t.s.version, hist: t.hist}
}

// requires says whether the tensor takes part in gradients.
func (t *Tensor) requires() bool { return t.history() != nil }

// history gives the place on the tape, made anew when the tensor is a view and
// what it is a view of was written in place meanwhile.
func (t *Tensor) history() *history {
	if t.base != nil {
		if r := t.root(); r.gen != t.gen && r.hist != nil {
			e := t.engine()
			t.gen = r.gen
			t.hist = nil
			e.recordView(r, t)
		}
	}
	return t.hist
}

// differentiable says whether tensors of type d can have a gradient.
func differentiable(d dtype.DType) bool {
	return d.IsFloat()
}

// record puts an application on the tape and gives its results their histories.
func (e *engine) record(def *op.Def, attrs op.Attrs, ops []operand, outs ...*Tensor) {
	if def.Grad == nil {
		return
	}
	any := false
	for _, t := range outs {
		any = any || differentiable(t.dt)
	}
	if !any {
		if len(outs) > 0 && outs[0].dt.IsComplex() {
			e.fail(string(def.Name), &GradTypeError{outs[0].dt}) // rather than a gradient that ends here silently
		}
		return
	}
	n := &node{e: e, def: def, attrs: attrs}
	n.ins = make([]*history, len(ops))
	n.inSpecs = make([]shape.Spec, len(ops))
	needs := make([]bool, len(ops))
	for i, o := range ops {
		if o.t != nil {
			n.inSpecs[i] = o.t.Spec()
			if differentiable(o.t.dt) {
				n.ins[i] = o.t.history()
				needs[i] = n.ins[i] != nil
			}
		} else if o.v != nil {
			n.inSpecs[i] = o.v.Spec()
		}
	}
	n.outSpecs = make([]shape.Spec, len(outs))
	for i, t := range outs {
		n.outSpecs[i] = t.Spec()
	}
	uses := e.uses(n, needs)
	n.saved = make([]*saved, len(ops)+len(outs))
	for i, o := range ops {
		if uses&bit(i) != 0 {
			if t := o.onTape(e); t != nil {
				t.outside(string(def.Name), "saved for a backward pass")
				n.saved[i] = save(t)
			}
		}
	}
	e.enter(n, outs)
	for i, t := range outs {
		if uses&bit(len(ops)+i) != 0 {
			n.saved[len(ops)+i] = save(t)
		}
	}
}

// enter numbers the node and makes it the history of its results.
func (e *engine) enter(n *node, outs []*Tensor) {
	e.seq++
	n.seq = e.seq
	n.outs = make([]*history, len(outs))
	for i, t := range outs {
		if n.stack == nil && t != nil {
			n.stack = t.s.value.Stack()
		}
		if t != nil && differentiable(t.dt) {
			h := &history{fn: n, out: i, spec: t.Spec()}
			n.outs[i] = h
			t.hist = h
			if t.base != nil {
				t.gen = t.root().gen
			}
		}
	}
}

// recordView puts t on the tape as a strided view of r.
func (e *engine) recordView(r, t *Tensor) {
	if !differentiable(t.dt) {
		return
	}
	n := &node{e: e, def: asStrided(), attrs: stridedAttrs(t.layout()), ins: []*history{r.hist}, inSpecs: []shape.Spec{r.Spec()}, outSpecs: []shape.Spec{t.Spec()}, saved: make([]*saved, 2)}
	e.enter(n, []*Tensor{t})
}

// recordRestride puts x on the tape as as_strided of t, a view itself: the
// positions count in the storage, not in t. The gradient is gathered in the
// shape of the storage and then seen as t sees it.
func (e *engine) recordRestride(t, x *Tensor) {
	size := t.s.size()
	from, to := t.layout(), x.layout()
	n := &node{e: e, def: asStrided(), ins: []*history{t.history()}, inSpecs: []shape.Spec{t.Spec()}, outSpecs: []shape.Spec{x.Spec()}, saved: make([]*saved, 2)}
	n.custom = func(dy []*Tensor) []*Tensor {
		old := e.noGrad
		e.noGrad = 0
		defer func() { e.noGrad = old }()
		flat := e.full(shape.Spec{DType: t.dt, Dims: []int{size}}, 0).RequireGrad()
		g := GradWith(do(asStrided(), stridedAttrs(to), flat), GradOptions{Gradient: dy[0], CreateGraph: old == 0}, flat)[0]
		return []*Tensor{do(asStrided(), stridedAttrs(from), g)}
	}
	e.enter(n, []*Tensor{x})
}

// bit is the mask of position i; positions beyond 63 share the last.
func bit(i int) uint64 { return 1 << min(i, 63) }

// usage finds out what a gradient rule reads, by running it with values that
// have only a type.
type usage struct{ used uint64 }

type typed struct {
	spec shape.Spec
	at   int // position among inputs and outputs, -1 for a result of the rule
}

func (t *typed) Spec() shape.Spec { return t.spec }

func (u *usage) note(in []op.Value) []shape.Spec {
	specs := make([]shape.Spec, len(in))
	for i, v := range in {
		if v == nil {
			continue
		}
		x := v.(*typed)
		specs[i] = x.spec
		if x.at >= 0 {
			u.used |= bit(x.at)
		}
	}
	return specs
}

func (u *usage) Do(n op.Name, a op.Attrs, in ...op.Value) op.Value { return u.All(n, a, in...)[0] }

func (u *usage) All(n op.Name, a op.Attrs, in ...op.Value) []op.Value {
	def := op.Must(n)
	specs := u.note(in)
	for len(specs) < countInputs(def) {
		specs = append(specs, shape.Spec{})
	}
	a, err := def.Complete(a)
	if err != nil {
		panic(err)
	}
	outs, err := def.Specs(specs, a)
	if err != nil {
		panic(err)
	}
	vs := make([]op.Value, len(outs))
	for i, s := range outs {
		vs[i] = &typed{s, -1}
	}
	return vs
}

func (u *usage) Scalar(float64) op.Value {
	return &typed{shape.Spec{DType: dtype.F64, Weak: true}, -1}
}

func (u *usage) Full(s shape.Spec, _ float64) op.Value { return &typed{s, -1} }

// countInputs is the number of tensor parameters, a list counting as none.
func countInputs(d *op.Def) int {
	n := 0
	for i := range d.Params {
		if k := d.Params[i].Kind; k.IsTensor() && k != op.KTensors {
			n++
		}
	}
	return n
}

// uses gives the mask of inputs and outputs whose numbers the gradient reads.
func (e *engine) uses(n *node, needs []bool) (mask uint64) {
	k := usageKey(n, needs)
	if m, ok := e.usage[k]; ok {
		return m
	}
	if len(e.usage) > 1<<14 {
		clear(e.usage)
	}
	defer func() {
		if recover() != nil { // the rule cannot run without numbers: keep all
			mask = ^uint64(0)
		}
		e.usage[k] = mask
	}()
	u := &usage{}
	c := &op.Call{Attrs: n.attrs, In: make([]op.Value, len(n.inSpecs)), Out: make([]op.Value, len(n.outSpecs)), Needs: needs}
	for i, s := range n.inSpecs {
		if s.Valid() {
			c.In[i] = &typed{s, i}
		}
	}
	dy := make([]op.Value, len(n.outSpecs))
	for i, s := range n.outSpecs {
		c.Out[i] = &typed{s, len(n.inSpecs) + i}
		if differentiable(s.DType) {
			dy[i] = &typed{s, -1}
		}
	}
	for _, g := range n.def.Grad(u, c, dy) {
		if x, ok := g.(*typed); ok && x != nil && x.at >= 0 {
			u.used |= bit(x.at)
		}
	}
	return u.used
}
