package cell

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// text writes a node. Its names are those of the program already.
func (g *GoProgram) text(n ast.Node) string {
	g.tidy(n)
	var b bytes.Buffer
	if err := printer.Fprint(&b, g.s.cfg.Fset, n); err != nil {
		panic(&InternalError{"export", err})
	}
	return b.String()
}

// tidy writes the types of functions that tpu.Compile made, and drops the
// brackets that only an operator needed.
func (g *GoProgram) tidy(n ast.Node) {
	astutil.Apply(n, nil, func(cur *astutil.Cursor) bool {
		switch n := cur.Node().(type) {
		case *ast.TypeAssertExpr:
			if x, ok := n.X.(*ast.CallExpr); ok && g.c.compiled[x] && len(x.Args) > 0 {
				if t := g.c.info.Types[x.Args[0]].Type; t != nil {
					n.Type = g.typeSyntax(t)
				}
			}
		case *ast.ParenExpr:
			x, ok := n.X.(*ast.CallExpr)
			if _, inSelector := cur.Parent().(*ast.SelectorExpr); ok && inSelector && !g.c.info.Types[x.Fun].IsType() {
				cur.Replace(x)
			}
		}
		return true
	})
}

// typeSyntax writes a type with the names of the program.
func (g *GoProgram) typeSyntax(t types.Type) ast.Expr {
	text := types.TypeString(t, func(p *types.Package) string {
		if p.Path() == mainPath {
			return ""
		}
		return g.importName(p.Path())
	})
	e, err := parser.ParseExpr(text)
	if err != nil {
		panic(&InternalError{"export of type " + text, err})
	}
	fields := map[*ast.Ident]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				fields[id] = true
			}
		case *ast.SelectorExpr:
			fields[n.Sel] = true
		case *ast.Ident:
			if name := g.byInner[n.Name]; name != "" && !fields[n] {
				n.Name = name
			}
		}
		return true
	})
	return e
}

func (g *GoProgram) typeText(t types.Type) string { return types.ExprString(g.typeSyntax(t)) }

// zero writes the zero value of a type.
func (g *GoProgram) zero(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsNumeric != 0:
			return "0"
		}
	case *types.Struct, *types.Array:
		return g.typeText(t) + "{}"
	}
	return "nil"
}

// function writes a function of the cell, or a method. A method that is declared
// again later goes through a variable.
func (g *GoProgram) function(d *ast.FuncDecl, stmts *strings.Builder) {
	c := g.c
	for _, m := range c.foreign {
		if m.decl != d {
			continue
		}
		key := g.version(m.entry.internal + "." + m.name.Name)
		if m.redo {
			stmts.WriteString(g.hooks[key] + " = " + g.text(&ast.FuncLit{Type: d.Type, Body: d.Body}) + "\n")
			return
		}
		list := d.Type.Params.List
		name := m.name.Name
		if n := g.names[m.obj]; n != "" {
			name = n
		}
		method := &ast.FuncDecl{Recv: &ast.FieldList{List: list[:1]}, Name: ident(name, d.Pos()), Body: d.Body,
			Type: &ast.FuncType{Func: d.Type.Func, Params: &ast.FieldList{List: list[1:]}, Results: d.Type.Results}}
		g.method(method, key, stmts)
		return
	}
	if d.Recv == nil {
		g.decls.WriteString(g.text(d) + "\n\n")
		return
	}
	key := ""
	if id := baseName(d.Recv); id != nil {
		for in, name := range g.byInner {
			if name == id.Name {
				key = in + "." + c.info.Defs[d.Name].Name() // not what it is called in the program
			}
		}
	}
	g.method(d, key, stmts)
}

