//lint:file-ignore SA1019 the parser's objects tell locals from free names, which is all they are asked for

package cell

import (
	"go/ast"
	"go/types"
)

// A renamer gives the free identifiers of syntax their internal names. Locals
// are told from free names by the parser's object resolution.
type renamer struct {
	top map[*ast.Object]bool             // objects declared at the top of the cell
	as  func(name string) string         // internal name of a free name
	typ func(name string) types.Type     // type that a free name denotes, nil if none
	use func(id *ast.Ident, name string) // told of each free name

	embedded map[string]string // names of embedded types, to their internal names
}

// A literalType is the type of a composite literal as far as it is known
// before the type check: as syntax, or as a type of an earlier cell.
type literalType struct {
	expr ast.Expr
	typ  types.Type
}

func (r *renamer) rename(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			r.ident(n)
		case *ast.SelectorExpr:
			r.rename(n.X)
			return false
		case *ast.CompositeLit:
			r.composite(n, literalType{expr: n.Type})
			return false
		case *ast.Field:
			r.rename(n.Type)
			return false
		case *ast.StructType:
			for _, f := range n.Fields.List {
				r.rename(f.Type)
				if len(f.Names) == 0 {
					r.embeds(f.Type)
				}
			}
			return false
		case *ast.BranchStmt, *ast.ImportSpec:
			return false
		case *ast.LabeledStmt:
			r.rename(n.Stmt)
			return false
		case *ast.FuncDecl:
			if n.Recv == nil {
				r.ident(n.Name)
			} else {
				r.rename(n.Recv)
			}
			r.rename(n.Type)
			if n.Body != nil {
				r.rename(n.Body)
			}
			return false
		}
		return true
	})
}

// embeds gives an embedded field the name that the user wrote: it is also that of
// the field.
func (r *renamer) embeds(t ast.Expr) {
	id, params := recvBase(t)
	if id == nil || len(params) > 0 {
		return
	}
	if name := plain(id.Name); name != id.Name && r.embedded != nil {
		r.embedded[name] = id.Name
		id.Name = name
	}
}

func (r *renamer) ident(id *ast.Ident) {
	if id.Name == "_" || id.Obj != nil && !r.top[id.Obj] {
		return
	}
	name := id.Name
	id.Name = r.as(name)
	if r.use != nil {
		r.use(id, name)
	}
}

// composite renames a literal; keys of struct literals are field names.
func (r *renamer) composite(lit *ast.CompositeLit, t literalType) {
	if lit.Type != nil {
		r.rename(lit.Type)
	}
	isStruct, key, elem := r.literal(t, 0)
	item := func(e ast.Expr, t literalType) {
		if c, ok := e.(*ast.CompositeLit); ok {
			if c.Type != nil {
				t = literalType{expr: c.Type}
			}
			r.composite(c, t)
			return
		}
		r.rename(e)
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			item(e, elem)
			continue
		}
		if !isStruct {
			item(kv.Key, key)
		}
		item(kv.Value, elem)
	}
}

// literal tells whether a literal of type t has field names as keys, and the
// types of its keys and elements where it has not.
func (r *renamer) literal(t literalType, depth int) (isStruct bool, key, elem literalType) {
	none := literalType{}
	if depth > 20 {
		return true, none, none
	}
	if t.typ != nil {
		switch u := t.typ.Underlying().(type) {
		case *types.Struct:
			return true, none, none
		case *types.Slice:
			return false, none, literalType{typ: u.Elem()}
		case *types.Array:
			return false, none, literalType{typ: u.Elem()}
		case *types.Map:
			return false, literalType{typ: u.Key()}, literalType{typ: u.Elem()}
		case *types.Pointer:
			return r.literal(literalType{typ: u.Elem()}, depth+1)
		}
		return true, none, none
	}
	switch e := t.expr.(type) {
	case *ast.ArrayType:
		return false, none, literalType{expr: e.Elt}
	case *ast.MapType:
		return false, literalType{expr: e.Key}, literalType{expr: e.Value}
	case *ast.StarExpr:
		return r.literal(literalType{expr: e.X}, depth+1)
	case *ast.ParenExpr:
		return r.literal(literalType{expr: e.X}, depth+1)
	case *ast.IndexExpr:
		return r.literal(literalType{expr: e.X}, depth+1)
	case *ast.IndexListExpr:
		return r.literal(literalType{expr: e.X}, depth+1)
	case *ast.Ident:
		if e.Obj != nil {
			if spec, ok := e.Obj.Decl.(*ast.TypeSpec); ok {
				return r.literal(literalType{expr: spec.Type}, depth+1)
			}
		}
		if typ := r.typ(e.Name); typ != nil {
			return r.literal(literalType{typ: typ}, depth+1)
		}
	}
	return true, none, none
}
