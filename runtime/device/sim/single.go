package sim

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// singly is what a program that is launched singly keeps between its runs.
type singly struct {
	kernel func(*kernel.Call) error
	call   kernel.Call // of the arrays of the step
	waits  bool        // its result may be computed later
	// The loop of a kernel for a few numbers, when a call with the attributes of
	// the call took it. It can't fail.
	short func(d, a, b []float32)
	seen  []*form // per input: the form that was found to fit last
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
		return x.runLate(l)
	}
	if short := x.singly.short; short != nil && x.singly.call.Attrs.Is(l.Attrs) {
		if p, q := x.few(l, s.in[0]), x.few(l, s.in[1]); p != nil && q != nil {
			b := x.result(l)
			if b == nil {
				return nil, false
			}
			short(kernel.As[float32](b.buf), kernel.As[float32](p), kernel.As[float32](q))
			return b, true
		}
	}
	for j, k := range s.in {
		if k < 0 {
			continue
		}
		switch b := l.In[k].(type) {
		case *buffer:
			if !x.takes(k, b) || int64(len(b.buf)) < b.host && b.constant() { // which computes what waits
				return nil, false
			}
			s.ins[j].Buf = b.buf
		case nil:
			return nil, false
		default:
			if !b.Spec().Equal(x.in[k]) {
				return nil, false
			}
			s.ins[j].Buf = b.Host().Buf
		}
	}
	b := x.result(l)
	if b == nil {
		return nil, false
	}
	s.outs[0].Buf = b.buf
	ok := x.computeSingle(l.Attrs)
	for j := range s.ins {
		s.ins[j].Buf = nil
	}
	s.outs[0].Buf = nil
	if !ok {
		b.Free()
		return nil, false
	}
	return b, true
}

// few gives the numbers of input k when they are all there, as many as the result
// has; else nil.
func (x *executable) few(l *device.Single, k int) []byte {
	b, ok := l.In[k].(*buffer)
	if !ok || b.home.Empty() || x.singly.seen[k] != b.form || int64(len(b.buf)) != x.outs[0].host {
		return nil
	}
	return b.buf
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
	x.singly.short = nil
	if c.Memo.Short() != nil {
		*c.Memo = kernel.Memo{} // perhaps of a call with other attributes
	}
	if x.singly.kernel(c) != nil {
		return false
	}
	x.singly.short = c.Memo.Short()
	return true
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
	b := d.wait(x, l, nil)
	b.home.Put(block)
	return b, true
}
