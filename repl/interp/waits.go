package interp

import (
	"sync"
	"time"
)

// The waits of package sync, as cells call them: an interrupt ends them and the
// search for deadlocks sees them. The native wait is made on a goroutine of its
// own, which outlives an interrupt until somebody wakes it.

// wait blocks until done is closed or gives a value. When the cell is
// interrupted it calls undo and unwinds the goroutine.
func (s *stack) wait(kind string, done <-chan struct{}, undo func()) {
	s.block(kind, true)
	select {
	case <-done:
		s.unblock()
	case <-s.run.stop:
		s.unblock()
		undo()
		s.interrupted()
	}
}

// waitGroup is wg.Wait.
func waitGroup(f *Frame, wg *sync.WaitGroup) {
	done := make(chan struct{})
	var died any
	go func() {
		defer close(done)
		defer func() { died = recover() }()
		wg.Wait()
	}()
	f.Stack.wait("sync.WaitGroup.Wait", done, func() {})
	if died != nil { // WaitGroup is reused before previous Wait has returned
		panic(died)
	}
}

// acquire locks by lock; a lock that comes after an interrupt is given back.
func (s *stack) acquire(kind string, lock, unlock func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		lock()
		select {
		case done <- struct{}{}:
		case <-gone:
			unlock()
		}
	}()
	s.wait(kind, done, func() { close(gone) })
}

func mutexLock(f *Frame, m *sync.Mutex) {
	if !m.TryLock() {
		f.Stack.acquire("sync.Mutex.Lock", m.Lock, m.Unlock)
	}
}

func rwLock(f *Frame, m *sync.RWMutex) {
	if !m.TryLock() {
		f.Stack.acquire("sync.RWMutex.Lock", m.Lock, m.Unlock)
	}
}

func rwRLock(f *Frame, m *sync.RWMutex) {
	if !m.TryRLock() {
		f.Stack.acquire("sync.RWMutex.RLock", m.RLock, m.RUnlock)
	}
}

// lockerLock is l.Lock of an interface.
func lockerLock(f *Frame, l sync.Locker) {
	switch m := unwrap(l).(type) {
	case *sync.Mutex:
		mutexLock(f, m)
	case *sync.RWMutex:
		rwLock(f, m)
	default:
		l.Lock()
	}
}

// condGrace is how long an interrupted wait for a condition tries to lock again:
// a deferred Unlock of the cell expects it.
const condGrace = 100 * time.Millisecond

// condWait is c.Wait.
func condWait(f *Frame, c *sync.Cond) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		c.Wait()
		select {
		case done <- struct{}{}:
		case <-gone:
			c.L.Unlock()
		}
	}()
	f.Stack.wait("sync.Cond.Wait", done, func() {
		close(gone)
		locked := make(chan struct{})
		go func() {
			c.L.Lock()
			close(locked)
		}()
		select {
		case <-locked:
		case <-time.After(condGrace):
		}
	})
}

// onceDo is o.Do: do runs on the caller's goroutine, whoever waits for another
// one's do can be interrupted.
func onceDo(f *Frame, o *sync.Once, do func()) {
	mine, done := make(chan struct{}), make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(done)
		o.Do(func() {
			close(mine)
			<-finished
		})
	}()
	s := f.Stack
	s.block("sync.Once.Do", true)
	select {
	case <-mine:
		s.unblock()
		defer close(finished)
		do()
	case <-done:
		s.unblock()
	case <-s.run.stop:
		s.unblock()
		close(finished) // should the turn come yet
		s.interrupted()
	}
}
