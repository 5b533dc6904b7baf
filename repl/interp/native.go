package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// A goPolicy says what native code does with the values in interfaces that it
// is handed.
type goPolicy int

const (
	goInspect goPolicy = iota // looks into them: gets Go's form of a value
	goPass                    // only keeps or knows them: gets them as they are
	goSpawn                   // runs functions on goroutines of their own
	goJSON                    // encodes or decodes them
	goPrint                   // writes them as package fmt does
	goSlog                    // logs them
	goScan                    // reads into what they point to
)

// keepers are the packages that only keep what they are given.
var keepers = map[string]bool{"container/heap": true, "container/list": true, "container/ring": true, "sync": true, "sync/atomic": true, "context": true, "errors": true}

// spawners are the functions that run an argument on a goroutine of their own.
var spawners = map[string]bool{"(*sync.WaitGroup).Go": true, "time.AfterFunc": true, "context.AfterFunc": true}

// passing gives the policy for a function of a package.
func passing(o *types.Func) goPolicy {
	if o.Pkg() == nil {
		return goPass
	}
	if spawners[o.FullName()] {
		return goSpawn
	}
	if keepers[o.Pkg().Path()] {
		return goPass
	}
	if o.Pkg().Path() == "encoding/json" {
		return goJSON
	}
	switch o.Pkg().Path() {
	case "log":
		return goPrint
	case "log/slog":
		return goSlog
	case "reflect":
		if o.Name() == "TypeOf" || o.Name() == "ValueOf" {
			return goPass
		}
	}
	if o.Pkg().Path() == "fmt" {
		if strings.Contains(o.Name(), "can") {
			return goScan
		}
		return goPass
	}
	return goInspect
}

// symbol gives what a package exports under a name.
func (in *Interp) symbol(path, name string) reflect.Value { return in.load(path)[name] }

// load gives what a package exports.
func (in *Interp) load(path string) map[string]reflect.Value {
	in.symMu.Lock()
	defer in.symMu.Unlock()
	m := in.loaded[path]
	if m == nil {
		if sym := in.symbols[path]; sym != nil {
			m = sym()
			in.replace(path, m)
		} else {
			m = map[string]reflect.Value{}
		}
		in.loaded[path] = m
	}
	return m
}

// use loads the packages that a unit names, and learns their types before any
// of the unit's own are made.
func (m *machine) use(info *types.Info) {
	for _, o := range info.Uses {
		if p, ok := o.(*types.PkgName); ok {
			m.learnFrom(p.Imported())
		}
	}
}

func (m *machine) learnFrom(p *types.Package) {
	if m.known[p.Path()] {
		return
	}
	m.known[p.Path()] = true
	m.types.learnPackage(p, m.in.load(p.Path()))
}

// fromGo stores a value of Go as one of type t.
func (m *machine) fromGo(t *typ, v reflect.Value, p unsafe.Pointer) {
	switch {
	case !v.IsValid():
		t.zero(p)
	case t.class == clsIface:
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() {
			*(*any)(p) = nil
			return
		}
		*(*any)(p) = m.in.unwrapGo(v.Interface())
	case t.rt == funcType:
		if v.Type() == funcType {
			t.at(p).Set(v)
			return
		}
		if v.IsNil() {
			*(*unsafe.Pointer)(p) = nil
			return
		}
		*(*unsafe.Pointer)(p) = unsafe.Pointer(&closure{native: v, sig: t})
	case v.Type() == t.rt:
		t.at(p).Set(v)
	default:
		m.fromGoDeep(t, v, p)
	}
}

