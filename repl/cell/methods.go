package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// lowerForeign lowers a method on a type of an earlier cell. A method that the
// type has already is set through its hook, so that calls made from compiled
// code and through interfaces reach the new one.
func (c *compiler) lowerForeign(d *ast.FuncDecl, m *foreignMethod) []ast.Decl {
	f := &function{c: c, name: "(" + m.entry.name + ")." + m.name.Name}
	fn, ok := c.info.Defs[d.Name].(*types.Func)
	if !ok || d.Body == nil {
		return []ast.Decl{d}
	}
	f.sig = fn.Signature()
	f.lower(nil, d.Type, d.Body)
	key := m.entry.name + "." + m.name.Name
	if m.redo {
		if old := c.s.methods[key]; old != nil && old.hook != "" {
			c.setHook(key, old.hook)
			p := d.Pos()
			c.setHooks = append(c.setHooks, assign(ident(old.hook, p), ident(d.Name.Name, p), p))
		}
		return []ast.Decl{d}
	}
	regs := c.foreignReg(m, f.sig)
	recv := d.Type.Params.List[0]
	d.Recv = &ast.FieldList{Opening: d.Pos(), List: []*ast.Field{recv}, Closing: d.Pos()}
	d.Type.Params = &ast.FieldList{Opening: d.Type.Params.Opening, List: d.Type.Params.List[1:], Closing: d.Type.Params.Closing}
	d.Name = m.name
	if hook := c.hookFor(d, key, f.sig, nil); hook != nil {
		return append([]ast.Decl{hook, d}, regs...)
	}
	return append([]ast.Decl{d}, regs...)
}

func (c *compiler) setHook(key, name string) {
	if c.hooks == nil {
		c.hooks = map[string]string{}
	}
	c.hooks[key] = name
}

// methodHook gives a method of a type declared here the variable through which
// a later cell redefines it.
func (c *compiler) methodHook(d *ast.FuncDecl) ast.Decl {
	id := baseName(d.Recv)
	fn, ok := c.info.Defs[d.Name].(*types.Func)
	if id == nil || !ok || fn.Signature().RecvTypeParams().Len() > 0 {
		return nil
	}
	return c.hookFor(d, c.userName(id.Name)+"."+d.Name.Name, fn.Signature(), fn.Signature().Recv())
}

// hookFor declares the hook and makes the method look at it first.
func (c *compiler) hookFor(d *ast.FuncDecl, key string, sig *types.Signature, recv *types.Var) ast.Decl {
	p := d.Pos()
	hook := c.s.fresh("ʹh" + plain(key[:len(key)-len(d.Name.Name)-1]) + "_" + d.Name.Name)
	c.setHook(key, hook)
	t := sig
	if recv != nil {
		params := []*types.Var{recv}
		for v := range sig.Params().Variables() {
			params = append(params, v)
		}
		t = types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
	}
	var args []ast.Expr
	for _, l := range []*ast.FieldList{d.Recv, d.Type.Params} {
		for _, fl := range l.List {
			for _, id := range fl.Names {
				args = append(args, ident(id.Name, p))
			}
		}
	}
	do := call(ident(hook, p), p, args...)
	if sig.Variadic() {
		do.Ellipsis = p
	}
	then := []ast.Stmt{exprStmt(do), &ast.ReturnStmt{Return: p}}
	if sig.Results().Len() > 0 {
		then = []ast.Stmt{&ast.ReturnStmt{Return: p, Results: []ast.Expr{do}}}
	}
	cond := &ast.BinaryExpr{X: ident(hook, p), OpPos: p, Op: token.NEQ, Y: ident("nil", p)}
	d.Body.List = append([]ast.Stmt{ifStmt(cond, p, then...)}, d.Body.List...)
	return varDecl(hook, c.typeExpr(t, p), nil, p)
}
