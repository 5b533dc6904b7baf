package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// The interpreter knows types of cells by their structure only: at run time a
// named int is an int, and two structs with the same fields are one type. Here
// named types get an identity that survives in interfaces and in native code:
// a struct through a tag of its first field, a named basic type through a
// native type that is used for nothing else.

// TypeTag is the key of the struct tag that holds a type's number.
const TypeTag = "cell"

// Stand-in types are named ʹrt.Int0, ʹrt.String3 and so on.
var standIns = map[types.BasicKind]string{
	types.Bool: "Bool", types.String: "String", types.Int: "Int", types.Int8: "Int8", types.Int16: "Int16", types.Int32: "Int32", types.Int64: "Int64",
	types.Uint: "Uint", types.Uint8: "Uint8", types.Uint16: "Uint16", types.Uint32: "Uint32", types.Uint64: "Uint64", types.Float32: "Float32", types.Float64: "Float64",
}

// methodNames are the methods that native code looks for in a value.
var methodNames = [...]string{"String", "Error", "GoString", "Format", "Unwrap", "Is", "As", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}

// identify gives the named types of a declaration their identity, and makes the
// code that registers them.
func (c *compiler) identify(d *ast.GenDecl) (regs []ast.Decl) {
	for _, spec := range d.Specs {
		sp := spec.(*ast.TypeSpec)
		tn, ok := c.info.Defs[sp.Name].(*types.TypeName)
		if !ok || sp.Assign.IsValid() {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok {
			continue
		}
		id := c.giveIdentity(sp, named)
		p := sp.Pos()
		if id != 0 && c.pkg.Scope().Lookup(tn.Name()) != types.Object(tn) { // inside a function: known by its tag
			c.localRegs = append(c.localRegs, c.registration("Type", p, intLit(id, p), strLit(plain(tn.Name()), p), strLit(fieldNames(named), p), ident("nil", p)))
		}
		if id == 0 || named.TypeParams().Len() > 0 || c.pkg.Scope().Lookup(tn.Name()) != types.Object(tn) {
			continue
		}
		c.s.typeIDs[tn] = id
		regs = append(regs, c.registration("Type", p, intLit(id, p), strLit(c.userName(sp.Name.Name), p), strLit(fieldNames(named), p), c.zeroPointer(ident(sp.Name.Name, p), p)))
		regs = append(regs, c.methodRegs(sp.Name.Name, id, named, p)...)
	}
	return regs
}

// zeroPointer is (*T)(nil).
func (c *compiler) zeroPointer(t ast.Expr, p token.Pos) ast.Expr {
	return call(&ast.ParenExpr{Lparen: p, X: &ast.StarExpr{Star: p, X: t}, Rparen: p}, p, ident("nil", p))
}

// registration is a variable whose initial value is a call of the runtime.
func (c *compiler) registration(f string, p token.Pos, args ...ast.Expr) ast.Decl {
	return varDecl(c.s.fresh("ʹreg"), ident("int", p), rt(f, p, args...), p)
}

func fieldNames(t *types.Named) string {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return ""
	}
	var names []string
	for f := range st.Fields() {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

// giveIdentity changes the type's own syntax. It gives 0 for a kind of type
// that keeps none.
func (c *compiler) giveIdentity(sp *ast.TypeSpec, named *types.Named) int {
	p := sp.Pos()
	switch u := named.Underlying().(type) {
	case *types.Struct:
		st, ok := sp.Type.(*ast.StructType)
		if !ok { // type A B: written out, so that its tag is its own
			e, isStruct := c.typeExpr(u, p).(*ast.StructType)
			if !isStruct {
				return 0
			}
			st, sp.Type = e, e
		}
		id := c.nextType()
		c.tagFields(st, id)
		return id
	case *types.Basic:
		name := standIns[u.Kind()]
		if name == "" || c.s.standIns[u.Kind()] >= c.s.cfg.StandIns[u.Kind()] || named.TypeParams().Len() > 0 {
			return 0
		}
		n := c.s.standIns[u.Kind()]
		c.s.standIns[u.Kind()]++
		sp.Type = sel(ident(runtimePackage, p), name+"N"+strconv.Itoa(n), p)
		return c.nextType()
	case *types.Interface:
		return 0
	}
	return 0
}

func (c *compiler) nextType() int {
	c.s.types++
	return c.s.types
}

// tagFields puts the type's number into the first field's tag, and hides
// unexported fields from encoding/json: the interpreter exports them.
func (c *compiler) tagFields(st *ast.StructType, id int) {
	p := st.Pos()
	if st.Fields == nil {
		st.Fields = &ast.FieldList{Opening: p, Closing: p}
	}
	if len(st.Fields.List) == 0 {
		st.Fields.List = []*ast.Field{{Names: []*ast.Ident{ident("_", p)}, Type: &ast.ArrayType{Lbrack: p, Len: intLit(0, p), Elt: ident("int", p)}}}
	}
	if f := st.Fields.List[0]; len(f.Names) > 1 { // the tag of one field only
		rest := *f
		rest.Names = f.Names[1:]
		first := *f
		first.Names = f.Names[:1]
		st.Fields.List = append([]*ast.Field{&first, &rest}, st.Fields.List[1:]...)
	}
	for i, f := range st.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag, _ = strconv.Unquote(f.Tag.Value)
		} else if len(f.Names) > 0 && !f.Names[0].IsExported() {
			tag = `json:"-"`
		}
		if i == 0 {
			tag = strings.TrimSpace(tag + " " + TypeTag + `:"` + strconv.Itoa(id) + `"`)
		}
		if tag != "" {
			f.Tag = &ast.BasicLit{ValuePos: p, Kind: token.STRING, Value: strconv.Quote(tag)}
		}
	}
}