func (m *machine) fromGoDeep(t *typ, v reflect.Value, p unsafe.Pointer) {
	switch u := t.u.(type) {
	case *types.Slice:
		if v.IsNil() {
			t.zero(p)
			return
		}
		et := m.types.of(u.Elem())
		s := reflect.MakeSlice(reflect.SliceOf(et.rt), v.Len(), v.Len())
		for i := range v.Len() {
			m.fromGo(et, v.Index(i), s.Index(i).Addr().UnsafePointer())
		}
		*(*slc)(p) = slc{s.UnsafePointer(), v.Len(), v.Len()}
	case *types.Array:
		et := m.types.of(u.Elem())
		for i := range v.Len() {
			m.fromGo(et, v.Index(i), unsafe.Add(p, uintptr(i)*et.rt.Size()))
		}
	case *types.Map:
		if v.IsNil() {
			t.zero(p)
			return
		}
		kt, et := m.types.of(u.Key()), m.types.of(u.Elem())
		out := reflect.MakeMap(mapType(t, kt, et))
		for it := v.MapRange(); it.Next(); {
			k, e := kt.alloc(), et.alloc()
			m.fromGo(kt, it.Key(), k)
			m.fromGo(et, it.Value(), e)
			out.SetMapIndex(kt.at(k), et.at(e))
		}
		*(*unsafe.Pointer)(p) = out.UnsafePointer()
	default:
		if t.class == clsPtr && v.Kind() == reflect.Pointer {
			*(*unsafe.Pointer)(p) = v.UnsafePointer()
			return
		}
		t.at(p).Set(v.Convert(t.rt))
	}
}

// toGo gives a value in memory as native code wants it.
func (m *machine) toGo(f *fr, t *typ, p unsafe.Pointer, want reflect.Type, pol goPolicy) reflect.Value {
	if t.class == clsIface {
		return m.ifaceToGo(*(*any)(p), want, pol)
	}
	if want.Kind() == reflect.Interface {
		return m.ifaceToGo(m.iface(t, p), want, pol)
	}
	if t.rt == want {
		v := t.at(t.clone(p))
		if pol == goInspect && v.Kind() != reflect.Pointer && holdsBoxes(want) {
			v = m.reify(v)
		}
		return v
	}
	return m.deepToGo(f, t, p, want, pol)
}

// reify copies a value, with Go's form of what its interfaces hold.
func (m *machine) reify(v reflect.Value) reflect.Value { return m.reifyAs(v, goInspect) }

// reifyAs is reify for native code with a policy of its own.
func (m *machine) reifyAs(v reflect.Value, pol goPolicy) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		out := reflect.New(v.Type()).Elem()
		if !v.IsNil() {
			out.Set(m.ifaceToGo(v.Elem().Interface(), v.Type(), pol))
		}
		return out
	case reflect.Slice:
		if v.IsNil() || !holdsBoxes(v.Type()) {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(m.reifyAs(v.Index(i), pol))
		}
		return out
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			out.Index(i).Set(m.reifyAs(v.Index(i), pol))
		}
		return out
	case reflect.Map:
		if v.IsNil() || !holdsBoxes(v.Type()) {
			return v
		}
		out := reflect.MakeMap(v.Type())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(m.reifyAs(it.Key(), pol), m.reifyAs(it.Value(), pol))
		}
		return out
	case reflect.Struct:
		if !holdsBoxes(v.Type()) {
			return v
		}
		out := addressable(v)
		for i := range v.NumField() {
			f := open(out.Field(i))
			f.Set(m.reifyAs(f, pol))
		}
		return out
	}
	return v
}

func (m *machine) deepToGo(f *fr, t *typ, p unsafe.Pointer, want reflect.Type, pol goPolicy) reflect.Value {
	switch u := t.u.(type) {
	case *types.Signature:
		cl := *(**closure)(p)
		if cl == nil {
			return reflect.Zero(want)
		}
		return m.makeFunc(f, cl, t, want, pol)
	case *types.Slice:
		s := *(*slc)(p)
		if want.Kind() != reflect.Slice {
			break
		}
		if s.p == nil {
			return reflect.Zero(want)
		}
		et := m.types.of(u.Elem())
		if et.rt == want.Elem() {
			return t.at(t.clone(p)).Convert(want)
		}
		out := reflect.MakeSlice(want, s.len, s.len)
		for i := range s.len {
			out.Index(i).Set(m.toGo(f, et, unsafe.Add(s.p, uintptr(i)*et.rt.Size()), want.Elem(), pol))
		}
		return out
	case *types.Array:
		et := m.types.of(u.Elem())
		out := reflect.New(want).Elem()
		for i := range int(u.Len()) {
			out.Index(i).Set(m.toGo(f, et, unsafe.Add(p, uintptr(i)*et.rt.Size()), want.Elem(), pol))
		}
		return out
	case *types.Map:
		q := *(*unsafe.Pointer)(p)
		if q == nil {
			return reflect.Zero(want)
		}
		kt, et := m.types.of(u.Key()), m.types.of(u.Elem())
		out := reflect.MakeMap(want)
		for it := t.at(p).MapRange(); it.Next(); {
			k, e := kt.alloc(), et.alloc()
			kt.at(k).Set(it.Key())
			et.at(e).Set(it.Value())
			out.SetMapIndex(m.toGo(f, kt, k, want.Key(), pol), m.toGo(f, et, e, want.Elem(), pol))
		}
		return out
	case *types.Pointer:
		if want.Kind() == reflect.Pointer {
			return reflect.NewAt(want.Elem(), *(*unsafe.Pointer)(p))
		}
	}
	v := t.at(t.clone(p))
	if v.Type().ConvertibleTo(want) {
		return v.Convert(want)
	}
	panic(&fault{0, fmt.Sprintf("%v as %v", t.t, want)})
}

