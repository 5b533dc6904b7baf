package interp

// A defers is the list of deferred calls of one activation.
type defers struct {
	frame     *Frame
	calls     []func()
	running   bool // a deferred call runs
	panicking bool
	last      *panicSnapshot // the panic under way, or the last one that was recovered
	raw       any            // what the interpreter panicked with
}

// protect runs a function's body, then its deferred calls, as Go does: in
// reverse order, also when the body panics or the goroutine is unwound; a panic
// goes on afterwards unless a deferred call recovered it.
func (d *defers) protect(body func()) {
	s := d.frame.Stack
	s.defers = append(s.defers, d)
	n := len(s.defers)
	exiting := true
	defer func() {
		if exiting { // Goexit: the deferred calls run, nothing can be recovered
			d.unwind()
		}
		s.defers = s.defers[:n-1]
	}()
	d.try(body)
	d.unwind()
	exiting = false
	if d.panicking {
		s.defers = s.defers[:n-1]
		panic(d.raw)
	}
}

// try runs f and keeps its panic.
func (d *defers) try(f func()) {
	s := d.frame.Stack
	defer func() {
		s.enter() // native code panicked
		if r := recover(); r != nil {
			p := s.snapshot(r)
			if p != d.last && p.earlier == nil {
				p.earlier, p.recovered = d.last, d.last != nil && !d.panicking
			}
			d.panicking, d.last, d.raw = true, p, r
		}
		s.reset(d.frame)
	}()
	f()
}

// unwind runs the deferred calls that are left.
func (d *defers) unwind() {
	for len(d.calls) > 0 {
		f := d.calls[len(d.calls)-1]
		d.calls = d.calls[:len(d.calls)-1]
		if !d.panicking {
			d.last = nil // what was recovered before is over
		}
		d.running = true
		d.try(f)
		d.running = false
	}
}

// reset makes the frame the top of its stack again.
func (s *stack) reset(f *Frame) {
	for d := f.depth + 1; d < s.depth; d++ {
		s.frame(d).Live = false
	}
	s.depth = f.depth + 1
}

// recovered gives the value of the panic that the function of frame f may
// recover: f must have been called by a deferred call itself.
func (s *stack) recovered(f *Frame) any {
	if len(s.defers) == 0 {
		return nil
	}
	d := s.defers[len(s.defers)-1]
	if d.frame == f && len(s.defers) > 1 { // the deferred function defers, too
		d = s.defers[len(s.defers)-2]
	}
	if !d.running || !d.panicking || f.depth != d.frame.depth+1 {
		return nil
	}
	d.panicking = false
	s.snap = nil
	return d.last.value
}
