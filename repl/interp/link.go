package interp

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

const beginBit = cell.BeginBit

func newMachine(in *Interp) *machine {
	m := &machine{in: in, globals: map[types.Object]unsafe.Pointer{}, funcs: map[*types.Func]*function{}, insts: map[string]*code{},
		names: map[types.Object]string{}, former: map[*types.Func]*cell.Former{}, values: valueShims(), libs: map[string]*types.Scope{}, known: map[string]bool{}, pkg: types.NewPackage(mainPath, mainPath)}
	m.types = newTypeTable(in.symbol)
	m.noSites = &unitSource{site: func(token.Pos, cell.Site) int { return 0 }, bare: true}
	return m
}

// link compiles a unit and gives what runs its statements, nil if it has none,
// and what gives the methods of earlier types back what they were.
func (m *machine) link(u *cell.Unit, body bool) (entry, undo func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	former := map[*function]function{}
	undo = func() {
		for fn, was := range former {
			*fn = was
		}
		u.Revert()
		m.methodsChanged(u.Methods)
	}
	defer func() {
		if err != nil {
			undo()
		}
	}()
	defer catchFault(&err)
	m.methodsChanged(u.Methods)
	m.use(u.Info)
	src := &unitSource{site: u.Site, line: u.Line, bare: m.in.opt.Bare}
	for _, v := range u.Storage {
		m.names[v.Var] = v.Name
		if v.Old != nil && m.globals[v.Old] != nil {
			m.globals[v.Var] = m.globals[v.Old]
			continue
		}
		m.globals[v.Var] = m.types.of(v.Var.Type()).alloc()
	}
	var todo []*function
	for _, d := range u.Funcs {
		o, ok := u.Info.Defs[d.Decl.Name].(*types.Func)
		if !ok || d.Decl.Body == nil {
			continue
		}
		sig := o.Signature()
		fn := &function{decl: d.Decl, info: u.Info, name: d.Name, unit: src}
		fn.generic = sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0
		if d.Method != nil { // of a type of an earlier cell
			if old := m.funcs[d.Method]; old != nil {
				former[old] = *old
				*old = *fn
				old.code = &code{}
				todo = append(todo, old)
				continue
			}
			m.funcs[d.Method] = fn
			if d.Former != nil {
				m.former[d.Method] = d.Former
			}
		}
		m.funcs[o] = fn
		if !fn.generic {
			fn.code = &code{}
			todo = append(todo, fn)
		}
	}
	for _, fn := range todo {
		m.compileFunc(fn, nil, fn.code)
	}
	if len(u.Body) == 0 || !body {
		return nil, undo, nil
	}
	c := m.topLevel(u, src)
	c.code.body = c.cellBody(u, nil)
	k := c.code
	return func() { m.run(newFr(k, nil, m.in.stacks.current())) }, undo, nil
}

// methodsChanged forgets what was found out about methods when those of some
// types changed.
func (m *machine) methodsChanged(of []*types.Named) {
	if len(of) == 0 {
		return
	}
	for _, t := range m.types.all() {
		t.methods.Clear()
		t.impls.Clear()
		if n, ok := t.t.(*types.Named); ok && slices.Contains(of, n.Origin()) {
			cell.Refresh(n)
		}
	}
}

// topLevel starts the compilation of a cell's statements.
func (m *machine) topLevel(u *cell.Unit, src *unitSource) *fc {
	c := &fc{m: m, info: u.Info, unit: src, name: "(cell)", slots: map[types.Object]int{}, labels: map[types.Object]int{},
		sig: types.NewSignatureType(nil, nil, nil, nil, nil, false), code: &code{name: "(cell)"}}
	body := &ast.BlockStmt{}
	for _, s := range u.Body {
		if s.Stmt != nil {
			body.List = append(body.List, s.Stmt)
		}
	}
	c.escapes = escapesOf(u.Info, body)
	c.code.defers = hasDefer(body)
	c.code.site = c.site(u.BodyPos, cell.NoHook)
	return c
}

// evaluation starts the compilation of an evaluation: the locals that it uses are
// its first slots.
func (m *machine) evaluation(e *cell.Evaluation) *fc {
	c := m.topLevel(e.Unit, m.noSites)
	c.code.nslots = len(e.Vars)
	for i, v := range e.Vars {
		c.slots[v] = i
		c.escapes[v] = true
	}
	return c
}

