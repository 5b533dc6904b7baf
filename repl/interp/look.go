package interp

import (
	"go/types"
	"reflect"
)

// What a viewer must ask about values of cells' types: their names, fields and
// texts are not in the Go values themselves.

// Plain gives the value of the memory of a cell's value; any other value is
// given back.
func (in *Interp) Plain(v any) any {
	if w, ok := v.(goWrapper); ok {
		v = w.cellValue()
	}
	return in.machine.plainValue(nil, v)
}

// Exact gives the type of a value as the cell knows it, nil when only Go knows
// it, and its memory: what interfaces of cells hold says more than Go's types.
func (in *Interp) Exact(x any) (types.Type, reflect.Value) {
	x = in.unwrapGo(x)
	if b, ok := x.(box); ok {
		return in.machine.types.byID(b.ID).t, reflect.ValueOf(b.V)
	}
	v := reflect.ValueOf(x)
	if x != nil {
		if t := in.registry.typOf(v.Type()); t != nil {
			return t.t, v
		}
	}
	return nil, v
}

// ExactShown is Exact of a shown value.
func (in *Interp) ExactShown(s Shown) (types.Type, reflect.Value) {
	if s.exact != nil {
		return in.Exact(s.exact)
	}
	return in.Exact(s.Value)
}

// Pointer gives a pointer of memory its type: pointers in types that refer to
// themselves have none of Go's. Any other value is given back.
func (in *Interp) Pointer(t types.Type, v reflect.Value) reflect.Value {
	if t == nil || v.Kind() != reflect.UnsafePointer {
		return v
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return v
	}
	return reflect.NewAt(in.machine.types.of(p.Elem()).rt, v.UnsafePointer())
}

// TypeName writes a type as %T does: main.P for a type of a cell.
func (in *Interp) TypeName(t reflect.Type) string { return in.registry.typeName(t) }

// FieldNames gives the names of a struct's fields as written.
func (in *Interp) FieldNames(t reflect.Type) []string {
	if x := in.registry.typOf(t); x != nil {
		if u, ok := x.u.(*types.Struct); ok {
			names := make([]string, u.NumFields())
			for i := range names {
				names[i] = u.Field(i).Name()
			}
			return names
		}
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Name
	}
	return names
}

// Text gives what the Error or String method of a value of a cell's type says,
// and which of the two it is.
func (in *Interp) Text(v reflect.Value) (text, method string) {
	if !v.IsValid() || nilPointer(v) || !v.CanInterface() {
		return "", ""
	}
	x := in.unwrapGo(v.Interface())
	b, ok := x.(box)
	if !ok {
		return "", ""
	}
	t := in.machine.types.byID(b.ID)
	for _, name := range [...]string{"Error", "String"} {
		if in.machine.hasMethod(t, name) {
			if text, ok := in.callText(x, name); ok {
				return text, name
			}
		}
	}
	return "", ""
}

// Locals visits the locals that can hold a tensor of the calling goroutine's
// frames at depth from (1 is the cell's own) and deeper, innermost frame first.
// p points to the variable.
func (in *Interp) Locals(from int, visit func(name string, depth int, serial uint64, p any)) {
	s := in.stacks.current()
	if s == nil {
		return
	}
	for d := s.depth - 1; d >= max(from-1, 0); d-- {
		f := s.frame(d)
		if !f.Live || f.act == nil {
			continue
		}
		for _, l := range f.act.code.tensors {
			if p := f.act.p[l.slot]; p != nil {
				visit(l.name, d+1, f.serial, reflect.NewAt(l.t.rt, p).Interface())
			}
		}
	}
}
