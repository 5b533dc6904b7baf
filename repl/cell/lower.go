package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strconv"
	"strings"
)

// lower turns the checked cell into what the interpreter gets.
func (c *compiler) lower() *Unit {
	s := c.s
	c.raw = map[*ast.FuncLit]bool{}
	c.pairs = map[*ast.TypeAssertExpr]bool{}
	c.instantiated = map[ast.Expr]bool{}
	if c.extra == nil {
		c.extra = map[string]string{}
	}
	entry := c.entry()
	s.versions["ʹcell"]++
	c.storage()
	c.topBodies()
	c.foldConstants()
	c.rewriteExprs()
	u := &Unit{Quiet: c.quiet}
	var body []ast.Stmt
	if c.eval != nil {
		body = c.lowerEval()
	} else {
		body = c.lowerTop(u)
	}
	var decls, regs []ast.Decl
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d != c.body {
				decls = append(decls, c.lowerDecl(d)...)
			}
		case *ast.GenDecl:
			switch d.Tok {
			case token.CONST:
				if specs := c.constDecl(d); len(specs) > 0 {
					decls = append(decls, &ast.GenDecl{Tok: token.CONST, TokPos: d.TokPos, Lparen: d.TokPos, Rparen: d.TokPos, Specs: specs})
				}
			case token.TYPE:
				regs = append(regs, c.identify(d)...)
				decls = append(decls, d)
			}
		}
	}
	vars := c.varDecls(u)
	decls = append(append(decls, c.genericDecls()...), append(append(vars, regs...), c.localRegs...)...)
	body = append(c.setHooks, body...)
	if len(body) > 0 {
		c.body.Body.List = body
		u.Entry = entry
		decls = append(decls, c.body, c.register(entry))
	}
	decls = append(c.importDecls(u), decls...)
	c.file.Decls = decls
	c.file.Comments, c.file.Unresolved = nil, nil
	u.File = c.file
	u.Warnings = c.warns
	u.Warnings = append(u.Warnings, c.keptVars()...)
	u.commit = c.commit()
	return u
}

// storage decides which variables keep the storage of an earlier declaration:
// those with the same name and an identical type.
func (c *compiler) storage() {
	c.stored = map[string]string{}
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
			}
		}
	}
	c.localTypes()
	// A name declared twice in the cell with one type is one variable as well.
	c.order = nil
	first := map[string]*types.Var{}
	for _, t := range c.tops {
		if t.decl == nil {
			continue
		}
		for _, spec := range t.decl.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				if id.Name == "_" {
					continue
				}
				v, ok := c.pkg.Scope().Lookup(id.Name).(*types.Var)
				if !ok {
					continue
				}
				c.order = append(c.order, v)
				if c.stored[id.Name] != "" {
					continue
				}
				name := c.declared[id.Name]
				if f := first[name]; f != nil && types.Identical(f.Type(), v.Type()) {
					c.stored[id.Name] = f.Name()
				} else {
					first[name] = v
				}
			}
		}
	}
	if len(c.stored) == 0 {
		return
	}
	rename := func(id *ast.Ident, o types.Object) {
		if o == nil || o.Parent() != c.pkg.Scope() {
			return
		}
		if in := c.stored[o.Name()]; in != "" && id.Name == o.Name() {
			id.Name = in
		}
	}
	for id, o := range c.info.Uses {
		rename(id, o)
	}
	for id, o := range c.info.Defs {
		rename(id, o)
	}
}

// localTypes gives the types inside functions names of their own: the
// interpreter mixes them up with types of the cell that have the same name.
func (c *compiler) localTypes() {
	local := map[types.Object]string{}
	for id, o := range c.info.Defs {
		tn, ok := o.(*types.TypeName)
		if !ok || tn.Parent() == c.pkg.Scope() || tn.Name() == "_" {
			continue
		}
		if _, param := tn.Type().(*types.TypeParam); param {
			continue
		}
		in := c.s.fresh(tn.Name() + "ʹ")
		local[tn], c.s.internal[tn] = in, in
		id.Name = in
	}
	if len(local) == 0 {
		return
	}
	for id, o := range c.info.Uses {
		if in := local[o]; in != "" {
			id.Name = in
		}
	}
}

// storageOf gives the name of a variable's storage.
func (c *compiler) storageOf(v *types.Var) string {
	if in := c.stored[v.Name()]; in != "" {
		return in
	}
	return v.Name()
}

