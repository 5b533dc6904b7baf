package cell

import (
	_ "embed" // the generic functions
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

//go:embed generic.go.txt
var genericText string

// genericFuncs cuts the file of generic functions into its functions, by name.
func genericFuncs() map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(genericText, "\nfunc ")[1:] {
		name := part[:strings.IndexAny(part, "[(")]
		out[name] = "func " + part
	}
	return out
}

// genericCall replaces the name of a generic function of the standard library
// by our own function with its type arguments.
func (c *compiler) genericCall(n *ast.SelectorExpr) ast.Expr {
	fn, ok := c.info.Uses[n.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().TypeParams().Len() == 0 {
		return nil
	}
	inst, ok := c.info.Instances[n.Sel]
	if !ok {
		return nil
	}
	name := "ʹ" + fn.Pkg().Name() + "_" + fn.Name()
	if c.s.generics == nil {
		c.s.generics = genericFuncs()
	}
	if c.s.generics[name] == "" {
		c.errorAt(n.Pos(), "type", "%s.%s is generic and not available in cells yet", fn.Pkg().Name(), fn.Name())
		return nil
	}
	if c.generics == nil {
		c.generics = map[string]bool{}
	}
	c.generics[name] = true
	p := n.Pos()
	var args []ast.Expr
	for t := range inst.TypeArgs.Types() {
		args = append(args, c.typeExpr(t, p))
	}
	var e ast.Expr = &ast.IndexListExpr{X: ident(name, p), Lbrack: p, Indices: args, Rbrack: p}
	if len(args) == 1 {
		e = &ast.IndexExpr{X: ident(name, p), Lbrack: p, Index: args[0], Rbrack: p}
	}
	c.instantiated[e] = true
	return c.typed(e, inst.Type)
}

// genericDecls gives the functions that the cell is the first to use.
func (c *compiler) genericDecls() (out []ast.Decl) {
	var todo []string
	for name := range c.generics {
		todo = append(todo, name)
	}
	sort.Strings(todo)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		text := c.s.generics[name]
		if text == "" || c.s.genericDone[name] {
			continue
		}
		c.s.genericDone[name] = true
		file, err := parser.ParseFile(c.s.cfg.Fset, fmt.Sprintf("cell[%d]", c.src.Cell), "package main\n"+text, parser.SkipObjectResolution)
		if err != nil {
			panic(&InternalError{"generic " + name, err})
		}
		out = append(out, file.Decls...)
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "ʹ") && id.Name != name && id.Name != runtimePackage {
				todo = append(todo, id.Name)
			}
			return true
		})
	}
	return out
}

// sequence writes iter.Seq and iter.Seq2 as the function types they are: the
// interpreter has no generic native types.
func (c *compiler) sequence(e ast.Expr) ast.Expr {
	tv := c.info.Types[e]
	if !tv.IsType() {
		return nil
	}
	n, ok := types.Unalias(tv.Type).(*types.Named)
	if !ok || !isSequence(n) {
		return nil
	}
	x := c.typeExpr(n.Underlying(), e.Pos())
	c.info.Types[x] = tv
	return x
}

func isSequence(n *types.Named) bool {
	return n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "iter"
}

// plainSequences replaces iter.Seq by its function type inside t.
func plainSequences(t types.Type) types.Type {
	switch u := t.(type) {
	case *types.Named:
		if isSequence(u) {
			return plainSequences(u.Underlying())
		}
	case *types.Alias:
		if x := plainSequences(types.Unalias(u)); x != types.Unalias(u) {
			return x
		}
	case *types.Pointer:
		if x := plainSequences(u.Elem()); x != u.Elem() {
			return types.NewPointer(x)
		}
	case *types.Slice:
		if x := plainSequences(u.Elem()); x != u.Elem() {
			return types.NewSlice(x)
		}
	case *types.Map:
		if x := plainSequences(u.Elem()); x != u.Elem() {
			return types.NewMap(u.Key(), x)
		}
	case *types.Signature:
		params, a := plainTuple(u.Params())
		results, b := plainTuple(u.Results())
		if a || b {
			return types.NewSignatureType(nil, nil, nil, params, results, u.Variadic())
		}
	}
	return t
}

func plainTuple(l *types.Tuple) (*types.Tuple, bool) {
	changed := false
	var vars []*types.Var
	for v := range l.Variables() {
		t := plainSequences(v.Type())
		changed = changed || t != v.Type()
		vars = append(vars, types.NewVar(token.NoPos, nil, v.Name(), t))
	}
	if !changed {
		return l, false
	}
	return types.NewTuple(vars...), true
}
