package interp

import (
	"go/types"
	"reflect"
	"sync"
)

// A typ is a type as the machine sees it: one for all identical types.Types.
type typ struct {
	t          types.Type
	u          types.Type // underlying
	id         int
	class      class
	kind       types.BasicKind // of a basic underlying type
	bits       uint            // of an integer
	unsigned   bool
	comparable bool

	rt    reflect.Type // of its memory
	plain bool         // rt is what Go itself would have: values need no box
	boxes bool         // its interfaces can hold boxes

	goOnce  sync.Once
	goType  reflect.Type // what native code gets
	methods sync.Map     // name to *bound
	impls   sync.Map     // *typ of an interface to bool
}

// A subst replaces type parameters by types.
type subst struct {
	tt    *typeTable
	from  map[*types.TypeParam]types.Type
	local map[*types.Named]*types.Named // types declared inside the function
	scope func(*types.TypeName) bool    // tells them
}

// typ gives t with the type parameters replaced.
func (s *subst) typ(t types.Type) types.Type {
	if s == nil || t == nil {
		return t
	}
	switch t := t.(type) {
	case *types.TypeParam:
		if x, ok := s.from[t]; ok {
			return x
		}
	case *types.Alias:
		return s.typ(types.Unalias(t))
	case *types.Named:
		if s.scope(t.Obj()) {
			if n := s.local[t]; n != nil {
				return n
			}
			n := types.NewNamed(types.NewTypeName(t.Obj().Pos(), t.Obj().Pkg(), t.Obj().Name(), nil), nil, nil)
			s.local[t] = n
			n.SetUnderlying(s.typ(t.Underlying()))
			return n
		}
		if t.TypeArgs().Len() == 0 {
			return t
		}
		args := make([]types.Type, t.TypeArgs().Len())
		same := true
		for i := range args {
			args[i] = s.typ(t.TypeArgs().At(i))
			same = same && args[i] == t.TypeArgs().At(i)
		}
		if same {
			return t
		}
		if n, err := types.Instantiate(s.tt.instIn, t.Origin(), args, false); err == nil {
			return n
		}
	case *types.Pointer:
		if e := s.typ(t.Elem()); e != t.Elem() {
			return types.NewPointer(e)
		}
	case *types.Slice:
		if e := s.typ(t.Elem()); e != t.Elem() {
			return types.NewSlice(e)
		}
	case *types.Array:
		if e := s.typ(t.Elem()); e != t.Elem() {
			return types.NewArray(e, t.Len())
		}
	case *types.Chan:
		if e := s.typ(t.Elem()); e != t.Elem() {
			return types.NewChan(t.Dir(), e)
		}
	case *types.Map:
		if k, e := s.typ(t.Key()), s.typ(t.Elem()); k != t.Key() || e != t.Elem() {
			return types.NewMap(k, e)
		}
	case *types.Tuple:
		vars, changed := s.vars(t)
		if changed {
			return types.NewTuple(vars...)
		}
	case *types.Signature:
		in, a := s.vars(t.Params())
		out, b := s.vars(t.Results())
		if a || b {
			return types.NewSignatureType(nil, nil, nil, types.NewTuple(in...), types.NewTuple(out...), t.Variadic())
		}
	case *types.Struct:
		var fields []*types.Var
		var tags []string
		changed := false
		for i := range t.NumFields() {
			f := t.Field(i)
			x := s.typ(f.Type())
			changed = changed || x != f.Type()
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), x, f.Embedded()))
			tags = append(tags, t.Tag(i))
		}
		if changed {
			return types.NewStruct(fields, tags)
		}
	case *types.Interface:
		var methods []*types.Func
		changed := false
		for m := range t.Methods() {
			x := s.typ(m.Type()).(*types.Signature)
			changed = changed || x != m.Type()
			methods = append(methods, types.NewFunc(m.Pos(), m.Pkg(), m.Name(), x))
		}
		if changed {
			return types.NewInterfaceType(methods, nil).Complete()
		}
	}
	return t
}

func (s *subst) vars(t *types.Tuple) (out []*types.Var, changed bool) {
	for v := range t.Variables() {
		x := s.typ(v.Type())
		changed = changed || x != v.Type()
		out = append(out, types.NewVar(v.Pos(), v.Pkg(), v.Name(), x))
	}
	return out, changed
}
