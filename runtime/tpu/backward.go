package tpu

import (
	"fmt"
	"slices"
	"sort"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// GradOptions change a backward pass. The zero value is PyTorch's default.
type GradOptions struct {
	Gradient    *Tensor // cotangent of the output; needed unless it has one element
	RetainGraph bool    // keep the saved values for another pass
	CreateGraph bool    // the gradients can be differentiated again; implies RetainGraph
	AllowUnused bool    // Grad gives nil for inputs the output does not depend on

	stops map[*history]bool // the pass goes no further than these
}

// A NoGraphError says that a tensor does not depend on anything that wants a gradient.
type NoGraphError struct{ Spec shape.Spec }

// Error names the tensor.
func (e *NoGraphError) Error() string {
	return fmt.Sprintf("%v does not depend on a tensor that requires a gradient", e.Spec)
}

// A NeedsScalarError says that only a tensor of one element has an implied cotangent.
type NeedsScalarError struct{ Spec shape.Spec }

// Error names the tensor.
func (e *NeedsScalarError) Error() string {
	return fmt.Sprintf("%v has more than one element and no gradient of its own was given", e.Spec)
}

// A GraphFreedError says that a former backward pass gave the saved values of an operation back.
type GraphFreedError struct {
	Use string
	At  *trace.Stack
}

// Error names the operation.
func (e *GraphFreedError) Error() string {
	return fmt.Sprintf("the values that %s saved were freed by an earlier backward pass", e.Use)
}

// A SavedModifiedError says that a value saved for the backward pass was
// written in place afterwards.
type SavedModifiedError struct {
	Spec       shape.Spec
	Use        string       // the operation that saved it
	UseAt      *trace.Stack // where that was
	Write      string       // the last operation that wrote it
	WriteAt    *trace.Stack
	Have, Want int // versions
}

// Error names both operations.
func (e *SavedModifiedError) Error() string {
	return fmt.Sprintf("%v, saved by %s%s, was written in place by %s%s (version %d, expected %d)",
		e.Spec, e.Use, lineOf(e.UseAt), e.Write, lineOf(e.WriteAt), e.Have, e.Want)
}

// lineOf names the innermost line of a stack.
func lineOf(s *trace.Stack) string {
	if s == nil || len(s.Frames) == 0 {
		return ""
	}
	f := s.Frames[0]
	if f.Cell > 0 {
		return fmt.Sprintf(" at [%d]:%d", f.Cell, f.Line)
	}
	return fmt.Sprintf(" at %s:%d", f.File, f.FileLine)
}

// An UnusedError says that Grad was asked about a tensor the output does not depend on.
type UnusedError struct {
	Index int
	Spec  shape.Spec
}

// Error names the tensor.
func (e *UnusedError) Error() string {
	return fmt.Sprintf("input %d, %v, is not used in the output", e.Index, e.Spec)
}

// Backward adds the gradient of t to the Grad of every leaf it depends on. t
// must have one element, or the options a Gradient.
func (t *Tensor) Backward(opts ...GradOptions) {
	var o GradOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	e := t.engine()
	p := e.startPass("backward", []*Tensor{t}, []*Tensor{o.Gradient}, o, nil)
	p.run()
	p.gather()
}

// Grad gives the gradients of y for xs as new tensors and changes no Grad.
func Grad(y *Tensor, xs ...*Tensor) []*Tensor { return GradWith(y, GradOptions{}, xs...) }

// GradWith is Grad with options.
func GradWith(y *Tensor, o GradOptions, xs ...*Tensor) []*Tensor {
	return GradAll([]*Tensor{y}, []*Tensor{o.Gradient}, o, xs...)
}

// GradAll gives the gradients of several outputs, each with its cotangent
// (nil: one), summed, for xs.
func GradAll(ys, gradients []*Tensor, o GradOptions, xs ...*Tensor) []*Tensor {
	e := ys[0].s.e
	targets := make([]*history, len(xs))
	for i, x := range xs {
		targets[i] = x.history()
		if targets[i] == nil {
			e.fail("grad", &NoGraphError{x.Spec()})
		}
	}
	p := e.startPass("grad", ys, gradients, o, targets)
	p.run()
	out := make([]*Tensor, len(xs))
	for i, h := range targets {
		p.join(h)
		g := p.pending[h]
		if g == nil {
			if !o.AllowUnused {
				e.fail("grad", &UnusedError{i, xs[i].Spec()})
			}
			continue
		}
		if h.fn == nil {
			g = p.hooked(h, g)
		}
		if !o.CreateGraph {
			p.refs[g.s]--
			g = p.ownCopy(g)
			p.refs[g.s]++
		}
		out[i] = g
	}
	return out
}

// A pass is one walk from outputs to leaves.
type pass struct {
	e       *engine
	opts    GradOptions
	targets map[*history]bool // nil: every leaf
	nodes   []*node           // newest first
	leaves  []*history        // in the order they were found
	pending map[*history]*Tensor
	parts   map[*history]*pieces
	refs    map[*Storage]int  // pending gradients that see the storage
	ours    map[*Storage]bool // made by this pass and in nobody else's hands
	made    []*Storage        // by the rule that runs now
}

func (e *engine) startPass(name string, ys, gs []*Tensor, o GradOptions, targets []*history) *pass {
	p := &pass{e: e, opts: o, pending: map[*history]*Tensor{}, parts: map[*history]*pieces{}, refs: map[*Storage]int{}, ours: map[*Storage]bool{}}
	if o.CreateGraph {
		p.opts.RetainGraph = true
	}
	var roots []*history
	for i, y := range ys {
		if y.s.freed {
			e.fail(name, &FreedError{y.Spec()})
		}
		h := y.history()
		if h == nil {
			e.fail(name, &NoGraphError{y.Spec()})
		}
		var g *Tensor
		if i < len(gs) {
			g = gs[i]
		}
		switch {
		case g == nil && y.Size() != 1:
			e.fail(name, &NeedsScalarError{y.Spec()})
		case g == nil:
			p.within(func() { g = e.full(y.Spec(), 1) })
			p.ours[g.s] = true
		case !shape.EqualDims(g.view.Dims, y.view.Dims):
			e.fail(name, &shape.MismatchError{Op: name, Left: g.Spec(), Right: y.Spec(), Axis: -1, Why: "a gradient has the shape of its output"})
		case g.dt != y.dt:
			p.within(func() { g = g.to(y.dt) })
		}
		roots = append(roots, h)
		p.add(h, g)
	}
	if targets != nil {
		p.targets = map[*history]bool{}
		for _, h := range targets {
			p.targets[h] = true
		}
	}
	p.collect(roots)
	return p
}

// within runs f with gradients on only if the pass makes a graph.
func (p *pass) within(f func()) {
	if !p.opts.CreateGraph {
		p.e.noGrad++
		defer func() { p.e.noGrad-- }()
	} else if p.e.noGrad > 0 {
		old := p.e.noGrad
		p.e.noGrad = 0
		defer func() { p.e.noGrad = old }()
	}
	f()
}

// collect finds the nodes that the roots depend on, newest first; with
// targets, only those that lead to one.
func (p *pass) collect(roots []*history) {
	state := map[*node]bool{}
	seenLeaf := map[*history]bool{}
	type frame struct {
		n    *node
		next int
	}
	leads := map[*node]bool{}
	visit := func(h *history) *node {
		if h == nil || p.opts.stops[h] {
			return nil
		}
		if h.fn == nil {
			if !seenLeaf[h] {
				seenLeaf[h] = true
				p.leaves = append(p.leaves, h)
			}
			return nil
		}
		if state[h.fn] {
			return nil
		}
		state[h.fn] = true
		return h.fn
	}
	for _, r := range roots {
		n := visit(r)
		if n == nil {
			continue
		}
		stack := []frame{{n, 0}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(f.n.ins) {
				for _, h := range f.n.ins {
					if h != nil && (p.targets == nil || p.targets[h] || h.fn != nil && leads[h.fn]) {
						leads[f.n] = true
					}
				}
				if leads[f.n] {
					p.nodes = append(p.nodes, f.n)
				}
				stack = stack[:len(stack)-1]
				continue
			}
			h := f.n.ins[f.next]
			f.next++
			if c := visit(h); c != nil {
				stack = append(stack, frame{c, 0})
			}
		}
	}
	sort.Slice(p.nodes, func(i, j int) bool { return p.nodes[i].seq > p.nodes[j].seq })
}

// run calls the rules, newest node first.
func (p *pass) run() {
	p.within(func() {
		for _, n := range p.nodes {
			p.step(n)
		}
	})
}

func (p *pass) step(n *node) {
	if c := p.e.capture; c != nil && n.seq <= c.seq {
		c.spoil() // a tape from before the run can be followed once
	}
	dy := make([]op.Value, len(n.outs))
	some := false
	for i, h := range n.outs {
		if h == nil {
			continue
		}
		g := p.take(h)
		if g == nil {
			continue
		}
		if h.retain {
			p.e.capture.spoil()
			h.gather(p.ownCopy(g))
		}
		dy[i], some = g, true
		if p.targets != nil && p.targets[h] {
			p.pending[h] = g // asked for: it stays
			p.refs[g.s]++
		}
	}
	if !some {
		return
	}
	p.made = p.made[:0]
	if g, ok := dy[0].(*Tensor); !ok || !p.keep(n, g) {
		grads := p.rule(n, dy)
		if p.e.anomaly {
			p.inspect(n, grads)
		}
		for i, h := range n.ins {
			if h == nil || i >= len(grads) || grads[i] == nil {
				continue
			}
			p.add(h, p.fit(grads[i], n.inSpecs[i]))
		}
	}
	if !p.opts.RetainGraph {
		n.freed = true
		n.e.live.undo(n)
		clear(n.saved)
	}
	for _, d := range dy {
		if g, ok := d.(*Tensor); ok && g != nil {
			p.discard(g.s)
		}
	}
	for _, s := range p.made {
		p.discard(s)
	}
}

// discard gives the HBM of a gradient back that nothing will read any more.
func (p *pass) discard(s *Storage) {
	if p.opts.CreateGraph || p.e.capture != nil || !p.ours[s] || p.refs[s] > 0 {
		return
	}
	delete(p.ours, s)
	s.freed = true
	s.disown()
	s.value.Unhold()
	s.e.d.Discard(s.value, s.views()...)
}

// rule runs the node's gradient rule and gives one gradient for each input.
func (p *pass) rule(n *node, dy []op.Value) []*Tensor {
	if n.custom != nil {
		ds := make([]*Tensor, len(dy))
		for i, d := range dy {
			if d != nil {
				ds[i] = d.(*Tensor)
				delete(p.ours, ds[i].s) // the function may keep it
			}
		}
		return n.custom(ds)
	}
	needs := make([]bool, len(n.ins))
	c := &op.Call{Attrs: n.attrs, In: make([]op.Value, len(n.inSpecs)), Out: make([]op.Value, len(n.outSpecs)), Needs: needs}
	for i, s := range n.inSpecs {
		needs[i] = n.ins[i] != nil
		if s.Valid() {
			c.In[i] = &ref{n, i, s}
		}
	}
	for i, s := range n.outSpecs {
		c.Out[i] = &ref{n, len(n.inSpecs) + i, s}
	}
	b := &builder{p}
	vs := n.def.Grad(b, c, dy)
	out := make([]*Tensor, len(vs))
	for i, v := range vs {
		if v != nil {
			out[i] = b.tensor(v)
		}
	}
	return out
}

// fit sums a gradient over the axes its input was broadcast along and gives it the input's type.
func (p *pass) fit(g *Tensor, want shape.Spec) *Tensor {
	b := &builder{p}
	if !shape.EqualDims(g.view.Dims, want.Dims) {
		lead := len(g.view.Dims) - len(want.Dims)
		if lead < 0 {
			p.e.fail("backward", &shape.MismatchError{Left: g.Spec(), Right: want, Axis: -1, Why: "a gradient has the wrong shape"})
		}
		var axes []int
		for i, d := range g.view.Dims {
			if i < lead || d != 1 && want.Dims[i-lead] == 1 {
				axes = append(axes, i)
			}
		}
		if len(axes) > 0 {
			g = b.tensor(b.Do("sum", op.Attrs{{Name: "dim", Value: axes}, {Name: "keepdim", Value: true}}, g))
		}
		if !shape.EqualDims(g.view.Dims, want.Dims) {
			g = b.tensor(b.Do("reshape", op.Attrs{{Name: "shape", Value: want.Dims}}, g))
		}
	}
	if g.dt != want.DType {
		g = b.tensor(b.Do("to", op.Attrs{{Name: "dtype", Value: want.DType}}, g))
	}
	return g
}

// add gathers a gradient for h.
func (p *pass) add(h *history, g *Tensor) {
	old := p.pending[h]
	if old == nil {
		p.pending[h] = g
		p.refs[g.s]++
		return
	}
	b := &builder{p}
	var sum *Tensor
	p.within(func() { sum = b.tensor(b.Do("add", nil, old, g)) })
	p.refs[old.s]--
	p.pending[h] = sum
	p.refs[sum.s]++
	p.discard(old.s)
	p.discard(g.s)
}

// take removes the gathered gradient of h and runs its hooks.
func (p *pass) take(h *history) *Tensor {
	p.join(h)
	g := p.pending[h]
	if g == nil {
		return nil
	}
	delete(p.pending, h)
	p.refs[g.s]--
	return p.hooked(h, g)
}

func (p *pass) hooked(h *history, g *Tensor) *Tensor {
	for _, k := range h.hooks {
		p.e.capture.spoil() // what the hook does is done once
		delete(p.ours, g.s) // the hook may keep it
		if r := k.f(g); r != nil {
			if !shape.EqualDims(r.view.Dims, g.view.Dims) {
				p.e.fail("hook", &shape.MismatchError{Left: r.Spec(), Right: g.Spec(), Axis: -1, Why: "a hook keeps the shape of the gradient"})
			}
			delete(p.ours, r.s)
			g = r
		}
	}
	return g
}

// gather adds what arrived at the leaves to their gradients.
func (p *pass) gather() {
	p.within(func() {
		for _, h := range p.leaves {
			g := p.take(h)
			if g == nil {
				continue
			}
			if c := p.e.capture; c != nil {
				c.grad(h)
			}
			if p.opts.CreateGraph {
				if h.grad != nil {
					g = call("add", nil, h.grad, g)
				}
				h.grad, h.shown = g, true
				p.e.live.gathers(h)
			} else {
				h.gather(p.ownCopy(g))
			}
			for _, k := range h.after {
				p.e.capture.spoil()
				k.f(k.t)
			}
		}
	})
}

// ownCopy gives g itself when this pass made it and nobody else sees it, else a dense copy.
func (p *pass) ownCopy(g *Tensor) *Tensor {
	if p.ours[g.s] && p.refs[g.s] == 0 && g.whole {
		delete(p.ours, g.s)
		return &Tensor{s: g.s, view: g.view, dt: g.dt, whole: true, run: g.s.e.run()}
	}
	var c *Tensor
	p.e.withoutGrad(func() { c = call("clone", nil, g) })
	return c
}

// gather adds g to the gradient of a leaf, in place.
func (h *history) gather(g *Tensor) {
	if h.grad == nil {
		h.grad, h.shown = g, g.engine().capture != nil
		g.engine().live.gathers(h)
		g.s.keep = true
		if c := g.engine().capture; c != nil {
			c.wrote = append(c.wrote, g.s)
		}
		return
	}
	g.engine().withoutGrad(func() { inPlace(op.Must("add"), rowDefaults("add"), h.grad, g) })
	if g.engine().capture == nil {
		(&Tensor{s: g.s}).Free()
	}
}

// A ref is a saved input or output inside a gradient rule: its type is free,
// its numbers are checked when an operation reads them.
type ref struct {
	n    *node
	at   int
	spec shape.Spec
}

func (r *ref) Spec() shape.Spec { return r.spec }

// open gives the saved tensor, or refuses: freed, or written meanwhile.
func (r *ref) open(withHistory bool) *Tensor {
	n := r.n
	if n.freed {
		n.e.fail("backward", &GraphFreedError{Use: string(n.def.Name), At: n.stack})
	}
	s := n.saved[r.at]
	if s == nil {
		panic(&Error{Op: "backward", Err: fmt.Errorf("the gradient of %s reads value %d, which was not saved", n.def.Name, r.at)})
	}
	if s.s.version != s.version {
		w := s.s.lastWrite()
		n.e.fail("backward", &SavedModifiedError{Spec: r.spec, Use: string(n.def.Name), UseAt: n.stack,
			Write: w.op, WriteAt: w.at, Have: int(s.s.version), Want: int(s.version)})
	}
	t := &Tensor{s: s.s, view: s.view, dt: s.dt, whole: s.whole, weak: s.weak, run: n.e.run()}
	if withHistory {
		t.hist = s.hist
	}
	return t
}

// A builder lets a gradient rule apply operations.
type builder struct{ p *pass }

func (b *builder) tensor(v op.Value) *Tensor {
	switch v := v.(type) {
	case *Tensor:
		return v
	case *ref:
		return v.open(b.p.opts.CreateGraph)
	}
	return nil
}

func (b *builder) Do(n op.Name, a op.Attrs, in ...op.Value) op.Value {
	def, attrs := lookup(n, a)
	if def.Infer != nil && def.View == nil {
		return b.All(n, a, in...)[0]
	}
	t := do(def, attrs, b.operands(def, in)...)
	if def.View == nil {
		b.note(t)
	}
	return t
}

func (b *builder) All(n op.Name, a op.Attrs, in ...op.Value) []op.Value {
	def, attrs := lookup(n, a)
	ts := doAll(def, attrs, b.operands(def, in)...)
	vs := make([]op.Value, len(ts))
	for i, t := range ts {
		b.note(t)
		vs[i] = t
	}
	return vs
}

// note remembers that the pass made t.
func (b *builder) note(t *Tensor) {
	b.p.ours[t.s] = true
	b.p.made = append(b.p.made, t.s)
}

func (b *builder) operands(def *op.Def, in []op.Value) []any {
	n := max(countInputs(def), len(in))
	out := make([]any, n)
	for i, v := range in {
		if v != nil {
			if t := b.tensor(v); t != nil {
				if def.Name == "as_strided" && !t.whole {
					t = call("clone", nil, t) // a rule counts positions in the value, not in a storage
				}
				out[i] = t
			}
		}
	}
	return out
}

func (b *builder) Scalar(x float64) op.Value { return b.p.e.weak(b.p.e.d.Scalar(x)) }

func (b *builder) Full(s shape.Spec, x float64) op.Value {
	t := b.p.e.full(s, x)
	b.note(t)
	return t
}

// rowDefaults gives the complete attributes of a row that requires none.
func rowDefaults(n op.Name) op.Attrs {
	a, err := op.Must(n).Complete(nil)
	if err != nil {
		refuse(string(n), err)
	}
	return a
}

// withoutGrad runs f with the tape switched off.
func (e *engine) withoutGrad(f func()) {
	e.noGrad++
	defer func() { e.noGrad-- }()
	f()
}

// NoGrad runs f without recording what gradients would need.
func NoGrad(f func()) { ambientEngine().withoutGrad(f) }

// GradEnabled says whether operations are recorded now.
func GradEnabled() bool { return ambientEngine().noGrad == 0 }

// A GradTypeError says that tensors of a type cannot require gradients.
type GradTypeError struct{ DType dtype.DType }

// Error names the type.
func (e *GradTypeError) Error() string {
	return fmt.Sprintf("only floating-point tensors can require gradients, not %v", e.DType)
}

// A NotLeafError says that a result of an operation cannot stop or start requiring gradients.
type NotLeafError struct{ Spec shape.Spec }

// Error names the tensor.
func (e *NotLeafError) Error() string {
	return fmt.Sprintf("%v is a result that is differentiated, not a leaf", e.Spec)
}

// RequireGrad makes the tensor a leaf that gathers a gradient (false: stops that) and gives it back.
func (t *Tensor) RequireGrad(on ...bool) *Tensor {
	t.engine()
	want := len(on) == 0 || on[0]
	h := t.history()
	switch {
	case want && h != nil:
	case want:
		if !differentiable(t.dt) {
			t.engine().fail("require_grad", &GradTypeError{t.dt})
		}
		t.outside("require_grad", "made to require a gradient")
		t.s.e.rebound(t.s)
		t.hist = &history{spec: t.Spec()}
		if t.base != nil {
			t.gen = t.root().gen
		}
	case h != nil && h.fn != nil:
		t.engine().fail("require_grad", &NotLeafError{t.Spec()})
	case h != nil:
		t.s.e.rebound(t.s)
		t.hist = nil
	}
	return t
}

// RequiresGrad says whether the tensor takes part in gradients.
func (t *Tensor) RequiresGrad() bool {
	t.engine()
	return t.requires()
}

// IsLeaf says whether the tensor is no result of a recorded operation.
func (t *Tensor) IsLeaf() bool {
	t.engine()
	h := t.history()
	return h == nil || h.fn == nil
}

// Grad gives the gradient gathered so far, nil when there is none.
func (t *Tensor) Grad() *Tensor {
	g := t.LentGrad()
	if h := t.history(); h != nil {
		h.shown = true
	}
	return g
}

// LentGrad is Grad for a caller that keeps neither the tensor nor a view of it: as
// long as nobody has asked for Grad, ZeroGrad gives the memory back at once.
func (t *Tensor) LentGrad() *Tensor {
	t.engine()
	h := t.history()
	if h == nil {
		return nil
	}
	if c := t.s.e.capture; c != nil {
		c.grad(h)
	}
	return h.grad
}

// SetGrad replaces the gathered gradient; nil forgets it.
func (t *Tensor) SetGrad(g *Tensor) {
	t.engine()
	h := t.history()
	switch {
	case h == nil:
		t.engine().fail("set_grad", &NoGraphError{t.Spec()})
	case g != nil && !g.Spec().Equal(t.Spec()):
		t.engine().fail("set_grad", &shape.MismatchError{Left: g.Spec(), Right: t.Spec(), Axis: -1, Why: "a gradient has the type of its tensor"})
	}
	if c := t.s.e.capture; c != nil {
		c.grad(h)
	}
	h.grad, h.shown = g, true
	t.engine().live.gathers(h)
	t.engine().d.Touch()
}

// ZeroGrad forgets the gathered gradient.
func (t *Tensor) ZeroGrad() {
	t.engine()
	if h := t.history(); h != nil {
		if c := t.s.e.capture; c != nil {
			c.grad(h)
		} else if h.grad != nil && !h.shown {
			h.grad.Free()
		}
		h.grad = nil
		t.engine().d.Touch()
	}
}

// RetainGrad makes a result of an operation keep its gradient too.
func (t *Tensor) RetainGrad() *Tensor {
	t.engine()
	h := t.history()
	if h == nil {
		t.engine().fail("retain_grad", &NoGraphError{t.Spec()})
	}
	h.retain = true
	t.engine().live.gathers(h)
	t.s.e.rebound(t.s)
	return t
}

// Hook calls f with the gradient of t in every backward pass; what f gives
// back, unless nil, replaces it. The function returned removes the hook.
func (t *Tensor) Hook(f func(*Tensor) *Tensor) (remove func()) {
	t.engine()
	h := t.history()
	if h == nil {
		t.engine().fail("hook", &NoGraphError{t.Spec()})
	}
	k := &hook{f}
	t.s.e.rebound(t.s)
	h.hooks = append(h.hooks, k)
	return func() {
		for i, x := range h.hooks {
			if x == k {
				h.hooks = append(h.hooks[:i:i], h.hooks[i+1:]...)
				return
			}
		}
	}
}

// RegisterHook is Hook by PyTorch's name.
func (t *Tensor) RegisterHook(f func(*Tensor) *Tensor) (remove func()) { return t.Hook(f) }

// PostAccumulateHook calls f with the leaf t each time a backward pass has
// added to its gradient. The function returned removes the hook.
func (t *Tensor) PostAccumulateHook(f func(*Tensor)) (remove func()) {
	t.engine()
	h := t.history()
	switch {
	case h == nil:
		t.engine().fail("hook", &NoGraphError{t.Spec()})
	case h.fn != nil:
		t.engine().fail("hook", &NotLeafError{t.Spec()})
	}
	k := &postHook{t, f}
	t.s.e.rebound(t.s)
	h.after = append(h.after, k)
	return func() {
		if i := slices.Index(h.after, k); i >= 0 {
			h.after = slices.Delete(slices.Clone(h.after), i, i+1)
		}
	}
}

// Param names a tensor and makes it a leaf that gathers a gradient.
func Param(name string, t *Tensor) *Tensor {
	if h := t.history(); h != nil && h.fn != nil {
		t = t.Detach()
	}
	t.RequireGrad()
	t.hist.name = name
	return t
}

// Name gives the name that Param gave.
func (t *Tensor) Name() string {
	t.engine()
	if t.hist != nil {
		return t.hist.name
	}
	return ""
}

// Detach gives a handle on the same storage that takes no part in gradients.
func (t *Tensor) Detach() *Tensor {
	t.engine()
	x := &Tensor{s: t.s, view: t.view, dt: t.dt, whole: t.whole, run: t.s.e.run()}
	if !t.whole {
		x.base = t.s.entire()
	}
	return x
}

// entire gives a handle on the whole storage without history.
func (s *Storage) entire() *Tensor {
	return &Tensor{s: s, view: &s.value.Type().Seen, dt: s.dtype(), whole: true, run: s.e.run()}
}

// GradFn names the operation that made t on the tape, "" for a leaf.
func (t *Tensor) GradFn() string {
	t.engine()
	if h := t.history(); h != nil && h.fn != nil {
		return string(h.fn.def.Name)
	}
	return ""
}
