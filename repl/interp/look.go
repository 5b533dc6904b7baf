package interp

import "reflect"

// What a viewer must ask about values of cells' types: their names, fields and
// texts are not in the Go values themselves.

// Plain gives the value that the interpreter wrapped to make it a native
// interface; any other value is given back.
func (in *Interp) Plain(v any) any { return unwrap(v) }

// TypeName writes a type as %T does: main.P for a type of a cell.
func (in *Interp) TypeName(t reflect.Type) string { return in.registry.typeName(t) }

// FieldNames gives the names of a struct's fields as written.
func (in *Interp) FieldNames(t reflect.Type) []string {
	info := in.registry.info(t)
	if info != nil && len(info.fields) == 0 {
		return nil
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = in.registry.fieldName(info, t, i)
	}
	return names
}

// Text gives what the Error or String method of a value of a cell's type says,
// and which of the two it is.
func (in *Interp) Text(v reflect.Value) (text, method string) {
	if !v.IsValid() || nilPointer(v) || !v.CanInterface() {
		return "", ""
	}
	for _, name := range [...]string{"Error", "String"} {
		if out, ok := in.registry.call(v, name); ok && len(out) == 1 && out[0].Kind() == reflect.String {
			return out[0].String(), name
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
		if !f.Live || len(f.Roots) == 0 {
			continue
		}
		names := in.scope.At(f.site).Roots
		for i, p := range f.Roots {
			if p != nil && i < len(names) {
				visit(names[i], d+1, f.serial, p)
			}
		}
	}
}
