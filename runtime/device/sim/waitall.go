package sim

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
)

// prepareWait keeps the steps one by one when all results of the program may wait.
func (x *executable) prepareWait() {
	if len(x.steps) > lateTasks/2 {
		return
	}
	for i := range x.steps {
		s := &x.steps[i]
		if !s.mayWait() || s.first != len(x.in)+i {
			return
		}
		s.types = specs(x.graph.Nodes[s.node].In)
	}
	for i := range x.outs {
		if !x.outs[i].owns {
			return
		}
	}
	x.single = slices.Clone(x.steps)
	for i := range x.single {
		x.forms = append(x.forms, newForm(x.dev, x.single[i].outs[0].Spec()))
	}
}

// wait is Run for a program of small elementwise results: they wait, each of
// them. When it gives false nothing has happened.
func (x *executable) wait(l *device.Launch) bool {
	if len(x.single) == 0 || len(l.In) != len(x.in) {
		return false
	}
	for _, donated := range l.Donate {
		if donated {
			return false
		}
	}
	for k, in := range l.In {
		if b, ok := in.(*buffer); ok && (!x.takes(k, b) || b.slab == nil && b.constant()) || !ok && (in == nil || !in.Spec().Equal(x.in[k])) {
			return false
		}
	}
	d := x.dev
	if d.host.take(int64(len(x.outs))*lateMaxBytes, x.name) != nil || !x.takeHBM(l) {
		return false
	}
	s := d.open(len(x.single))
	first := s.n
	for i := range x.single {
		st := &x.single[i]
		a := st.attrs
		if st.node < len(l.Attrs) {
			a = l.Attrs[st.node]
		}
		var in [lateOperands]int16
		for j, k := range st.in {
			if k < len(x.in) {
				in[j] = s.operand(l.In[k])
			} else {
				in[j] = int16(first + k - len(x.in)) // each step has one result
			}
		}
		s.add(st, a, in, &x.forms[i], nil)
	}
	l.Out = l.Out[:0]
	for i := range x.outs {
		b := &s.buffers[first+x.outs[i].slot-len(x.in)]
		b.home.Block = x.blocks[i]
		x.blocks[i] = nil
		l.Out = append(l.Out, b)
	}
	if s.n == lateTasks {
		s.finish()
	}
	return true
}

// takeHBM takes HBM for the outputs and, for a moment, for the intermediates.
// When it gives false nothing is taken.
func (x *executable) takeHBM(l *device.Launch) bool {
	h := x.dev.hbm
	ok := true
	for i := range x.outs {
		o := &x.outs[i]
		w := owner(l, i)
		if x.blocks[i] = h.TryAlloc(o.bytes, o.padded, &w); x.blocks[i] == nil {
			ok = false
			break
		}
	}
	if ok && x.temp > 0 {
		temp := h.TryAlloc(x.temp, x.temp, &device.Owner{What: "temp"})
		if ok = temp != nil; ok {
			h.Free(temp)
		}
	}
	if ok {
		return true
	}
	for i, b := range x.blocks {
		if b != nil {
			h.Free(b)
			x.blocks[i] = nil
		}
	}
	return false
}
