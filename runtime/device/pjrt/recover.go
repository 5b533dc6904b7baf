package pjrt

import (
	"errors"
	"fmt"
	"slices"
	"weak"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A source is where the numbers of a buffer come from, apart from the process
// that may hold them: a copy on the host, or the launch that made them. It
// outlives the buffer while a launch that read it may have to be done again.
type source struct {
	spec  shape.Spec
	host  []byte // nil until uploaded or read
	made  *launched
	buf   weak.Pointer[buffer]
	op    string // that made it
	opn   uint64
	reads int // launches of the journal that read it
}

// A launched is a launch as it can be done again.
type launched struct {
	number int // of the process's launches, from 1
	x      *executable
	attrs  []op.Attrs
	in     []feed
	outs   []*source
}

// A feed is an input of a launch: a source, or a number of the host.
type feed struct {
	src    *source
	number device.Buffer
}

// What the journal keeps. Launches cost some hundred bytes each, and the host
// copies of what they read stay while they are kept.
const (
	maxJournal      = 1 << 16
	maxJournalBytes = 256 << 20
)

// A journal is the last launches, the oldest first. With them what was lost
// with a process is computed again.
type journal struct {
	all   []*launched
	count int
	bytes int // of host copies that launches read
}

// add notes a launch and forgets the oldest ones when there is too much.
func (j *journal) add(l *launched) {
	j.count++
	l.number = j.count
	j.all = append(j.all, l)
	for _, in := range l.in {
		if s := in.src; s != nil {
			if s.reads++; s.reads == 1 {
				j.bytes += len(s.host)
			}
		}
	}
	for len(j.all) > maxJournal || j.bytes > maxJournalBytes && len(j.all) > 1 {
		j.forget()
	}
}

// forget drops the oldest launch: what it made can be had from the process alone.
func (j *journal) forget() {
	l := j.all[0]
	j.all[0] = nil
	j.all = j.all[1:]
	for _, in := range l.in {
		if s := in.src; s != nil {
			if s.reads--; s.reads == 0 {
				j.bytes -= len(s.host)
			}
		}
	}
	*l = launched{number: l.number}
}

// keep gives a source its copy on the host.
func (j *journal) keep(s *source, host []byte) {
	if s.host == nil && s.reads > 0 {
		j.bytes += len(host)
	}
	s.host = host
}

// A LostError says that numbers were in a plug-in process that ended, and that
// the launch that made them is not known any more or ended the next process too.
type LostError struct {
	Spec  shape.Spec
	Op    string // that made them, "" when it is not known
	N     uint64 // op #N
	Cause error
}

// Error names what was lost.
func (e *LostError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("%v was lost: %v", e.Spec, e.Cause)
	}
	return fmt.Sprintf("%v of %s (op #%d) was lost: %v", e.Spec, e.Op, e.N, e.Cause)
}

// Unwrap gives how the process ended.
func (e *LostError) Unwrap() error { return e.Cause }

func (s *source) lost(cause error) error { return &LostError{s.spec, s.op, s.opn, cause} }

// died says whether an error is the end of a process.
func died(err error) bool {
	var de *worker.DiedError
	return errors.As(err, &de)
}

// recover does again the launches that a lost source needs, oldest first, in
// the process that runs now. What they make is given to all buffers that still
// stand for it; the rest is freed after its last reader. The error is a
// *LostError, or what a launch says.
func (d *Device) recover(s *source) error {
	err := d.again(s)
	if died(err) { // it may have been killed once more
		err = d.again(s)
	}
	if died(err) {
		err = s.lost(err)
	}
	return err
}

func (d *Device) again(s *source) error {
	w, err := d.worker()
	if err != nil {
		return err
	}
	todo, err := d.needed(s)
	if err != nil {
		return err
	}
	if d.opts.Sink != nil {
		d.opts.Sink.Emit(&trace.Event{Kind: trace.Note, Name: "xla", Reason: "restart", AtNS: d.clock.HostNS,
			Text: fmt.Sprintf("%v was in a plug-in process that ended: %d launches are done again", s.spec, len(todo))})
	}
	r := &replay{d: d, w: w, last: map[*source]int{}, have: map[*source]placed{}}
	for i, l := range todo {
		for _, in := range l.in {
			if in.src != nil {
				r.last[in.src] = i
			}
		}
	}
	defer r.free(func(*source) bool { return true })
	for i, l := range todo {
		if err := r.do(i, l); err != nil {
			return err
		}
	}
	return nil
}

