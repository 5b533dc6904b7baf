package repl

import (
	"strings"
	"sync"

	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// The history that a new session keeps.
const (
	defaultHistoryOps   = 4096
	defaultHistoryBytes = 256 << 20
)

// maxHistoryOps bounds what a user may ask for: a record takes about half a KiB.
const maxHistoryOps = 1 << 20

// setHistory changes what is kept; what was kept is forgotten.
func (s *Session) setHistory(ops int, bytes int64) {
	s.history.ops, s.history.bytes = ops, bytes
	s.Present()
	s.disp.SetHistory(ops, bytes)
	s.namer.again()
}

// A watched is a session variable of tensor type and what it named last.
type watched struct {
	name string
	p    **tpu.Tensor
	t    *tpu.Tensor
	id   uint64
}

// A namer tells the history which variables name which values.
type namer struct {
	in   *interp.Interp
	mu   sync.Mutex
	vars []watched
	at   map[string]int // position in vars
}

// declared notes where a session variable is.
func (n *namer) declared(name string, p any) {
	x, ok := p.(**tpu.Tensor)
	n.mu.Lock()
	defer n.mu.Unlock()
	i, known := n.at[name]
	switch {
	case ok && known:
		n.vars[i] = watched{name: name, p: x}
	case ok:
		n.at[name] = len(n.vars)
		n.vars = append(n.vars, watched{name: name, p: x})
	case known: // of another type now
		n.vars[i].p = nil
	}
}

// reset forgets every variable.
func (n *namer) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.vars, n.at = nil, map[string]int{}
}

// again makes the next operation tell every variable.
func (n *namer) again() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.vars {
		n.vars[i].t = nil
	}
}

// names yields the locals of the frames that began a statement, and the session
// variables that name another value than before.
func (n *namer) names(s exec.Spot, yield func(exec.Binding)) {
	n.in.Locals(s.Fresh, func(name string, depth int, serial uint64, p any) {
		if x, ok := p.(**tpu.Tensor); ok && *x != nil && !strings.HasPrefix(name, "ʹ") {
			b := bindingOf(name, *x)
			b.Depth, b.Serial = depth, serial
			yield(b)
		}
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.vars {
		w := &n.vars[i]
		if w.p == nil {
			continue
		}
		t := *w.p
		if t == nil {
			if w.t != nil {
				w.t, w.id = nil, 0
				yield(exec.Binding{Name: w.name})
			}
			continue
		}
		if id := t.Value().ID(); t != w.t || id != w.id {
			w.t, w.id = t, id
			yield(bindingOf(w.name, t))
		}
	}
}

func bindingOf(name string, t *tpu.Tensor) exec.Binding {
	return exec.Binding{Name: name, View: t.StorageView(), Ref: exec.RefOf(t.Value())}
}

// Cursor is the operation that the session looks back at; no when it shows the present.
func (s *Session) Cursor() (exec.Record, bool) {
	if s.cursor.Load() == 0 {
		return exec.Record{}, false
	}
	return s.disp.RecordOf(s.cursor.Load())
}

// Look moves n operations back from where the session looks (forward when n is
// negative). It gives the record it comes to and how many steps there were too
// many; no record means the present.
func (s *Session) Look(n int) (r exec.Record, left int, ok bool) {
	if s.cursor.Load() == 0 && n <= 0 {
		return exec.Record{}, -n, false
	}
	r, left, ok = s.disp.RecordBack(s.cursor.Load(), n)
	if !ok || left > 0 && n < 0 { // forward beyond the last operation is now
		s.cursor.Store(0)
		return exec.Record{}, max(left-1, 0), false
	}
	s.cursor.Store(r.OpN)
	return r, left, true
}

// LookAt moves to an operation.
func (s *Session) LookAt(opn uint64) (exec.Record, bool) {
	r, ok := s.disp.RecordOf(opn)
	if ok {
		s.cursor.Store(opn)
	}
	return r, ok
}

// Present ends looking back.
func (s *Session) Present() { s.cursor.Store(0) }
