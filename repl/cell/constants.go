package cell

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// foldConstants writes the values of constant expressions in: the interpreter
// computes untyped constants in the wrong type.
func (c *compiler) foldConstants() {
	astutil.Apply(c.file, func(cur *astutil.Cursor) bool {
		e, ok := cur.Node().(ast.Expr)
		if !ok {
			return true
		}
		if cur.Name() == "Type" {
			return true
		}
		tv, ok := c.info.Types[e]
		if !ok || tv.Value == nil {
			return true
		}
		switch e := e.(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.CallExpr:
		case *ast.BasicLit: // a named type's own comparison needs the conversion
			if n, ok := types.Unalias(tv.Type).(*types.Named); !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != mainPath {
				return true
			}
		case *ast.SelectorExpr: // untyped constants of packages, as math.Pi
			if _, ok := c.info.Uses[e.Sel].(*types.Const); !ok {
				return true
			}
			if _, named := types.Unalias(tv.Type).(*types.Named); named {
				return true
			}
		case *ast.Ident:
			o, ok := c.info.Uses[e].(*types.Const)
			if !ok || o.Pkg() == nil {
				return true
			}
		default:
			return true
		}
		if n := c.constant(tv, e.Pos()); n != nil {
			c.info.Types[n] = tv
			cur.Replace(n)
			return false
		}
		return true
	}, nil)
}

// constant writes a constant of a type; nil when it can't be written.
func (c *compiler) constant(tv types.TypeAndValue, p token.Pos) ast.Expr {
	b, ok := tv.Type.Underlying().(*types.Basic)
	if !ok {
		return nil
	}
	v := tv.Value
	switch {
	case b.Info()&types.IsInteger != 0:
		v = constant.ToInt(v)
	case b.Info()&types.IsFloat != 0:
		v = constant.ToFloat(v)
	case b.Info()&types.IsComplex != 0:
		v = constant.ToComplex(v)
	}
	l := constLit(v, b, p)
	if l == nil || b.Info()&types.IsUntyped != 0 {
		return l
	}
	n, named := types.Unalias(tv.Type).(*types.Named)
	if named && !n.Obj().Exported() && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != mainPath {
		return nil
	}
	if named || b.Kind() != types.Int && b.Kind() != types.String && b.Kind() != types.Bool && b.Kind() != types.Float64 {
		return call(c.typeExpr(tv.Type, p), p, l)
	}
	if b.Kind() == types.Float64 {
		return call(ident("float64", p), p, l)
	}
	if b.Kind() == types.Bool {
		return l
	}
	return call(ident(b.Name(), p), p, l)
}

func constLit(v constant.Value, b *types.Basic, p token.Pos) ast.Expr {
	lit := func(k token.Token, s string) ast.Expr {
		if strings.HasPrefix(s, "-") {
			return &ast.UnaryExpr{OpPos: p, Op: token.SUB, X: &ast.BasicLit{ValuePos: p, Kind: k, Value: s[1:]}}
		}
		return &ast.BasicLit{ValuePos: p, Kind: k, Value: s}
	}
	switch v.Kind() {
	case constant.Bool:
		return ident(v.String(), p)
	case constant.String:
		return lit(token.STRING, strconv.Quote(constant.StringVal(v)))
	case constant.Int:
		if b.Info()&types.IsFloat != 0 {
			return floatLit(constant.ToFloat(v), lit)
		}
		return lit(token.INT, v.ExactString())
	case constant.Float:
		return floatLit(v, lit)
	}
	return nil
}

func floatLit(v constant.Value, lit func(token.Token, string) ast.Expr) ast.Expr {
	f, _ := constant.Float64Val(v)
	if math.IsInf(f, 0) {
		return nil
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eE") {
		s += ".0"
	}
	return lit(token.FLOAT, s)
}

// constDecl writes each constant with its final value: iota and implicit
// repetition are gone.
func (c *compiler) constDecl(d *ast.GenDecl) (out []ast.Spec) {
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			o, ok := c.info.Defs[id].(*types.Const)
			if !ok || id.Name == "_" {
				continue
			}
			b, ok := o.Type().Underlying().(*types.Basic)
			if !ok {
				continue
			}
			l := constLit(o.Val(), b, id.Pos())
			if l == nil {
				continue
			}
			vs := &ast.ValueSpec{Names: []*ast.Ident{ident(id.Name, id.Pos())}, Values: []ast.Expr{l}}
			if b.Info()&types.IsUntyped == 0 {
				vs.Type = c.typeExpr(o.Type(), id.Pos())
			}
			out = append(out, vs)
		}
	}
	return out
}
