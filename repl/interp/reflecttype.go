package interp

import (
	"go/types"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// A cellType is a type of a cell as package reflect gives it to cells: it knows
// the names, methods and tags that the type of the memory has not. Native code
// works with the embedded type.
type cellType struct {
	reflect.Type
	m *machine
	t *typ
}

// reflectType gives a type as cells see it.
func (m *machine) reflectType(t *typ) reflect.Type {
	cells := mentionsCells(t.t, map[types.Type]bool{})
	if g := m.types.golang(t); !cells {
		return g
	}
	return cellType{m.viewType(t, m.types.golang(t)), m, t}
}

// mentionsCells tells whether a type is made of types of cells, or has methods
// that Go does not know.
func mentionsCells(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && p.Path() == mainPath {
			return true
		}
		for a := range t.TypeArgs().Types() {
			if mentionsCells(a, seen) {
				return true
			}
		}
	case *types.Interface:
		return t.NumMethods() > 0
	case *types.Struct:
		for f := range t.Fields() {
			if f.Embedded() {
				return true
			}
		}
	}
	for p := range partsOf(t) {
		if mentionsCells(p, seen) {
			return true
		}
	}
	return false
}

// reflectOf gives a type of Go as cells see it.
func (m *machine) reflectOf(rt reflect.Type) reflect.Type {
	if t := m.typeOfGo(rt); t != nil {
		return m.reflectType(t)
	}
	return rt
}

// goType gives native code its form of a type of reflect.
func goType(t reflect.Type) reflect.Type {
	if c, ok := t.(cellType); ok {
		return c.Type
	}
	return t
}

// typ gives the cell's type of a type of reflect, nil when it is not known.
func (c cellType) typ(t reflect.Type) types.Type {
	if c, ok := t.(cellType); ok {
		return c.t.t
	}
	e, _ := c.m.partsOfGo(t)
	return e
}

func (c cellType) of(t types.Type) reflect.Type { return c.m.reflectType(c.m.types.of(t)) }

func (c cellType) String() string { return c.m.types.name(c.t.t) }

func (c cellType) Name() string {
	if _, ok := types.Unalias(c.t.t).(*types.Named); ok {
		return strings.TrimPrefix(c.String(), mainPath+".")
	}
	return ""
}

func (c cellType) PkgPath() string {
	if _, ok := types.Unalias(c.t.t).(*types.Named); ok {
		return mainPath
	}
	return ""
}

func (c cellType) Kind() reflect.Kind {
	switch c.t.u.(type) {
	case *types.Interface:
		return reflect.Interface
	case *types.Signature:
		return reflect.Func
	case *types.Pointer:
		return reflect.Pointer
	case *types.Map:
		return reflect.Map
	case *types.Chan:
		return reflect.Chan
	}
	return c.Type.Kind()
}

func (c cellType) Comparable() bool { return types.Comparable(c.t.t) }

func (c cellType) Elem() reflect.Type {
	if u, ok := c.t.u.(interface{ Elem() types.Type }); ok {
		return c.of(u.Elem())
	}
	return c.Type.Elem() // panics as Go does
}

func (c cellType) Key() reflect.Type {
	if u, ok := c.t.u.(*types.Map); ok {
		return c.of(u.Key())
	}
	return c.Type.Key()
}

func (c cellType) In(i int) reflect.Type {
	if u, ok := c.t.u.(*types.Signature); ok && i < u.Params().Len() {
		return c.of(u.Params().At(i).Type())
	}
	return c.Type.In(i)
}

func (c cellType) Out(i int) reflect.Type {
	if u, ok := c.t.u.(*types.Signature); ok && i < u.Results().Len() {
		return c.of(u.Results().At(i).Type())
	}
	return c.Type.Out(i)
}

func (c cellType) Ins() iter.Seq[reflect.Type]  { return each(c.NumIn, c.In) }
func (c cellType) Outs() iter.Seq[reflect.Type] { return each(c.NumOut, c.Out) }

// each visits what is counted from 0.
func each[T any](n func() int, at func(int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range n() {
			if !yield(at(i)) {
				return
			}
		}
	}
}

// NumField counts what was written: the memory of an empty struct has a field.
func (c cellType) NumField() int {
	if u, ok := c.t.u.(*types.Struct); ok {
		return u.NumFields()
	}
	return c.Type.NumField()
}

func (c cellType) Fields() iter.Seq[reflect.StructField] { return each(c.NumField, c.Field) }