// topBodies puts the top-level declarations back among the statements, as
// assignments at the place where they stand.
func (c *compiler) topBodies() {
	var list []ast.Stmt
	for _, t := range c.tops {
		if t.decl == nil {
			list = append(list, t.stmt)
			continue
		}
		var out []ast.Stmt
		for _, spec := range t.decl.Specs {
			out = append(out, c.assignSpec(spec.(*ast.ValueSpec))...)
		}
		if l, ok := t.stmt.(*ast.LabeledStmt); ok && len(out) > 0 {
			out[0] = &ast.LabeledStmt{Label: l.Label, Colon: l.Colon, Stmt: out[0]}
		}
		list = append(list, out...)
	}
	c.body.Body.List = list
	var decls []ast.Decl
	for _, d := range c.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			continue
		}
		decls = append(decls, d)
	}
	c.file.Decls = decls
}

func (c *compiler) assignSpec(vs *ast.ValueSpec) []ast.Stmt {
	p := vs.Pos()
	if len(vs.Values) == 0 {
		var out []ast.Stmt
		for _, id := range vs.Names { // declared without a value: zero, also again
			o, ok := c.info.Defs[id].(*types.Var)
			if !ok || id.Name == "_" {
				continue
			}
			name := c.temp("z")
			out = append(out, declStmt(varDecl(name, c.typeExpr(o.Type(), p), nil, p)), assign(ident(id.Name, id.Pos()), ident(name, p), id.Pos()))
			out = append(out, c.reach(o, id.Pos())...)
		}
		return c.madeUp(out)
	}
	as := &ast.AssignStmt{TokPos: p, Tok: token.ASSIGN, Rhs: vs.Values}
	var reached []ast.Stmt
	for _, id := range vs.Names {
		n := ident(id.Name, id.Pos())
		if o := c.info.Defs[id]; o != nil {
			c.info.Uses[n] = o
			c.typed(n, o.Type())
			reached = append(reached, c.reach(o, id.Pos())...)
		}
		as.Lhs = append(as.Lhs, n)
	}
	return append([]ast.Stmt{as}, reached...)
}

// reach tells the interpreter's owner that a new variable has been declared,
// and where it is.
func (c *compiler) reach(o types.Object, p token.Pos) []ast.Stmt {
	v, ok := o.(*types.Var)
	if !ok || c.storageOf(v) != v.Name() || v.Name() == "_" {
		return nil
	}
	return []ast.Stmt{exprStmt(rt("Var", p, strLit(v.Name(), p), addr(ident(v.Name(), p), p)))}
}

// varDecls declares the storage of new variables.
func (c *compiler) varDecls(u *Unit) (out []ast.Decl) {
	for _, v := range c.order {
		in := c.storageOf(v)
		if in == v.Name() {
			out = append(out, c.storageDecls(in, v.Type(), c.body.Pos())...)
		}
		u.Vars = append(u.Vars, Variable{c.declared[v.Name()], in, c.s.TypeString(v.Type()), c.src.Cell})
	}
	return append(out, c.resultDecls...)
}

// storageDecls declares the storage of a variable. The interpreter takes the
// fields and methods that a type spells out for variables of the session that
// the declaration depends on, so such a type gets a name of its own.
func (c *compiler) storageDecls(in string, t types.Type, p token.Pos) []ast.Decl {
	e := c.typeExpr(t, p)
	if !spellsMembers(e) {
		return []ast.Decl{varDecl(in, e, nil, p)}
	}
	name := c.s.fresh("ʹtype")
	alias := &ast.GenDecl{Tok: token.TYPE, TokPos: p, Specs: []ast.Spec{&ast.TypeSpec{Name: ident(name, p), Assign: p, Type: e}}}
	return []ast.Decl{alias, varDecl(in, ident(name, p), nil, p)}
}

// spellsMembers tells whether a type expression lists fields or methods.
func spellsMembers(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			found = found || n.Fields.NumFields() > 0
		case *ast.InterfaceType:
			found = found || n.Methods.NumFields() > 0
		}
		return !found
	})
	return found
}

// register hands the cell's function to the interpreter's owner.
func (c *compiler) register(entry string) ast.Decl {
	p := c.body.Pos()
	register := "Register"
	if c.eval != nil {
		register = "Evaluator"
	}
	return varDecl(entry+"ʹrun", ident("int", p), rt(register, p, strLit(entry, p), ident(entry, p)), p)
}

