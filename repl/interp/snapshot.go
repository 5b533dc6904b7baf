package interp

import (
	"go/types"
	"reflect"
	"sort"
	"strings"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// A Snapshot is what the session's variables held. Restoring it writes every
// object back in place, so that what was shared stays shared.
type Snapshot struct {
	order   []sessionVar // variables that the session had
	bytes   []savedBytes
	texts   []savedText
	arena   []byte // of bytes
	objects []savedObject
	maps    []savedMap
	undo    []func() // give names their former meaning, newest last
	kept    map[string]string
}

type savedObject struct{ at, copy reflect.Value } // at is settable

// A sessionVar is where a variable is.
type sessionVar struct {
	internal string
	p        reflect.Value
	t        *typ
}

// savedBytes are an object without pointers, the usual one, and where its copy
// lies in the arena.
type savedBytes struct {
	at      unsafe.Pointer
	from, n int
}

type savedText struct {
	at   *string
	copy string
}

type savedMap struct {
	at     reflect.Value
	keys   []reflect.Value
	values []reflect.Value
}

// A SnapshotOptions says how variables are remembered.
type SnapshotOptions struct {
	MaxBytes int64 // of Go values that are copied
	// Opaque is called with pointers whose types the caller remembers itself; true: it did.
	Opaque func(p reflect.Value) bool
	// Enter says whether objects of a native package may be written back.
	Enter func(pkgPath string) bool
}

// restorable are standard packages whose types are plain data.
var restorable = map[string]bool{
	"strings": true, "bytes": true, "time": true, "math/big": true, "container/list": true, "container/ring": true,
	"math/rand": true, "math/rand/v2": true, "sync": true, "sync/atomic": true,
}

// unchanging are native types that nobody writes to once they are made; so are errors.
var unchanging = map[string]bool{"time.Location": true, "regexp.Regexp": true}

// Snapshot remembers the variables of the session. It is nil while goroutines
// of earlier cells run: what they change cannot be looked at.
func (in *Interp) Snapshot(o SnapshotOptions) *Snapshot {
	if in.stacks.n.Load() > 0 {
		return nil
	}
	p := &Snapshot{kept: map[string]string{}}
	w := &snapWalk{in: in, p: p, o: o, left: o.MaxBytes, seen: map[snapKey]bool{}}
	in.mu.Lock()
	defer in.mu.Unlock()
	p.order = in.order[:len(in.order):len(in.order)]
	p.bytes = make([]savedBytes, 0, len(in.order))
	p.arena = make([]byte, 0, 8*len(in.order))
	for i := range in.order {
		v := &in.order[i]
		w.why = ""
		w.variable(v.p, v.t)
		if w.why != "" {
			name, _, _ := strings.Cut(v.internal, "ʹ")
			p.kept[name] = w.why
		}
	}
	return p
}

// variable remembers a variable; most hold a number or a text.
func (w *snapWalk) variable(ptr reflect.Value, t *typ) {
	at, rt := ptr.UnsafePointer(), t.rt
	switch {
	case rt.Kind() == reflect.String:
		w.p.texts = append(w.p.texts, savedText{(*string)(at), *(*string)(at)})
	case rt.Kind() <= reflect.Complex128 && rt.Kind() != reflect.Invalid:
		n, from := int(rt.Size()), len(w.p.arena)
		w.p.arena = append(w.p.arena, unsafe.Slice((*byte)(at), n)...)
		w.p.bytes = append(w.p.bytes, savedBytes{at, from, n})
	default:
		w.pointer(ptr, types.NewPointer(t.t))
	}
}

// snapWalk follows Go values to the objects that must be remembered.
type snapWalk struct {
	in   *Interp
	p    *Snapshot
	o    SnapshotOptions
	left int64
	seen map[snapKey]bool
	why  string // the variable cannot be restored in full
}

type snapKey struct {
	p unsafe.Pointer
	t reflect.Type
	n int
}

func (w *snapWalk) once(p unsafe.Pointer, t reflect.Type, n int) bool {
	k := snapKey{p, t, n}
	if w.seen[k] {
		return false
	}
	w.seen[k] = true
	return true
}

func (w *snapWalk) note(why string) {
	if w.why == "" {
		w.why = why
	}
}

// takes says whether an object of n bytes may still be copied.
func (w *snapWalk) takes(n int64) bool {
	if n > w.left {
		w.note("too large to be copied before each cell")
		return false
	}
	w.left -= n
	return true
}

// pointer remembers what a pointer points to.
func (w *snapWalk) pointer(v reflect.Value, st types.Type) {
	if v.IsNil() || !w.once(v.UnsafePointer(), v.Type(), 1) {
		return
	}
	if w.o.Opaque != nil && w.o.Opaque(v) {
		return
	}
	t := v.Type().Elem()
	if unchanging[t.PkgPath()+"."+t.Name()] || v.Type().Implements(reflect.TypeFor[error]()) {
		return
	}
	if t.Name() != "" && t.PkgPath() != "" && !restorable[t.PkgPath()] && !strings.HasPrefix(t.Name(), "standIn") && !w.o.Enter(t.PkgPath()) {
		w.note("*" + t.String() + " keeps its state")
		return
	}
	if !w.takes(int64(t.Size())) {
		return
	}
	at := reflect.NewAt(t, v.UnsafePointer()).Elem()
	c := reflect.New(t).Elem()
	c.Set(at)
	w.p.objects = append(w.p.objects, savedObject{at, c})
	w.inside(at, elemOf(st))
}

// elemOf gives the type of what a type points to or holds, nil when it is not known.
func elemOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if e, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return e.Elem()
	}
	return nil
}

