package interp

import (
	"go/types"
	"reflect"
)

// learn notes the Go types of named types that no package exports to cells, from
// an exported thing that uses them: t and g are the same type.
func (tt *typeTable) learn(t types.Type, g reflect.Type, seen map[types.Type]bool) {
	t = types.Unalias(t)
	if seen[t] {
		return
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if t.Obj().Pkg() == nil || t.TypeArgs().Len() > 0 || g.Name() != t.Obj().Name() {
			return
		}
		if tt.learned[t] == nil {
			tt.learned[t] = g
		}
		for i := range t.NumMethods() {
			if m := t.Method(i); m.Exported() {
				r := g
				if g.Kind() != reflect.Interface {
					r = reflect.PointerTo(g)
				}
				if rm, ok := r.MethodByName(m.Name()); ok {
					skip := 1
					if g.Kind() == reflect.Interface {
						skip = 0
					}
					tt.learnFunc(m.Signature(), rm.Type, skip, seen)
				}
			}
		}
		if st, ok := t.Underlying().(*types.Struct); ok && g.Kind() == reflect.Struct && g.NumField() == st.NumFields() {
			for i := range st.NumFields() {
				tt.learn(st.Field(i).Type(), g.Field(i).Type, seen)
			}
		}
	case *types.Pointer:
		if g.Kind() == reflect.Pointer {
			tt.learn(t.Elem(), g.Elem(), seen)
		}
	case *types.Slice:
		if g.Kind() == reflect.Slice {
			tt.learn(t.Elem(), g.Elem(), seen)
		}
	case *types.Array:
		if g.Kind() == reflect.Array {
			tt.learn(t.Elem(), g.Elem(), seen)
		}
	case *types.Chan:
		if g.Kind() == reflect.Chan {
			tt.learn(t.Elem(), g.Elem(), seen)
		}
	case *types.Map:
		if g.Kind() == reflect.Map {
			tt.learn(t.Key(), g.Key(), seen)
			tt.learn(t.Elem(), g.Elem(), seen)
		}
	case *types.Signature:
		if g.Kind() == reflect.Func {
			tt.learnFunc(t, g, 0, seen)
		}
	}
}

func (tt *typeTable) learnFunc(t *types.Signature, g reflect.Type, skip int, seen map[types.Type]bool) {
	if t.TypeParams().Len() > 0 || g.NumIn() != t.Params().Len()+skip || g.NumOut() != t.Results().Len() {
		return
	}
	for i := range t.Params().Len() {
		tt.learn(t.Params().At(i).Type(), g.In(i+skip), seen)
	}
	for i := range t.Results().Len() {
		tt.learn(t.Results().At(i).Type(), g.Out(i), seen)
	}
}

// learnPackage learns from what a package exports.
func (tt *typeTable) learnPackage(p *types.Package, symbols map[string]reflect.Value) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	seen := map[types.Type]bool{}
	for name, v := range symbols {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.TypeName:
			if v.Kind() == reflect.Pointer {
				tt.learn(o.Type(), v.Type().Elem(), seen)
			}
		case *types.Func, *types.Var:
			tt.learn(o.Type(), v.Type(), seen)
		}
	}
}
