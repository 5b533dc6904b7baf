package cell

import (
	"go/ast"
	"go/types"
)

// deferStmt evaluates the deferred call's function and arguments now, and
// pushes a closure that makes the call.
func (f *function) deferStmt(n *ast.DeferStmt) []ast.Stmt {
	p := n.Pos()
	if f.c.isBuiltin(n.Call.Fun, "recover") {
		return nil // recover must be called by a deferred function, not be one
	}
	pre := append(f.flush(p), f.mark(p, true)...)
	pre = append(pre, f.callArgs(n.Call)...)
	f.litsIn(n.Call)
	var run ast.Expr
	if lit, ok := unparen(n.Call.Fun).(*ast.FuncLit); ok && len(n.Call.Args) == 0 && (lit.Type.Results == nil || len(lit.Type.Results.List) == 0) {
		run = lit
	} else {
		lit := funcLit(p, exprStmt(n.Call))
		f.c.raw[lit] = true
		run = lit
	}
	name := f.c.temp("l")
	pre = append(pre, define(name, run, p))
	return append(pre, exprStmt(rt("Push", p, ident(defersVar, p), ident(name, p))))
}

// goStmt starts the call in a goroutine that has a shadow stack of its own and
// contains a panic.
func (f *function) goStmt(n *ast.GoStmt) []ast.Stmt {
	p := n.Pos()
	pre := append(f.flush(p), f.mark(p, true)...)
	pre = append(pre, f.callArgs(n.Call)...)
	f.litsIn(n.Call)
	lit := funcLit(p, exprStmt(n.Call))
	f.c.raw[lit] = true
	name := f.c.temp("l")
	pre = append(pre, define(name, lit, p))
	return append(pre, exprStmt(rt("Go", p, ident(frameVar, p), ident(name, p))))
}

// callArgs evaluates the function and the arguments of a call into temporaries.
func (f *function) callArgs(n *ast.CallExpr) (pre []ast.Stmt) {
	pre = f.callee(n)
	sig, _ := f.typeOf(n.Fun).(*types.Signature)
	if sig == nil {
		if t := f.typeOf(n.Fun); t != nil {
			sig, _ = t.Underlying().(*types.Signature)
		}
	}
	for i, a := range n.Args {
		tv := f.c.info.Types[a]
		if tv.IsNil() || tv.Value != nil || tv.IsType() || tv.Type == nil {
			continue
		}
		if _, tuple := tv.Type.(*types.Tuple); tuple {
			continue
		}
		p := a.Pos()
		name := f.c.temp("a")
		t := tv.Type
		if sig != nil && !n.Ellipsis.IsValid() {
			if pt := paramType(sig, i); pt != nil {
				t = pt
			}
		}
		// Defined, not declared: in a loop only := makes a new variable.
		if !hasTypeParam(t) && !types.Identical(types.Default(t), tv.Type) {
			conv := f.c.typeExpr(types.Default(t), p)
			if _, ident := conv.(*ast.Ident); !ident {
				conv = &ast.ParenExpr{Lparen: p, X: conv, Rparen: p}
			}
			a = call(conv, p, a)
		}
		pre = append(pre, define(name, a, p))
		f.litsIn(a)
		n.Args[i] = f.c.typed(ident(name, p), t)
	}
	return pre
}

func hasTypeParam(t types.Type) bool {
	switch t := t.(type) {
	case *types.TypeParam:
		return true
	case *types.Slice:
		return hasTypeParam(t.Elem())
	case *types.Pointer:
		return hasTypeParam(t.Elem())
	case *types.Map:
		return hasTypeParam(t.Key()) || hasTypeParam(t.Elem())
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if hasTypeParam(a) {
				return true
			}
		}
	}
	return false
}

// paramType gives the type of parameter i, element type for a variadic one.
func paramType(sig *types.Signature, i int) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		if s, ok := sig.Params().At(n - 1).Type().(*types.Slice); ok {
			return s.Elem()
		}
		return nil
	}
	if i < n {
		return sig.Params().At(i).Type()
	}
	return nil
}

// callee evaluates what is called: a receiver or a function value.
func (f *function) callee(n *ast.CallExpr) []ast.Stmt {
	p := n.Pos()
	hold := func(slot *ast.Expr, x ast.Expr) []ast.Stmt {
		name := f.c.temp("x")
		f.litsIn(x)
		*slot = f.c.typed(ident(name, p), f.c.info.Types[x].Type)
		return []ast.Stmt{define(name, x, p)}
	}
	switch fun := unparen(n.Fun).(type) {
	case *ast.SelectorExpr:
		s := f.c.info.Selections[fun]
		if s == nil {
			return nil // a function of a package
		}
		if s.Kind() == types.FieldVal {
			return hold(&n.Fun, fun)
		}
		m, _ := s.Obj().(*types.Func)
		_, isPtr := s.Recv().Underlying().(*types.Pointer)
		if m != nil && !types.IsInterface(s.Recv()) && !isPtr && m.Signature().Recv() != nil {
			if _, ptrRecv := m.Signature().Recv().Type().(*types.Pointer); ptrRecv {
				x := addr(fun.X, p)
				name := f.c.temp("x")
				fun.X = f.c.typed(ident(name, p), types.NewPointer(s.Recv()))
				return []ast.Stmt{define(name, x, p)}
			}
		}
		return hold(&fun.X, fun.X)
	case *ast.Ident:
		if _, ok := f.c.info.Uses[fun].(*types.Var); ok {
			return hold(&n.Fun, fun)
		}
	case *ast.FuncLit, *ast.IndexListExpr:
	case *ast.IndexExpr:
		if _, inst := fun.X.(*ast.Ident); inst && f.c.info.Types[fun.Index].IsType() {
			return nil
		}
		return hold(&n.Fun, fun)
	case *ast.CallExpr:
		if !f.c.info.Types[fun.Fun].IsType() {
			return hold(&n.Fun, fun)
		}
	}
	return nil
}
