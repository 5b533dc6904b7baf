package interp

import (
	"go/types"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/tpush/tpush/repl/cell"
)

// A class says how values of a type are handled: which closures compute them
// and what their memory holds.
type class uint8

const (
	clsMem     class = iota // struct or array: memory of its own
	clsInt                  // every integer, as int64
	clsFloat                // float32 and float64, as float64
	clsString               // string
	clsBool                 // bool
	clsPtr                  // one pointer word: pointer, map, chan, func
	clsSlice                // slice header
	clsIface                // interface: an any, see box
	clsComplex              // complex64 and complex128, as complex128
)

// A typeTable makes types.Types into typs.
type typeTable struct {
	mu       sync.Mutex
	byType   typeutil.Map
	list     []*typ
	symbols  func(path, name string) reflect.Value
	instIn   *types.Context
	standIn  map[types.BasicKind]int
	standIns map[string]reflect.Value
	used     map[reflect.Type]*typ         // stand-ins
	learned  map[*types.Named]reflect.Type // types that packages do not export
	natives  map[reflect.Type]*typ         // types of packages
}

func newTypeTable(symbols func(path, name string) reflect.Value) *typeTable {
	return &typeTable{symbols: symbols, instIn: types.NewContext(), standIn: map[types.BasicKind]int{}, standIns: standInSymbols(), used: map[reflect.Type]*typ{}, learned: map[*types.Named]reflect.Type{}, natives: map[reflect.Type]*typ{}}
}

var basicTypes = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](),
	types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](), types.Complex64: reflect.TypeFor[complex64](),
	types.Complex128: reflect.TypeFor[complex128](), types.String: reflect.TypeFor[string](), types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](),
}

var (
	anyType     = reflect.TypeFor[any]()
	pointerType = reflect.TypeFor[unsafe.Pointer]()
	funcType    = reflect.TypeFor[*closure]()
	errorType   = reflect.TypeFor[error]()
)

// of gives the typ of a type.
func (tt *typeTable) of(t types.Type) *typ {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return tt.get(t)
}

// byID gives a typ by its number.
func (tt *typeTable) byID(id int) *typ {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return tt.list[id]
}

// nativeOf gives the type of a Go type of a package, nil when no cell met it.
func (tt *typeTable) nativeOf(rt reflect.Type) types.Type {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	if x := tt.natives[rt]; x != nil {
		return x.t
	}
	return nil
}

// all lists the typs.
func (tt *typeTable) all() []*typ {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return slices.Clone(tt.list)
}

func (tt *typeTable) get(t types.Type) *typ {
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
		if b.Kind() == types.UntypedNil {
			t = types.NewInterfaceType(nil, nil)
		}
	}
	t = types.Unalias(t)
	if x, ok := tt.byType.At(t).(*typ); ok {
		return x
	}
	x := tt.enter(t)
	x.rt = tt.memory(t, map[types.Type]bool{})
	if n, ok := t.(*types.Named); ok && tt.native(n) == x.rt {
		tt.natives[x.rt] = x
	}
	x.plain = tt.isPlain(t, map[types.Type]bool{})
	x.boxes = holdsBoxes(x.rt)
	return x
}

// enter makes the typ of a type that the table does not have, without its memory.
func (tt *typeTable) enter(t types.Type) *typ {
	x := &typ{t: t, u: t.Underlying(), id: len(tt.list), comparable: types.Comparable(t)}
	tt.list = append(tt.list, x)
	tt.byType.Set(t, x)
	x.classify()
	return x
}

func (x *typ) classify() {
	switch u := x.u.(type) {
	case *types.Basic:
		x.kind = u.Kind()
		switch i := u.Info(); {
		case i&types.IsInteger != 0:
			x.class = clsInt
			x.bits = uint(basicTypes[u.Kind()].Size() * 8)
			x.unsigned = i&types.IsUnsigned != 0
		case i&types.IsFloat != 0:
			x.class = clsFloat
		case i&types.IsComplex != 0:
			x.class = clsComplex
		case i&types.IsString != 0:
			x.class = clsString
		case i&types.IsBoolean != 0:
			x.class = clsBool
		default:
			x.class = clsPtr
		}
	case *types.Slice:
		x.class = clsSlice
	case *types.Interface:
		x.class = clsIface
	case *types.Struct, *types.Array:
		x.class = clsMem
	case *types.Tuple:
		x.class = clsMem
	default:
		x.class = clsPtr
	}
}

// native gives the Go type of a named type of a package, nil if it has none.
func (tt *typeTable) native(n *types.Named) reflect.Type {
	o := n.Obj()
	if o.Pkg() == nil {
		if o.Name() == "error" {
			return errorType
		}
		return nil
	}
	if o.Pkg().Path() == mainPath || n.TypeArgs().Len() > 0 {
		return nil
	}
	if t := tt.learned[n]; t != nil {
		return t
	}
	if v := tt.symbols(o.Pkg().Path(), o.Name()); v.IsValid() && v.Kind() == reflect.Pointer {
		return v.Type().Elem()
	}
	return nil
}

