package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// A wroteAs is an expression that the sugar made, and how the user wrote it.
type wroteAs struct {
	e    ast.Expr
	text func(of func(ast.Expr) string) string
}

// wrote notes how the user wrote what became e.
func (c *compiler) wrote(e ast.Expr, text func(of func(ast.Expr) string) string) {
	c.rewritten = append(c.rewritten, wroteAs{e, text})
}

// quoted gives a message of go/types with its expressions as the user wrote
// them: x > 7 for x.Gt(7). Only what the sugar made in the statement of the
// complaint is looked for.
func (c *compiler) quoted(e types.Error) string {
	if len(c.rewritten) == 0 {
		return e.Msg
	}
	st := c.statementAt(e.Pos)
	if st == nil {
		return e.Msg
	}
	inside := map[ast.Node]bool{}
	ast.Inspect(st, func(n ast.Node) bool {
		inside[n] = true
		return true
	})
	var subs []substitution
	of := func(e ast.Expr) string { return substitute(types.ExprString(e), subs) }
	for _, s := range c.rewritten { // inner ones come first
		if !inside[s.e] {
			continue
		}
		subs = append(subs, substitution{types.ExprString(s.e), s.text(of)})
		sort.SliceStable(subs, func(i, j int) bool { return len(subs[i].from) > len(subs[j].from) })
	}
	return substitute(e.Msg, subs)
}

type substitution struct{ from, to string }

// substitute replaces the longest text that stands at each place.
func substitute(text string, subs []substitution) string {
	if len(subs) == 0 {
		return text
	}
	var b strings.Builder
next:
	for i := 0; i < len(text); {
		if i == 0 || !identByte(text[i-1]) && text[i-1] != '.' {
			for _, s := range subs {
				if rest := text[i:]; strings.HasPrefix(rest, s.from) {
					b.WriteString(s.to)
					i += len(s.from)
					continue next
				}
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

func identByte(b byte) bool {
	return b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// statementAt gives the smallest statement or declaration around a position.
func (c *compiler) statementAt(p token.Pos) (found ast.Node) {
	size := token.Pos(0)
	ast.Inspect(c.file, func(n ast.Node) bool {
		switch n.(type) {
		case ast.Stmt, ast.Spec:
			// What was moved by the sugar may end before it begins.
			if from, to := n.Pos(), n.End(); from <= p && p <= to && (found == nil || to-from <= size) {
				found, size = n, to-from
			}
		}
		return true
	})
	return found
}

// dead tells whether a complaint is about what stands in place of a condition
// that was refused already.
func (c *compiler) dead(e types.Error) bool {
	st := c.statementAt(e.Pos)
	if st == nil || len(c.refused) == 0 {
		return false
	}
	found := false
	ast.Inspect(st, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && c.refused[id] {
			found = true
		}
		return !found
	})
	return found
}
