package interp

import (
	"go/types"
	"reflect"
	"unsafe"
)

// Roots visits pointers to everything that the program can still name: the
// session's variables and the registered locals of all live frames. What Go's
// types of the memory hide is visited part by part: what closures captured, what
// a type that leads back to itself points to, what interfaces hold of cells.
// Meanwhile the goroutines of cells stand still. whole is false when one of them
// did not come to rest: what its frames name was not visited.
func (in *Interp) Roots(visit func(v reflect.Value)) (whole bool) {
	w := &rootWalk{m: in.machine, visit: visit}
	in.mu.Lock()
	vars := make([]sessionVar, 0, len(in.vars))
	for name, v := range in.vars {
		vars = append(vars, sessionVar{name, v, in.varTypes[name]})
	}
	in.mu.Unlock()
	return in.still(func(list []*stack) {
		for _, v := range vars {
			w.look(v.t, v.p.UnsafePointer())
		}
		for _, s := range list {
			w.stack(s)
		}
	})
}

// stack visits what the frames of a stack name.
func (w *rootWalk) stack(s *stack) {
	for d := range s.depth {
		f := s.frame(d)
		if !f.Live || f.act == nil {
			continue
		}
		for _, l := range f.act.code.tensors {
			w.look(l.t, f.act.p[l.slot])
		}
	}
}

// A rootWalk visits what variables lead to.
type rootWalk struct {
	m     *machine
	visit func(reflect.Value)
	seen  map[rootKey]bool
}

type rootKey struct {
	p unsafe.Pointer
	t *typ
}

// once tells whether a thing is looked at for the first time.
func (w *rootWalk) once(p unsafe.Pointer, t *typ) bool {
	if p == nil || w.seen[rootKey{p, t}] {
		return false
	}
	if w.seen == nil {
		w.seen = map[rootKey]bool{}
	}
	w.seen[rootKey{p, t}] = true
	return true
}

// look visits what memory of a type leads to.
func (w *rootWalk) look(t *typ, p unsafe.Pointer) {
	if p == nil {
		return
	}
	if !w.m.hides(t) {
		w.visit(reflect.NewAt(t.rt, p))
		return
	}
	switch u := t.u.(type) {
	case *types.Signature:
		w.closure(*(**closure)(p))
	case *types.Interface:
		w.held(*(*any)(p))
	case *types.Pointer:
		if q, e := *(*unsafe.Pointer)(p), w.m.types.of(u.Elem()); w.once(q, e) {
			w.look(e, q)
		}
	case *types.Struct:
		for i := range u.NumFields() {
			w.look(w.m.types.of(u.Field(i).Type()), unsafe.Add(p, t.rt.Field(i).Offset))
		}
	case *types.Slice:
		if s := (*slc)(p); w.once(s.p, t) {
			w.elements(w.m.types.of(u.Elem()), s.p, s.len)
		}
	case *types.Array:
		w.elements(w.m.types.of(u.Elem()), p, int(u.Len()))
	case *types.Map:
		if !w.m.holdsTensor(t.t) || !w.once(*(*unsafe.Pointer)(p), t) {
			return
		}
		kt, et := w.m.types.of(u.Key()), w.m.types.of(u.Elem())
		for it := w.m.view(t, t.at(p)).MapRange(); it.Next(); {
			w.look(kt, addressable(it.Key()).Addr().UnsafePointer())
			w.look(et, addressable(it.Value()).Addr().UnsafePointer())
		}
	}
}

func (w *rootWalk) elements(t *typ, p unsafe.Pointer, n int) {
	for i := range n {
		w.look(t, unsafe.Add(p, uintptr(i)*t.rt.Size()))
	}
}

// held visits what an interface's value leads to.
func (w *rootWalk) held(x any) {
	b, ok := x.(box)
	if !ok {
		if x != nil {
			w.visit(reflect.ValueOf(&x))
		}
		return
	}
	t := w.m.types.byID(b.ID)
	p := t.alloc()
	t.put(p, x)
	w.look(t, p)
}

// closure visits the variables that a function value captured, or its receiver.
func (w *rootWalk) closure(cl *closure) {
	if cl == nil || !w.once(unsafe.Pointer(cl), nil) {
		return
	}
	for i, p := range cl.caps {
		w.look(cl.code.capTypes[i], p)
	}
	if cl.recv.t != nil {
		w.look(cl.recv.t, cl.recv.p)
	}
}

// hides tells whether memory of a type leads to something that Go's type of the
// memory does not show: functions, interfaces, and its own kind again.
func (m *machine) hides(t *typ) bool {
	if h, ok := t.methods.Load(hidesKey{}); ok {
		return h.(bool)
	}
	h := hides(t.t, map[types.Type]bool{})
	t.methods.Store(hidesKey{}, h)
	return h
}

type hidesKey struct{}

func hides(t types.Type, busy map[types.Type]bool) bool {
	t = types.Unalias(t)
	if busy[t] {
		return true
	}
	if n, ok := t.(*types.Named); ok {
		if p := n.Obj().Pkg(); p == nil || p.Path() != mainPath {
			return false // error, and what tensors' own walk knows
		}
		busy[t] = true
		defer delete(busy, t)
	}
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.Interface:
		return true
	case *types.Map:
		return hides(u.Key(), busy) || hides(u.Elem(), busy)
	case *types.Chan:
		return false
	case interface{ Elem() types.Type }:
		return hides(u.Elem(), busy)
	case *types.Struct:
		for f := range u.Fields() {
			if hides(f.Type(), busy) {
				return true
			}
		}
	}
	return false
}
