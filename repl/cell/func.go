package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// A function is the lowering of one function's body.
//
//	func f(x *T) R {
//		ʹf := ʹrt.Enter(41)        // pushes a frame of the goroutine's shadow stack
//		ʹf.PC = 42                 // before what can call, index, divide or dereference
//		var ʹr1 R = x.Do()
//		ʹf.Live = false            // pops it
//		return ʹr1
//	}
//
// A function that defers runs its body in a closure under ʹrt.Protect: the
// interpreter's own defer reads its arguments late and can hang.
type function struct {
	c        *compiler
	name     string
	sig      *types.Signature
	results  []string // names of the results, when they have any
	framed   bool     // has a frame
	roots    []string // names of the locals that can hold a tensor, by slot
	tensors  bool     // has locals that can hold a tensor
	defers   bool     // body runs under Protect
	loops    bool     // polls for an interrupt
	lits     int
	noChecks bool // the expressions stand where statements can't precede them
	top      bool
	yield    *yieldBody // innermost loop over a function, nil outside
	outer    *function  // the function around a literal

	// For the debugger.
	vars    []*visible   // locals in scope, innermost last
	pending []*visible   // those whose slot is not filled yet
	slots   int          // slots of Frame.Vars
	params  bool         // what is seen now is a parameter
	flushed bool         // some are filled without a debugger
	entered bool         // the first statement has its hook
	lines   map[int]bool // lines that have a hook
}

// Names of the locals that instrumented code uses.
const (
	frameVar  = "ʹf"
	defersVar = "ʹd"
)

// lowerDecl lowers a declared function.
func (c *compiler) lowerDecl(d *ast.FuncDecl) []ast.Decl {
	name := c.userName(d.Name.Name)
	f := &function{c: c, name: name}
	obj := c.info.Defs[d.Name]
	if m := c.foreignOf(d); m != nil {
		return c.lowerForeign(d, m)
	}
	if d.Recv != nil {
		f.name = plain(types.ExprString(d.Recv.List[0].Type)) + "." + d.Name.Name
		if d.Recv.List[0].Type != nil {
			if _, ptr := d.Recv.List[0].Type.(*ast.StarExpr); ptr {
				f.name = "(" + plain(types.ExprString(d.Recv.List[0].Type)) + ")." + d.Name.Name
			}
		}
	}
	if fn, ok := obj.(*types.Func); ok {
		f.sig = fn.Signature()
	}
	if f.sig == nil || d.Body == nil {
		return []ast.Decl{d}
	}
	f.lower(d.Recv, d.Type, d.Body)
	if d.Recv != nil {
		if hook := c.methodHook(d); hook != nil {
			return []ast.Decl{hook, d}
		}
	}
	return []ast.Decl{d}
}

// userName gives the user's name of an internal one.
func (c *compiler) userName(internal string) string {
	if n := c.declared[internal]; n != "" {
		return n
	}
	return plain(internal)
}

func (c *compiler) foreignOf(d *ast.FuncDecl) *foreignMethod {
	for _, m := range c.foreign {
		if m.decl == d {
			return m
		}
	}
	return nil
}

