package interp

import (
	"maps"
	"reflect"
	"sort"
	"strings"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// A Snapshot is what the session's variables held. Restoring it writes every
// object back in place, so that what was shared stays shared.
type Snapshot struct {
	vars    map[string]reflect.Value // pointers to the variables
	objects []savedObject
	maps    []savedMap
	undo    []func() // give names their former meaning, newest last
	kept    map[string]string
}

type savedObject struct{ at, copy reflect.Value } // at is settable

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
	in.mu.Lock()
	vars := maps.Clone(in.vars)
	in.mu.Unlock()
	p := &Snapshot{vars: vars, kept: map[string]string{}}
	w := &snapWalk{p: p, o: o, left: o.MaxBytes, seen: map[snapKey]bool{}}
	in.types.Lock()
	defer in.types.Unlock()
	for _, v := range in.scope.Variables() {
		ptr, ok := vars[v.Internal]
		if !ok || ptr.Kind() != reflect.Pointer || ptr.IsNil() {
			continue
		}
		w.name, w.why = v.Name, ""
		w.pointer(ptr)
		if w.why != "" {
			p.kept[v.Name] = w.why
		}
	}
	return p
}

// snapWalk follows Go values to the objects that must be remembered.
type snapWalk struct {
	p    *Snapshot
	o    SnapshotOptions
	left int64
	seen map[snapKey]bool
	name string
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
func (w *snapWalk) pointer(v reflect.Value) {
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
	w.inside(at)
}

// inside follows what a value refers to.
func (w *snapWalk) inside(v reflect.Value) {
	if plain(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Interface:
		if !v.IsNil() {
			w.inside(v.Elem())
		}
	case reflect.Slice:
		w.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			w.inside(v.Index(i))
		}
	case reflect.Map:
		w.mapping(v)
	case reflect.Chan:
		if !v.IsNil() {
			w.note("a channel keeps what was sent")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.inside(w.field(v, i))
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

func (w *snapWalk) slice(v reflect.Value) {
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
			w.inside(at.Index(i))
		}
	}
}

func (w *snapWalk) mapping(v reflect.Value) {
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
		w.inside(it.Key())
		w.inside(it.Value())
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
	in.vars = maps.Clone(p.vars)
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
