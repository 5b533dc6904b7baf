package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// An indexing is a tensor index before it is known whether it is read or written.
type indexing struct {
	x     ast.Expr
	items []ast.Expr
	pos   token.Pos
	end   token.Pos
}

// tensorPackage is the name under which rewritten code reaches the tensor package.
const tensorPackage = "ʹtpu"

// insertItems declares the stand-ins of index items, so that the check before
// the sugar is quiet about them.
func (c *compiler) insertItems(pkg *types.Package) {
	anyT := types.Universe.Lookup("any").Type()
	item := types.NewVar(token.NoPos, pkg, ellipsisItem, anyT)
	param := func() *types.Var { return types.NewVar(token.NoPos, pkg, "", anyT) }
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(param(), param(), param()), types.NewTuple(param()), false)
	pkg.Scope().Insert(item)
	pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, sliceItem, sig))
	list := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewVar(token.NoPos, pkg, "", types.NewSlice(anyT))), types.NewTuple(param()), true)
	pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, severalItems, list))
	if c.s.cfg.Tensor.Path != "" {
		if p, err := c.s.cfg.Importer.Import(c.s.cfg.Tensor.Path); err == nil {
			pkg.Scope().Insert(types.NewPkgName(token.NoPos, pkg, tensorPackage, p))
		}
	}
}

// index makes the reading form x.Index(items…).
func (g *sugarer) index(x ast.Expr, items []ast.Expr, p, end token.Pos) ast.Expr {
	if len(items) == 1 {
		if several := stand(items[0], severalItems); several != nil {
			items = several.Args
		}
	}
	list := make([]ast.Expr, len(items))
	for i, it := range items {
		list[i] = g.item(it)
	}
	e := g.method(x, "Index", p, end, list...)
	g.indexed[e] = &indexing{x, list, p, end}
	g.c.wrote(e, func(of func(ast.Expr) string) string {
		text := make([]string, len(list))
		for i, it := range list {
			text[i] = itemText(it, of)
		}
		return of(x) + "[" + strings.Join(text, ", ") + "]"
	})
	return e
}

// itemText gives an index item as the user wrote it.
func itemText(e ast.Expr, of func(ast.Expr) string) string {
	made := func(e ast.Expr) string {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == tensorPackage {
				return s.Sel.Name
			}
		}
		return ""
	}
	switch made(e) {
	case "Ellipsis":
		return "..."
	case "NewAxis":
		return "nil"
	}
	n, ok := e.(*ast.CallExpr)
	if !ok || made(n.Fun) == "" {
		return of(e)
	}
	parts := make([]string, len(n.Args))
	for i, a := range n.Args {
		if id, ok := a.(*ast.Ident); !ok || id.Name != "nil" {
			parts[i] = of(a)
		}
	}
	return strings.Join(parts, ":")
}

// item rewrites the stand-ins of the token pass.
func (g *sugarer) item(e ast.Expr) ast.Expr {
	p := e.Pos()
	switch n := e.(type) {
	case *ast.Ident:
		switch n.Name {
		case ellipsisItem:
			return sel(ident(tensorPackage, p), "Ellipsis", p)
		case "nil":
			return sel(ident(tensorPackage, p), "NewAxis", p)
		}
	case *ast.CallExpr:
		if stand(n, sliceItem) != nil && len(n.Args) == 3 {
			return rangeItem(p, n.Args)
		}
	}
	return e
}

// stand gives e as a call of a stand-in of the token pass, nil if it is none.
func stand(e ast.Expr, name string) *ast.CallExpr {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if id, ok := c.Fun.(*ast.Ident); !ok || id.Name != name {
		return nil
	}
	return c
}

// notTensor reports the index forms that only tensors have.
func (g *sugarer) notTensor(n *ast.IndexExpr) {
	if !valid(g.c.info.Types[n.X].Type) {
		return
	}
	id, _ := n.Index.(*ast.Ident)
	if stand(n.Index, severalItems) != nil || stand(n.Index, sliceItem) != nil || id != nil && id.Name == ellipsisItem {
		g.c.errorAt(n.Lbrack, "type", "only a tensor is indexed like this: %s", g.typeName(n.X))
	}
}

