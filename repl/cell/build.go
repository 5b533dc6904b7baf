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

func strLit(s string, p token.Pos) ast.Expr {
	return &ast.BasicLit{ValuePos: p, Kind: token.STRING, Value: strconv.Quote(s)}
}

func addr(x ast.Expr, p token.Pos) ast.Expr { return &ast.UnaryExpr{OpPos: p, Op: token.AND, X: x} }

func block(p token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: p, List: list, Rbrace: p}
}

func assign(l, r ast.Expr, p token.Pos) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{l}, TokPos: p, Tok: token.ASSIGN, Rhs: []ast.Expr{r}}
}

func define(name string, r ast.Expr, p token.Pos) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{ident(name, p)}, TokPos: p, Tok: token.DEFINE, Rhs: []ast.Expr{r}}
}

func exprStmt(x ast.Expr) *ast.ExprStmt { return &ast.ExprStmt{X: x} }

func ifStmt(cond ast.Expr, p token.Pos, list ...ast.Stmt) *ast.IfStmt {
	return &ast.IfStmt{If: p, Cond: cond, Body: block(p, list...)}
}

func funcType(p token.Pos, params, results []*ast.Field) *ast.FuncType {
	t := &ast.FuncType{Func: p, Params: &ast.FieldList{Opening: p, List: params, Closing: p}}
	if len(results) > 0 {
		t.Results = &ast.FieldList{Opening: p, List: results, Closing: p}
	}
	return t
}

func funcLit(p token.Pos, list ...ast.Stmt) *ast.FuncLit {
	return &ast.FuncLit{Type: funcType(p, nil, nil), Body: block(p, list...)}
}

func anyType(p token.Pos) ast.Expr {
	return &ast.InterfaceType{Interface: p, Methods: &ast.FieldList{Opening: p, Closing: p}}
}

func varDecl(name string, t ast.Expr, v ast.Expr, p token.Pos) *ast.GenDecl {
	spec := &ast.ValueSpec{Names: []*ast.Ident{ident(name, p)}, Type: t}
	if v != nil {
		spec.Values = []ast.Expr{v}
	}
	return &ast.GenDecl{Tok: token.VAR, TokPos: p, Specs: []ast.Spec{spec}}
}

func declStmt(g *ast.GenDecl) ast.Stmt { return &ast.DeclStmt{Decl: g} }

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func unparen(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}
