package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// runtimePackage is the name of the functions that lowered code calls.
const runtimePackage = "ʹrt"

func rt(name string, p token.Pos, args ...ast.Expr) *ast.CallExpr {
	return call(sel(ident(runtimePackage, p), name, p), p, args...)
}

func (c *compiler) temp(prefix string) string {
	c.tmp++
	return "ʹ" + prefix + strconv.Itoa(c.tmp)
}

// typed notes the type of an expression that the lowering made.
func (c *compiler) typed(e ast.Expr, t types.Type) ast.Expr {
	c.info.Types[e] = types.TypeAndValue{Type: t}
	return e
}

// isBuiltin tells whether f names the builtin function.
func (c *compiler) isBuiltin(f ast.Expr, name string) bool {
	id, ok := unparen(f).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = c.info.Uses[id].(*types.Builtin)
	return ok
}

// rewriteExprs replaces the expressions that the interpreter runs wrong.
func (c *compiler) rewriteExprs() {
	astutil.Apply(c.file, nil, func(cur *astutil.Cursor) bool {
		switch n := cur.Node().(type) {
		case *ast.Ident:
			if e := c.instantiate(cur, n); e != nil {
				cur.Replace(e)
			}
		case *ast.CallExpr:
			c.errorArgs(n)
			if e := c.genericMethod(n); e != nil {
				cur.Replace(e)
				return true
			}
			if _, spawned := cur.Parent().(*ast.GoStmt); !spawned {
				if e := c.wait(n); e != nil {
					cur.Replace(e)
					return true
				}
			}
			switch {
			case c.converts(n):
				cur.Replace(c.convert(n))
			case c.isBuiltin(n.Fun, "min"), c.isBuiltin(n.Fun, "max"):
				if tv := c.info.Types[n]; tv.Value == nil {
					cur.Replace(c.minmax(n))
				}
			case c.spawns(n) >= 0: // runs on a goroutine that native code starts
				i := c.spawns(n)
				if i < len(n.Args) {
					n.Args[i] = c.typed(rt("Spawned", n.Pos(), ident(frameVar, n.Pos()), n.Args[i]), c.info.Types[n.Args[i]].Type)
				}
			case c.isBuiltin(n.Fun, "clear"):
				cur.Replace(c.clear(n))
			case c.isBuiltin(n.Fun, "recover"):
				if _, deferred := cur.Parent().(*ast.DeferStmt); !deferred {
					p := n.Pos() // only the frame that a deferred call runs in gets the panic's value
					cur.Replace(c.typed(rt("Recover", p, ident(frameVar, p)), types.Universe.Lookup("any").Type()))
				}
			}
		case *ast.BinaryExpr:
			if e := c.compare(n); e != nil {
				cur.Replace(e)
			}
		case *ast.ParenExpr: // the interpreter loses statements behind (x).Method()
			switch n.X.(type) {
			case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
				if !c.info.Types[n.X].IsType() {
					cur.Replace(n.X)
				}
			}
		case *ast.IndexExpr:
			if c.instantiated[n.X] {
				cur.Replace(n.X)
			} else if e := c.sequence(n); e != nil {
				cur.Replace(e)
			}
		case *ast.IndexListExpr:
			if c.instantiated[n.X] {
				cur.Replace(n.X)
			} else if e := c.sequence(n); e != nil {
				cur.Replace(e)
			}
		case *ast.SelectorExpr:
			if tv := c.info.Types[n]; tv.IsType() && types.TypeString(tv.Type, nil) == "cmp.Ordered" {
				cur.Replace(anyType(n.Pos())) // a constraint, which the type checker has seen to
				return true
			}
			if e := c.genericCall(n); e != nil {
				cur.Replace(e)
				return true
			}
			if s := c.info.Selections[n]; s != nil && s.Kind() == types.MethodExpr {
				cur.Replace(c.methodExpr(n, s))
			} else if s != nil && s.Kind() == types.MethodVal {
				if call, ok := cur.Parent().(*ast.CallExpr); !ok || call.Fun != ast.Expr(n) {
					if e := c.methodValue(n, s); e != nil {
						cur.Replace(e)
					}
				}
			}
		case *ast.CompositeLit:
			c.holdAny(n)
		case *ast.AssignStmt:
			c.assertOk(n)
		case *ast.ValueSpec:
			if len(n.Names) == 2 && len(n.Values) == 1 {
				if e := c.assertPair(n.Values[0]); e != nil {
					n.Values[0] = e
				}
			}
		case *ast.TypeAssertExpr:
			c.plainSubject(n)
			switch p := cur.Parent().(type) {
			case *ast.AssignStmt:
				if len(p.Lhs) == 2 && len(p.Rhs) == 1 {
					return true
				}
			case *ast.ValueSpec:
				if len(p.Names) == 2 && len(p.Values) == 1 {
					return true
				}
			}
			if e := c.assertOne(n); e != nil {
				cur.Replace(e)
			}
		}
		return true
	})
}

