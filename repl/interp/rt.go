package interp

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// end says that a statement that may have used tensors has ended.
func (in *Interp) end(f *Frame) {
	f.Stack.reset(f)
	if in.opt.OnStatementEnd != nil {
		left := f.Stack.leave()
		in.opt.OnStatementEnd(f.depth + 1)
		f.Stack.back(left)
	}
}

// drop is end for a statement that may have dropped a tensor without an op.
func (in *Interp) drop(f *Frame) {
	if in.opt.OnDrop != nil {
		in.opt.OnDrop()
	}
	in.end(f)
}

// adopt gives a stack to a goroutine that native code started.
func (in *Interp) adopt() *stack {
	r := in.run
	if r == nil {
		r = newRun(0)
	}
	return in.stacks.attach(in, r, nil)
}

// declared notes where a session variable is, and that the run came to its
// declaration.
func (in *Interp) declared(internal string, t *typ, at unsafe.Pointer) {
	p := reflect.NewAt(t.rt, at)
	if r := in.run; r != nil {
		r.reached[internal] = true
	}
	in.mu.Lock()
	if _, known := in.vars[internal]; !known {
		in.order = append(in.order, sessionVar{internal, p, t})
	}
	in.vars[internal], in.varTypes[internal] = p, t
	in.mu.Unlock()
	if in.opt.OnVariable != nil {
		name, _, _ := strings.Cut(internal, "ʹ")
		in.opt.OnVariable(name, p.Interface())
	}
}

// spawn runs f on a goroutine with a stack that goes on the caller's.
func (in *Interp) spawn(f *Frame, body func()) {
	go in.from(f)(body)()
}

// from notes where the caller is. What it gives makes a body run with a stack of
// its own that goes on from there: native code may call it on another goroutine.
func (in *Interp) from(f *Frame) func(body func()) func() {
	s := f.Stack
	r := s.run
	var parent *pcNode
	if s.depth > 0 || s.parent != nil {
		parent = s.intern()
	}
	quiet := min(s.quiet, 1) // what an evaluation starts is part of it
	return func(body func()) func() {
		in.pending.Add(1)
		return func() {
			c := in.stacks.attach(in, r, parent)
			c.quiet = quiet
			r.add(c)
			in.pending.Add(-1)
			defer func() {
				if v := recover(); v != nil {
					in.goroutinePanic(r, c.panicked(v).(*PanicError))
				}
				r.remove(c)
				in.stacks.detach(c)
			}()
			body()
		}
	}
}

func (in *Interp) goroutinePanic(r *run, p *PanicError) {
	e := &GoroutineError{Cell: r.cell, Panic: p}
	r.mu.Lock()
	r.panics = append(r.panics, e)
	r.mu.Unlock()
	if in.opt.OnGoroutinePanic != nil {
		in.opt.OnGoroutinePanic(e)
		return
	}
	fmt.Fprintln(in.opt.Stderr, e.Error())
}
