package tpu

import (
	"reflect"

	"github.com/tpush/tpush/runtime/exec"
)

// Roots gives the walk for exec's SetRoots over what each visits, as Walk does
// it, for the dispatcher in use. It costs what changed on the tape since the walk
// before, not what is on it: a loop that makes the tape longer with each
// statement takes time in proportion to its statements.
func Roots(each func(visit func(reflect.Value))) func(*exec.Marker) {
	e := ambientEngine()
	l := &e.live
	l.e = e
	return func(m *exec.Marker) { l.mark(m, each) }
}

// A liveness counts what holds the parts of the tape, so that a walk need not go
// through it. A history is held by tensors that the roots lead to and by live
// nodes; a node by its live histories. What a live node saved is pinned.
//
// The tape has no cycles, for a node refers to what was before it, except
// through the gradient of a leaf that has a tape of its own (CreateGraph). While
// there is one, nothing is counted and the walks go through the tape.
type liveness struct {
	e       *engine
	roots   []*history // of tensors that the last walk came to
	found   []*history // by the walk that is under way
	leaves  []*history // live ones that may gather a gradient
	todo    []*node    // that became live, or dead
	undone  []*saved   // of live nodes, given back by a backward pass
	dropped []dropped  // pins that are to be taken back
	walker  walker
}

// A dropped is a value that fewer pins hold.
type dropped struct {
	v *exec.Value
	n int32
}

// A held counts what holds a history.
type held struct {
	refs   int32
	leaf   int32  // place among the leaves + 1
	root   bool   // the roots hold it
	walked uint32 // last walk that came to it as a root
}

func (l *liveness) mark(m *exec.Marker, each func(visit func(reflect.Value))) {
	w := &l.walker
	w.m, w.live = m, l
	if len(w.seen) > maxSeen {
		w.seen = nil
	}
	clear(w.seen)
	each(w.visit)
	w.drain()
	l.count(m.Epoch())
	if !l.gradients(m) {
		l.forget()
		for _, h := range l.found {
			w.history(h)
		}
		w.drain()
	}
	l.found = clearAll(l.found)
	for _, p := range l.dropped {
		m.Unpin(p.v, p.n)
	}
	l.dropped = clearAll(l.dropped)
}

// maxSeen bounds the set of what a walk has come to that the next one uses again.
const maxSeen = 1024

func clearAll[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// find notes a history that a tensor at hand has.
func (l *liveness) find(h *history, epoch uint32) {
	if h != nil && h.held.walked != epoch {
		h.held.walked = epoch
		l.found = append(l.found, h)
	}
}

// count brings the counts up to date with what the walk has found.
func (l *liveness) count(epoch uint32) {
	for _, h := range l.found {
		if !h.held.root {
			h.held.root = true
			l.hold(h)
		}
	}
	for len(l.todo) > 0 {
		n := l.next()
		for _, s := range n.saved {
			if s == nil {
				continue
			}
			if s.s.version == s.version && !s.s.freed { // written since: the pass will refuse it
				s.pinned = true
				s.s.pins++
				l.walker.m.Pin(s.s.value)
			}
			if s.hist != nil && s.hist.fn != n {
				l.hold(s.hist)
			}
		}
		for _, h := range n.ins {
			l.hold(h)
		}
	}
	for _, s := range l.undone {
		l.unpin(s)
		l.release(s.hist)
	}
	l.undone = clearAll(l.undone)
	for _, h := range l.roots {
		if h.held.walked != epoch {
			h.held.root = false
			l.release(h)
		}
	}
	l.roots = append(clearAll(l.roots), l.found...)
	l.bury()
}

// next takes a node off the list.
func (l *liveness) next() *node {
	last := len(l.todo) - 1
	n := l.todo[last]
	l.todo[last] = nil
	l.todo = l.todo[:last]
	return n
}

func (l *liveness) hold(h *history) {
	if h == nil {
		return
	}
	if h.held.refs++; h.held.refs > 1 {
		return
	}
	if h.fn == nil || h.retain || h.grad != nil {
		l.gathers(h)
	}
	if n := h.fn; n != nil {
		if n.refs++; n.refs == 1 {
			l.todo = append(l.todo, n)
		}
	}
}

// gathers notes that a history may get a gradient.
func (l *liveness) gathers(h *history) {
	if h.held.refs > 0 && h.held.leaf == 0 {
		l.leaves = append(l.leaves, h)
		h.held.leaf = int32(len(l.leaves))
	}
}

func (l *liveness) release(h *history) {
	if h == nil {
		return
	}
	if h.held.refs--; h.held.refs > 0 {
		return
	}
	if at := h.held.leaf; at > 0 {
		last := len(l.leaves) - 1
		l.leaves[at-1] = l.leaves[last]
		l.leaves[at-1].held.leaf = at
		l.leaves[last] = nil
		l.leaves = l.leaves[:last]
		h.held.leaf = 0
	}
	if n := h.fn; n != nil {
		if n.refs--; n.refs == 0 {
			l.todo = append(l.todo, n)
		}
	}
}

// bury lets go of what the dead nodes hold.
func (l *liveness) bury() {
	for len(l.todo) > 0 {
		n := l.next()
		for _, s := range n.saved {
			if s == nil {
				continue
			}
			l.unpin(s)
			if s.hist != nil && s.hist.fn != n {
				l.release(s.hist)
			}
		}
		for _, h := range n.ins {
			l.release(h)
		}
	}
}

func (l *liveness) unpin(s *saved) {
	if s.pinned && s.s.version == s.version && s.s.pins > 0 {
		s.s.pins--
		l.dropped = append(l.dropped, dropped{s.s.value, 1})
	}
	s.pinned = false
}

// gradients marks the gradients of live histories. If one of them has a tape it
// marks none and gives false.
func (l *liveness) gradients(m *exec.Marker) bool {
	for _, h := range l.leaves {
		if h.grad != nil && h.grad.hist != nil {
			return false
		}
	}
	for _, h := range l.leaves {
		if h.grad != nil {
			m.Value(h.grad.s.value)
		}
	}
	return true
}

// written notes that the value of a storage is not the one that was saved any more.
func (l *liveness) written(s *Storage) {
	if s.pins > 0 {
		l.dropped = append(l.dropped, dropped{s.value, s.pins})
		s.pins = 0
	}
}

// undo notes that a backward pass gives back what a node saved.
func (l *liveness) undo(n *node) {
	if n.refs == 0 {
		return
	}
	for _, s := range n.saved {
		if s == nil {
			continue
		}
		if s.hist != nil && s.hist.fn == n {
			l.unpin(s)
			continue
		}
		l.undone = append(l.undone, s)
	}
}

// forget takes all counts back: the next walk begins anew.
func (l *liveness) forget() {
	for _, s := range l.undone {
		l.unpin(s)
		l.release(s.hist)
	}
	l.undone = clearAll(l.undone)
	for _, h := range l.roots {
		h.held.root = false
		l.release(h)
	}
	l.roots = clearAll(l.roots)
	l.bury()
}