// ifaceToGo gives an interface's value as native code wants it.
func (m *machine) ifaceToGo(x any, want reflect.Type, pol goPolicy) reflect.Value {
	if x == nil {
		return reflect.Zero(want)
	}
	if pol == goJSON && want.Kind() == reflect.Interface && want.NumMethod() == 0 {
		r := reflect.New(want).Elem()
		r.Set(reflect.ValueOf(m.jsonArg(x)))
		return r
	}
	if (pol == goPrint || pol == goSlog) && want.Kind() == reflect.Interface && want.NumMethod() == 0 {
		v := x
		if pol == goPrint {
			v = m.in.registry.operands([]any{x})[0]
		} else {
			v = m.slogArg(x)
		}
		r := reflect.New(want).Elem()
		r.Set(reflect.ValueOf(v))
		return r
	}
	b, boxed := x.(box)
	if pol == goScan {
		if boxed && m.hasMethod(m.types.byID(b.ID), "Scan") {
			return reflect.ValueOf(scanValue{m.in, x})
		}
		pol = goInspect
	}
	if !boxed {
		v := reflect.ValueOf(x)
		if pol == goInspect && v.Kind() != reflect.Pointer && holdsBoxes(v.Type()) {
			v = m.reify(v)
		}
		if v.Type() == want || want.Kind() == reflect.Interface {
			r := reflect.New(want).Elem()
			r.Set(v)
			return r
		}
		return v.Convert(want)
	}
	if want.Kind() == reflect.Interface && want.NumMethod() == 0 {
		r := reflect.New(want).Elem()
		if pol == goInspect || pol == goSpawn {
			r.Set(m.plainGo(b))
		} else {
			r.Set(reflect.ValueOf(x))
		}
		return r
	}
	if want.Kind() != reflect.Interface {
		t := m.types.byID(b.ID)
		p := t.alloc()
		t.put(p, x)
		return m.toGo(nil, t, p, want, pol)
	}
	r := reflect.New(want).Elem()
	if t := m.types.byID(b.ID); t.rt == funcType { // a func type of Go has its methods itself
		if g := m.types.golang(t); g.Implements(want) {
			p := t.alloc()
			t.put(p, x)
			r.Set(m.toGo(nil, t, p, g, pol))
			return r
		}
	}
	r.Set(m.wrapGo(x, want))
	return r
}

// plainGo gives Go's form of a boxed value to code that looks into it.
func (m *machine) plainGo(b box) reflect.Value {
	t := m.types.byID(b.ID)
	p := t.alloc()
	t.put(p, b)
	g := m.types.golang(t)
	if t.rt == funcType || g != t.rt && t.class != clsPtr {
		return m.toGo(nil, t, p, g, goInspect)
	}
	v := t.at(p)
	if v.Kind() != reflect.Pointer && holdsBoxes(v.Type()) {
		v = m.reify(v)
	}
	return v
}