// lower instruments and lowers a body in place.
func (f *function) lower(recv *ast.FieldList, t *ast.FuncType, body *ast.BlockStmt) {
	p := body.Lbrace
	nameParams(t.Params)
	if recv != nil {
		nameParams(recv)
	}
	scan := f.c.scanBody(body)
	f.defers = scan.defers
	f.loops = scan.loops
	f.framed = f.c.s.cfg.Markers && (scan.calls || scan.loops || f.top) || scan.defers || scan.recovers || scan.gos
	if f.defers {
		f.nameResults(t)
	} else if t.Results != nil {
		for _, fl := range t.Results.List {
			for _, id := range fl.Names {
				f.results = append(f.results, id.Name)
			}
		}
	}
	var pro []ast.Stmt
	f.seeCaptured(body)
	f.params = true
	f.seeParams(recv, t)
	if f.framed {
		pro = f.paramRoots(recv, t, p)
	}
	f.params = false
	list := f.stmts(body.List)
	if !f.entered { // an empty function can be stopped in, too
		list = append(list, f.hook(body.Rbrace, Statement)...)
	}
	if f.framed {
		pro = append([]ast.Stmt{define(frameVar, f.enter(p), p)}, pro...)
	}
	if f.defers {
		list = []ast.Stmt{
			define(defersVar, rt("Defers", p, ident(frameVar, p)), p),
			exprStmt(rt("Protect", p, ident(defersVar, p), funcLit(p, list...))),
		}
		list = append(list, f.leave(p)...)
		if len(f.results) > 0 {
			list = append(list, &ast.ReturnStmt{Return: body.Rbrace, Results: idents(f.results, p)})
		}
	} else if f.framed && (f.sig == nil || f.sig.Results().Len() == 0) && !ends(list) {
		list = append(list, f.leave(body.Rbrace)...)
	}
	body.List = append(pro, list...)
}

func idents(names []string, p token.Pos) []ast.Expr {
	out := make([]ast.Expr, len(names))
	for i, n := range names {
		out[i] = ident(n, p)
	}
	return out
}

// ends tells whether a statement list ends by returning.
func ends(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	_, ok := list[len(list)-1].(*ast.ReturnStmt)
	return ok
}

// enter pushes the frame, with as many slots as its locals need.
func (f *function) enter(p token.Pos) ast.Expr {
	id := f.site(p)
	f.c.s.nameRoots(id, f.roots)
	switch {
	case f.flushed:
		return rt("EnterVars", p, intLit(id, p), intLit(len(f.roots), p), intLit(f.slots, p))
	case len(f.roots) > 0:
		return rt("EnterRoots", p, intLit(id, p), intLit(len(f.roots), p))
	}
	return rt("Enter", p, intLit(id, p))
}

// leave pops the frame. A function with tensors tells the runtime, which may
// free what only its locals held; for the others one store is enough.
func (f *function) leave(p token.Pos) []ast.Stmt {
	if !f.framed {
		return nil
	}
	if f.tensors {
		return []ast.Stmt{exprStmt(rt("Leave", p, ident(frameVar, p)))}
	}
	return []ast.Stmt{assign(sel(ident(frameVar, p), "Live", p), ident("false", p), p)}
}

// nameParams names every parameter: the interpreter mixes unnamed ones up with
// locals.
func nameParams(l *ast.FieldList) {
	if l == nil {
		return
	}
	n := 0
	for _, fl := range l.List {
		if len(fl.Names) == 0 {
			fl.Names = []*ast.Ident{ident("_", fl.Pos())}
		}
		for i, id := range fl.Names {
			if id.Name == "_" {
				fl.Names[i] = ident("ʹp"+strconv.Itoa(n), id.Pos())
			}
			n++
		}
	}
}

// nameResults names every result of a function that defers.
func (f *function) nameResults(t *ast.FuncType) {
	if t.Results == nil {
		return
	}
	n := 0
	for _, fl := range t.Results.List {
		if len(fl.Names) == 0 {
			fl.Names = []*ast.Ident{ident("_", fl.Pos())}
		}
		for i, id := range fl.Names {
			if id.Name == "_" {
				id = ident("ʹo"+strconv.Itoa(n), fl.Pos())
				fl.Names[i] = id
			}
			f.results = append(f.results, id.Name)
			n++
		}
	}
}

// paramRoots registers parameters that can hold a tensor.
func (f *function) paramRoots(recv *ast.FieldList, t *ast.FuncType, p token.Pos) (out []ast.Stmt) {
	if f.sig == nil {
		return nil
	}
	reg := func(l *ast.FieldList, vars *types.Tuple) {
		if l == nil || vars == nil {
			return
		}
		k := 0
		for _, fl := range l.List {
			for _, id := range fl.Names {
				if k < vars.Len() && f.c.s.holdsTensor(vars.At(k).Type()) {
					out = append(out, f.root(id.Name, p))
					f.see(id.Name, vars.At(k), vars.At(k).Type(), len(f.roots)-1, true)
				}
				k++
			}
		}
	}
	if recv != nil && f.sig.Recv() != nil {
		reg(recv, types.NewTuple(f.sig.Recv()))
	}
	reg(t.Params, f.sig.Params())
	return out
}

