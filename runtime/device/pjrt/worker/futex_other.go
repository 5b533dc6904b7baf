//go:build !linux

package worker

import "sync/atomic"

// There is no worker on other systems, so nobody sleeps there.
func futexWait(*atomic.Uint32, uint32) {}
func futexWake(*atomic.Uint32)         {}
