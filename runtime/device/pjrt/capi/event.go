package capi

// An Event is a future of the plug-in.
type Event struct {
	p *Plugin
	h uintptr
}

// Wait blocks this thread in native code until the event is ready, and frees
// it. The error is what the plug-in says went wrong.
func (e *Event) Wait() error {
	if e == nil || e.h == 0 {
		return nil
	}
	err := e.p.callHandle(slotEventAwait, e.h)
	if derr := e.Destroy(); err == nil {
		err = derr
	}
	return err
}

// Destroy frees the event, ready or not.
func (e *Event) Destroy() error {
	if e == nil || e.h == 0 {
		return nil
	}
	h := e.h
	e.h = 0
	return e.p.callHandle(slotEventDestroy, h)
}