// redo makes sure that the process that runs now has what the last launch made.
func (d *Device) redo() error {
	if _, err := d.worker(); err != nil || len(d.journal.all) == 0 {
		return err
	}
	for _, s := range d.journal.all[len(d.journal.all)-1].outs {
		if s.buf.Value() != nil && s.host == nil && !s.here() {
			if err := d.recover(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// needed lists the launches that a source needs, in their order.
func (d *Device) needed(s *source) ([]*launched, error) {
	seen := map[*launched]bool{}
	var all []*launched
	for ask := []*source{s}; len(ask) > 0; {
		s := ask[len(ask)-1]
		ask = ask[:len(ask)-1]
		if s.host != nil || s.here() {
			continue
		}
		l := s.made
		if l == nil || l.x == nil {
			return nil, s.lost(errReplaced)
		}
		if seen[l] {
			continue
		}
		seen[l] = true
		all = append(all, l)
		for _, in := range l.in {
			if in.src != nil {
				ask = append(ask, in.src)
			}
		}
	}
	slices.SortFunc(all, func(a, b *launched) int { return a.number - b.number })
	return all, nil
}

// here says whether the running process has the numbers.
func (s *source) here() bool {
	b := s.buf.Value()
	return b != nil && b.there != nil && b.born == b.dev.born
}

// A placed is an array in the process, and on which devices.
type placed struct {
	on    []*worker.Buffer
	where *shape.Sharding
}

// A replay does launches again.
type replay struct {
	d    *Device
	w    *worker.Worker
	last map[*source]int    // the launch that reads it last
	have map[*source]placed // what no buffer holds
}

func (r *replay) do(i int, l *launched) error {
	ins := make([]placed, len(l.in))
	n := 1
	for k, in := range l.in {
		if in.src == nil {
			continue
		}
		p, err := r.get(in.src)
		if err != nil {
			return err
		}
		ins[k] = p
		if p.where != nil {
			n = max(n, len(p.where.Devices))
		}
	}
	need, err := l.x.meshOf(n)
	if err != nil {
		return err
	}
	made, temps, err := l.x.compute(r.w, l.attrs, need, func(k, n int) (p placed, own bool, err error) {
		if l.in[k].src != nil {
			return r.over(ins[k], l.in[k].src, n)
		}
		p, err = r.d.number(r.w, l.in[k].number, n)
		return p, true, err
	}, func([]*shape.Sharding) error { return nil })
	r.w.Free(temps...)
	if err != nil {
		return err
	}
	for k, p := range made {
		s := l.outs[k]
		switch b := s.buf.Value(); {
		case b != nil && !s.here():
			b.there, b.where, b.born, b.lent = p.on, p.where, r.d.born, false
			b.guard()
		case b == nil && r.last[s] > i:
			r.have[s] = p
		default:
			r.w.Free(p.on...)
		}
	}
	r.free(func(s *source) bool { return r.last[s] <= i })
	return nil
}

// get gives the array of a source: of its buffer, of an earlier launch, or from the host.
func (r *replay) get(s *source) (placed, error) {
	if b := s.buf.Value(); b != nil && s.here() {
		return placed{b.there, b.where}, nil
	}
	if p, ok := r.have[s]; ok {
		return p, nil
	}
	if s.host == nil {
		return placed{}, s.lost(errReplaced)
	}
	p, err := r.d.put(r.w, s.spec, s.host, 1)
	if err == nil {
		r.have[s] = p
	}
	return p, err
}

// over gives an array on n devices; fresh ones are to be freed after the launch.
func (r *replay) over(p placed, s *source, n int) (q placed, fresh bool, err error) {
	if n == 1 && p.where == nil || n > 1 && p.where != nil && len(p.on) == n {
		return p, false, nil
	}
	host := s.host
	if host == nil {
		if host, err = r.d.gather(s.spec, p); err != nil {
			return p, false, err
		}
	}
	q, err = r.d.put(r.w, s.spec, host, n)
	return q, true, err
}

func (r *replay) free(done func(*source) bool) {
	for s, p := range r.have {
		if done(s) {
			r.w.Free(p.on...)
			delete(r.have, s)
		}
	}
}
