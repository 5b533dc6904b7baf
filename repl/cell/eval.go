package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// An Evaluation is Go compiled for a place in a cell that runs: a function of
// pointers to the locals that it uses, which gives the values of its last
// expression.
type Evaluation struct {
	Unit   *Unit
	Locals []string // whose pointers the function takes, in order
	Shown  []ShownType
}

// A LocalError says that a local cannot be named from outside its function.
type LocalError struct{ Name, Type string }

func (e *LocalError) Error() string {
	return fmt.Sprintf("%s has a type of its function, %s: it can be looked at, not used in an expression", e.Name, e.Type)
}

// An evaluation is the state of a compiler that compiles one.
type evaluation struct {
	locals map[string]*Local
	used   []*Local
	result *Evaluation
}

// evalSuffix makes the internal names of locals; messages lose it.
const evalSuffix = "ʹ99999"

// CompileEval compiles statements, or an expression, in the scope of a place
// whose locals are given, the session's names around them. Without hooks and
// program counters: what it does counts as done by the statement there. The
// error is a *CompileError, *LocalError or *InternalError.
func (s *Scope) CompileEval(text string, at *Local) (e *Evaluation, err error) {
	defer func() {
		if r := recover(); r != nil {
			if x, ok := r.(*InternalError); ok {
				e, err = nil, x
				return
			}
			e, err = nil, &InternalError{"evaluate", fmt.Errorf("%v", r)}
		}
	}()
	markers := s.cfg.Markers
	s.cfg.Markers = false
	defer func() { s.cfg.Markers = markers }()
	src := Source{Text: text}
	c := &compiler{s: s, src: &src, lines: lineStarts(text), skip: map[string]bool{}, eval: &evaluation{locals: map[string]*Local{}, result: &Evaluation{}}}
	for ; at != nil; at = at.Up {
		if c.eval.locals[at.Name] == nil {
			c.eval.locals[at.Name] = at
		}
	}
	u, again, err := c.compile()
	for name, why := range again {
		return nil, &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "type", Msg: name + ": " + why}}}
	}
	if err != nil {
		return nil, err
	}
	e = c.eval.result
	e.Unit = u
	for _, l := range c.eval.used {
		if !nameable(l.Type, map[types.Type]bool{}) {
			return nil, &LocalError{l.Name, s.TypeString(l.Type)}
		}
		e.Locals = append(e.Locals, l.Name)
	}
	return e, nil
}

// local gives the internal name of a local that an evaluation may use.
func (e *evaluation) local(name string) (string, bool) {
	if e == nil || e.locals[name] == nil {
		return "", false
	}
	l := e.locals[name]
	for _, u := range e.used {
		if u == l {
			return name + evalSuffix, true
		}
	}
	e.used = append(e.used, l)
	return name + evalSuffix, true
}

// insert brings the used locals into a package's scope.
func (e *evaluation) insert(pkg *types.Package) {
	if e == nil {
		return
	}
	for _, l := range e.used {
		pkg.Scope().Insert(types.NewVar(token.NoPos, pkg, l.Name+evalSuffix, l.Type))
	}
}

// lowerEval lowers the statements of an evaluation: copies of the locals, the
// statements, the values of the last expression, and the locals written back
// that were assigned.
func (c *compiler) lowerEval() []ast.Stmt {
	p := c.body.Body.Lbrace
	list := c.body.Body.List
	f := &function{c: c, name: "(eval)", sig: types.NewSignatureType(nil, nil, nil, nil, nil, false), top: true}
	var last *ast.ExprStmt
	if c.last != nil && len(list) > 0 {
		if es, ok := list[len(list)-1].(*ast.ExprStmt); ok && !c.info.Types[es.X].IsVoid() && !c.prints(es.X) {
			last, list = es, list[:len(list)-1]
		}
	}
	written := c.written()
	var out, back []ast.Stmt
	t := c.body.Type
	t.Params = &ast.FieldList{Opening: p, Closing: p}
	for i, l := range c.eval.used {
		if !nameable(l.Type, map[types.Type]bool{}) {
			continue
		}
		name, ptr := l.Name+evalSuffix, fmt.Sprintf("ʹp%d", i)
		star := func() ast.Expr { return &ast.StarExpr{Star: p, X: ident(ptr, p)} }
		t.Params.List = append(t.Params.List, &ast.Field{Names: []*ast.Ident{ident(ptr, p)}, Type: &ast.StarExpr{Star: p, X: c.typeExpr(l.Type, p)}})
		out = append(out, define(name, star(), p))
		if written[name] {
			back = append(back, assign(star(), ident(name, p), p))
		}
	}
	out = append(out, f.stmts(list)...)
	if last == nil {
		return append(out, back...)
	}
	vars, results := c.evalResults(f, last)
	out = append(append(out, vars...), back...)
	t.Results = &ast.FieldList{Opening: p, Closing: p}
	ret := &ast.ReturnStmt{Return: p}
	for _, r := range results {
		t.Results.List = append(t.Results.List, &ast.Field{Type: c.typeExpr(r.typ, p)})
		ret.Results = append(ret.Results, ident(r.name, p))
		c.eval.result.Shown = append(c.eval.result.Shown, ShownType{Type: c.s.TypeString(r.typ)})
	}
	return append(out, ret)
}

