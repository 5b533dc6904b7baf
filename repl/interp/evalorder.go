package interp

import (
	"go/ast"
	"go/token"
	"sort"
	"unsafe"
)

// Go leaves open when a variable is read beside a call that changes it. Here it
// is as its compiler does it: calls and receives run first, in order, and what
// only reads comes after them.

// calls tells whether evaluating an expression runs code of the program.
func (c *fc) calls(n ast.Expr) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			tv := c.info.Types[n.Fun]
			found = found || !tv.IsType() && !tv.IsBuiltin()
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// callsFirst gives the order in which operands are evaluated, nil if it is
// theirs.
func (c *fc) callsFirst(list []ast.Expr) []int {
	calls := make([]bool, len(list))
	late, mixed := false, false
	for i, n := range list {
		calls[i] = c.calls(n)
		mixed = mixed || calls[i] && late
		late = late || !calls[i] && c.info.Types[n].Value == nil
	}
	if !mixed {
		return nil
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return calls[order[i]] && !calls[order[j]] })
	return order
}

// evaluate runs evaluators in an order, nil for theirs.
func evaluate(f *fr, items []func(*fr) unsafe.Pointer, order []int) []unsafe.Pointer {
	out := make([]unsafe.Pointer, len(items))
	if order == nil {
		for i, it := range items {
			out[i] = it(f)
		}
		return out
	}
	for _, i := range order {
		out[i] = items[i](f)
	}
	return out
}

// rightFirst keeps the value of a right operand that calls something, when the
// left one only reads: before evaluates it, and the result is it.
func (c *fc) rightFirst(x, y ast.Expr, e ex) (before func(*fr), held ex) {
	if c.info.Types[x].Value != nil || c.calls(x) || !c.calls(y) {
		return nil, e
	}
	return c.hold(e)
}

// hold keeps a value in a hidden variable.
func (c *fc) hold(e ex) (before func(*fr), held ex) {
	k, x := c.newSlot(), c.mem(e)
	return func(f *fr) { f.p[k] = x(f) }, c.noAddr(c.load(e.t, func(f *fr) unsafe.Pointer { return f.p[k] }))
}

// after is e with something done before it.
func after(before func(*fr), e ex) ex {
	if before == nil {
		return e
	}
	out := ex{t: e.t}
	switch {
	case e.I != nil:
		out.I = func(f *fr) int64 { before(f); return e.I(f) }
	case e.F != nil:
		out.F = func(f *fr) float64 { before(f); return e.F(f) }
	case e.S != nil:
		out.S = func(f *fr) string { before(f); return e.S(f) }
	case e.B != nil:
		out.B = func(f *fr) bool { before(f); return e.B(f) }
	case e.C != nil:
		out.C = func(f *fr) complex128 { before(f); return e.C(f) }
	}
	return out
}
