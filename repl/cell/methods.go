package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A foreignMethod is a method on a type of an earlier cell. go/types can't
// check it where the type is not declared: it is checked as a function whose
// first parameter is the receiver, then given to the type.
type foreignMethod struct {
	decl   *ast.FuncDecl
	recv   *ast.FieldList
	params *ast.FieldList
	name   *ast.Ident
	named  *types.Named
	entry  *entry      // the type
	redo   bool        // the type has this method, with this signature, and its code is replaced
	obj    *types.Func // the type's method
	former *Former     // what the name meant, when it was another method
}

// A Former is what a method's name meant in a type before: a method of its own
// with another signature, or one of an embedded field.
type Former struct {
	Func *types.Func
	Path []int // as types.LookupFieldOrMethod gives it
}

func baseName(recv *ast.FieldList) *ast.Ident {
	if recv == nil || len(recv.List) != 1 {
		return nil
	}
	id, _ := recvBase(recv.List[0].Type)
	return id
}

// recvBase gives the type's name in a receiver's type, and its type parameters.
func recvBase(t ast.Expr) (*ast.Ident, []ast.Expr) {
	t = unparen(t)
	if st, ok := t.(*ast.StarExpr); ok {
		t = unparen(st.X)
	}
	var params []ast.Expr
	switch x := t.(type) {
	case *ast.IndexExpr:
		t, params = x.X, []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		t, params = x.X, x.Indices
	}
	id, _ := t.(*ast.Ident)
	return id, params
}

// entryOf finds the session's entry of an internal name.
func (c *compiler) entryOf(internal string) *entry {
	name, _, _ := strings.Cut(internal, "ʹ")
	if e := c.s.names[name]; e != nil && e.internal == internal {
		return e
	}
	return nil
}

// foreignMethods writes the methods on types of earlier cells as functions.
func (c *compiler) foreignMethods() {
	c.foreign = nil
	seen := map[string]bool{}
	for _, d := range c.file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			continue
		}
		id := baseName(fd.Recv)
		if id == nil || c.declared[id.Name] != "" {
			continue
		}
		e := c.entryOf(id.Name)
		if e == nil {
			continue
		}
		tn, ok := e.obj.(*types.TypeName)
		if !ok {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok {
			continue
		}
		if key := e.name + "." + fd.Name.Name; seen[key] && fd.Name.Name != "_" {
			c.errorAt(fd.Name.Pos(), "type", "method %s already declared in this cell", key)
		} else {
			seen[key] = true
		}
		f := &foreignMethod{decl: fd, recv: fd.Recv, params: fd.Type.Params, name: fd.Name, named: named, entry: e}
		if !c.genericMethod(f) {
			continue
		}
		recv := *fd.Recv.List[0]
		if len(recv.Names) == 0 {
			recv.Names = []*ast.Ident{ident("_", fd.Recv.Pos())}
		}
		for i, p := range fd.Type.Params.List {
			if len(p.Names) == 0 { // a mix of named and unnamed parameters is no Go
				q := *p
				q.Names = []*ast.Ident{ident("_", p.Pos())}
				fd.Type.Params.List[i] = &q
			}
		}
		fd.Type.Params = &ast.FieldList{Opening: fd.Type.Params.Opening, List: append([]*ast.Field{&recv}, fd.Type.Params.List...), Closing: fd.Type.Params.Closing}
		fd.Recv = nil
		fd.Name = ident(c.s.fresh("ʹ"+e.name+"_"+f.name.Name), f.name.Pos())
		c.foreign = append(c.foreign, f)
	}
}

// genericMethod gives the function of a method on a generic type the type
// parameters of the receiver.
func (c *compiler) genericMethod(f *foreignMethod) bool {
	want := f.named.TypeParams()
	_, names := recvBase(f.recv.List[0].Type)
	if want.Len() == 0 && len(names) == 0 {
		return true
	}
	if want.Len() != len(names) {
		c.errorAt(f.recv.Pos(), "type", "receiver declares %d type parameters, but the type declares %d", len(names), want.Len())
		return false
	}
	var list []*ast.Field
	for i, n := range names {
		id, ok := n.(*ast.Ident)
		if !ok {
			c.errorAt(n.Pos(), "type", "receiver type parameter %s must be an identifier", types.ExprString(n))
			return false
		}
		if id.Name == "_" {
			id.Name = "ʹ" + strconv.Itoa(i)
		}
		bound := want.At(i).Constraint()
		if mentions(bound, func(t types.Type) bool { _, is := t.(*types.TypeParam); return is }) {
			c.errorAt(f.name.Pos(), "type", "method %s.%s: the constraint of %s needs the cell of the type", f.entry.name, f.name.Name, want.At(i))
			return false
		}
		alias := "ʹbound" + strconv.Itoa(len(c.typeNames))
		if c.typeNames == nil {
			c.typeNames = map[string]types.Type{}
		}
		c.typeNames[alias] = bound
		list = append(list, &ast.Field{Names: []*ast.Ident{ident(id.Name, id.Pos())}, Type: ident(alias, id.Pos())})
	}
	f.decl.Type.TypeParams = &ast.FieldList{Opening: f.recv.Pos(), List: list, Closing: f.recv.Pos()}
	return true
}

