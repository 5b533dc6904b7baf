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
	// atOnce is how many results do not wait after lateTasks of them of which
	// none read another: to wait gains nothing then.
	atOnce = 8 * lateTasks
)

// A lateSlab is the buffers of results that wait together, and how to compute
// them. It leads to bytes, never to other slabs, so that a long chain of
// results does not keep its beginning.
type lateSlab struct {
	dev     *Device
	n, done int // buffers made; of them the first ones were computed or passed over
	buffers [lateTasks]buffer
	tasks   []task           // one for each buffer that may be made; shared with others that repeat them
	outside [][]byte         // arrays of others that tasks read
	near    [lateNear][]byte // room for the first of them
}

// lateNear is how many arrays of others a lateSlab has room for.
const lateNear = 4

// A task computes one buffer of a slab.
type task struct {
	step  *step
	attrs op.Attrs
	in    [lateOperands]int16 // per operand: a buffer of the slab, or ^i for outside[i]
	uses  uint8               // operands of the batch that have yet to be read as the result
}

// lateOperands is the most operands of a task.
const lateOperands = 3

// mayWait says whether the result of s may wait: each operand is a whole array
// of the program's or an earlier result.
func (s *step) mayWait() bool {
	return s.small() && s.outs[0].Size()*s.outs[0].DType.HostBytes() >= lateMinBytes
}

// small says whether s may be computed apart from other steps, without what only
// larger results need.
func (s *step) small() bool {
	if s.how != compute || s.late || s.def.Class != op.Elementwise || len(s.outs) != 1 || len(s.in) > lateOperands || len(s.in) == 0 {
		return false
	}
	for _, k := range s.in {
		if k < 0 {
			return false
		}
	}
	n := s.outs[0].Size() * s.outs[0].DType.HostBytes()
	return n > 0 && n <= lateMaxBytes
}

// open gives the slab where n more results may wait.
func (d *Device) open(n int) *lateSlab {
	if s := d.waiting; s != nil {
		if s.n+n <= lateTasks {
			return s
		}
		s.finish()
	}
	x := &struct {
		lateSlab
		tasks [lateTasks]task
	}{}
	s := &x.lateSlab
	s.dev, s.tasks, s.outside = d, x.tasks[:], s.near[:0]
	d.waiting = s
	return s
}

// add makes a buffer that waits for the result of a step.
func (s *lateSlab) add(st *step, attrs op.Attrs, in [lateOperands]int16, f *form, home *device.Home) *buffer {
	t, b := &s.tasks[s.n], &s.buffers[s.n]
	t.step, t.attrs, t.in = st, attrs, in
	b.form, b.home, b.slab, b.at = f, home, s, uint8(s.n)
	s.n++
	return b
}

// wait makes a buffer that is computed late, in a home.
func (d *Device) wait(x *executable, l *device.Single, home *device.Home) *buffer {
	s, st := d.open(1), &x.steps[0]
	var in [lateOperands]int16
	for j, k := range st.in {
		in[j] = s.operand(l.In[k])
	}
	b := s.add(st, l.Attrs, in, &x.outs[0].form, home)
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
		for j := range t.step.in {
			if k := t.in[j]; k >= 0 {
				s.tasks[k].uses++
			}
		}
	}
	if s.stored(from) == lateTasks {
		d.atOnce = atOnce
	}
	s.room(from)
	if d.batches.run(s, from) {
		return
	}
	var passing [lateTasks][]byte // of results that only tasks of this batch read
	for i := from; i < s.n; i++ {
		t, b := &s.tasks[i], &s.buffers[i]
		to := b.buf
		if t.uses > 0 {
			to = d.scratch.take(int(b.host))
			passing[i] = to
		}
		t.run(s, to, passing[:])
		for j := range t.step.in {
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

// room gives memory, in one piece, to the results from the given one on that no
// other task reads: they live as long as the slab.
func (s *lateSlab) room(from int) {
	n := 0
	for i := from; i < s.n; i++ {
		if s.tasks[i].uses == 0 {
			n += whole(int(s.buffers[i].host))
		}
	}
	all := s.dev.small.joint(n)
	all = all[:cap(all)]
	for i := from; i < s.n; i++ {
		if b := &s.buffers[i]; s.tasks[i].uses == 0 {
			b.buf = cut(&all, int(b.host), whole(int(b.host)))
		}
	}
}

// run computes the result of t into to.
func (t *task) run(s *lateSlab, to []byte, passing [][]byte) {
	st := t.step
	var in [lateOperands][]byte
	for j := range st.in {
		switch k := t.in[j]; {
		case k < 0:
			in[j] = s.outside[^k]
		case passing != nil && passing[k] != nil:
			in[j] = passing[k]
		default:
			in[j] = s.buffers[k].numbers()
		}
	}
	s.dev.compute(st, t.attrs, to, in[:len(st.in)])
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
	for j := range t.step.in { // before the step is used: its operands may be of the same one
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