// root registers a local as a root of the liveness walk.
func (f *function) root(name string, p token.Pos) ast.Stmt {
	slot := len(f.roots)
	f.roots = append(f.roots, f.c.userName(name))
	f.tensors = true
	return assign(&ast.IndexExpr{X: sel(ident(frameVar, p), "Roots", p), Lbrack: p, Index: intLit(slot, p), Rbrack: p}, addr(ident(name, p), p), p)
}

// rootsOf brings the variables that a statement defined into scope, and registers
// those that can hold a tensor.
func (f *function) rootsOf(ids []*ast.Ident) (out []ast.Stmt) {
	for _, id := range ids {
		o := f.c.info.Defs[id]
		if o == nil || id.Name == "_" {
			continue
		}
		if !f.isRoot(o.Type()) {
			f.see(id.Name, o, o.Type(), f.newSlot(), false)
			continue
		}
		out = append(out, f.root(id.Name, id.Pos()))
		f.see(id.Name, o, o.Type(), len(f.roots)-1, true)
	}
	return out
}

// A bodyScan says what a body needs, literals inside it apart.
type bodyScan struct {
	calls, loops, defers, recovers, gos bool
}

func (c *compiler) scanBody(b *ast.BlockStmt) (s bodyScan) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			s.calls = true
			return false
		case *ast.CallExpr:
			s.calls = true
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Recover" {
				if id, ok := f.X.(*ast.Ident); ok && id.Name == runtimePackage {
					s.recovers = true
				}
			}
		case *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr, *ast.SendStmt, *ast.SelectStmt:
			s.calls = true
		case *ast.UnaryExpr:
			s.calls = s.calls || n.Op == token.ARROW
		case *ast.BinaryExpr:
			s.calls = s.calls || n.Op == token.QUO || n.Op == token.REM || (n.Op == token.SHL || n.Op == token.SHR) && c.info.Types[n].Value == nil
		case *ast.SelectorExpr:
			sel := c.info.Selections[n]
			s.calls = s.calls || sel != nil && sel.Indirect() // a nil pointer fails
		case *ast.ForStmt, *ast.RangeStmt:
			s.loops = true
		case *ast.BranchStmt:
			s.loops = s.loops || n.Tok == token.GOTO
		case *ast.DeferStmt:
			s.defers = true
		case *ast.GoStmt:
			s.gos = true
		}
		return true
	})
	return s
}

// site makes a program counter for a place in this function.
func (f *function) site(p token.Pos) int {
	src, line, col := f.c.locate(p)
	return f.c.s.addSite(Site{Cell: src.Cell, File: src.File, Line: line, Column: col, FirstLine: src.FirstLine, Func: f.name, Locals: f.locals()})
}

// mark stores the program counter.
func (f *function) mark(p token.Pos, begins bool) []ast.Stmt {
	if !f.framed || !f.c.s.cfg.Markers {
		return nil
	}
	id := f.site(p)
	if begins {
		id |= BeginBit
	}
	return []ast.Stmt{assign(sel(ident(frameVar, p), "PC", p), intLit(id, p), p)}
}

// lit lowers a function literal.
func (f *function) lit(n *ast.FuncLit) {
	if f.c.raw[n] {
		return
	}
	f.c.raw[n] = true
	sig, _ := f.c.info.Types[n].Type.(*types.Signature)
	f.lits++
	g := &function{c: f.c, name: f.name + ".func" + strconv.Itoa(f.lits), sig: sig, outer: f}
	g.lower(nil, n.Type, n.Body)
}

// litsIn lowers the literals inside an expression or a simple statement.
func (f *function) litsIn(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(m ast.Node) bool {
		if l, ok := m.(*ast.FuncLit); ok {
			f.lit(l)
			return f.c.raw[l] && false
		}
		return true
	})
}