const mainPath = "main"

// memory gives the Go type of a type's memory. Inside a type that is being
// built, what leads back to it is a bare pointer word or a slice of such: memory
// is read through the typ of what is read, never through the type around it.
func (tt *typeTable) memory(t types.Type, building map[types.Type]bool) reflect.Type {
	t = types.Unalias(t)
	switch t := t.(type) {
	case *types.Named:
		switch t.Underlying().(type) {
		case *types.Interface:
			return anyType
		case *types.Signature:
			return funcType
		}
		if n := tt.native(t); n != nil {
			return n
		}
		if building[t] {
			return nil
		}
		if x, ok := tt.byType.At(t).(*typ); ok && x.rt != nil {
			return x.rt
		}
		building[t] = true
		defer delete(building, t)
		switch u := t.Underlying().(type) {
		case *types.Struct:
			x := tt.get1(t)
			if x.rt != nil {
				return x.rt
			}
			return tt.structMemory(u, x, building)
		case *types.Basic:
			x := tt.get1(t)
			if x.rt == nil {
				x.rt = tt.basicMemory(t, u)
			}
			return x.rt
		}
		if m := tt.memory(t.Underlying(), building); m != nil {
			return m
		}
		return placeholder(t.Underlying())
	case *types.Basic:
		if m := basicTypes[t.Kind()]; m != nil {
			return m
		}
		return anyType
	case *types.Pointer:
		if e := tt.memory(t.Elem(), building); e != nil {
			return reflect.PointerTo(e)
		}
		return pointerType
	case *types.Slice:
		if e := tt.memory(t.Elem(), building); e != nil {
			return reflect.SliceOf(e)
		}
		return reflect.SliceOf(pointerType)
	case *types.Array:
		if e := tt.memory(t.Elem(), building); e != nil {
			return reflect.ArrayOf(int(t.Len()), e)
		}
		return nil
	case *types.Map:
		k, e := tt.memory(t.Key(), building), tt.memory(t.Elem(), building)
		if k != nil && e != nil {
			return reflect.MapOf(k, e)
		}
		return pointerType
	case *types.Chan:
		if e := tt.memory(t.Elem(), building); e != nil {
			return reflect.ChanOf(chanDir(t.Dir()), e)
		}
		return pointerType
	case *types.Struct:
		return tt.structMemory(t, nil, building)
	case *types.Interface:
		return anyType
	case *types.Signature:
		return funcType
	}
	return anyType
}

// get1 is get for the type that is being made, which may not be in the table yet.
func (tt *typeTable) get1(t types.Type) *typ {
	if x, ok := tt.byType.At(t).(*typ); ok {
		return x
	}
	x := tt.enter(t)
	x.rt = tt.memory(t, map[types.Type]bool{})
	return x
}

func placeholder(u types.Type) reflect.Type {
	if _, ok := u.(*types.Slice); ok {
		return reflect.SliceOf(pointerType)
	}
	return pointerType
}

func chanDir(d types.ChanDir) reflect.ChanDir {
	switch d {
	case types.SendOnly:
		return reflect.SendDir
	case types.RecvOnly:
		return reflect.RecvDir
	}
	return reflect.BothDir
}

// basicMemory gives a named basic type a Go type of its own, so that viewers
// know it inside other values.
func (tt *typeTable) basicMemory(t *types.Named, u *types.Basic) reflect.Type {
	name := cell.StandInName(u.Kind())
	if name != "" {
		n := tt.standIn[u.Kind()]
		if m, ok := tt.standIns[name+"N"+strconv.Itoa(n)]; ok {
			tt.standIn[u.Kind()]++
			tt.used[m.Type().Elem()] = tt.get1(t)
			return m.Type().Elem()
		}
	}
	return basicTypes[u.Kind()]
}

// structMemory lays a struct out; a named one has its number in the tag of its
// first field.
func (tt *typeTable) structMemory(u *types.Struct, named *typ, building map[types.Type]bool) reflect.Type {
	var fields []reflect.StructField
	for i := range u.NumFields() {
		f := u.Field(i)
		m := tt.memory(f.Type(), building)
		if m == nil {
			m = pointerType
		}
		sf := reflect.StructField{Name: f.Name(), Type: m, Tag: reflect.StructTag(u.Tag(i))}
		if f.Name() == "_" {
			sf.Name = "ʹ" + strconv.Itoa(i)
		}
		if !f.Exported() {
			sf.PkgPath = mainPath
		}
		fields = append(fields, sf)
	}
	if named != nil {
		if len(fields) == 0 {
			fields = append(fields, reflect.StructField{Name: "ʹ", PkgPath: mainPath, Type: reflect.TypeFor[[0]int]()})
		}
		fields[0].Tag = reflect.StructTag(strings.TrimSpace(string(fields[0].Tag) + " " + cell.TypeTag + `:"` + strconv.Itoa(named.id) + `"`))
	}
	return reflect.StructOf(fields)
}

