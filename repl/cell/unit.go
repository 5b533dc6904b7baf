package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strconv"
	"strings"
)

// A Unit is a compiled cell: its syntax with types, for the machine that runs
// it, and what the scope gains when the cell has begun.
type Unit struct {
	Info     *types.Info
	Funcs    []FuncDecl
	Storage  []Storage // variables of the session that the cell declares
	Body     []TopStmt // its statements in order
	BodyPos  token.Pos
	Site     func(p token.Pos, s Site) int // makes a program counter: s says what is no place
	Line     func(p token.Pos) int         // of a place, inside its cell
	Shown    []ShownType                   // what the last expression shows
	Vars     []Variable                    // variables that the cell declares
	Warnings []Diagnostic                  // unused things, functions that keep an old definition
	Quiet    bool                          // the last statement ended in ;
	Methods  []*types.Named                // types of earlier cells that have other methods now

	commit func(reached func(internal string) bool) (undo func())
	revert func()
}

// A FuncDecl is a function or method that a unit declares.
type FuncDecl struct {
	Decl   *ast.FuncDecl
	Name   string      // as reports write it
	Method *types.Func // the method that it is, when it is written as a function
	Former *Former     // what the method's name meant in the type before
}

// A Storage is a variable of the session.
type Storage struct {
	Var  *types.Var
	Old  *types.Var // whose memory it keeps, nil for memory of its own
	Name string     // internal, of the memory
}

// A TopStmt is a statement at the top of a cell: one of Stmt, Decl and Call.
type TopStmt struct {
	Stmt    ast.Stmt
	Decl    *ast.GenDecl // := or var: stores into session variables
	Label   *ast.Ident   // of a labelled Decl
	Show    bool         // Stmt is the last expression
	Results *types.Var   // where a shown value is kept
	Call    *types.Func  // init or main of a pasted program
}

// A ShownType describes one value of the last expression.
type ShownType struct {
	Type string
	Name string // session variable that holds it, "" if none
}

// Commit makes the unit's declarations part of the scope: those of variables
// only as far as the run reached them. It gives what takes them back again: names
// then mean what they meant, as long as no later unit is committed.
func (u *Unit) Commit(reached func(internal string) bool) (undo func()) {
	if u.commit != nil {
		undo = u.commit(reached)
		u.commit = nil
	}
	return undo
}

// Revert gives the types of Methods the methods that they had before the cell.
func (u *Unit) Revert() { u.revert() }

// unit makes the unit of a checked cell.
func (c *compiler) unit() *Unit {
	s := c.s
	s.versions["ʹcell"]++
	c.storage()
	u := &Unit{Info: c.info, Quiet: c.quiet, BodyPos: c.body.Body.Lbrace}
	u.Site = func(p token.Pos, site Site) int {
		src, line, col := c.locate(p)
		site.Cell, site.File, site.Line, site.Column, site.FirstLine = src.Cell, src.File, line, col, src.FirstLine
		return s.addSite(site)
	}
	u.Line = func(p token.Pos) int { _, line, _ := c.locate(p); return line }
	for _, d := range c.file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd != c.body {
			u.Funcs = append(u.Funcs, c.funcDecl(fd))
		}
	}
	seen := map[string]bool{}
	for _, v := range c.order {
		in := c.storageOf(v)
		u.Storage = append(u.Storage, Storage{Var: v, Old: c.keeps[v], Name: in})
		if !seen[in] {
			u.Vars = append(u.Vars, Variable{c.declared[v.Name()], in, s.TypeString(v.Type()), c.src.Cell})
		}
		seen[in] = true
	}
	c.topStmts(u)
	u.Warnings = append(c.warns, c.keptVars()...)
	u.commit, u.revert, u.Methods = c.commit(), c.revert, c.changed
	return u
}

func (c *compiler) funcDecl(d *ast.FuncDecl) FuncDecl {
	f := FuncDecl{Decl: d, Name: c.userName(d.Name.Name)}
	if m := c.foreignOf(d); m != nil {
		f.Method, f.Former = m.obj, m.former
		f.Name = "(" + m.entry.name + ")." + m.name.Name
		return f
	}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		recv := plain(types.ExprString(d.Recv.List[0].Type))
		f.Name = recv + "." + d.Name.Name
		if _, ptr := d.Recv.List[0].Type.(*ast.StarExpr); ptr {
			f.Name = "(" + recv + ")." + d.Name.Name
		}
	}
	return f
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

// topStmts lists the cell's statements; those of a pasted program's package
// variables come in the order in which Go initializes them.
func (c *compiler) topStmts(u *Unit) {
	for i, t := range c.tops {
		if t.decl != nil {
			top := TopStmt{Decl: t.decl}
			if l, ok := t.stmt.(*ast.LabeledStmt); ok {
				top.Label = l.Label
			}
			u.Body = append(u.Body, top)
			continue
		}
		top := TopStmt{Stmt: t.stmt}
		if es, ok := t.stmt.(*ast.ExprStmt); ok && i == len(c.tops)-1 && c.last != nil {
			c.show(es, u, &top)
		}
		u.Body = append(u.Body, top)
	}
	if !c.isMain {
		return
	}
	c.initOrder(u)
	for _, d := range u.Funcs {
		if d.Decl.Recv == nil && d.Name == "init" {
			if o, ok := c.info.Defs[d.Decl.Name].(*types.Func); ok {
				u.Body = append(u.Body, TopStmt{Call: o})
			}
		}
	}
	if in := c.hoisted["main"]; in != "" {
		if o, ok := c.pkg.Scope().Lookup(in).(*types.Func); ok {
			u.Body = append(u.Body, TopStmt{Call: o})
		}
	}
}

