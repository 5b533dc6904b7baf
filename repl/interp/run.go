package interp

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/tpush/tpush/trace"
)

// A run is one cell while it runs, and afterwards as long as goroutines that it
// started live.
type run struct {
	cell    int
	stop    chan struct{} // closed by an interrupt
	abort   chan struct{} // closed by one from outside
	mu      sync.Mutex
	cause   error // why it was stopped
	stacks  map[*stack]bool
	shown   []any
	reached map[string]bool
	panics  []*GoroutineError
}

func newRun(cell int) *run {
	return &run{cell: cell, stop: make(chan struct{}), abort: make(chan struct{}), stacks: map[*stack]bool{}, reached: map[string]bool{}}
}

// interrupt stops the run's goroutines at their next poll.
func (r *run) interrupt(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil {
		return
	}
	r.cause = cause
	close(r.stop)
	for s := range r.stacks {
		s.armed.Store(true)
		s.in.open()
	}
}

func (r *run) add(s *stack) {
	r.mu.Lock()
	r.stacks[s] = true
	if r.cause != nil {
		s.armed.Store(true)
		s.in.open()
	}
	r.mu.Unlock()
}

func (r *run) remove(s *stack) {
	r.mu.Lock()
	delete(r.stacks, s)
	r.mu.Unlock()
}

// stackOf gives the stack of the run's first goroutine, for a report of where
// a cell stands that does not stop. It is a snapshot without a lock: at worst
// one frame is a call too old.
func (r *run) stackOf() *trace.Stack {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.stacks {
		if s.parent == nil {
			return s.look()
		}
	}
	return nil
}

// grace is how long an interrupted cell may take to come to a poll before its
// goroutine is left behind.
const grace = 400 * time.Millisecond

// start runs the cell's function on a goroutine of its own and waits for it.
func (in *Interp) start(ctx context.Context, r *run, entry func()) error {
	done := make(chan error, 1)
	go in.root(r, entry, done)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	var cause error = &InterruptError{}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		cause = &TimeoutError{After: time.Since(in.began).Round(time.Millisecond)}
	}
	close(r.abort)
	r.interrupt(cause)
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
	}
	switch e := cause.(type) {
	case *InterruptError:
		return &InterruptError{Stack: r.stackOf(), Abandoned: true}
	case *TimeoutError:
		return &TimeoutError{After: e.After, Stack: r.stackOf(), Abandoned: true}
	}
	return cause
}

// root is the goroutine of a cell. A cell is unwound by Goexit, not by a panic:
// the interpreter panics again in every frame, which takes quadratic time, and
// a cell could recover.
func (in *Interp) root(r *run, entry func(), done chan<- error) {
	s := in.stacks.attach(in, r, nil)
	r.add(s)
	ended := false
	defer func() {
		var err error
		if v := recover(); v != nil {
			err = s.panicked(v)
		} else if !ended {
			err = s.exited()
		}
		in.bury(s, err)
		r.remove(s)
		in.stacks.detach(s)
		done <- err
	}()
	entry()
	ended = true
}

// panicked makes the error of a panic that reached the goroutine's root.
func (s *stack) panicked(v any) error {
	p := s.snapshot(v)
	return &PanicError{Value: p.value, Stack: p.stack, Text: s.in.registry.chainText(p)}
}

// snapshot keeps the stack of a panic at the first place that sees it: nobody
// has popped a frame yet.
func (s *stack) snapshot(v any) *panicSnapshot {
	value := s.in.registry.plainPanic(v)
	if s.snap != nil && sameValue(s.snap.value, value) {
		return s.snap
	}
	p := &panicSnapshot{value: value}
	if s.depth > 0 || s.parent != nil {
		if n := s.intern(); n != nil {
			p.stack = n.stack
		}
	}
	s.snap = p
	p.frames = s.capture()
	s.raised(p.value)
	return p
}

func sameValue(a, b any) (same bool) {
	defer func() {
		if recover() != nil { // not comparable
			same = false
		}
	}()
	return a == b
}

// exited tells why a goroutine unwound without a panic.
func (s *stack) exited() error {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil {
		return r.cause
	}
	return nil // the cell called runtime.Goexit itself
}

// poll ends the goroutine when its cell was interrupted. It does so once:
// deferred functions then run undisturbed.
func (s *stack) poll() {
	if !s.armed.Load() {
		return
	}
	if s.cut.Load() {
		if s.quiet > 0 {
			panic(cellPanic{&CutError{}})
		}
		if s.uncut(); !s.armed.Load() {
			return
		}
	}
	s.grave = s.capture()
	r := s.run
	r.mu.Lock()
	s.armed.Store(false) // not before: an interrupt may be under way
	switch e := r.cause.(type) {
	case *InterruptError:
		if e.Stack == nil && s.parent == nil {
			e.Stack = s.look()
		}
	case *TimeoutError:
		if e.Stack == nil && s.parent == nil {
			e.Stack = s.look()
		}
	}
	cause := r.cause
	r.mu.Unlock()
	if e, ok := cause.(*DeadlockError); ok && s.parent == nil {
		s.dead = true
		s.raised(e)
	}
	runtime.Goexit()
}

// end stops the whole run for a cause of its own and unwinds this goroutine.
func (s *stack) end(cause error) {
	s.raised(cause)
	s.run.interrupt(cause)
	s.armed.Store(false)
	runtime.Goexit()
}