// methodRegs hands the methods that native code looks for to the runtime, each
// as a function of a pointer to the receiver.
func (c *compiler) methodRegs(typeName string, id int, named *types.Named, p token.Pos) (out []ast.Decl) {
	values := types.NewMethodSet(named)
	var all []string
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		all = append(all, methodWord(m.Obj().Name(), values.Lookup(named.Obj().Pkg(), m.Obj().Name()) != nil))
	}
	if len(all) > 0 {
		out = append(out, c.registration("Methods", p, intLit(id, p), strLit(strings.Join(all, " "), p)))
	}
	for _, name := range methodNames {
		m, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), name)
		fn, ok := m.(*types.Func)
		if !ok {
			continue
		}
		byValue := values.Lookup(named.Obj().Pkg(), name) != nil
		out = append(out, c.methodReg(typeName, id, name, fn.Signature(), byValue, p))
	}
	return out
}

// methodWord is how a method is listed: * before one that only a pointer has.
func methodWord(name string, byValue bool) string {
	if byValue {
		return name
	}
	return "*" + name
}

// methodReg registers one method.
func (c *compiler) methodReg(typeName string, id int, name string, sig *types.Signature, byValue bool, p token.Pos) ast.Decl {
	params := []*ast.Field{{Names: []*ast.Ident{ident("ʹx", p)}, Type: &ast.StarExpr{Star: p, X: ident(typeName, p)}}}
	var args []ast.Expr
	for i := range sig.Params().Len() {
		n := "ʹa" + strconv.Itoa(i)
		params = append(params, &ast.Field{Names: []*ast.Ident{ident(n, p)}, Type: c.typeExpr(sig.Params().At(i).Type(), p)})
		args = append(args, ident(n, p))
	}
	var results []*ast.Field
	for r := range sig.Results().Variables() {
		results = append(results, &ast.Field{Type: c.typeExpr(r.Type(), p)})
	}
	do := call(sel(ident("ʹx", p), name, p), p, args...)
	var st ast.Stmt = &ast.ReturnStmt{Return: p, Results: []ast.Expr{do}}
	if len(results) == 0 {
		st = exprStmt(do)
	}
	lit := &ast.FuncLit{Type: funcType(p, params, results), Body: block(p, st)}
	return c.registration("Method", p, intLit(id, p), strLit(name, p), ident(strconv.FormatBool(byValue), p), lit)
}

// foreignReg registers a method that a later cell gave a type.
func (c *compiler) foreignReg(m *foreignMethod, sig *types.Signature) []ast.Decl {
	id := c.s.typeIDs[m.entry.obj]
	if id == 0 {
		return nil
	}
	_, ptr := sig.Params().At(0).Type().(*types.Pointer)
	out := []ast.Decl{c.registration("Methods", m.name.Pos(), intLit(id, m.name.Pos()), strLit(methodWord(m.name.Name, !ptr), m.name.Pos()))}
	for _, name := range methodNames {
		if name != m.name.Name {
			continue
		}
		var params []*types.Var
		for i := 1; i < sig.Params().Len(); i++ {
			params = append(params, sig.Params().At(i))
		}
		msig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
		return append(out, c.methodReg(m.entry.internal, id, name, msig, !ptr, m.name.Pos()))
	}
	return out
}
