package exec

import (
	"context"
	"time"
)

// waitEvery is how often Wait looks again.
const waitEvery = 5 * time.Millisecond

// Wait waits until no goroutine is inside the dispatcher, or until ctx ends,
// whose cause it then gives. An operation cannot be stopped halfway: the one
// that an interrupted cell left behind may still hold the dispatcher.
func (d *Dispatcher) Wait(ctx context.Context) error {
	for !d.mu.TryLock() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(waitEvery):
		}
	}
	d.mu.Unlock()
	return nil
}

// Busy says whether a goroutine is inside the dispatcher now.
func (d *Dispatcher) Busy() bool {
	if d.mu.TryLock() {
		d.mu.Unlock()
		return false
	}
	return true
}