// converts tells whether a call makes an interface of a literal or an error of a
// struct, which the interpreter gets wrong.
func (c *compiler) converts(n *ast.CallExpr) bool {
	tv := c.info.Types[n.Fun]
	if !tv.IsType() || len(n.Args) != 1 || !types.IsInterface(tv.Type) {
		return false
	}
	t := tv.Type.Underlying().(*types.Interface)
	return t.NumMethods() > 0 && !hasTypeParam(tv.Type) && (isLiteral(n.Args[0]) || c.needsError(tv.Type, n.Args[0]))
}

// errorArgs makes errors of structs that are passed as errors.
func (c *compiler) errorArgs(n *ast.CallExpr) {
	t := c.info.Types[n.Fun].Type
	if t == nil {
		return
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || n.Ellipsis.IsValid() {
		return
	}
	for i, a := range n.Args {
		if pt := paramType(sig, i); pt != nil && c.needsError(pt, a) {
			n.Args[i] = c.typed(rt("Error", a.Pos(), a), pt)
		}
	}
}

// convert holds the operand in a parameter first.
func (c *compiler) convert(n *ast.CallExpr) ast.Expr {
	p := n.Pos()
	t := c.info.Types[n.Fun].Type
	if c.needsError(t, n.Args[0]) {
		return c.typed(rt("Error", p, n.Args[0]), t)
	}
	params := []*ast.Field{{Names: []*ast.Ident{ident("ʹx", p)}, Type: c.typeExpr(c.info.Types[n.Args[0]].Type, p)}}
	lit := &ast.FuncLit{Type: funcType(p, params, []*ast.Field{{Type: c.typeExpr(t, p)}}), Body: block(p, &ast.ReturnStmt{Return: p, Results: []ast.Expr{ident("ʹx", p)}})}
	c.raw[lit] = true
	return c.typed(call(lit, p, n.Args[0]), t)
}

// plainSubject takes the value out of an interface of a cell before an
// assertion, unless it is a plain variable, which the interpreter gets right.
func (c *compiler) plainSubject(n *ast.TypeAssertExpr) {
	if n.Type == nil {
		return
	}
	t := c.info.Types[n.X].Type
	if t == nil || !types.IsInterface(t) {
		return
	}
	if c.isErrorType(t) && c.ofCell(c.typeAt(n.Type)) {
		if c.subjects == nil {
			c.subjects = map[*ast.TypeAssertExpr]types.Type{}
		}
		c.subjects[n] = t
		n.X = c.typed(rt("Any", n.X.Pos(), n.X), types.Universe.Lookup("any").Type())
		return
	}
	if _, ok := n.X.(*ast.Ident); ok {
		return
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == mainPath {
		n.X = c.typed(rt("Any", n.X.Pos(), n.X), t)
	}
}

func (c *compiler) isErrorType(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// holdAny makes empty interfaces of elements before they are put into a literal:
// the interpreter would wrap them in a way that native code can't see through.
func (c *compiler) holdAny(n *ast.CompositeLit) {
	t := c.info.Types[n].Type
	if t == nil {
		return
	}
	wrap := func(slot *ast.Expr, want types.Type) {
		i, ok := want.Underlying().(*types.Interface)
		tv := c.info.Types[*slot]
		if !ok || i.NumMethods() > 0 || tv.Type == nil || tv.IsNil() || types.IsInterface(tv.Type) {
			return
		}
		if _, basic := tv.Type.(*types.Basic); basic {
			return
		}
		if _, param := types.Unalias(want).(*types.TypeParam); param {
			return
		}
		*slot = c.typed(rt("Any", (*slot).Pos(), *slot), want)
	}
	for i := range n.Elts {
		slot := &n.Elts[i]
		kv, keyed := (*slot).(*ast.KeyValueExpr)
		if keyed {
			slot = &kv.Value
		}
		switch u := t.Underlying().(type) {
		case *types.Slice:
			wrap(slot, u.Elem())
		case *types.Array:
			wrap(slot, u.Elem())
		case *types.Map:
			wrap(slot, u.Elem())
			if keyed {
				wrap(&kv.Key, u.Key())
			}
		case *types.Struct:
			if keyed {
				if id, ok := kv.Key.(*ast.Ident); ok {
					for f := range u.Fields() {
						if f.Name() == id.Name {
							wrap(slot, f.Type())
						}
					}
				}
			} else if i < u.NumFields() {
				wrap(slot, u.Field(i).Type())
			}
		}
	}
}

// spawners are the functions that run an argument on a goroutine of their own,
// with the argument's place.
var spawners = map[string]int{"(*sync.WaitGroup).Go": 0, "time.AfterFunc": 1, "context.AfterFunc": 1}

// spawns gives the place of the argument that a call runs elsewhere, -1 if none.
func (c *compiler) spawns(n *ast.CallExpr) int {
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	if f, ok := c.info.Uses[s.Sel].(*types.Func); ok {
		if i, ok := spawners[f.FullName()]; ok {
			return i
		}
	}
	return -1
}

// instantiate writes inferred type arguments in.
func (c *compiler) instantiate(cur *astutil.Cursor, id *ast.Ident) ast.Expr {
	inst, ok := c.info.Instances[id]
	if !ok || inst.TypeArgs == nil {
		return nil
	}
	if _, isFunc := c.info.Uses[id].(*types.Func); !isFunc {
		return nil
	}
	switch p := cur.Parent().(type) {
	case *ast.IndexExpr:
		if p.X == ast.Expr(id) {
			return nil
		}
	case *ast.IndexListExpr:
		if p.X == ast.Expr(id) && len(p.Indices) == inst.TypeArgs.Len() {
			return nil
		}
	case *ast.SelectorExpr:
		return nil
	}
	p := id.Pos()
	var args []ast.Expr
	for t := range inst.TypeArgs.Types() {
		args = append(args, c.typeExpr(t, p))
	}
	var e ast.Expr
	if len(args) == 1 {
		e = &ast.IndexExpr{X: id, Lbrack: p, Index: args[0], Rbrack: p}
	} else {
		e = &ast.IndexListExpr{X: id, Lbrack: p, Indices: args, Rbrack: p}
	}
	return c.typed(e, inst.Type)
}

// minmax makes a function literal of min and max: the interpreter has neither.
func (c *compiler) minmax(n *ast.CallExpr) ast.Expr {
	p := n.Pos()
	t := types.Default(c.info.Types[n].Type)
	name := unparen(n.Fun).(*ast.Ident).Name
	op := token.LSS
	if name == "max" {
		op = token.GTR
	}
	var params []*ast.Field
	var body []ast.Stmt
	b, _ := t.Underlying().(*types.Basic)
	for i := range n.Args {
		m := "ʹm" + strconv.Itoa(i)
		params = append(params, &ast.Field{Names: []*ast.Ident{ident(m, p)}, Type: c.typeExpr(t, p)})
		if i == 0 {
			continue
		}
		var cond ast.Expr = &ast.BinaryExpr{X: ident(m, p), OpPos: p, Op: op, Y: ident("ʹm0", p)}
		if b != nil && b.Info()&types.IsFloat != 0 { // a NaN wins
			cond = &ast.BinaryExpr{X: cond, OpPos: p, Op: token.LOR, Y: &ast.BinaryExpr{X: ident(m, p), OpPos: p, Op: token.NEQ, Y: ident(m, p)}}
		}
		body = append(body, ifStmt(cond, p, assign(ident("ʹm0", p), ident(m, p), p)))
	}
	body = append(body, &ast.ReturnStmt{Return: p, Results: []ast.Expr{ident("ʹm0", p)}})
	lit := &ast.FuncLit{Type: funcType(p, params, []*ast.Field{{Type: c.typeExpr(t, p)}}), Body: block(p, body...)}
	c.raw[lit] = true
	e := call(lit, p, n.Args...)
	c.typed(lit, types.Typ[types.Invalid])
	return c.typed(e, t)
}

// clear empties a map or zeroes a slice through reflection.
func (c *compiler) clear(n *ast.CallExpr) ast.Expr {
	return c.typed(rt("Clear", n.Pos(), n.Args...), types.NewTuple())
}

// compare makes == on interfaces a comparison by the runtime, which sees the
// values in them.
func (c *compiler) compare(n *ast.BinaryExpr) ast.Expr {
	if n.Op != token.EQL && n.Op != token.NEQ {
		return nil
	}
	x, y := c.info.Types[n.X], c.info.Types[n.Y]
	if x.Type == nil || y.Type == nil || x.IsNil() || y.IsNil() || !types.IsInterface(x.Type) && !types.IsInterface(y.Type) {
		return nil
	}
	if _, param := types.Unalias(x.Type).(*types.TypeParam); param {
		return nil
	}
	t := types.TypeAndValue{Type: types.Typ[types.Bool]}
	var e ast.Expr = rt("Equal", n.OpPos, n.X, n.Y)
	c.info.Types[e] = t
	if n.Op == token.NEQ {
		e = &ast.UnaryExpr{OpPos: n.OpPos, Op: token.NOT, X: e}
		c.info.Types[e] = t
	}
	return e
}

// methodValue makes x.Method, not called, a function that holds a copy of the
// receiver as it is now: the interpreter reads it when the function is called.
func (c *compiler) methodValue(n *ast.SelectorExpr, s *types.Selection) ast.Expr {
	m, ok := s.Obj().(*types.Func)
	if !ok || types.IsInterface(s.Recv()) || m.Pkg() == nil || m.Pkg().Path() != mainPath || m.Signature().Recv() == nil {
		return nil
	}
	_, isPtr := s.Recv().Underlying().(*types.Pointer)
	if _, ptrRecv := m.Signature().Recv().Type().(*types.Pointer); ptrRecv || isPtr || hasTypeParam(s.Recv()) {
		return nil
	}
	p := n.Pos()
	recv := "ʹm"
	inner := c.methodCaller(ident(recv, p), n.Sel.Name, m.Signature(), nil, p)
	sigT := c.typeExpr(s.Type(), p)
	outer := &ast.FuncLit{Type: funcType(p, []*ast.Field{{Names: []*ast.Ident{ident(recv, p)}, Type: c.typeExpr(s.Recv(), p)}}, []*ast.Field{{Type: sigT}}),
		Body: block(p, &ast.ReturnStmt{Return: p, Results: []ast.Expr{inner}})}
	c.raw[outer] = true
	return c.typed(call(outer, p, n.X), s.Type())
}

// methodCaller is a literal that calls a method of x with its parameters.
func (c *compiler) methodCaller(x ast.Expr, name string, sig *types.Signature, first []*ast.Field, p token.Pos) *ast.FuncLit {
	params := first
	var args []ast.Expr
	for i := range sig.Params().Len() {
		pn := "ʹm" + strconv.Itoa(i)
		t := c.typeExpr(sig.Params().At(i).Type(), p)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			t = &ast.Ellipsis{Ellipsis: p, Elt: c.typeExpr(sig.Params().At(i).Type().(*types.Slice).Elem(), p)}
		}
		params = append(params, &ast.Field{Names: []*ast.Ident{ident(pn, p)}, Type: t})
		args = append(args, ident(pn, p))
	}
	var results []*ast.Field
	for r := range sig.Results().Variables() {
		results = append(results, &ast.Field{Type: c.typeExpr(r.Type(), p)})
	}
	do := call(sel(x, name, p), p, args...)
	if sig.Variadic() {
		do.Ellipsis = p
	}
	var st ast.Stmt = exprStmt(do)
	if len(results) > 0 {
		st = &ast.ReturnStmt{Return: p, Results: []ast.Expr{do}}
	}
	lit := &ast.FuncLit{Type: funcType(p, params, results), Body: block(p, st)}
	c.raw[lit] = true
	return lit
}

// methodExpr makes a function literal of T.Method.
func (c *compiler) methodExpr(n *ast.SelectorExpr, s *types.Selection) ast.Expr {
	p := n.Pos()
	sig, ok := s.Type().(*types.Signature)
	if !ok {
		return n
	}
	var params []*ast.Field
	var args []ast.Expr
	for i := range sig.Params().Len() {
		name := "ʹm" + strconv.Itoa(i)
		t := c.typeExpr(sig.Params().At(i).Type(), p)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			t = &ast.Ellipsis{Ellipsis: p, Elt: c.typeExpr(sig.Params().At(i).Type().(*types.Slice).Elem(), p)}
		}
		params = append(params, &ast.Field{Names: []*ast.Ident{ident(name, p)}, Type: t})
		args = append(args, ident(name, p))
	}
	var results []*ast.Field
	for r := range sig.Results().Variables() {
		results = append(results, &ast.Field{Type: c.typeExpr(r.Type(), p)})
	}
	do := call(sel(args[0], n.Sel.Name, p), p, args[1:]...)
	if sig.Variadic() {
		do.Ellipsis = p
	}
	var st ast.Stmt = exprStmt(do)
	if len(results) > 0 {
		st = &ast.ReturnStmt{Return: p, Results: []ast.Expr{do}}
	}
	lit := &ast.FuncLit{Type: funcType(p, params, results), Body: block(p, st)}
	c.raw[lit] = true
	return c.typed(lit, sig)
}
