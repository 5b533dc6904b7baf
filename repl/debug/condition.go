package debug

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A condition is Go of type bool, type-checked and compiled for one scope.
type condition struct {
	text string
	eval *interp.Evaluation
	fast expr
}

// condition compiles a text for a scope. The error is a *cell.CompileError or a
// *ConditionError.
func (d *Debugger) condition(text string, scope *cell.Local) (*condition, error) {
	e, err := d.in.CompileEval(text, scope)
	if err != nil {
		return nil, err
	}
	if t := e.Types(); len(t) != 1 || t[0] != "bool" {
		return nil, &ConditionError{text, "a condition is of type bool, not " + strings.Join(append(t, "")[:max(len(t), 1)], ", ")}
	}
	c := &condition{text: text, eval: e}
	c.fast, _ = compileExpr(text, func(name string) expr {
		if l := localNamed(scope, name); l != nil {
			return reader(l)
		}
		if v := d.in.NamedVar(name); v.IsValid() {
			p := v.Interface()
			return func(env) value { return valueAt(p) }
		}
		return nil
	})
	return c, nil
}

func localNamed(l *cell.Local, name string) *cell.Local {
	for ; l != nil; l = l.Up {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// holds evaluates the condition in the top frame of g.
func (c *condition) holds(g *interp.Goroutine) (bool, error) {
	if c.fast != nil {
		if v := c.fast(frameEnv{g}); v.k == vBool {
			return v.b, nil
		}
	}
	a, _ := g.Top()
	out, err := c.eval.Run(finder(a.Locals))
	if err != nil {
		return false, err
	}
	b, _ := out[0].Value.(bool)
	return b, nil
}

// A predicate is a condition on the operands and the result of an operation.
//
// shape, dtype, rank, numel and bytes are those of any operand or of the result:
// it holds when it holds for one of them. self.shape, out.dtype name one; other
// names are those of the frame.
type predicate struct {
	text    string
	x       expr
	generic bool // asks of any operand
}

func newPredicate(text string) (*predicate, error) {
	if text == "" {
		return nil, nil
	}
	x, names := compileExpr(text, nil)
	p := &predicate{text: text, x: x}
	for _, n := range names {
		p.generic = p.generic || slices.Contains(specFields[:], n)
	}
	return p, nil
}

// A callEnv is the env of a predicate at an operation.
type callEnv struct {
	d       *Debugger
	g       *interp.Goroutine
	a       interp.Activation
	c       *exec.Call
	inputs  []op.Param
	out     []shape.Spec
	subject shape.Spec
}

func (e *callEnv) name(n string) value {
	if slices.Contains(specFields[:], n) {
		return specField(e.subject, n)
	}
	for i, p := range e.inputs {
		if p.Name == n && i < len(e.c.In) && e.c.In[i] != nil {
			s := e.c.In[i].Spec()
			return value{k: vSpec, d: s.DType, dims: s.Dims}
		}
	}
	if (n == "out" || n == "result") && len(e.out) > 0 {
		return value{k: vSpec, d: e.out[0].DType, dims: e.out[0].Dims}
	}
	for _, l := range e.a.Locals {
		if l.Name == n && l.Ptr.IsValid() {
			return valueAt(l.Ptr.Interface())
		}
	}
	if v := e.d.in.NamedVar(n); v.IsValid() {
		return valueAt(v.Interface())
	}
	if t, ok := typeNamed(n); ok {
		return value{k: vType, d: t}
	}
	return value{}
}

// typeNamed finds an element type by its name: bf16.
func typeNamed(name string) (dtype.DType, bool) {
	return dtype.Parse(strings.ToLower(name))
}

// holds evaluates the predicate at an operation. What it cannot evaluate as a
// predicate is evaluated as Go in the frame.
func (p *predicate) holds(d *Debugger, g *interp.Goroutine, c *exec.Call) (bool, error) {
	if p == nil {
		return true, nil
	}
	a, _ := g.Top()
	e := &callEnv{d: d, g: g, a: a, c: c, inputs: c.Def.Inputs()}
	specs := make([]shape.Spec, len(c.In))
	for i, v := range c.In {
		if v != nil {
			specs[i] = v.Spec()
		}
	}
	if out, err := c.Def.Specs(specs, c.Attrs); err == nil {
		e.out = out
	}
	var subjects []shape.Spec
	for i, v := range c.In {
		if v != nil && !specs[i].Weak {
			subjects = append(subjects, specs[i])
		}
	}
	subjects = append(subjects, e.out...)
	if p.x != nil {
		if !p.generic {
			subjects = make([]shape.Spec, 1)
		}
		known := false
		for _, s := range subjects {
			e.subject = s
			if v := p.x(e); v.k == vBool {
				if known = true; v.b {
					return true, nil
				}
			}
		}
		if known {
			return false, nil
		}
	}
	if a.Site == nil {
		return false, &ConditionError{p.text, "cannot be evaluated here"}
	}
	cond, err := d.condition(p.text, a.Site.Locals)
	if err != nil {
		return false, err
	}
	return cond.holds(g)
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