// inside follows what a value refers to. st is its type as cells know it, nil
// when only Go does.
func (w *snapWalk) inside(v reflect.Value, st types.Type) {
	if plain(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.pointer(v, st)
	case reflect.UnsafePointer:
		if p := w.in.Pointer(st, v); p.Kind() == reflect.Pointer {
			w.pointer(p, st)
		}
	case reflect.Interface:
		switch e := v.Elem(); {
		case v.IsNil():
		case e.CanInterface():
			t, x := w.in.Exact(e.Interface())
			w.inside(x, t)
		default:
			w.inside(e, nil)
		}
	case reflect.Slice:
		w.slice(v, st)
	case reflect.Array:
		for i := range v.Len() {
			w.inside(v.Index(i), elemOf(st))
		}
	case reflect.Map:
		w.mapping(v, st)
	case reflect.Chan:
		if !v.IsNil() {
			w.note("a channel keeps what was sent")
		}
	case reflect.Struct:
		if st == nil {
			if t := w.in.registry.typOf(v.Type()); t != nil {
				st = t.t
			}
		}
		var fields *types.Struct
		if st != nil {
			fields, _ = st.Underlying().(*types.Struct)
		}
		for i := range v.NumField() {
			var t types.Type
			if fields != nil && i < fields.NumFields() {
				t = fields.Field(i).Type()
			}
			w.inside(w.field(v, i), t)
		}
	}
}

// field gives a field without the mark of an unexported one, where that is possible.
func (w *snapWalk) field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	if f.CanAddr() && !f.CanInterface() {
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	return f
}