// method writes a method; one that is declared again calls what its variable
// holds.
func (g *GoProgram) method(d *ast.FuncDecl, key string, stmts *strings.Builder) {
	if g.known == nil || !g.known.redone[key] {
		g.decls.WriteString(g.text(d) + "\n\n")
		return
	}
	hook := g.unique(strings.NewReplacer("ʹ", "", ".", "").Replace(key) + "Func")
	g.hooks[key] = hook
	recv := d.Recv.List[0]
	t := &ast.FuncType{Params: &ast.FieldList{List: append([]*ast.Field{recv}, d.Type.Params.List...)}, Results: d.Type.Results}
	nameAll(t.Params)
	g.globals.WriteString(hook + " " + g.text(t) + "\n")
	stmts.WriteString(hook + " = " + g.text(&ast.FuncLit{Type: t, Body: d.Body}) + "\n")
	do := &ast.CallExpr{Fun: ident(hook, d.Pos())}
	for _, f := range t.Params.List {
		for _, id := range f.Names {
			do.Args = append(do.Args, ident(id.Name, d.Pos()))
		}
		if _, variadic := f.Type.(*ast.Ellipsis); variadic {
			do.Ellipsis = d.Pos()
		}
	}
	var body ast.Stmt = &ast.ReturnStmt{Results: []ast.Expr{do}}
	if d.Type.Results.NumFields() == 0 {
		body = exprStmt(do)
	}
	g.decls.WriteString(g.text(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type, Body: &ast.BlockStmt{List: []ast.Stmt{body}}}) + "\n\n")
}

// nameAll names the parameters that have no name.
func nameAll(l *ast.FieldList) {
	n := 0
	for _, f := range l.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{ident("_", f.Pos())}
		}
		for i, id := range f.Names {
			if id.Name == "_" {
				f.Names[i] = ident("p"+strconv.Itoa(n), id.Pos())
			}
			n++
		}
	}
}

// statements writes what the cell does in order.
func (g *GoProgram) statements(b *strings.Builder) {
	for i, t := range g.c.tops {
		switch {
		case t.decl != nil:
			if l, ok := t.stmt.(*ast.LabeledStmt); ok {
				b.WriteString(l.Label.Name + ":\n")
			}
			for _, spec := range t.decl.Specs {
				g.assign(spec.(*ast.ValueSpec), b)
			}
		case i == len(g.c.tops)-1 && g.c.last != nil:
			g.lastExpr(b)
		default:
			if g.writesOnly(t.stmt) {
				continue
			}
			b.WriteString(g.text(t.stmt) + "\n")
		}
	}
}

// writesOnly tells whether a statement is empty.
func (g *GoProgram) writesOnly(st ast.Stmt) bool {
	_, empty := st.(*ast.EmptyStmt)
	return empty
}

// assign writes a declaration at the top: := where all its variables are of
// main, an assignment otherwise.
func (g *GoProgram) assign(vs *ast.ValueSpec, b *strings.Builder) {
	var names []string
	var fresh []*goVar
	define := true
	for _, id := range vs.Names {
		names = append(names, id.Name)
		o := g.c.info.Defs[id]
		v := g.ofVar[o]
		if id.Name == "_" || v == nil {
			continue
		}
		switch {
		case v.local && !v.declared:
			fresh = append(fresh, v)
		case !v.declared:
			g.globals.WriteString(v.name + " " + g.typeText(v.typ) + "\n")
		}
		define = define && v.local
		if len(vs.Values) == 0 {
			if v.local && !v.declared {
				b.WriteString("var " + v.name + " " + g.typeText(v.typ) + "\n")
			} else if v.declared {
				b.WriteString(v.name + " = " + g.zero(v.typ) + "\n")
			}
		}
		v.declared = true
	}
	if len(vs.Values) == 0 {
		return
	}
	var values []string
	for _, e := range vs.Values {
		values = append(values, g.text(e))
	}
	left, right := strings.Join(names, ", "), strings.Join(values, ", ")
	switch {
	case len(fresh) == len(names) && vs.Type != nil:
		b.WriteString("var " + left + " " + g.text(vs.Type) + " = " + right + "\n")
	case len(fresh) > 0 && define && vs.Type == nil && !g.isNilValue(vs):
		b.WriteString(left + " := " + right + "\n")
	default:
		for _, v := range fresh {
			b.WriteString("var " + v.name + " " + g.typeText(v.typ) + "\n")
		}
		b.WriteString(left + " = " + right + "\n")
	}
}

func (g *GoProgram) isNilValue(vs *ast.ValueSpec) bool {
	for _, e := range vs.Values {
		if g.c.info.Types[e].IsNil() {
			return true
		}
	}
	return false
}