// importDecls imports what the file uses.
func (c *compiler) importDecls(u *Unit) (out []ast.Decl) {
	p := c.file.Package
	names := map[string]string{runtimePackage: c.s.cfg.Runtime}
	for name := range c.packages {
		names[name] = c.packagePath(name)
	}
	for name, path := range c.extra {
		names[name] = path
	}
	used := map[string]bool{}
	ast.Inspect(c.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	if c.s.cfg.Tensor.Path != "" && used[tensorPackage] {
		names[tensorPackage] = c.s.cfg.Tensor.Path
	}
	c.file.Imports = nil
	for name, path := range names {
		if !used[name] && name != runtimePackage {
			if _, ok := c.extra[name]; !ok {
				continue
			}
		}
		spec := &ast.ImportSpec{Name: ident(name, p), Path: &ast.BasicLit{ValuePos: p, Kind: token.STRING, Value: strconv.Quote(path)}}
		c.file.Imports = append(c.file.Imports, spec)
		out = append(out, &ast.GenDecl{Tok: token.IMPORT, TokPos: p, Specs: []ast.Spec{spec}})
		if name != runtimePackage {
			u.Imports = append(u.Imports, path)
		}
	}
	return out
}

// commit makes the function that enters the cell's names in the scope.
func (c *compiler) commit() func(func(string) bool) (undo func()) {
	type named struct {
		name string
		e    *entry
	}
	var list []named
	for in, name := range c.declared {
		o := c.pkg.Scope().Lookup(in)
		if o == nil || name == "init" {
			continue
		}
		if c.env[name] != in && c.hoisted[name] != in {
			continue // declared again further down
		}
		e := &entry{name: name, internal: in, obj: o, cell: c.src.Cell}
		if st := c.stored[in]; st != "" {
			e.internal = st
			if old := c.s.names[name]; old != nil && old.internal == st {
				e.obj = old.obj
			} else {
				e.obj = c.pkg.Scope().Lookup(st)
			}
		}
		list = append(list, named{name, e})
	}
	methods := map[string]*entry{}
	c.keepSources(func(name string, e *entry) {
		if strings.Contains(name, ".") {
			methods[name] = e
			return
		}
		for _, n := range list {
			if n.name == name {
				n.e.piece, n.e.uses, n.e.literal = e.piece, e.uses, e.literal
			}
		}
	})
	for name, e := range methods {
		e.hook = c.hooks[name]
	}
	for name, e := range c.resultVars {
		list = append(list, named{name, e})
	}
	imports := c.imports
	s := c.s
	return func(reached func(string) bool) (undo func()) {
		maps.Copy(s.genericDone, c.genericMade)
		maps.Copy(s.monos, c.monos)
		changed := map[string]*entry{}
		set := func(name string, e *entry) {
			if _, ok := changed[name]; !ok {
				changed[name] = s.names[name]
			}
			if s.names[name] = e; e == nil {
				delete(s.names, name)
			}
		}
		formerMethods, formerImports := map[string]*entry{}, map[string]string{}
		for _, n := range list {
			if _, isVar := n.e.obj.(*types.Var); isVar && s.names[n.name] != nil && s.names[n.name].internal == n.e.internal {
				continue // the variable is the same
			} else if isVar && !reached(n.e.internal) {
				continue
			}
			set(n.name, n.e)
			if tn, ok := n.e.obj.(*types.TypeName); ok && s.typeIDs[tn] != 0 {
				s.sessionTypes = append(s.sessionTypes, tn)
			}
		}
		for name, e := range methods {
			formerMethods[name] = s.methods[name]
			s.methods[name] = e
		}
		for name, path := range imports {
			formerImports[name] = s.imports[name]
			s.imports[name] = path
			set(name, nil)
		}
		return func() {
			restore(s.names, changed)
			restore(s.methods, formerMethods)
			restore(s.imports, formerImports)
		}
	}
}

// restore gives the keys of former their values again; a zero one was not there.
func restore[V comparable](m, former map[string]V) {
	var zero V
	for k, v := range former {
		if m[k] = v; v == zero {
			delete(m, k)
		}
	}
}

// keepSources tells the text and the uses of each declared function, method
// and type.
func (c *compiler) keepSources(tell func(name string, e *entry)) {
	for _, d := range c.sources {
		seg := c.asm.find(c.offset(d.pos))
		e := &entry{name: d.name, uses: d.uses, literal: d.literal, cell: c.src.Cell}
		if seg != nil && d.literal == "" {
			e.piece = seg.piece
			if seg.piece.src != c.src {
				e.cell = seg.piece.src.Cell
			}
		}
		tell(d.name, e)
	}
}

// keptVars warns of functions that go on using a variable whose type changed.
func (c *compiler) keptVars() (out []Diagnostic) {
	changed := map[string]bool{}
	for _, v := range c.order {
		name := c.declared[v.Name()]
		if e := c.s.names[name]; e != nil && c.storageOf(v) == v.Name() {
			if _, ok := e.obj.(*types.Var); ok {
				changed[name] = true
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	for _, e := range c.s.names {
		if _, ok := e.obj.(*types.Func); !ok || c.hoisted[e.name] != "" {
			continue
		}
		for n := range e.uses {
			if changed[n] {
				out = append(out, Diagnostic{Cell: c.src.Cell, File: c.src.File, Line: 1, Column: 1, Kind: "kept",
					Msg: "func " + e.name + " keeps the " + n + " of before: its type changed"})
				break
			}
		}
	}
	return out
}
