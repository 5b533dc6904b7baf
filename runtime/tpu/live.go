package tpu

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/tpush/tpush/runtime/exec"
)

// Walk marks what a program reaches from a variable: the values of tensors,
// of the gradients they gathered and of what the tape saved for them. It
// follows pointers, structs with unexported fields, slices, arrays, maps and
// interfaces; what a closure captured is out of its sight.
func Walk(m *exec.Marker, root reflect.Value) {
	w := &walker{m: m}
	w.visit(root)
	w.drain()
}

// Tensors lists the tensors that a variable leads to, as Walk finds them.
func Tensors(root reflect.Value) []*Tensor { return collectTensors(root, nil) }

// MarkTensor marks what a tensor reaches.
func MarkTensor(m *exec.Marker, t *Tensor) {
	w := &walker{m: m}
	w.tensor(t)
	w.drain()
}

// A walker follows Go values to tensors.
type walker struct {
	m           *exec.Marker
	nodes       []*node // to be followed
	seen        map[visited]bool
	visitTensor func(*Tensor) // instead of marking
	live        *liveness     // counts what histories lead to
}

type visited struct {
	p unsafe.Pointer
	t reflect.Type
}

var tensorType = reflect.TypeFor[*Tensor]()

// holds says whether a value of the type can lead to a tensor. The answers are
// kept: the set of types of a program is finite.
func holds(t reflect.Type) bool {
	if v, ok := plans.Load(t); ok {
		return v.(bool)
	}
	h := reaches(t, map[reflect.Type]bool{})
	plans.Store(t, h)
	return h
}

// plans caches holds; it is a pure function of its key.
var plans sync.Map

func reaches(t reflect.Type, busy map[reflect.Type]bool) bool {
	if t == tensorType || t == tensorType.Elem() {
		return true
	}
	if busy[t] {
		return false
	}
	busy[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return reaches(t.Elem(), busy)
	case reflect.Map:
		return reaches(t.Key(), busy) || reaches(t.Elem(), busy)
	case reflect.Struct:
		for i := range t.NumField() {
			if reaches(t.Field(i).Type, busy) {
				return true
			}
		}
	}
	return false
}

func (w *walker) visit(v reflect.Value) {
	if !v.IsValid() || !holds(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Type() == tensorType {
			w.tensor((*Tensor)(v.UnsafePointer()))
			return
		}
		if w.once(v.UnsafePointer(), v.Type()) {
			w.visit(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			w.visit(v.Elem())
		}
	case reflect.Slice:
		if v.IsNil() || v.Len() == 0 || !w.once(v.UnsafePointer(), v.Type()) {
			return
		}
		for i := range v.Len() {
			w.visit(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			w.visit(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() || !w.once(v.UnsafePointer(), v.Type()) {
			return
		}
		for it := v.MapRange(); it.Next(); {
			w.visit(it.Key())
			w.visit(it.Value())
		}
	case reflect.Struct:
		if v.Type() == tensorType.Elem() {
			if v.CanAddr() {
				w.tensor((*Tensor)(v.Addr().UnsafePointer()))
			}
			return
		}
		for i := range v.NumField() {
			w.visit(v.Field(i))
		}
	}
}

// once says whether the walk comes here for the first time.
func (w *walker) once(p unsafe.Pointer, t reflect.Type) bool {
	k := visited{p, t}
	if w.seen[k] {
		return false
	}
	if w.seen == nil {
		w.seen = map[visited]bool{}
	}
	w.seen[k] = true
	return true
}

func (w *walker) tensor(t *Tensor) {
	if w.visitTensor != nil {
		w.visitTensor(t)
		return
	}
	for ; t != nil && t.s != nil; t = t.base {
		w.storage(t.s)
		if w.live != nil && t.s.e == w.live.e {
			w.live.find(t.hist, w.m.Epoch())
			continue
		}
		w.history(t.hist)
	}
}

func (w *walker) storage(s *Storage) {
	if s.freed {
		return
	}
	w.m.Value(s.value)
}

func (w *walker) history(h *history) {
	if h == nil {
		return
	}
	if h.grad != nil && h.grad != (*Tensor)(nil) && w.m.Value(h.grad.s.value) {
		w.history(h.grad.hist)
	}
	if n := h.fn; n != nil && n.epoch != w.m.Epoch() {
		n.epoch = w.m.Epoch()
		w.nodes = append(w.nodes, n)
	}
}

// drain follows the tape without recursion: tapes are long.
func (w *walker) drain() {
	for len(w.nodes) > 0 {
		n := w.nodes[len(w.nodes)-1]
		w.nodes = w.nodes[:len(w.nodes)-1]
		for _, s := range n.saved {
			if s != nil && s.s.version == s.version { // written since: the pass will refuse it
				w.storage(s.s)
				w.history(s.hist)
			}
		}
		for _, h := range n.ins {
			w.history(h)
		}
	}
}

// Free gives the HBM of the storage back now. Using a tensor that sees it is
// an error afterwards.
func (t *Tensor) Free() {
	t.engine()
	s := t.s
	if s.freed {
		return
	}
	if c := s.e.capture; c != nil && !c.owns(s) {
		c.spoil()
	}
	s.freed = true
	s.e.live.written(s)
	s.disown()
	s.value.Unhold()
	s.e.d.Discard(s.value, s.views()...)
}

// A tidyScope lists the tensors made while a Tidy runs.
type tidyScope struct {
	made  []*Tensor
	outer *tidyScope
}

// Tidy runs f and frees every tensor made meanwhile except the one it returns
// with its tape, leaves, gathered gradients and what Keep was told to. In
// DeferAndFuse a loop body found inside is launched at the end, when what was
// freed need not be computed.
func Tidy(f func() *Tensor) *Tensor {
	e := ambientEngine()
	scope := &tidyScope{outer: e.tidy}
	e.tidy = scope
	e.d.BeginScope()
	ended := false
	defer func() {
		e.tidy = scope.outer
		if !ended { // f failed, and a failure now is told by the values
			_ = e.d.EndScope()
		}
	}()
	r := f()
	keep := map[*Storage]bool{}
	if r != nil {
		keep[r.s] = true
		if r.hist != nil && r.hist.fn != nil {
			keepSaved(r.hist.fn, keep)
		}
	}
	for _, t := range scope.made {
		if t.hist != nil && t.hist.fn == nil || t.s.keep {
			keep[t.s] = true // a leaf
		}
	}
	for _, t := range scope.made {
		if keep[t.s] {
			if scope.outer != nil {
				scope.outer.made = append(scope.outer.made, t)
			}
			continue
		}
		t.Free()
	}
	ended = true
	if err := e.d.EndScope(); err != nil {
		e.fail("tidy", err)
	}
	return r
}

// keepSaved notes what the tape under n saved.
func keepSaved(n *node, keep map[*Storage]bool) {
	seen := map[*node]bool{n: true}
	for todo := []*node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range n.saved {
			if s != nil {
				keep[s.s] = true
			}
		}
		for _, h := range n.ins {
			if h != nil && h.fn != nil && !seen[h.fn] {
				seen[h.fn] = true
				todo = append(todo, h.fn)
			}
		}
	}
}

// Keep makes t outlive the Tidy it was made in, and gives it back.
func Keep(t *Tensor) *Tensor {
	if c := t.s.e.capture; c != nil && c.owns(t.s) {
		c.spoil() // it outlives the run: the next one finds it there
	}
	t.s.keep = true
	return t
}