// lastExpr writes the expression that the cell shows: its value is kept where
// another cell uses it, and dropped otherwise.
func (g *GoProgram) lastExpr(b *strings.Builder) {
	e := g.c.last
	tv := g.c.info.Types[e]
	text := g.text(e)
	if v := g.vars[g.outName()]; v != nil {
		g.globals.WriteString(v.name + " " + g.typeText(v.typ) + "\n")
		b.WriteString(v.name + " = " + text + "\n")
		return
	}
	switch x := unparen(e).(type) {
	case *ast.CallExpr:
		if g.c.info.Types[x.Fun].IsType() || g.valueBuiltin(x) {
			b.WriteString("_ = ")
		}
	case *ast.UnaryExpr:
		if x.Op != token.ARROW {
			b.WriteString("_ = ")
		}
	default:
		if tv.IsNil() || tv.IsType() {
			return
		}
		b.WriteString("_ = ")
	}
	b.WriteString(text + "\n")
}

// valueBuiltin tells whether a call is of a builtin that may not stand alone.
func (g *GoProgram) valueBuiltin(x *ast.CallExpr) bool {
	id, ok := unparen(x.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	if _, ok := g.c.info.Uses[id].(*types.Builtin); !ok {
		return false
	}
	switch id.Name {
	case "copy", "delete", "panic", "print", "println", "recover", "clear", "close":
		return false
	}
	return true
}

// unused finds the variables inside functions and blocks that nobody reads: Go
// refuses them, cells do not. It makes room for their names to become blank, and
// gives all identifiers of them.
func (g *GoProgram) unused() (ids []*ast.Ident) {
	c := g.c
	read, local := map[types.Object]bool{}, map[types.Object]bool{}
	of := map[types.Object][]*ast.Ident{}
	params := map[*ast.Ident]bool{}
	ast.Inspect(c.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, l := range []*ast.FieldList{n.Params, n.Results} {
				if l != nil {
					for _, f := range l.List {
						for _, id := range f.Names {
							params[id] = true
						}
					}
				}
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				for _, f := range n.Recv.List {
					for _, id := range f.Names {
						params[id] = true
					}
				}
			}
		}
		return true
	})
	for id, o := range c.info.Defs {
		if v, ok := o.(*types.Var); ok && !v.IsField() && v.Parent() != c.pkg.Scope() && !params[id] && id.Name != "_" {
			local[o] = true
			of[o] = append(of[o], id)
		}
	}
	written := map[*ast.Ident]bool{}
	ast.Inspect(c.file, func(n ast.Node) bool {
		if as, ok := n.(*ast.AssignStmt); ok && (as.Tok == token.ASSIGN || as.Tok == token.DEFINE) {
			for _, l := range as.Lhs {
				if id, ok := unparen(l).(*ast.Ident); ok {
					written[id] = true
				}
			}
		}
		return true
	})
	for id, o := range c.info.Uses {
		if !local[o] {
			continue
		}
		of[o] = append(of[o], id)
		read[o] = read[o] || !written[id]
	}
	blank := map[*ast.Ident]bool{}
	for o := range local {
		if !read[o] {
			for _, id := range of[o] {
				blank[id] = true
				ids = append(ids, id)
			}
		}
	}
	isBlankNow := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return e == nil || ok && (id.Name == "_" || blank[id])
	}
	astutil.Apply(c.file, nil, func(cur *astutil.Cursor) bool {
		switch n := cur.Node().(type) {
		case *ast.AssignStmt:
			all := n.Tok == token.DEFINE
			for _, l := range n.Lhs {
				all = all && isBlankNow(l)
			}
			if _, isSwitch := cur.Parent().(*ast.TypeSwitchStmt); isSwitch && cur.Name() == "Assign" {
				if g.switchUnused(cur.Parent().(*ast.TypeSwitchStmt)) {
					cur.Replace(exprStmt(n.Rhs[0]))
				}
			} else if all {
				n.Tok = token.ASSIGN
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE && isBlankNow(n.Key) && isBlankNow(n.Value) {
				n.Tok = token.ASSIGN
			}
		}
		return true
	})
	return ids
}

// switchUnused tells whether no case of a type switch uses its variable.
func (g *GoProgram) switchUnused(n *ast.TypeSwitchStmt) bool {
	bound := map[types.Object]bool{}
	for _, cl := range n.Body.List {
		if o := g.c.info.Implicits[cl]; o != nil {
			bound[o] = true
		}
	}
	for _, o := range g.c.info.Uses {
		if bound[o] {
			return false
		}
	}
	return true
}
