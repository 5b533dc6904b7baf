package sim

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
)

// Singly says whether the program is one kernel with one result that takes no
// HBM beside it.
func (x *executable) Singly() bool {
	if len(x.steps) != 1 || len(x.outs) != 1 || x.temp != 0 {
		return false
	}
	s, o := &x.steps[0], &x.outs[0]
	if _, _, product := s.def.Product(); !product && o.spec.Size() > 0 {
		x.direct = s.def.Kernel
	}
	return s.how == compute && !s.late && len(s.outs) == 1 && o.owns && o.slot == s.first && x.arenaBytes == 0
}

// RunSingle is Run without what only larger programs need.
func (x *executable) RunSingle(l *device.Single) (device.Buffer, bool) {
	d, s, o := x.dev, &x.steps[0], &x.outs[0]
	if len(l.In) != len(x.in) || d.meshed {
		return nil, false
	}
	if l.Late && x.direct != nil && x.steps[0].mayWait() {
		return x.runLate(l)
	}
	for j, k := range s.in {
		if k < 0 {
			continue
		}
		switch b := l.In[k].(type) {
		case *buffer:
			if !x.takes(k, b) || b.constant() {
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
	if d.host.take(o.host, x.name) != nil {
		return nil, false
	}
	block := d.hbm.TryAlloc(o.bytes, o.padded, &l.Owner)
	if block == nil {
		return nil, false
	}
	buf := d.small.bytes(int(o.host))
	s.outs[0].Buf = buf
	ok := x.computeSingle(s, l.Attrs)
	for j := range s.ins {
		s.ins[j].Buf = nil
	}
	s.outs[0].Buf = nil
	if !ok {
		d.hbm.Free(block)
		return nil, false
	}
	b := d.small.bufferAt(l.Home, o.host)
	b.form, b.buf, b.home.Block = &o.form, buf, block
	return b, true
}

// computeSingle calls the kernel. A failure of it is found again, and told, by Run.
func (x *executable) computeSingle(s *step, attrs op.Attrs) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	x.call.In, x.call.Out, x.call.Attrs = s.ins, s.outs, attrs
	if x.direct != nil {
		return x.direct(&x.call) == nil
	}
	return s.def.Run(&x.call) == nil
}

// takes says whether b is a buffer of this device for input k.
func (x *executable) takes(k int, b *buffer) bool {
	return b.dev == x.dev && b.home.Block != nil && b.spec.Equal(x.in[k])
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
	block := d.hbm.TryAlloc(o.bytes, o.padded, &l.Owner)
	if block == nil {
		return nil, false
	}
	b := d.wait(x, l)
	b.home.Block = block
	return b, true
}