// addMethods gives the methods, once their signatures are known, to the types.
// What that check complained of counts for nothing: it did not know them.
func (c *compiler) addMethods() (added bool) {
	for _, f := range c.foreign {
		if fn, ok := c.info.Defs[f.decl.Name].(*types.Func); ok && f.name.Name != "_" {
			added = c.addMethod(f, fn) || added
		}
	}
	return added
}

// addMethod gives a method to its type, unless the type has it already, with
// the same signature.
func (c *compiler) addMethod(f *foreignMethod, fn *types.Func) bool {
	pkg, name := f.named.Obj().Pkg(), f.name.Name
	o, path, _ := types.LookupFieldOrMethod(types.NewPointer(f.named), true, pkg, name)
	switch old := o.(type) {
	case *types.Func:
		if len(path) == 1 && types.Identical(old.Type(), methodSignature(fn, old)) {
			if f.redo = f.named.TypeParams().Len() == 0 && samePointer(old.Signature(), fn); f.redo {
				f.obj = old
				return false
			}
		}
		f.former = &Former{Func: old, Path: path}
	case *types.Var:
		if len(path) == 1 {
			c.errorAt(f.name.Pos(), "type", "field and method with the same name %s", name)
			return false
		}
	}
	f.obj = types.NewFunc(f.name.Pos(), pkg, name, methodSignature(fn, nil))
	list := methodList(f.named)
	old := *list
	i := slices.IndexFunc(old, func(m *types.Func) bool { return m.Name() == name })
	*list = slices.Clone(old)
	if i >= 0 {
		(*list)[i] = f.obj
	} else {
		*list = append(*list, f.obj)
	}
	c.s.refresh(f.named)
	c.reverts = append(c.reverts, func() {
		*list = old
		c.s.refresh(f.named)
	})
	if !slices.Contains(c.changed, f.named) {
		c.changed = append(c.changed, f.named)
	}
	return true
}

// samePointer tells whether a method and the function of one both have a
// pointer as their receiver, or both a value.
func samePointer(m *types.Signature, fn *types.Func) bool {
	_, a := types.Unalias(m.Recv().Type()).(*types.Pointer)
	_, b := types.Unalias(fn.Signature().Params().At(0).Type()).(*types.Pointer)
	return a == b
}

// methodSignature gives the signature of a method that was checked as a
// function: with type parameters of its own, or with those of the method like.
func methodSignature(fn, like *types.Func) *types.Signature {
	sig := fn.Signature()
	var params []*types.TypeParam
	if n := sig.TypeParams().Len(); n > 0 {
		var args []types.Type
		for p := range sig.TypeParams().TypeParams() {
			var q *types.TypeParam
			if like != nil && like.Signature().RecvTypeParams().Len() == n {
				q = like.Signature().RecvTypeParams().At(len(args))
			} else {
				q = types.NewTypeParam(types.NewTypeName(p.Obj().Pos(), p.Obj().Pkg(), p.Obj().Name(), nil), p.Constraint())
			}
			params, args = append(params, q), append(args, q)
		}
		if inst, err := types.Instantiate(nil, sig, args, false); err == nil {
			sig = inst.(*types.Signature)
		}
	}
	in := make([]*types.Var, 0, sig.Params().Len())
	for v := range sig.Params().Variables() {
		in = append(in, v)
	}
	if like != nil {
		params = nil // they are bound
	}
	return types.NewSignatureType(in[0], params, nil, types.NewTuple(in[1:]...), sig.Results(), sig.Variadic())
}

// methodList gives the methods of a type where go/types keeps them: its API
// adds methods, and cells replace them and take them back.
func methodList(n *types.Named) *[]*types.Func {
	f := reflect.ValueOf(n).Elem().FieldByName("methods")
	if !f.IsValid() || f.Type() != reflect.TypeFor[[]*types.Func]() {
		panic("go/types keeps methods elsewhere")
	}
	return (*[]*types.Func)(f.Addr().UnsafePointer())
}

