package sim

import (
	"slices"
	"unsafe"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
)

// A pattern is the tasks of a lateSlab that turns of a program fill alone, again
// and again: they are not written down anew.
type pattern struct {
	next  []int // as in a device.Repeat
	attrs []op.Attrs
	n     int // tasks
	tasks []task
	feeds []int // inputs of the program, in the order of what the tasks have outside
	batch batch
}

// Repeats says whether the program has the shorter way: each of its steps makes a result.
func (x *executable) Repeats() bool {
	if !x.Severally() || len(x.outs) != len(x.single) {
		return false
	}
	for i := range x.outs {
		if x.outs[i].slot != len(x.in)+i {
			return false
		}
	}
	return true
}

// RunRepeat is RunSeveral for each turn, with what they have in common looked at
// once. Results of which none reads another do not wait: that would gain nothing.
func (x *executable) RunRepeat(l *device.Repeat) bool {
	d := x.dev
	if !x.ran || d.meshed || !x.takesAll(l.In) {
		return false
	}
	if d.host.take(int64(len(l.Out))*lateMaxBytes, x.name) != nil || !x.takePlaces(l.Out) {
		return false
	}
	late := x.waits && (x.linked || slices.ContainsFunc(l.Next, func(j int) bool { return j >= 0 }))
	if late && x.again(l) {
		return true
	}
	n := len(x.outs)
	several := device.Several{In: append(x.feeds[:0], l.In...), Attrs: l.Attrs}
	alone := late && len(l.Out) > lateTasks/2
	if alone {
		d.Finish() // so that what follows fills a lateSlab of its own
		d.waiting = nil
	}
	for from := 0; from < len(l.Out); from += n {
		if from > 0 {
			for k, j := range l.Next {
				if j >= 0 {
					several.In[k] = l.Out[from-n+j].Buffer
				}
			}
		}
		several.Out = l.Out[from : from+n]
		if late {
			x.waitAll(&several)
		} else {
			x.computeAll(&several)
		}
	}
	x.feeds = several.In
	clear(x.feeds)
	if alone {
		d.Finish()
		d.waiting = nil
		x.remember(l)
	}
	return true
}

// remember keeps the tasks of the turns that have just been computed as one
// program, if they can be used again as they are.
func (x *executable) remember(l *device.Repeat) {
	b := x.dev.batches.last
	x.dev.batches.last = nil
	s := l.Out[0].Buffer.(*buffer).slab
	if b == nil || s.n != len(l.Out) || len(s.outside) != len(l.In) {
		return
	}
	p := &pattern{next: slices.Clone(l.Next), attrs: slices.Clone(l.Attrs), n: s.n, tasks: s.tasks, batch: *b}
	for _, o := range s.outside {
		k := slices.IndexFunc(l.In, func(in device.Buffer) bool { return unsafe.SliceData(known(in)) == unsafe.SliceData(o) })
		p.feeds = append(p.feeds, k)
	}
	for k := range l.In { // each of them is one array
		if !slices.Contains(p.feeds, k) {
			return
		}
	}
	x.pattern = p
}

// known gives the numbers of an input.
func known(in device.Buffer) []byte {
	if b, ok := in.(*buffer); ok {
		return b.numbers()
	}
	return in.Host().Buf
}

// again computes turns whose pattern is known, with their HBM taken, and says
// whether it has.
func (x *executable) again(l *device.Repeat) bool {
	d, p := x.dev, x.pattern
	if p == nil || d.waiting != nil || len(l.Out) != p.n || !slices.Equal(l.Next, p.next) ||
		!slices.EqualFunc(l.Attrs, p.attrs, func(a, b op.Attrs) bool { return a.Is(b) }) {
		return false
	}
	s := &lateSlab{dev: d, n: p.n, done: p.n, tasks: p.tasks}
	s.outside = s.near[:0]
	for _, k := range p.feeds {
		s.outside = append(s.outside, known(l.In[k]))
	}
	k := 0
	for i := range l.Out {
		b, r := &s.buffers[i], &l.Out[i]
		b.form, b.home, b.slab, b.at = &x.forms[k], r.Shelf.Home(r.At), s, uint8(i)
		r.Buffer = b
		if k++; k == len(x.forms) {
			k = 0
		}
	}
	s.room(0)
	p.batch.compute(s.outside, s, 0)
	return true
}

// takesAll says whether buffers fit the inputs.
func (x *executable) takesAll(in []device.Buffer) bool {
	if len(in) != len(x.in) {
		return false
	}
	for k, in := range in {
		if b, ok := in.(*buffer); ok && (!x.takes(k, b) || b.slab == nil && b.constant()) || !ok && (in == nil || !in.Spec().Equal(x.in[k])) {
			return false
		}
	}
	return true
}

// takePlaces takes HBM for the results of several runs, which have places on
// shelves, and for a moment what each run needs beside them: the last one, when
// least is free, says whether there is room for all. When it gives false nothing
// is taken.
func (x *executable) takePlaces(out []device.Result) bool {
	if x.sizes == nil {
		for i := range x.outs {
			x.sizes = append(x.sizes, device.Size{Bytes: x.outs[i].bytes, Padded: x.outs[i].padded})
		}
	}
	h := x.dev.hbm
	taken := h.TryAllocAll(out, x.sizes)
	if taken == len(out) && (x.temp == 0 || h.Passes(x.temp)) {
		return true
	}
	for _, r := range out[:taken] {
		r.Shelf.Drop(1 << r.At)
	}
	return false
}
