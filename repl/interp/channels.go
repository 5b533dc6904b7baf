package interp

import (
	"reflect"
	"runtime"
)

// receiveInto reads a channel into dst, and tells whether the channel was open.
// An interrupt of the cell ends the wait.
func receiveInto(f *Frame, c, dst reflect.Value) bool {
	s := f.Stack
	if v, ok := c.TryRecv(); v.IsValid() {
		dst.Set(v)
		return ok
	}
	s.block(onNil("chan receive", c), !fromOutside(c.Type()))
	i, v, ok := reflect.Select([]reflect.SelectCase{
		{Dir: reflect.SelectRecv, Chan: c},
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.run.stop)},
	})
	s.unblock()
	if i == 1 {
		s.interrupted()
		return false
	}
	dst.Set(v)
	return ok
}

// sendFrom writes v to a channel.
func sendFrom(f *Frame, c, v reflect.Value) {
	s := f.Stack
	if c.TrySend(v) {
		return
	}
	s.block(onNil("chan send", c), true)
	i, _, _ := reflect.Select([]reflect.SelectCase{
		{Dir: reflect.SelectSend, Chan: c, Send: v},
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.run.stop)},
	})
	s.unblock()
	if i == 1 {
		s.interrupted()
	}
}

// onNil is what Go calls a wait for a channel.
func onNil(kind string, c reflect.Value) string {
	if c.IsNil() {
		return kind + " (nil chan)"
	}
	return kind
}

// forever waits until the cell is interrupted: an empty select.
func forever(f *Frame) {
	f.Stack.block("select (no cases)", true)
	<-f.Stack.run.stop
	f.Stack.interrupted()
}

// interrupted unwinds a goroutine whose wait was cut short. A deferred function
// that waits after the interrupt is unwound as well.
func (s *stack) interrupted() {
	s.armed.Store(true)
	s.poll()
	runtime.Goexit()
}
