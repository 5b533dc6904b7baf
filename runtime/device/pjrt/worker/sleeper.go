package worker

import "sync/atomic"

// A sleeper is a word in shared memory by which one side sleeps and the other
// wakes it: awake or asleep.
type sleeper struct{ state atomic.Uint32 }

const (
	awake  = 0
	asleep = 1
)

// prepare says that this side is about to sleep. It must look once more for
// what it waits for before it sleeps.
func (s *sleeper) prepare() { s.state.Store(asleep) }

// cancel says that it does not sleep after all.
func (s *sleeper) cancel() { s.state.Store(awake) }

// sleep returns when the other side woke it since prepare, or for no reason.
func (s *sleeper) sleep() {
	futexWait(&s.state, asleep)
	s.state.Store(awake)
}

// wake wakes the other side; it costs a load when that is awake.
func (s *sleeper) wake() {
	if s.state.Load() == asleep && s.state.Swap(awake) == asleep {
		futexWake(&s.state)
	}
}
