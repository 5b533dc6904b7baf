package sim

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// singly is what a program that is launched singly keeps between its runs.
type singly struct {
	kernel func(*kernel.Call) error
	call   kernel.Call // of the arrays of the step
	waits  bool        // its result may be computed later
	seen   []*form     // per input: the form that was found to fit last
}

// Singly says whether the program is one kernel with one result that takes no
// HBM beside it.
func (x *executable) Singly() bool {
	if len(x.steps) != 1 || len(x.outs) != 1 || x.temp != 0 {
		return false
	}
	s, o := &x.steps[0], &x.outs[0]
	if s.how != compute || s.late || len(s.outs) != 1 || !o.owns || o.slot != s.first || x.arenaBytes != 0 {
		return false
	}
	x.singly = singly{kernel: s.def.Run, seen: make([]*form, len(x.in))}
	x.singly.call = kernel.Call{In: s.ins, Out: s.outs, Memo: &s.memo}
	if _, _, product := s.def.Product(); !product && o.spec.Size() > 0 {
		x.singly.kernel, x.singly.waits = s.def.Kernel, s.mayWait()
	}
	return true
}

// RunSingle is Run without what only larger programs need.
func (x *executable) RunSingle(l *device.Single) (device.Buffer, bool) {
	s := &x.steps[0]
	if len(l.In) != len(x.in) || x.dev.meshed {
		return nil, false
	}
	if l.Late && x.singly.waits {
		if x.dev.atOnce == 0 {
			return x.runLate(l)
		}
		x.dev.atOnce--
	}
	var in [lateOperands][]byte
	quick := s.quick.loop != nil && s.quick.attrs.Is(l.Attrs) && x.whole(l, &in)
	if !quick && !x.bindSingle(l) {
		return nil, false
	}
	b := x.result(l)
	if b == nil {
		return nil, false
	}
	var ok bool
	if quick {
		ok = s.quick.loop.Run(b.buf, in[:len(s.in)])
	} else {
		s.outs[0].Buf = b.buf
		ok = x.computeSingle(l.Attrs)
		for j := range s.ins {
			s.ins[j].Buf = nil
		}
		s.outs[0].Buf = nil
	}
	if !ok {
		b.Free()
		return nil, false
	}
	return b, true
}

// whole gives the arrays of the operands when all are buffers whose numbers are there.
func (x *executable) whole(l *device.Single, in *[lateOperands][]byte) bool {
	for j, k := range x.steps[0].in {
		b, ok := l.In[k].(*buffer)
		if !ok || b.home.Empty() || x.singly.seen[k] != b.form || int64(len(b.buf)) != b.host {
			return false
		}
		in[j] = b.buf
	}
	return true
}

// bindSingle puts the arrays of the operands in place.
func (x *executable) bindSingle(l *device.Single) bool {
	s := &x.steps[0]
	for j, k := range s.in {
		if k < 0 {
			continue
		}
		switch b := l.In[k].(type) {
		case *buffer:
			if !x.takes(k, b) || int64(len(b.buf)) < b.host && b.constant() { // which computes what waits
				return false
			}
			s.ins[j].Buf = b.buf
		case nil:
			return false
		default:
			if !b.Spec().Equal(x.in[k]) {
				return false
			}
			s.ins[j].Buf = b.Host().Buf
		}
	}
	return true
}

// result makes the buffer of the result, with its HBM and its array; nil when
// there is no room.
func (x *executable) result(l *device.Single) *buffer {
	d, o := x.dev, &x.outs[0]
	if d.host.take(o.host, x.name) != nil {
		return nil
	}
	b := d.place(l, o)
	switch {
	case b == nil:
	case l.Shelf != nil:
		b.buf = d.small.joint(int(o.host))
	default:
		b.buf = d.small.bytes(int(o.host))
	}
	return b
}

// place makes the buffer of the result of a single run, with its HBM; nil when
// there is no room.
func (d *Device) place(l *device.Single, o *output) (b *buffer) {
	if l.Shelf != nil {
		if !l.Shelf.TryAlloc(l.At, o.bytes, o.padded, &l.Tenant) {
			return nil
		}
		b = d.small.bufferAt(l.Shelf.Home(l.At))
	} else {
		w := l.Tenant.Owner()
		block := d.hbm.TryAlloc(o.bytes, o.padded, &w)
		if block == nil {
			return nil
		}
		b = d.small.buffer(o.host)
		b.home.Put(block)
	}
	b.form = &o.form
	return b
}

// computeSingle calls the kernel. A failure of it is found again, and told, by Run.
func (x *executable) computeSingle(attrs op.Attrs) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	c := &x.singly.call
	if !c.Attrs.Is(attrs) { // writing pointers costs more than comparing them
		c.Attrs = attrs
	}
	return x.steps[0].call(c, x.singly.kernel) == nil
}

// A quick is what is left of calling the kernel of a step, for one list of attributes.
type quick struct {
	loop   *kernel.Loop
	attrs  op.Attrs
	looked bool // whether there is a loop for the attributes
}

// call calls the kernel of s with c, whose arrays are those of s. The second call
// with the same attributes sees whether a loop will do for the next.
func (s *step) call(c *kernel.Call, run func(*kernel.Call) error) error {
	q := &s.quick
	switch {
	case s.def.Class != op.Elementwise || len(s.in) > lateOperands || slices.Contains(s.in, -1):
	case !q.attrs.Is(c.Attrs):
		*q = quick{attrs: c.Attrs}
	case !q.looked:
		q.looked = true
		*c.Memo = kernel.Memo{} // perhaps of other attributes
		if err := run(c); err != nil {
			return err
		}
		q.loop = c.Memo.Loop(c)
		return nil
	}
	return run(c)
}

// takes says whether b is a buffer of this device for input k.
func (x *executable) takes(k int, b *buffer) bool {
	return !b.home.Empty() && (k < len(x.singly.seen) && x.singly.seen[k] == b.form || x.fits(k, b))
}

// fits says whether b is of the type of input k; most inputs come from one place.
func (x *executable) fits(k int, b *buffer) bool {
	if b.dev != x.dev || !b.spec.Equal(x.in[k]) {
		return false
	}
	if k < len(x.singly.seen) {
		x.singly.seen[k] = b.form
	}
	return true
}

// runLate is RunSingle for a result that waits.
func (x *executable) runLate(l *device.Single) (device.Buffer, bool) {
	d, o := x.dev, &x.outs[0]
	for i, in := range l.In {
		if b, ok := in.(*buffer); ok && (!x.takes(i, b) || b.slab == nil && b.constant()) {
			return nil, false
		}
	}
	if d.host.take(o.host, x.name) != nil {
		return nil, false
	}
	if l.Shelf != nil {
		if !l.Shelf.TryAlloc(l.At, o.bytes, o.padded, &l.Tenant) {
			return nil, false
		}
		return d.wait(x, l, l.Shelf.Home(l.At)), true
	}
	w := l.Tenant.Owner()
	block := d.hbm.TryAlloc(o.bytes, o.padded, &w)
	if block == nil {
		return nil, false
	}
	b := d.wait(x, l, new(device.Home))
	b.home.Put(block)
	return b, true
}