func (c cellType) Field(i int) reflect.StructField {
	f := c.Type.Field(i)
	if u, ok := c.t.u.(*types.Struct); ok {
		f.Tag, f.Anonymous, f.Type = reflect.StructTag(u.Tag(i)), u.Field(i).Embedded(), c.of(u.Field(i).Type())
		f.Name = u.Field(i).Name()
	}
	return f
}

func (c cellType) FieldByIndex(index []int) reflect.StructField {
	var f reflect.StructField
	t := reflect.Type(c)
	for k, i := range index {
		if k > 0 && t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
			t = t.Elem()
		}
		f = t.Field(i)
		t = f.Type
	}
	return f
}

func (c cellType) FieldByName(name string) (reflect.StructField, bool) {
	index := c.m.fieldPath(c.t, name)
	if index == nil {
		return reflect.StructField{}, false
	}
	f := c.FieldByIndex(index)
	f.Index = index
	return f, true
}

func (c cellType) FieldByNameFunc(match func(string) bool) (reflect.StructField, bool) {
	for f := range c.Fields() {
		if match(f.Name) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// fieldPath leads to a field of a struct, also of an embedded one; nil when
// there is none.
func (m *machine) fieldPath(t *typ, name string) []int {
	if _, ok := t.u.(*types.Struct); !ok {
		return nil
	}
	o, path, _ := types.LookupFieldOrMethod(t.t, true, m.pkg, name)
	if _, ok := o.(*types.Var); !ok {
		return nil
	}
	return path
}

// exportedMethods lists the methods of a type that reflect sees, by name.
func (m *machine) exportedMethods(t *typ) (list []*types.Func) {
	if u, ok := t.u.(*types.Interface); ok {
		return slices.Collect(u.Methods())
	}
	for s := range types.NewMethodSet(t.t).Methods() {
		if f, ok := s.Obj().(*types.Func); ok && f.Exported() {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *types.Func) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

func (c cellType) NumMethod() int { return len(c.m.exportedMethods(c.t)) }

func (c cellType) Methods() iter.Seq[reflect.Method] { return each(c.NumMethod, c.Method) }

func (c cellType) Method(i int) reflect.Method {
	list := c.m.exportedMethods(c.t)
	if i < 0 || i >= len(list) {
		panic(goError{"reflect: Method index out of range"})
	}
	m, fn := c.m, list[i]
	sig := noRecv(fn.Signature())
	out := reflect.Method{Name: fn.Name(), Index: i}
	if c.t.class == clsIface {
		out.Type = c.of(sig)
		return out
	}
	recv := types.NewParam(0, nil, "", c.t.t)
	st := m.types.of(types.NewSignatureType(nil, nil, nil, types.NewTuple(slices.Concat([]*types.Var{recv}, slices.Collect(sig.Params().Variables()))...), sig.Results(), sig.Variadic()))
	ms := m.types.of(sig)
	cl := &closure{sig: st, method: func(g *fr, args []unsafe.Pointer) []unsafe.Pointer {
		return m.callMethod(g, m.iface(c.t, args[0]), fn.Name(), ms, args[1:])
	}}
	out.Type, out.Func = m.reflectType(st), m.makeFunc(nil, cl, st, m.types.golang(st), goPass)
	return out
}

func (c cellType) MethodByName(name string) (reflect.Method, bool) {
	i := slices.IndexFunc(c.m.exportedMethods(c.t), func(f *types.Func) bool { return f.Name() == name })
	if i < 0 {
		return reflect.Method{}, false
	}
	return c.Method(i), true
}

func (c cellType) Implements(u reflect.Type) bool {
	if u.Kind() != reflect.Interface {
		panic(goError{"reflect: non-interface type passed to Type.Implements"})
	}
	if x, ok := u.(cellType); ok {
		return c.m.missing(c.t.t, x.t.u.(*types.Interface)) == ""
	}
	for want := range u.Methods() {
		sig := c.m.methodSig(c.t, want.Name)
		if sig == nil || !c.m.hasMethod(c.t, want.Name) || c.m.types.golang(sig) != want.Type {
			return false
		}
	}
	return true
}

func (c cellType) AssignableTo(u reflect.Type) bool {
	if t := c.typ(u); t != nil {
		return types.AssignableTo(c.t.t, t)
	}
	return u.Kind() == reflect.Interface && c.Implements(u)
}

func (c cellType) ConvertibleTo(u reflect.Type) bool {
	if t := c.typ(u); t != nil {
		return types.ConvertibleTo(c.t.t, t)
	}
	return u.Kind() == reflect.Interface && c.Implements(u)
}
