package debug

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A predicate is a condition on the operands and the result of an operation.
//
// shape, dtype, rank, numel and bytes are those of any operand or of the result:
// it holds when it holds for one of them. self.shape, out.dtype name one; other
// names are those of the frame. What && || and ! join is looked at part by part:
// one that asks nothing of operands may be any Go.
type predicate struct {
	text    string
	x       expr
	generic bool // asks of any operand
	conds   sync.Map
}

// A partKey is a part of a predicate in a scope.
type partKey struct {
	text  string
	scope *cell.Local
}

func newPredicate(text string) (*predicate, error) {
	if text == "" {
		return nil, nil
	}
	x, names, err := compilePredicate(text)
	if err != nil {
		return nil, err
	}
	p := &predicate{text: text, x: x}
	for _, n := range names {
		p.generic = p.generic || slices.Contains(specFields[:], n)
	}
	return p, nil
}

// forget drops what was compiled: a name of the session may mean another variable.
func (p *predicate) forget() {
	if p != nil {
		p.conds.Clear()
	}
}

// A callEnv is the env of a predicate at an operation.
type callEnv struct {
	p       *predicate
	d       *Debugger
	g       *interp.Goroutine
	site    *cell.Site
	c       *exec.Call
	inputs  []op.Param
	out     []shape.Spec
	known   bool // out is
	subject shape.Spec
	err     error
}

// results gives the types of what the operation will make.
func (e *callEnv) results() []shape.Spec {
	if e.known {
		return e.out
	}
	e.known = true
	specs := make([]shape.Spec, len(e.c.In))
	for i, v := range e.c.In {
		if v != nil {
			specs[i] = v.Spec()
		}
	}
	e.out, _ = e.c.Def.Specs(specs, e.c.Attrs)
	return e.out
}

func (e *callEnv) name(n string) value {
	if slices.Contains(specFields[:], n) {
		return specField(e.subject, n)
	}
	if e.inputs == nil {
		e.inputs = e.c.Def.Inputs()
	}
	for i, p := range e.inputs {
		if (p.Name == n || i == 0 && n == "self") && i < len(e.c.In) && e.c.In[i] != nil {
			s := e.c.In[i].Spec()
			return value{k: vSpec, d: s.DType, dims: s.Dims}
		}
	}
	if n == "out" || n == "result" {
		if out := e.results(); len(out) > 0 {
			return value{k: vSpec, d: out[0].DType, dims: out[0].Dims}
		}
	}
	for l := e.site.Locals; l != nil; l = l.Up {
		if l.Name == n {
			return valueAt(e.g.Slot(l))
		}
	}
	if t, ok := typeNamed(n); ok {
		return value{k: vType, d: t}
	}
	if v := e.d.in.NamedVar(n); v.IsValid() {
		return valueAt(v.Interface())
	}
	return value{}
}

// inFrame evaluates a part as Go in the frame.
func (e *callEnv) inFrame(text string) value {
	k := partKey{text, e.site.Locals}
	c, ok := e.p.conds.Load(k)
	if !ok {
		compiled, err := e.d.in.CompileCondition(text, e.site.Locals)
		if err != nil {
			e.err = err
			return value{}
		}
		c = compiled
		e.p.conds.Store(k, c)
	}
	holds, err := c.(*interp.Condition).Holds(e.g)
	if err != nil {
		e.err = err
		return value{}
	}
	return value{k: vBool, b: holds}
}

// typeNamed finds an element type by its name: bf16.
func typeNamed(name string) (dtype.DType, bool) {
	return dtype.Parse(strings.ToLower(name))
}

// holds evaluates the predicate at an operation.
func (p *predicate) holds(d *Debugger, g *interp.Goroutine, c *exec.Call) (bool, error) {
	if p == nil {
		return true, nil
	}
	e := &callEnv{p: p, d: d, g: g, site: g.Here(), c: c}
	known := false
	ask := func(s shape.Spec) bool {
		e.subject = s
		v := p.x(e)
		known = known || v.k == vBool
		return v.k == vBool && v.b
	}
	if !p.generic {
		return ask(shape.Spec{}), e.err
	}
	for _, v := range c.In {
		if v == nil {
			continue
		}
		if s := v.Spec(); !s.Weak && ask(s) {
			return true, nil
		}
	}
	for _, s := range e.results() {
		if ask(s) {
			return true, nil
		}
	}
	if !known && e.err == nil {
		e.inFrame(p.text) // says what is wrong with it
	}
	return false, e.err
}

// fill replaces {expr} in the text of a logpoint by values.
func (d *Debugger) fill(g *interp.Goroutine, s *cell.Site, text string) string {
	a, _ := g.Top()
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '{')
		j := -1
		if i >= 0 {
			j = strings.IndexByte(text[i:], '}')
		}
		if j < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		expr := text[i+1 : i+j]
		text = text[i+j+1:]
		out, err := d.evaluate(expr, s.Locals, a.Locals)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "{%v}", err)
		case len(out) > 0:
			fmt.Fprint(&b, out[0].Value)
		}
	}
}

// isIn tells whether a value is the one that a breakpoint's variable gets or has.
func (d *Debugger) isIn(g *interp.Goroutine, b *Breakpoint, v *exec.Value) bool {
	if b.Name == "" {
		return true
	}
	s := g.Statement()
	if slices.Contains(s.Assigns, b.Name) {
		return true
	}
	p, _ := d.variable(g, s, b)
	return p.IsValid() && d.o.Holds != nil && d.o.Holds(p.Elem(), v)
}