// rangeItem makes Slice(a, b), or SliceStep(a, b, s) when there is a step.
func rangeItem(p token.Pos, args []ast.Expr) ast.Expr {
	if id, ok := args[2].(*ast.Ident); ok && id.Name == "nil" {
		return call(sel(ident(tensorPackage, p), "Slice", p), p, args[:2]...)
	}
	return call(sel(ident(tensorPackage, p), "SliceStep", p), p, args...)
}

// slice makes an index item of x[a:b:s].
func (g *sugarer) slice(n *ast.SliceExpr) ast.Expr {
	p := n.Lbrack
	open := func(e ast.Expr) ast.Expr {
		if e == nil {
			return ident("nil", p)
		}
		return e
	}
	return rangeItem(p, []ast.Expr{open(n.Low), open(n.High), open(n.Max)})
}

// write makes x.SetIndex(v, items…) of an assignment to x[items…]. An item that
// calls something is evaluated once.
func (g *sugarer) write(ix *indexing, n *ast.AssignStmt) ast.Stmt {
	v := n.Rhs[0]
	if n.Tok == token.ASSIGN {
		return exprStmt(g.method(ix.x, "SetIndex", ix.pos, ix.end, append([]ast.Expr{v}, ix.items...)...))
	}
	op, ok := assignments[n.Tok]
	if !ok {
		return nil
	}
	p := n.TokPos
	var pre []ast.Stmt
	once := func(e ast.Expr) ast.Expr {
		if simple(e) {
			return e
		}
		name := g.c.temp("i")
		pre = append(pre, define(name, e, e.Pos()))
		return ident(name, e.Pos())
	}
	x := once(ix.x)
	g.tensor[x] = true
	items := make([]ast.Expr, len(ix.items))
	for i, e := range ix.items {
		items[i] = once(e)
	}
	read := g.method(clone(x), "Index", ix.pos, ix.end, clones(items)...)
	value := g.binary(&ast.BinaryExpr{X: read, OpPos: p, Op: op, Y: v})
	if value == nil {
		return nil
	}
	st := exprStmt(g.method(x, "SetIndex", ix.pos, ix.end, append([]ast.Expr{value}, items...)...))
	if len(pre) == 0 {
		return st
	}
	return block(p, append(pre, st)...)
}

// clone copies a simple expression: no node may be in a tree twice.
func clone(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.Ident:
		c := *e
		return &c
	case *ast.BasicLit:
		c := *e
		return &c
	case *ast.SelectorExpr:
		return &ast.SelectorExpr{X: clone(e.X), Sel: clone(e.Sel).(*ast.Ident)}
	case *ast.UnaryExpr:
		return &ast.UnaryExpr{OpPos: e.OpPos, Op: e.Op, X: clone(e.X)}
	case *ast.IndexExpr:
		return &ast.IndexExpr{X: clone(e.X), Lbrack: e.Lbrack, Index: clone(e.Index), Rbrack: e.Rbrack}
	case *ast.StarExpr:
		return &ast.StarExpr{Star: e.Star, X: clone(e.X)}
	case *ast.CallExpr:
		return &ast.CallExpr{Fun: clone(e.Fun), Lparen: e.Lparen, Args: clones(e.Args), Rparen: e.Rparen}
	}
	return e
}

func clones(list []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(list))
	for i, e := range list {
		out[i] = clone(e)
	}
	return out
}

// simple tells whether e may be written twice: it has no effect of its own.
func simple(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return simple(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.SUB && simple(e.X)
	case *ast.CallExpr: // items that the sugar made
		f, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if id, ok := f.X.(*ast.Ident); !ok || id.Name != tensorPackage {
			return false
		}
		for _, a := range e.Args {
			if !simple(a) {
				return false
			}
		}
		return true
	}
	return false
}
