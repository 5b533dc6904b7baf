package interp

import (
	"reflect"
	"time"
)

// settle is how long all goroutines of a cell must have slept before they are
// called dead: one may have been woken and not have said so yet.
const settle = 50 * time.Millisecond

// block notes that the goroutine waits; hopeless, that only a goroutine of a
// cell could wake it. When none is left that could, the cell is ended.
func (s *stack) block(kind string, hopeless bool) {
	at := s.look()
	r := s.run
	s.lie()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.waits, s.waitAt = kind, at
	s.hopeless.Store(hopeless)
	if hopeless && r.asleep(s.in) {
		n := s.in.wakes.Load()
		time.AfterFunc(settle, func() { s.in.checkDeadlock(r, n) })
	}
}

// unblock notes that the goroutine goes on.
func (s *stack) unblock() {
	s.hopeless.Store(false)
	s.in.wakes.Add(1)
	s.rise()
}

// asleep tells whether every goroutine of cells waits for another one of them,
// those of earlier cells included.
func (r *run) asleep(in *Interp) bool {
	if r.cause != nil || len(r.stacks) == 0 || in.pending.Load() > 0 {
		return false
	}
	all := true
	in.stacks.byLabel.Range(func(_, v any) bool {
		all = v.(*stack).hopeless.Load()
		return all
	})
	return all
}

// checkDeadlock ends a run whose goroutines still sleep as they did when the
// check was asked for.
func (in *Interp) checkDeadlock(r *run, wakes int64) {
	r.mu.Lock()
	if in.wakes.Load() != wakes || !r.asleep(in) {
		r.mu.Unlock()
		return
	}
	e := &DeadlockError{}
	for s := range r.stacks {
		w := Wait{For: s.waits, Stack: s.waitAt}
		if s.parent == nil { // the cell's own goroutine first
			e.Waits = append([]Wait{w}, e.Waits...)
		} else {
			e.Waits = append(e.Waits, w)
		}
	}
	r.mu.Unlock()
	r.interrupt(e)
}

// fromOutside tells whether native code may send on a channel of this type:
// timers and contexts give such channels.
func fromOutside(t reflect.Type) bool {
	return t.Elem() == reflect.TypeFor[time.Time]() || t.ChanDir() == reflect.RecvDir && t.Elem() == reflect.TypeFor[struct{}]()
}