// plain says whether a value of the type refers to nothing.
func plain(t reflect.Type) bool {
	if t == funcType {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Chan, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

func (w *snapWalk) slice(v reflect.Value, st types.Type) {
	if v.IsNil() || v.Cap() == 0 || !w.once(v.UnsafePointer(), v.Type(), v.Cap()) {
		return
	}
	t := v.Type().Elem()
	if !w.takes(int64(v.Cap()) * int64(t.Size())) {
		return
	}
	at := reflect.NewAt(reflect.ArrayOf(v.Cap(), t), v.UnsafePointer()).Elem()
	c := reflect.New(at.Type()).Elem()
	c.Set(at)
	w.p.objects = append(w.p.objects, savedObject{at, c})
	if !plain(t) {
		for i := range v.Cap() {
			w.inside(at.Index(i), elemOf(st))
		}
	}
}

func (w *snapWalk) mapping(v reflect.Value, st types.Type) {
	if v.IsNil() || !w.once(v.UnsafePointer(), v.Type(), 1) {
		return
	}
	if !v.CanInterface() { // inside of a struct that has no address
		w.note("a map keeps its contents")
		return
	}
	t := v.Type()
	if !w.takes(int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size())) {
		return
	}
	m := savedMap{at: v}
	for it := v.MapRange(); it.Next(); {
		m.keys = append(m.keys, it.Key())
		m.values = append(m.values, it.Value())
		w.inside(it.Key(), nil)
		w.inside(it.Value(), elemOf(st))
	}
	w.p.maps = append(w.p.maps, m)
}

// Committed notes how to take back what a cell declared after the snapshot.
func (p *Snapshot) Committed(undo func()) {
	if undo != nil {
		p.undo = append(p.undo, undo)
	}
}

// Undeclare gives names the meaning they had at the snapshot, if Committed was
// told of every cell since.
func (in *Interp) Undeclare(p *Snapshot) {
	in.types.Lock()
	defer in.types.Unlock()
	p.undeclare()
}

func (p *Snapshot) undeclare() {
	for i := len(p.undo) - 1; i >= 0; i-- {
		p.undo[i]()
	}
}

// Names are what the names of the session mean.
type Names = cell.Names

// Names gives what names mean now, for SetNames.
func (in *Interp) Names() Names {
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.Names()
}

// SetNames gives names an earlier meaning. Variables keep what they hold.
func (in *Interp) SetNames(n Names) {
	in.types.Lock()
	defer in.types.Unlock()
	in.scope.SetNames(n)
}

// TakeUndo gives what takes back the declarations of the last cell, once.
func (in *Interp) TakeUndo() func() {
	f := in.undo
	in.undo = nil
	return f
}

// A Restored tells what Restore did.
type Restored struct {
	Names     []string          // variables that have their former values
	Forgotten []string          // declared since
	Kept      map[string]string // variables that are not restored in full, and why
}

// Restore gives the session's variables, and its names, the state of the snapshot.
func (in *Interp) Restore(p *Snapshot) Restored {
	in.types.Lock()
	defer in.types.Unlock()
	before := in.scope.Variables()
	p.undeclare()
	for _, b := range p.bytes {
		copy(unsafe.Slice((*byte)(b.at), b.n), p.arena[b.from:])
	}
	for _, t := range p.texts {
		*t.at = t.copy
	}
	for _, o := range p.objects {
		o.at.Set(o.copy)
	}
	for _, m := range p.maps {
		m.at.Clear()
		for i, k := range m.keys {
			m.at.SetMapIndex(k, m.values[i])
		}
	}
	r := Restored{Kept: p.kept}
	now := map[string]bool{}
	for _, v := range in.scope.Variables() {
		now[v.Name] = true
		if p.kept[v.Name] == "" {
			r.Names = append(r.Names, v.Name)
		}
	}
	for _, v := range before {
		if !now[v.Name] {
			r.Forgotten = append(r.Forgotten, v.Name)
		}
	}
	sort.Strings(r.Forgotten)
	in.mu.Lock()
	for i, v := range in.order {
		if i >= len(p.order) || p.order[i].internal != v.internal {
			delete(in.vars, v.internal)
			delete(in.varTypes, v.internal)
		}
	}
	in.order = p.order
	for _, v := range in.order {
		if _, ok := in.vars[v.internal]; !ok {
			in.vars[v.internal], in.varTypes[v.internal] = v.p, v.t
		}
	}
	in.mu.Unlock()
	if in.opt.OnVariable != nil {
		in.eachVariable(in.opt.OnVariable)
	}
	return r
}

// eachVariable visits the session's variables; the caller holds the types.
func (in *Interp) eachVariable(visit func(name string, p any)) {
	vars := in.scope.Variables()
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, v := range vars {
		if p, ok := in.vars[v.Internal]; ok {
			visit(v.Name, p.Interface())
		}
	}
}