// Refresh makes an instance of a generic type take the methods of that anew.
func Refresh(inst *types.Named) {
	if inst.TypeArgs().Len() == 0 {
		return
	}
	args := slices.Collect(inst.TypeArgs().Types())
	if fresh, err := types.Instantiate(nil, inst.Origin(), args, false); err == nil {
		reflect.ValueOf(inst).Elem().Set(reflect.ValueOf(fresh).Elem())
	}
}

// refresh refreshes the instances of a generic type that the session knows.
func (s *Scope) refresh(orig *types.Named) {
	if orig.TypeParams().Len() == 0 {
		return
	}
	w := walk{visit: func(t types.Type) bool {
		if n, ok := t.(*types.Named); ok && n != orig && n.Origin() == orig {
			Refresh(n)
		}
		return false
	}}
	each := func(e *entry) {
		w.look(e.obj.Type())
		if e.info != nil {
			for _, tv := range e.info.Types {
				w.look(tv.Type)
			}
		}
	}
	for _, e := range s.names {
		each(e)
	}
	for _, e := range s.methods {
		if e.info != nil {
			for _, tv := range e.info.Types {
				w.look(tv.Type)
			}
		}
	}
}

// revert takes the methods back that the cell gave to types.
func (c *compiler) revert() {
	for i := len(c.reverts) - 1; i >= 0; i-- {
		c.reverts[i]()
	}
	c.reverts = nil
}

// affected lists what may not type-check any more, or mean something else, when
// methods of types change: functions that use something whose type leads to one.
func (c *compiler) affected() map[string]*entry {
	out := map[string]*entry{}
	if len(c.touched) == 0 {
		return out
	}
	leads := map[string]bool{}
	is := func(t types.Type) bool {
		n, ok := t.(*types.Named)
		return ok && slices.Contains(c.touched, n.Origin())
	}
	reaches := func(name string) bool {
		r, ok := leads[name]
		if !ok {
			if e := c.s.names[name]; e != nil {
				r = mentions(e.obj.Type(), is)
			}
			leads[name] = r
		}
		return r
	}
	consider := func(key string, e *entry) {
		if e.piece == nil {
			return
		}
		for n := range e.uses {
			if reaches(n) {
				out[key] = e
				return
			}
		}
	}
	for n, e := range c.s.names {
		consider(n, e)
	}
	for n, e := range c.s.methods {
		consider(n, e)
	}
	return out
}

// mentions tells whether a type leads to one that is meant, also through the
// methods of its parts.
func mentions(t types.Type, meant func(types.Type) bool) bool {
	w := walk{visit: meant}
	return w.look(t)
}

// A walk goes through the types that a type is made of, of types of cells also
// through their methods, until visit says true.
type walk struct {
	visit func(types.Type) bool
	seen  map[types.Type]bool
}

func (w *walk) look(t types.Type) bool {
	if t == nil || w.seen[t] {
		return false
	}
	if w.seen == nil {
		w.seen = map[types.Type]bool{}
	}
	w.seen[t] = true
	if w.visit(t) {
		return true
	}
	switch t := t.(type) {
	case *types.Alias:
		return w.look(types.Unalias(t))
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if w.look(a) {
				return true
			}
		}
		if p := t.Obj().Pkg(); p == nil || p.Path() != mainPath {
			return false
		}
		for m := range t.Origin().Methods() {
			if w.look(m.Type()) {
				return true
			}
		}
		return w.look(t.Underlying())
	case *types.TypeParam:
		return w.look(t.Constraint())
	case *types.Map:
		return w.look(t.Key()) || w.look(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return w.look(t.Elem())
	case *types.Tuple:
		return w.vars(t)
	case *types.Signature:
		return w.vars(t.Params()) || w.vars(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if w.look(f.Type()) {
				return true
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if w.look(m.Type()) {
				return true
			}
		}
		for e := range t.EmbeddedTypes() {
			if w.look(e) {
				return true
			}
		}
	case *types.Union:
		for i := range t.Len() {
			if w.look(t.Term(i).Type()) {
				return true
			}
		}
	}
	return false
}

func (w *walk) vars(t *types.Tuple) bool {
	for v := range t.Variables() {
		if w.look(v.Type()) {
			return true
		}
	}
	return false
}

// declaresMethods tells whether a chunk declares a method.
func declaresMethods(k chunk) bool {
	return k.kind == token.FUNC && strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(k.text, "func")), "(")
}
