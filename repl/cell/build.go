package cell

import (
	"go/ast"
	"go/token"
	"strconv"
)

// Constructors of syntax. Every node gets a position: the interpreter looks
// imports up by the file that a node's position lies in.

func ident(name string, p token.Pos) *ast.Ident { return &ast.Ident{Name: name, NamePos: p} }

func call(f ast.Expr, p token.Pos, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: f, Lparen: p, Args: args, Rparen: p}
}

func sel(x ast.Expr, name string, p token.Pos) *ast.SelectorExpr {
	return &ast.SelectorExpr{X: x, Sel: ident(name, p)}
}

func intLit(i int, p token.Pos) ast.Expr {
	return &ast.BasicLit{ValuePos: p, Kind: token.INT, Value: strconv.Itoa(i)}
}

func addr(x ast.Expr, p token.Pos) ast.Expr { return &ast.UnaryExpr{OpPos: p, Op: token.AND, X: x} }

func block(p token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: p, List: list, Rbrace: p}
}

func define(name string, r ast.Expr, p token.Pos) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{ident(name, p)}, TokPos: p, Tok: token.DEFINE, Rhs: []ast.Expr{r}}
}

func exprStmt(x ast.Expr) *ast.ExprStmt { return &ast.ExprStmt{X: x} }

func unparen(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}
