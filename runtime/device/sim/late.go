package sim

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// A small elementwise result is computed late: when somebody looks at it, or
// when lateTasks of them wait. Most are then known to be read by a later one,
// and a program rarely looks at such a value itself: it is computed in bytes
// that the next one uses again, which stay in the first cache, and once more
// should it be looked at after all. HBM, the clock and the bits know nothing
// of it; the host writes a fraction of the memory.
const (
	lateTasks    = 32
	lateMinBytes = 256 // below, computing costs no more than waiting
	lateMaxBytes = 16 << 10
)

// A lateSlab is the buffers of results that wait together, and how to compute
// them. It leads to bytes, never to other slabs, so that a long chain of
// results does not keep its beginning.
type lateSlab struct {
	dev     *Device
	n, done int // buffers made; of them the first ones were computed or passed over
	buffers [lateTasks]buffer
	tasks   [lateTasks]task
	outside [][]byte // arrays of others that tasks read
}

// A task computes one buffer of a slab.
type task struct {
	x     *executable
	attrs op.Attrs
	in    [lateOperands]int16 // a buffer of the slab, or ^i for outside[i]; by input of x
	uses  uint8               // tasks of the batch that have yet to read the result
}

// lateOperands is the most operands of a task.
const lateOperands = 3

// late says whether results of x may wait.
func (x *executable) late() bool {
	o := &x.outs[0]
	return x.direct != nil && x.steps[0].def.Class == op.Elementwise && len(x.in) <= lateOperands && len(x.in) > 0 && o.host >= lateMinBytes && o.host <= lateMaxBytes
}

// wait makes a buffer that is computed late.
func (d *Device) wait(x *executable, l *device.Single, home *device.Home) *buffer {
	s := d.waiting
	if s == nil || s.n == lateTasks {
		s = &lateSlab{dev: d}
		d.waiting = s
	}
	t := &s.tasks[s.n]
	t.x, t.attrs = x, l.Attrs
	for i, in := range l.In {
		t.in[i] = s.operand(in)
	}
	b := &s.buffers[s.n]
	b.form, b.home, b.slab, b.at = &x.outs[0].form, home, s, uint8(s.n)
	s.n++
	if s.n == lateTasks {
		s.finish()
	}
	return b
}

// operand gives how a task reads a buffer.
func (s *lateSlab) operand(in device.Buffer) int16 {
	var buf []byte
	if b, ok := in.(*buffer); ok {
		if b.slab == s && int(b.at) >= s.done {
			return int16(b.at)
		}
		buf = b.numbers()
	} else {
		buf = in.Host().Buf
	}
	for i := len(s.outside) - 1; i >= 0; i-- {
		if o := s.outside[i]; unsafe.SliceData(o) == unsafe.SliceData(buf) && len(o) == len(buf) {
			return ^int16(i)
		}
	}
	s.outside = append(s.outside, buf)
	return ^int16(len(s.outside) - 1)
}

// finish computes what waits and no other task of the slab reads.
func (s *lateSlab) finish() {
	d := s.dev
	if d.waiting == s && s.n == lateTasks {
		d.waiting = nil
	}
	from := s.done
	s.done = s.n
	for i := from; i < s.n; i++ {
		t := &s.tasks[i]
		for j := range t.x.in {
			if k := t.in[j]; k >= 0 {
				s.tasks[k].uses++
			}
		}
	}
	var passing [lateTasks][]byte // of results that only tasks of this batch read
	for i := from; i < s.n; i++ {
		t, b := &s.tasks[i], &s.buffers[i]
		var to []byte
		if t.uses == 0 {
			b.buf = d.small.bytes(int(b.host))
			to = b.buf
		} else {
			to = d.scratch.take(int(b.host))
			passing[i] = to
		}
		t.run(s, to, passing[:])
		for j := range t.x.in {
			k := t.in[j]
			if k < 0 {
				continue
			}
			u := &s.tasks[k]
			if u.uses--; u.uses == 0 && passing[k] != nil {
				d.scratch.give(passing[k])
				passing[k] = nil
			}
		}
	}
}

// run computes the result of t into to.
func (t *task) run(s *lateSlab, to []byte, passing [][]byte) {
	x := t.x
	st := &x.steps[0]
	for j, in := range st.in {
		if in < 0 {
			continue
		}
		switch k := t.in[in]; {
		case k < 0:
			st.ins[j].Buf = s.outside[^k]
		case passing != nil && passing[k] != nil:
			st.ins[j].Buf = passing[k]
		default:
			st.ins[j].Buf = s.buffers[k].numbers()
		}
	}
	st.outs[0].Buf = to
	x.call.In, x.call.Out, x.call.Attrs = st.ins, st.outs, t.attrs
	if err := x.direct(&x.call); err != nil {
		panic(err) // the same program has run before: the kernel has the types
	}
	for j := range st.ins {
		st.ins[j].Buf = nil
	}
	st.outs[0].Buf = nil
}

// numbers gives the numbers of b, computing them now if they wait.
func (b *buffer) numbers() []byte {
	if b.buf == nil && b.slab != nil {
		b.slab.reach(int(b.at))
	}
	return b.buf
}

// reach computes the buffer at i.
func (s *lateSlab) reach(i int) {
	if i >= s.done {
		s.finish()
	}
	b := &s.buffers[i]
	if b.buf != nil {
		return
	}
	t := &s.tasks[i]
	for j := range t.x.in { // before t.x is used: its own operands may be of the same program
		if k := t.in[j]; k >= 0 {
			s.reach(int(k))
		}
	}
	b.buf = s.dev.small.bytes(int(b.host))
	t.run(s, b.buf, nil)
}

// Finish computes everything that waits.
func (d *Device) Finish() {
	if s := d.waiting; s != nil {
		s.finish()
	}
}

// A scratchPool keeps arrays for results that only pass through.
type scratchPool struct{ free [][]byte }

func (p *scratchPool) take(n int) []byte {
	if k := len(p.free) - 1; k >= 0 {
		b := p.free[k]
		p.free = p.free[:k]
		return b[:n]
	}
	return kernel.Alloc(lateMaxBytes)[:n]
}

func (p *scratchPool) give(b []byte) { p.free = append(p.free, b[:cap(b)]) }
