package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// waits are the methods of package sync that can wait for ever, and the runtime's
// own forms of them, which an interrupt ends.
var waits = map[string]string{
	"(*sync.WaitGroup).Wait": "WaitGroupWait",
	"(*sync.Mutex).Lock":     "MutexLock",
	"(*sync.RWMutex).Lock":   "RWLock",
	"(*sync.RWMutex).RLock":  "RWRLock",
	"(sync.Locker).Lock":     "LockerLock",
	"(*sync.Cond).Wait":      "CondWait",
	"(*sync.Once).Do":        "OnceDo",
}

// isWait tells whether a function of the runtime is one of those forms.
func isWait(rtName string) bool {
	for _, name := range waits {
		if name == rtName {
			return true
		}
	}
	return false
}

// wait writes a call of a method that can wait with the runtime's form; nil for
// another call.
func (c *compiler) wait(n *ast.CallExpr) ast.Expr {
	fun, ok := unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || !c.s.cfg.Markers {
		return nil
	}
	s := c.info.Selections[fun]
	if s == nil || s.Kind() != types.MethodVal {
		return nil
	}
	m, ok := s.Obj().(*types.Func)
	if !ok || waits[m.FullName()] == "" {
		return nil
	}
	p := fun.Sel.Pos()
	x, t := c.promoted(fun.X, s, p)
	if _, isPtr := t.Underlying().(*types.Pointer); !isPtr && !types.IsInterface(t) {
		x = addr(x, p)
	}
	e := rt(waits[m.FullName()], p, append([]ast.Expr{ident(frameVar, p), x}, n.Args...)...)
	c.info.Types[e] = c.info.Types[n]
	return e
}

// promoted writes the embedded fields out through which a method is found.
func (c *compiler) promoted(x ast.Expr, s *types.Selection, p token.Pos) (ast.Expr, types.Type) {
	t := s.Recv()
	path := s.Index()
	for _, i := range path[:len(path)-1] {
		u := t.Underlying()
		if ptr, ok := u.(*types.Pointer); ok {
			u = ptr.Elem().Underlying()
		}
		st, ok := u.(*types.Struct)
		if !ok {
			break
		}
		t = st.Field(i).Type()
		x = c.typed(sel(x, st.Field(i).Name(), p), t)
	}
	return x, t
}

// outside tells whether native code may send on a channel of this type: timers
// and contexts give such channels.
func outside(t types.Type) bool {
	ch, ok := coreType(t).(*types.Chan)
	if !ok {
		return true
	}
	if n, ok := types.Unalias(ch.Elem()).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time" {
		return true
	}
	st, ok := ch.Elem().Underlying().(*types.Struct)
	return ok && st.NumFields() == 0 && ch.Dir() == types.RecvOnly
}

// hopeless tells whether only goroutines of cells can make a case of a select
// ready.
func (c *compiler) hopeless(n *ast.SelectStmt) bool {
	for _, cl := range n.Body.List {
		var ch ast.Expr
		switch st := cl.(*ast.CommClause).Comm.(type) {
		case *ast.SendStmt:
			ch = st.Chan
		case *ast.ExprStmt:
			ch = receivedFrom(st.X)
		case *ast.AssignStmt:
			if len(st.Rhs) == 1 {
				ch = receivedFrom(st.Rhs[0])
			}
		}
		if ch == nil || outside(c.typeAt(ch)) {
			return false
		}
	}
	return true
}

func receivedFrom(e ast.Expr) ast.Expr {
	if u, ok := unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u.X
	}
	return nil
}