// linkEval compiles an evaluation; the result runs it with the memory of the
// locals that it uses and gives the values of its last expression.
func (m *machine) linkEval(e *cell.Evaluation) (run func([]unsafe.Pointer) []any, err error) {
	if _, _, err = m.link(e.Unit, false); err != nil || len(e.Unit.Body) == 0 {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	defer catchFault(&err)
	c := m.evaluation(e)
	var out []any
	c.code.body = c.cellBody(e.Unit, &out)
	k := c.code
	return func(locals []unsafe.Pointer) []any {
		out = nil
		g := newFr(k, nil, m.in.stacks.current())
		copy(g.p, locals)
		m.run(g)
		return out
	}, nil
}

// catchFault turns a fault of the machine into an error.
func catchFault(err *error) {
	switch r := recover().(type) {
	case nil:
	case *fault:
		*err = errors.New(r.msg)
	default:
		*err = fmt.Errorf("%v", r)
	}
}

// cellBody compiles the statements of a cell: declarations of session variables
// store into these.
func (c *fc) cellBody(u *cell.Unit, into *[]any) stmt {
	var out []stmt
	labels := map[int]int{}
	for _, s := range u.Body {
		if s.Label != nil {
			labels[c.label(s.Label)] = len(out)
		}
		switch {
		case s.Decl != nil:
			for _, spec := range s.Decl.Specs {
				st := c.around(&ast.DeclStmt{Decl: &ast.GenDecl{Tok: token.VAR, TokPos: s.Decl.TokPos, Specs: []ast.Spec{spec}}}, func() stmt { return c.sessionVar(spec.(*ast.ValueSpec)) })
				out = append(out, st)
			}
		case s.Show:
			out = append(out, c.show(s, u, into))
		case s.Call != nil:
			fn := c.m.funcs[s.Call]
			out = append(out, func(f *fr) ctl {
				g := newFr(fn.code, nil, f.st)
				c.m.run(g)
				return next
			})
		default:
			if l, ok := s.Stmt.(*ast.LabeledStmt); ok {
				labels[c.label(l.Label)] = len(out)
			}
			if st := c.stmt(s.Stmt); st != nil {
				out = append(out, st)
			}
		}
	}
	return sequence(out, labels)
}

// sessionVar stores the values of a declaration at the top of a cell.
func (c *fc) sessionVar(s *ast.ValueSpec) stmt {
	in := c.m.in
	reach := func(id *ast.Ident) func() {
		v, ok := c.info.Defs[id].(*types.Var)
		if !ok || id.Name == "_" {
			return func() {}
		}
		p, t, name := c.m.globals[v], c.typ(v.Type()), c.m.names[v]
		return func() { in.declared(name, t, p) }
	}
	if len(s.Values) == 0 {
		var list []stmt
		for _, id := range s.Names {
			v, ok := c.info.Defs[id].(*types.Var)
			if !ok || id.Name == "_" {
				continue
			}
			p, t, r := c.m.globals[v], c.typ(v.Type()), reach(id)
			list = append(list, func(*fr) ctl { t.zero(p); r(); return next })
		}
		return sequence(list, nil)
	}
	var want *typ
	if s.Type != nil {
		want = c.m.types.of(c.typeOf(s.Type))
	}
	lhs := make([]ast.Expr, len(s.Names))
	for i, id := range s.Names {
		lhs[i] = id
	}
	get, ts := c.values(lhs, s.Values, want)
	var sets []func(unsafe.Pointer)
	for i, id := range s.Names {
		v, ok := c.info.Defs[id].(*types.Var)
		if !ok || id.Name == "_" {
			sets = append(sets, func(unsafe.Pointer) {})
			continue
		}
		p, t := c.m.globals[v], c.typ(v.Type())
		conv := c.convertMem(ts[i], t)
		sets = append(sets, func(q unsafe.Pointer) { t.copyTo(p, conv(q)) })
	}
	var reached []func()
	for _, id := range s.Names {
		reached = append(reached, reach(id))
	}
	return func(f *fr) ctl {
		for i, p := range get(f) {
			sets[i](p)
		}
		for _, r := range reached {
			r()
		}
		return next
	}
}

// show keeps and shows the value of a cell's last expression. An evaluation's
// values go to into.
func (c *fc) show(s cell.TopStmt, u *cell.Unit, into *[]any) stmt {
	in, m := c.m.in, c.m
	x := s.Stmt.(*ast.ExprStmt).X
	quiet := u.Quiet
	add := func(v any) {
		if into != nil {
			*into = append(*into, v)
		} else if !quiet {
			in.run.shown = append(in.run.shown, v)
		}
	}
	if s.Results == nil { // several results, or those of an evaluation: not kept
		return c.around(s.Stmt, func() stmt {
			e := c.expr(x)
			if p := e.tuple; p != nil {
				return func(f *fr) ctl {
					for i, q := range p.run(f) {
						add(m.iface(p.results[i], q))
					}
					return next
				}
			}
			if e.isNil {
				return func(*fr) ctl { add(nil); return next }
			}
			val := c.mem(e)
			return func(f *fr) ctl { add(m.iface(e.t, val(f))); return next }
		})
	}
	v := s.Results
	t := c.typ(v.Type())
	p := m.globals[v]
	name := v.Name()
	around := c.around(s.Stmt, func() stmt {
		val := c.mem(c.as(x, t))
		return func(f *fr) ctl {
			t.copyTo(p, val(f))
			in.declared(name, t, p)
			return next
		}
	})
	return func(f *fr) ctl {
		r := around(f)
		add(m.iface(t, p))
		return r
	}
}

// sweeps tells whether a statement may have made or dropped a tensor: the
// runtime is then told that it ended.
func (c *fc) sweeps(st ast.Stmt) (found bool) {
	switch st.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.IncDecStmt, *ast.SendStmt:
	default:
		return false
	}
	ast.Inspect(st, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		if e, ok := n.(ast.Expr); ok && !found {
			tv := c.info.Types[e]
			found = tv.Type != nil && !tv.IsType() && !tv.IsBuiltin() && c.m.holdsTensor(c.sub.typ(tv.Type))
			if id, ok := e.(*ast.Ident); ok && !found {
				v, isVar := c.info.ObjectOf(id).(*types.Var)
				found = isVar && c.m.holdsTensor(c.sub.typ(v.Type()))
			}
		}
		return !found
	})
	return found
}

// drops tells whether a statement may take the last way to a tensor without an
// op: it assigns over a variable, an element or a field, or deletes.
func (c *fc) drops(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.AssignStmt:
		for _, l := range st.Lhs {
			if st.Tok == token.ASSIGN && !isBlankExpr(l) && c.m.holdsTensor(c.typeOf(l)) {
				return true
			}
		}
	case *ast.ExprStmt:
		call, ok := st.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		if !ok {
			return false
		}
		b, ok := c.info.Uses[id].(*types.Builtin)
		return ok && (b.Name() == "delete" || b.Name() == "clear")
	}
	return false
}