// isPlain tells whether a type's memory is what Go itself would have.
func (tt *typeTable) isPlain(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return true
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if _, isFunc := t.Underlying().(*types.Signature); isFunc {
			return false
		}
		if types.IsInterface(t) {
			return false
		}
		return tt.native(t) != nil
	case *types.Basic:
		return true
	case *types.Pointer:
		return tt.isPlain(t.Elem(), seen)
	case *types.Slice:
		return tt.isPlain(t.Elem(), seen)
	case *types.Array:
		return tt.isPlain(t.Elem(), seen)
	case *types.Chan:
		return tt.isPlain(t.Elem(), seen)
	case *types.Map:
		return tt.isPlain(t.Key(), seen) && tt.isPlain(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Embedded() || !tt.isPlain(f.Type(), seen) {
				return false
			}
		}
		return true
	case *types.Interface:
		return t.NumMethods() == 0
	}
	return false
}

// namesCellType tells whether a type is made of one that cells have named.
func namesCellType(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	if t, ok := t.(*types.Named); ok {
		return t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == mainPath
	}
	for p := range partsOf(t) {
		if namesCellType(p, seen) {
			return true
		}
	}
	return false
}

// partsOf gives the types that a type is written with; a named one stands for itself.
func partsOf(t types.Type) iter.Seq[types.Type] {
	return func(yield func(types.Type) bool) {
		switch t := t.(type) {
		case *types.Map:
			_ = yield(t.Key()) && yield(t.Elem())
		case interface{ Elem() types.Type }:
			yield(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				if !yield(f.Type()) {
					return
				}
			}
		case *types.Signature:
			for _, list := range []*types.Tuple{t.Params(), t.Results()} {
				for v := range list.Variables() {
					if !yield(v.Type()) {
						return
					}
				}
			}
		}
	}
}

// ownGo tells whether a Go type that a type of cells has belongs to no other: a
// stand-in is part of it. A named slice has the Go type of its underlying one.
func (tt *typeTable) ownGo(g reflect.Type) bool {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return tt.hasStandIn(g, map[reflect.Type]bool{})
}

func (tt *typeTable) hasStandIn(g reflect.Type, seen map[reflect.Type]bool) bool {
	if g == nil || seen[g] {
		return false
	}
	seen[g] = true
	if tt.used[g] != nil {
		return true
	}
	switch g.Kind() {
	case reflect.Map:
		return tt.hasStandIn(g.Key(), seen) || tt.hasStandIn(g.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return tt.hasStandIn(g.Elem(), seen)
	case reflect.Struct:
		return true // one without a name has it seldom
	}
	return false
}

// golang gives the Go type with which native code gets values of a type.
func (tt *typeTable) golang(x *typ) reflect.Type {
	x.goOnce.Do(func() { x.goType = tt.goTypeOf(x.t, map[types.Type]bool{}) })
	return x.goType
}

func (tt *typeTable) goTypeOf(t types.Type, seen map[types.Type]bool) reflect.Type {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok {
		if g := tt.native(n); g != nil {
			return g
		}
		if seen[t] {
			return tt.of(t).rt
		}
		seen[t] = true
		switch n.Underlying().(type) {
		case *types.Signature, *types.Interface:
			return tt.goTypeOf(n.Underlying(), seen)
		}
		return tt.of(t).rt
	}
	switch t := t.(type) {
	case *types.Pointer:
		return reflect.PointerTo(tt.goTypeOf(t.Elem(), seen))
	case *types.Slice:
		return reflect.SliceOf(tt.goTypeOf(t.Elem(), seen))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), tt.goTypeOf(t.Elem(), seen))
	case *types.Map:
		return reflect.MapOf(tt.goTypeOf(t.Key(), seen), tt.goTypeOf(t.Elem(), seen))
	case *types.Chan:
		return reflect.ChanOf(chanDir(t.Dir()), tt.goTypeOf(t.Elem(), seen))
	case *types.Signature:
		var in, out []reflect.Type
		for v := range t.Params().Variables() {
			in = append(in, tt.goTypeOf(v.Type(), seen))
		}
		for v := range t.Results().Variables() {
			out = append(out, tt.goTypeOf(v.Type(), seen))
		}
		return reflect.FuncOf(in, out, t.Variadic())
	}
	return tt.of(t).rt
}