// initOrder sorts the declarations of a pasted program as Go initializes them.
func (c *compiler) initOrder(u *Unit) {
	rank := map[*types.Var]int{}
	for i, in := range c.info.InitOrder {
		for _, v := range in.Lhs {
			rank[v] = i + 1
		}
	}
	var out []TopStmt
	var decls []TopStmt
	for _, t := range u.Body {
		if t.Decl == nil {
			out = append(out, t)
			continue
		}
		for _, spec := range t.Decl.Specs {
			decls = append(decls, TopStmt{Decl: &ast.GenDecl{Tok: token.VAR, TokPos: t.Decl.TokPos, Specs: []ast.Spec{spec}}})
		}
	}
	of := func(t TopStmt) int {
		for _, id := range t.Decl.Specs[0].(*ast.ValueSpec).Names {
			if v, ok := c.info.Defs[id].(*types.Var); ok {
				return rank[v]
			}
		}
		return 0
	}
	sort.SliceStable(decls, func(i, j int) bool { return of(decls[i]) < of(decls[j]) })
	u.Body = append(decls, out...)
}

// storage decides which variables keep the memory of an earlier declaration:
// those with the same name and an identical type.
func (c *compiler) storage() {
	c.stored, c.keeps = map[string]string{}, map[*types.Var]*types.Var{}
	for in, name := range c.declared {
		o := c.pkg.Scope().Lookup(in)
		if o == nil {
			continue
		}
		c.s.internal[o] = in
		v, ok := o.(*types.Var)
		if !ok {
			continue
		}
		if e := c.s.names[name]; e != nil {
			if old, ok := e.obj.(*types.Var); ok && types.Identical(old.Type(), v.Type()) {
				c.stored[in] = e.internal
				c.keeps[v] = old
			}
		}
	}
	// A name declared twice in the cell with one type is one variable as well.
	c.order = nil
	first := map[string]*types.Var{}
	for _, t := range c.tops {
		if t.decl == nil {
			continue
		}
		for _, spec := range t.decl.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				v, ok := c.pkg.Scope().Lookup(id.Name).(*types.Var)
				if id.Name == "_" || !ok {
					continue
				}
				c.order = append(c.order, v)
				if c.stored[id.Name] != "" {
					continue
				}
				name := c.declared[id.Name]
				if f := first[name]; f != nil && types.Identical(f.Type(), v.Type()) {
					c.stored[id.Name] = f.Name()
					c.keeps[v] = f
				} else {
					first[name] = v
				}
			}
		}
	}
}

// storageOf gives the name of a variable's memory.
func (c *compiler) storageOf(v *types.Var) string {
	if in := c.stored[v.Name()]; in != "" {
		return in
	}
	return v.Name()
}

// show says how the last expression is kept and shown.
func (c *compiler) show(es *ast.ExprStmt, u *Unit, top *TopStmt) {
	p := es.Pos()
	tv := c.info.Types[es.X]
	tuple, isTuple := tv.Type.(*types.Tuple)
	switch {
	case tv.Type == nil, tv.IsVoid(), tv.IsType(), isTuple && tuple.Len() == 0, c.prints(es.X):
		return
	case c.eval != nil && !isTuple:
		top.Show = true
		u.Shown = append(u.Shown, ShownType{Type: c.s.TypeString(types.Default(tv.Type))})
		return
	case isTuple:
		top.Show = true
		if !c.quiet {
			for v := range tuple.Variables() {
				u.Shown = append(u.Shown, ShownType{Type: c.s.TypeString(v.Type())})
			}
		}
		return
	}
	t := types.Default(tv.Type)
	if tv.IsNil() {
		t = types.Universe.Lookup("any").Type()
	}
	name := "_" + strconv.Itoa(c.src.Cell)
	in := c.s.fresh(name)
	v := types.NewVar(p, c.pkg, in, t)
	e := &entry{name: name, internal: in, obj: v, cell: c.src.Cell}
	c.resultVars = map[string]*entry{name: e, "ans": e}
	top.Show, top.Results = true, v
	u.Storage = append(u.Storage, Storage{Var: v, Name: in})
	u.Vars = append(u.Vars, Variable{Name: name, Internal: in, Type: c.s.TypeString(t), Cell: c.src.Cell})
	if c.quiet {
		return
	}
	shown := ShownType{Type: c.s.TypeString(t), Name: name}
	if tv.IsNil() {
		shown.Type = "untyped nil"
	}
	u.Shown = append(u.Shown, shown)
}

// prints tells whether an expression is a call of the fmt.Print family, whose
// results nobody wants to see.
func (c *compiler) prints(e ast.Expr) bool {
	call, ok := unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := c.info.Uses[f.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" {
		return false
	}
	return strings.HasPrefix(fn.Name(), "Print") || strings.HasPrefix(fn.Name(), "Fprint")
}
