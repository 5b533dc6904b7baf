package interp

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A shadow stack, and the variables of its frames, belong to the goroutine that
// runs on it. Another goroutine looks at them only while they rest: while the
// owner waits, or is in native code, or is held at a statement because somebody
// looks. A statement pays nothing for it: who looks opens the hooks, and
// goroutines come to rest at their next one.

// A world holds the goroutines of cells while somebody looks at their stacks.
type world struct {
	sync.Mutex             // who looks; who is held waits for it
	looking    atomic.Bool // goroutines must not leave their rest
}

// patience is how long a goroutine is waited for that does not come to rest: it
// is in native code that began while it was the only goroutine, or does not
// get a processor. Until it answers again it is not waited for any more.
const patience = 20 * time.Millisecond

// enter notes that code of cells begins to run on the stack; away tells whether
// the goroutine was at rest, which exit gives back.
func (s *stack) enter() (away bool) {
	if !s.rest.Load() {
		return false
	}
	s.rise()
	return true
}

func (s *stack) exit(away bool) {
	if away {
		s.rest.Store(true)
	}
}

// leave notes that the goroutine goes to native code, unless it runs alone;
// back, that it returned when it left.
func (s *stack) leave() (left bool) {
	if s.in.stacks.n.Load() < 2 {
		return false
	}
	return s.lie()
}

func (s *stack) back(left bool) {
	if left {
		s.rise()
	}
}

// lie begins a rest; it tells whether there was none.
func (s *stack) lie() bool { return !s.rest.Swap(true) }

// rise ends a rest, as soon as nobody looks.
func (s *stack) rise() {
	s.rest.Store(false)
	if s.in.world.looking.Load() {
		s.hold()
	}
}

// hold keeps the goroutine at rest while somebody looks.
func (s *stack) hold() {
	s.deaf.Store(false)
	s.rest.Store(true)
	s.in.world.Lock()
	s.rest.Store(false)
	s.in.world.Unlock()
}

// Rest runs wait, which looks at nothing of the goroutine, while others may.
func (g *Goroutine) Rest(wait func()) {
	s := g.stack()
	left := s.lie()
	defer s.back(left)
	wait()
}

// still calls look with the stacks that nobody changes meanwhile, the caller's
// own included. Those of goroutines that do not come to rest are left out: whole
// is false then.
func (in *Interp) still(look func(list []*stack)) (whole bool) {
	own := in.stacks.current()
	switch n := in.stacks.n.Load(); {
	case n == 0:
		look(nil)
		return true
	case n == 1 && own != nil:
		look([]*stack{own})
		return true
	}
	left := own != nil && own.lie() // somebody else may look first
	in.world.Lock()
	defer in.world.Unlock()
	if left {
		own.rest.Store(false)
	}
	in.world.looking.Store(true)
	in.open()
	defer in.rearm()
	defer in.world.looking.Store(false)
	var list []*stack
	whole = true
	in.stacks.byLabel.Range(func(_, v any) bool {
		if s := v.(*stack); s == own || s.settles() {
			list = append(list, s)
		} else {
			whole = false
		}
		return true
	})
	look(list)
	return whole
}

// settles waits until the stack rests and tells whether it does.
func (s *stack) settles() bool {
	var since time.Time
	for turn := 0; !s.rest.Load(); turn++ {
		switch {
		case s.deaf.Load():
			return false
		case turn == 0:
			since = time.Now()
		case turn > 100:
			time.Sleep(patience / 1000)
		}
		if time.Since(since) > patience {
			s.deaf.Store(true)
			return false
		}
		runtime.Gosched()
	}
	s.deaf.Store(false)
	return true
}