type evalResult struct {
	name string
	typ  types.Type
}

// evalResults evaluates the last expression into temporaries.
func (c *compiler) evalResults(f *function, es *ast.ExprStmt) (out []ast.Stmt, results []evalResult) {
	p := es.Pos()
	tv := c.info.Types[es.X]
	out = f.exprs(p, &es.X)
	if tuple, ok := tv.Type.(*types.Tuple); ok {
		var names []string
		for v := range tuple.Variables() {
			r := evalResult{c.temp("v"), v.Type()}
			results, names = append(results, r), append(names, r.name)
		}
		return append(out, &ast.AssignStmt{Lhs: idents(names, p), TokPos: p, Tok: token.DEFINE, Rhs: []ast.Expr{es.X}}), results
	}
	r := evalResult{c.temp("v"), types.Default(tv.Type)}
	if tv.IsNil() {
		r.typ = types.Universe.Lookup("any").Type()
	}
	return append(out, c.holdAs(r.name, r.typ, es.X, p)...), []evalResult{r}
}

// written lists the locals that the evaluation may change: assigned, counted,
// or with their address taken.
func (c *compiler) written() map[string]bool {
	out := map[string]bool{}
	root := func(e ast.Expr) {
		for e != nil {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.Ident:
				out[x.Name] = true
				return
			default:
				return
			}
		}
	}
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				root(l)
			}
		case *ast.IncDecStmt:
			root(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				root(n.X)
			}
		case *ast.SelectorExpr:
			if s := c.info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				if fn, ok := s.Obj().(*types.Func); ok && !isPointer(s.Recv()) {
					if r := fn.Signature().Recv(); r != nil && isPointer(r.Type()) {
						root(n.X)
					}
				}
			}
		}
		return true
	})
	return out
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// nameable tells whether a type can be written outside the function that a
// local of it stands in.
func nameable(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return t != nil
	}
	seen[t] = true
	all := func(list ...types.Type) bool {
		for _, x := range list {
			if !nameable(x, seen) {
				return false
			}
		}
		return true
	}
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return false
	case *types.Named:
		o := t.Obj()
		if o.Pkg() != nil && o.Parent() != o.Pkg().Scope() && o.Pkg().Path() == mainPath {
			return false
		}
		for a := range t.TypeArgs().Types() {
			if !nameable(a, seen) {
				return false
			}
		}
	case *types.Pointer:
		return all(t.Elem())
	case *types.Slice:
		return all(t.Elem())
	case *types.Array:
		return all(t.Elem())
	case *types.Chan:
		return all(t.Elem())
	case *types.Map:
		return all(t.Key(), t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if !nameable(f.Type(), seen) {
				return false
			}
		}
	case *types.Tuple:
		for v := range t.Variables() {
			if !nameable(v.Type(), seen) {
				return false
			}
		}
	case *types.Signature:
		return all(t.Params(), t.Results())
	}
	return true
}

// Preview enters the names of a unit that still runs in the scope, those of
// variables as far as the run reached them; undo takes them out again.
func (s *Scope) Preview(u *Unit, reached func(internal string) bool) (undo func()) {
	if u == nil || u.commit == nil {
		return func() {}
	}
	n := len(s.sessionTypes)
	back := u.commit(reached)
	return func() {
		back()
		s.sessionTypes = s.sessionTypes[:n]
	}
}
