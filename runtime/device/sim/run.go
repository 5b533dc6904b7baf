package sim

import (
	"fmt"
	"runtime/debug"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// maxArenaKept is how much of the arena stays between runs.
const maxArenaKept = 256 << 20

// Run computes l.Out. It takes the HBM of the outputs first, so that nothing
// has run when it returns *device.OutOfMemoryError or *device.HostMemoryError.
// Inputs that do not fit give *device.InputError or *device.FreedBufferError;
// an operation that fails gives *device.KernelError.
func (x *executable) Run(l *device.Launch) error {
	if l.Late && x.ran && !x.dev.meshed && x.wait(l) {
		return nil
	}
	err := x.bind(l)
	if err == nil {
		err = x.cut(l)
	}
	if err == nil {
		err = x.launch(l)
	}
	for i := range x.arrays {
		x.arrays[i].Buf = nil
	}
	if x.uneven {
		x.even()
	}
	return err
}

// even restores the views that a run changed because some inputs were held as
// one element.
func (x *executable) even() {
	x.uneven = false
	for i := range x.in {
		x.arrays[i].View = shape.Dense(x.arrays[i].Dims)
		x.splat[i] = false
	}
	for i := range x.steps {
		s := &x.steps[i]
		if s.how == alias {
			x.arrays[s.first].View, x.splat[s.first] = s.view, s.splat
		}
		if s.group != nil {
			continue
		}
		for j, k := range s.in {
			if k >= 0 {
				s.ins[j] = x.arrays[k]
			}
		}
	}
}

// launch runs with the inputs bound.
func (x *executable) launch(l *device.Launch) error {
	temp, err := x.allocate(l)
	if err != nil {
		return err
	}
	err = x.compute(l)
	if temp != nil {
		x.dev.hbm.Free(temp)
	}
	if int64(len(x.dev.arena)) > maxArenaKept {
		x.dev.arena = nil
	}
	if err != nil {
		x.release(l)
		return err
	}
	x.collect(l)
	x.spots(l)
	x.ran = true
	return nil
}

// bind takes the bytes of the inputs. A buffer of another kind is a number on
// the host, an argument that takes no HBM.
func (x *executable) bind(l *device.Launch) error {
	if len(l.In) != len(x.in) {
		return &device.InputError{Input: -1, Why: fmt.Sprintf("%d inputs, want %d", len(l.In), len(x.in))}
	}
	for i, b := range l.In {
		if in, ok := b.(*buffer); ok && in.dev == x.dev {
			if in.home.Empty() {
				return &device.FreedBufferError{Input: i, Spec: in.spec}
			}
			if in.spec.Equal(x.in[i]) {
				x.arrays[i].Buf = in.numbers()
				if in.constant() {
					x.uneven = true
					x.spread(i)
				}
				continue
			}
		} else if b != nil && !ok && b.Spec().Equal(x.in[i]) {
			x.arrays[i].Buf = b.Host().Buf
			continue
		}
		e := &device.InputError{Input: i, Want: x.in[i]}
		if b != nil {
			e.Got = b.Spec()
		}
		return e
	}
	return nil
}

// compute calls the kernels in order. A panic of a kernel is a defect; it must
// not take the session along.
func (x *executable) compute(l *device.Launch) (err error) {
	at := 0
	x.launched = l.Attrs
	defer func() {
		if p := recover(); p != nil {
			err = &device.KernelError{Op: string(x.steps[at].def.Name), Node: x.steps[at].node, Panic: p, Trace: string(debug.Stack())}
		}
		x.unbind(at)
	}()
	for i := range x.steps {
		at = i
		s := &x.steps[i]
		a := s.attrs
		if s.node < len(l.Attrs) {
			a = l.Attrs[s.node]
		}
		switch s.how {
		case fused:
			if err := s.group.run(x, s); err != nil {
				return &device.KernelError{Op: string(s.def.Name), Node: s.node, Err: err}
			}
			continue
		case alias:
			x.arrays[s.first].Buf = x.arrays[s.in[0]].Buf
			if x.uneven && x.splat[s.in[0]] {
				x.spread(s.first)
			}
			continue
		case lateView:
			if x.splat[s.in[0]] {
				x.arrays[s.first].Buf = x.arrays[s.in[0]].Buf
				x.spread(s.first)
				continue
			}
			x.splat[s.first] = false
			from, to := &x.arrays[s.in[0]], &x.arrays[s.first]
			if v, ok := viewOf(s.def, *from, a); ok && from.DType == to.DType {
				to.View, to.Buf = v, from.Buf
				continue
			}
			*to = kernel.NewRaw(s.outs[0].Spec())
		}
		for j, k := range s.in {
			switch {
			case k < 0:
			case s.late || x.uneven:
				s.ins[j] = x.arrays[k]
			default:
				s.ins[j].Buf = x.arrays[k].Buf
			}
		}
		for j := range s.outs {
			k := s.first + j
			x.place(k, &s.outs[j])
			if s.how == constant && x.arena[k] < 0 {
				x.arrays[k].Buf = kernel.Alloc(s.outs[j].DType.HostBytes()) // an output
			}
			s.outs[j].Buf = x.arrays[k].Buf
		}
		if s.def.Name == asStrided && len(s.ins) > 0 {
			densify(&s.ins[0])
		}
		x.call.In, x.call.Out, x.call.Attrs = s.ins, s.outs, a
		if err := s.def.Run(&x.call); err != nil {
			return &device.KernelError{Op: string(s.def.Name), Node: s.node, Err: err}
		}
	}
	return nil
}

// densify copies an array that is seen through strides: as_strided counts in
// the dense value.
func densify(a *kernel.Array) {
	if a.Offset == 0 && a.Contiguous() && len(a.Buf) >= a.Size()*a.DType.HostBytes() {
		return
	}
	d := kernel.NewRaw(a.Spec())
	kernel.Copy(d, *a)
	*a = d
}

// unbind forgets the bytes that the steps up to the last one saw, so that a
// cached executable keeps nothing alive.
func (x *executable) unbind(last int) {
	x.call, x.launched = kernel.Call{}, nil
	for i := range min(last+1, len(x.steps)) {
		s := &x.steps[i]
		if s.group != nil {
			s.group.forget()
		}
		for j := range s.ins {
			s.ins[j].Buf = nil
		}
		for j := range s.outs {
			s.outs[j].Buf = nil
		}
	}
}

// share notes that output i has the bytes of an input or of an earlier output.
func (x *executable) share(l *device.Launch, i int) {
	out, slot := l.Out[i].(*buffer), x.outs[i].slot
	if slot < len(x.in) {
		out.lent = true
		if in, ok := l.In[slot].(*buffer); ok {
			in.lent = true
		}
	}
	for j := range i {
		if x.outs[j].slot == slot {
			out.lent, l.Out[j].(*buffer).lent = true, true
		}
	}
}

// collect makes the buffers of the outputs.
func (x *executable) collect(l *device.Launch) {
	if cap(l.Out) < len(x.outs) {
		l.Out = make([]device.Buffer, len(x.outs))
	}
	l.Out = l.Out[:len(x.outs)]
	for i := range x.outs {
		o := &x.outs[i]
		block := x.blocks[i]
		x.blocks[i] = nil
		if k := x.donor[i]; k >= 0 {
			in := l.In[k].(*buffer)
			block = x.dev.hbm.Alone(in.home)
			in.home.Put(nil)
			in.claimed = false
			x.dev.hbm.Move(block, o.bytes, owner(l, i))
		}
		b := x.dev.small.buffer(o.host)
		b.form, b.buf = &o.form, x.arrays[o.slot].Buf
		b.home.Put(block)
		l.Out[i] = b
		if !o.owns {
			x.share(l, i)
		}
	}
}
