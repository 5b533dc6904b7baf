package sim

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// prepareSeveral keeps the steps one by one when all of them are elementwise with
// small results: such a program is run step by step, or its results wait.
func (x *executable) prepareSeveral() {
	if len(x.steps) > lateTasks/2 || len(x.steps) == 0 {
		return
	}
	waits := false
	for i := range x.steps {
		s := &x.steps[i]
		if !s.small() || s.first != len(x.in)+i {
			return
		}
		s.types = specs(x.graph.Nodes[s.node].In)
		x.linked = x.linked || slices.ContainsFunc(s.in, func(k int) bool { return k >= len(x.in) })
		waits = waits || s.mayWait()
	}
	for i := range x.outs {
		if !x.outs[i].owns {
			return
		}
	}
	x.single, x.waits = slices.Clone(x.steps), waits
	x.results = make([]device.Result, len(x.outs))
	x.kinds = make([]device.Kind, len(x.outs))
	for i := range x.single {
		x.forms = append(x.forms, newForm(x.dev, x.single[i].outs[0].Spec()))
	}
}

// wait is Run for a program of small elementwise results: they wait, each of
// them. When it gives false nothing has happened.
func (x *executable) wait(l *device.Launch) bool {
	if !x.waits || slices.Contains(l.Donate, true) {
		return false
	}
	for i := range x.results {
		o := owner(l, i)
		x.kinds[i] = device.Kind{What: o.What, Spec: o.Spec}
		x.results[i] = device.Result{Tenant: device.Tenant{Kind: &x.kinds[i], Value: o.Value, Op: o.Op, Launch: o.Launch, Stack: o.Stack}}
	}
	ok := x.RunSeveral(&device.Several{In: l.In, Attrs: l.Attrs, Out: x.results})
	l.Out = l.Out[:0]
	for i := range x.results {
		l.Out = append(l.Out, x.results[i].Buffer)
	}
	clear(x.results)
	clear(x.kinds)
	return ok
}

// Severally says whether the program has the shorter way.
func (x *executable) Severally() bool { return len(x.single) > 0 }

// RunSeveral is Run without what only larger results need.
func (x *executable) RunSeveral(l *device.Several) bool {
	d := x.dev
	if !x.ran || d.meshed || len(l.Out) != len(x.outs) || !x.takesAll(l.In) {
		return false
	}
	if d.host.take(int64(len(x.outs))*lateMaxBytes, x.name) != nil || !x.takeHBM(l) {
		return false
	}
	if x.waits {
		x.waitAll(l)
	} else {
		x.computeAll(l)
	}
	return true
}

// waitAll makes the results wait.
func (x *executable) waitAll(l *device.Several) {
	s := x.dev.open(len(x.single))
	first := s.n
	for i := range x.single {
		st := &x.single[i]
		var in [lateOperands]int16
		for j, k := range st.in {
			if k < len(x.in) {
				in[j] = s.operand(l.In[k])
			} else {
				in[j] = int16(first + k - len(x.in)) // each step has one result
			}
		}
		s.add(st, st.given(l.Attrs), in, &x.forms[i], nil)
	}
	for i := range x.outs {
		x.settle(l, i, &s.buffers[first+x.outs[i].slot-len(x.in)])
	}
	if s.n == lateTasks {
		s.finish()
	}
}

// computeAll computes the results, which are so small that waiting costs as much.
func (x *executable) computeAll(l *device.Several) {
	d := x.dev
	for k, in := range l.In {
		if b, ok := in.(*buffer); ok {
			x.arrays[k].Buf = b.numbers()
		} else {
			x.arrays[k].Buf = in.Host().Buf
		}
	}
	for i := range x.single {
		st := &x.single[i]
		to := d.small.joint(int(x.forms[i].host))
		x.arrays[st.first].Buf = to
		var in [lateOperands][]byte
		for j, k := range st.in {
			in[j] = x.arrays[k].Buf
		}
		d.compute(st, st.given(l.Attrs), to, in[:len(st.in)])
	}
	for i := range x.outs {
		o := &x.outs[i]
		b := d.small.bufferAt(nil)
		b.form, b.buf = &o.form, x.arrays[o.slot].Buf
		x.settle(l, i, b)
	}
	for i := range x.arrays {
		x.arrays[i].Buf = nil
	}
}

// settle gives result i of a run, whose buffer is b, its place in HBM.
func (x *executable) settle(l *device.Several, i int, b *buffer) {
	r := &l.Out[i]
	if r.Shelf != nil {
		b.home = r.Shelf.Home(r.At)
	} else {
		if b.home == nil {
			b.home = new(device.Home)
		}
		b.home.Put(x.blocks[i])
		x.blocks[i] = nil
	}
	r.Buffer = b
}

// given are the attributes of s in a launch.
func (s *step) given(attrs []op.Attrs) op.Attrs {
	if s.node < len(attrs) {
		return attrs[s.node]
	}
	return s.attrs
}

// compute computes the result of a step from the arrays of its operands.
func (d *Device) compute(st *step, attrs op.Attrs, to []byte, in [][]byte) {
	if q := &st.quick; q.loop != nil && q.attrs.Is(attrs) && q.loop.Run(to, in) {
		return
	}
	for j := range in {
		st.ins[j].Buf = in[j]
	}
	st.outs[0].Buf = to
	c := &d.lateCall
	*c = kernel.Call{In: st.ins, Out: st.outs, Attrs: attrs, Memo: &st.memo}
	if err := st.call(c, st.def.Kernel); err != nil {
		panic(err) // the same program has run before: the kernel has the types
	}
	for j := range st.ins {
		st.ins[j].Buf = nil
	}
	st.outs[0].Buf = nil
}

// takeHBM takes HBM for the outputs and, for a moment, for the intermediates.
// When it gives false nothing is taken.
func (x *executable) takeHBM(l *device.Several) bool {
	h := x.dev.hbm
	taken := 0
	for ; taken < len(x.outs); taken++ {
		o, r := &x.outs[taken], &l.Out[taken]
		if r.Shelf != nil {
			if !r.Shelf.TryAlloc(r.At, o.bytes, o.padded, &r.Tenant) {
				break
			}
			continue
		}
		w := r.Owner()
		if x.blocks[taken] = h.TryAlloc(o.bytes, o.padded, &w); x.blocks[taken] == nil {
			break
		}
	}
	if taken == len(x.outs) && (x.temp == 0 || h.Passes(x.temp)) {
		return true
	}
	for i := range taken {
		if r := &l.Out[i]; r.Shelf != nil {
			r.Shelf.Drop(1 << r.At)
			continue
		}
		h.Free(x.blocks[i])
		x.blocks[i] = nil
	}
	return false
}