// wrapGo makes a native interface of a boxed value: its methods call those of
// the cell's type.
func (m *machine) wrapGo(x any, want reflect.Type) reflect.Value {
	if want == errorType {
		return reflect.ValueOf(m.in.asError(x))
	}
	if want.String() == "fmt.Stringer" {
		return reflect.ValueOf(&cellStringer{m.in, x})
	}
	w := m.in.symbol(want.PkgPath(), "_"+want.Name())
	if !w.IsValid() {
		panic(goError{"a value of a cell can't be a " + want.String()})
	}
	t := m.types.byID(x.(box).ID)
	s := reflect.New(w.Type().Elem()).Elem()
	for i := range s.NumField() {
		name := s.Type().Field(i).Name
		if name == "IValue" {
			s.Field(i).Set(reflect.ValueOf(x))
			continue
		}
		name = strings.TrimPrefix(name, "W")
		ft := s.Field(i).Type()
		sig := m.methodSig(t, name)
		if sig == nil {
			continue
		}
		cl := &closure{sig: sig, method: func(g *fr, args []unsafe.Pointer) []unsafe.Pointer {
			return m.callMethod(g, x, name, sig, args)
		}}
		s.Field(i).Set(m.makeFunc(nil, cl, sig, ft, goPass))
	}
	return s
}

// methodSig gives the signature of a type's method.
func (m *machine) methodSig(t *typ, name string) *typ {
	o, _, _ := types.LookupFieldOrMethod(t.t, false, m.pkg, name)
	fn, ok := o.(*types.Func)
	if !ok {
		return nil
	}
	return m.types.of(noRecv(fn.Signature()))
}

// A cellStringer makes a value of a cell a fmt.Stringer.
type cellStringer struct {
	in *Interp
	x  any
}

func (s *cellStringer) String() string {
	text, _ := s.in.callText(s.x, "String")
	return text
}

// callText calls a method without parameters that gives a string.
func (in *Interp) callText(x any, name string) (string, bool) {
	out, ok := in.callAny(x, name)
	if !ok || len(out) != 1 {
		return "", false
	}
	s, ok := out[0].(string)
	return s, ok
}

// callAny calls a method of a boxed value with arguments that are of the
// parameters' types already, and gives its results as interfaces.
func (in *Interp) callAny(x any, name string, args ...any) ([]any, bool) {
	m := in.machine
	b, ok := x.(box)
	if !ok {
		return nil, false
	}
	t := m.types.byID(b.ID)
	sig := m.methodSig(t, name)
	if sig == nil {
		return nil, false
	}
	u := sig.u.(*types.Signature)
	if u.Params().Len() != len(args) {
		return nil, false
	}
	var ps []unsafe.Pointer
	for i, a := range args {
		pt := m.types.of(u.Params().At(i).Type())
		p := pt.alloc()
		if a != nil {
			pt.put(p, a)
		}
		ps = append(ps, p)
	}
	res := m.callMethod(m.outside(), x, name, sig, ps)
	var out []any
	for i, p := range res {
		out = append(out, m.iface(m.types.of(u.Results().At(i).Type()), p))
	}
	return out, true
}

// outside is an activation for calls that native code makes.
func (m *machine) outside() *fr {
	st := m.in.stacks.current()
	if st == nil {
		st = m.in.adopt()
	}
	return &fr{st: st, f: rootFrame(st), code: &code{}}
}

// panic panics as the statement of a cell does.
func (m *machine) panic(f *fr, v any) {
	if v == nil {
		panic(cellPanic{&runtime.PanicNilError{}})
	}
	panic(cellPanic{v})
}

// A cellPanic is what a cell panicked with.
type cellPanic struct{ v any }

// plainValue gives the value of the memory of a cell's value: of a function, one
// of Go.
func (m *machine) plainValue(t *typ, x any) any {
	b, ok := x.(box)
	if !ok {
		return x
	}
	if cl, ok := b.V.(*closure); ok {
		if t == nil {
			t = m.types.byID(b.ID)
		}
		p := t.alloc()
		t.put(p, x)
		if cl == nil {
			return reflect.Zero(m.types.golang(t)).Interface()
		}
		return m.makeFunc(nil, cl, t, m.types.golang(t), goPass).Interface()
	}
	return b.V
}

// holdsBoxes tells whether a value of Go can hold values of cells' types in its
// interfaces: all but the structs of packages.
func holdsBoxes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array:
		return holdsBoxes(t.Elem())
	case reflect.Map:
		return holdsBoxes(t.Key()) || holdsBoxes(t.Elem())
	case reflect.Struct:
		return t.Name() == "" && holdsInterface(t)
	}
	return false
}
