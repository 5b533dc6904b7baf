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

// genericTypes are the generic types of the standard library, each with the type
// of the runtime that is used for all its instances. Their methods are generic
// functions of ours.
var genericTypes = map[string]string{"sync/atomic.Pointer": "Box", "unique.Handle": "Handle"}

// genericType gives the runtime's type for a generic type of the standard
// library, "" if it has none.
func genericType(t *types.Named) string {
	if o := t.Obj(); o.Pkg() != nil {
		return genericTypes[o.Pkg().Path()+"."+o.Name()]
	}
	return ""
}

// genericMethod makes a call of a method of such a type one of our function; nil
// for another call.
func (c *compiler) genericMethod(n *ast.CallExpr) ast.Expr {
	fun, ok := unparen(n.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	s := c.info.Selections[fun]
	if s == nil || s.Kind() != types.MethodVal || s.Obj().Pkg() == nil {
		return nil
	}
	m, ok := s.Obj().(*types.Func)
	if !ok || m.Signature().Recv() == nil {
		return nil
	}
	t := m.Signature().Recv().Type()
	_, byPointer := t.(*types.Pointer)
	if byPointer {
		t = t.(*types.Pointer).Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.TypeArgs().Len() == 0 || genericType(named) == "" {
		return nil
	}
	p := fun.Sel.Pos()
	x, xt := c.promoted(fun.X, s, p)
	xt = xt.Underlying()
	if _, isPtr := xt.(*types.Pointer); byPointer && !isPtr {
		x = addr(x, p)
	} else if isPtr && !byPointer {
		x = &ast.StarExpr{Star: p, X: x}
	}
	name := "ʹ" + named.Obj().Pkg().Name() + "_" + named.Obj().Name() + "_" + m.Name()
	f := c.typed(c.instance(name, named.TypeArgs(), p), m.Signature())
	e := call(f, p, append([]ast.Expr{x}, n.Args...)...)
	c.info.Types[e] = c.info.Types[n]
	return e
}

// useGeneric gets the tables of generic functions ready.
func (c *compiler) useGeneric() {
	if c.s.generics == nil {
		c.s.generics = genericFuncs()
	}
	if c.generics == nil {
		c.generics, c.monos = map[string]bool{}, map[string]string{}
	}
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
	c.useGeneric()
	if c.s.generics[name] == "" {
		c.errorAt(n.Pos(), "type", "%s.%s is generic and not available in cells yet", fn.Pkg().Name(), fn.Name())
		return nil
	}
	return c.typed(c.instance(name, inst.TypeArgs, n.Pos()), inst.Type)
}

// instance gives a generic function of ours with its type arguments: a function
// made for them, since the interpreter gets some instances wrong; inside a
// generic function of the cell an instance that it makes.
func (c *compiler) instance(name string, types *types.TypeList, p token.Pos) ast.Expr {
	c.useGeneric()
	var args []ast.Expr
	open := false
	for t := range types.Types() {
		args = append(args, c.typeExpr(t, p))
		open = open || mentionsTypeParam(t)
	}
	if !open {
		return ident(c.monomorph(name, args), p)
	}
	c.generics[name] = true
	var e ast.Expr = &ast.IndexListExpr{X: ident(name, p), Lbrack: p, Indices: args, Rbrack: p}
	if len(args) == 1 {
		e = &ast.IndexExpr{X: ident(name, p), Lbrack: p, Index: args[0], Rbrack: p}
	}
	c.instantiated[e] = true
	return e
}

// genericDecls gives the functions that the cell is the first to use.
func (c *compiler) genericDecls() (out []ast.Decl) {
	out = c.monoDecls
	var todo []string
	for name := range c.generics {
		todo = append(todo, name)
	}
	sort.Strings(todo)
	c.genericMade = map[string]bool{}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		text := c.s.generics[name]
		if text == "" || c.s.genericDone[name] || c.genericMade[name] {
			continue
		}
		c.genericMade[name] = true
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

// sequence writes iter.Seq and iter.Seq2 as the function types they are, and the
// other generic types of the standard library by our own: the interpreter has no
// generic native types.
func (c *compiler) sequence(e ast.Expr) ast.Expr {
	tv := c.info.Types[e]
	if !tv.IsType() {
		return nil
	}
	n, ok := types.Unalias(tv.Type).(*types.Named)
	if !ok || !isSequence(n) && genericType(n) == "" {
		return nil
	}
	x := c.typeExpr(n, e.Pos())
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
