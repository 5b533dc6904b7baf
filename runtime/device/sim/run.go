package sim

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

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
	err := x.bind(l)
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
			if in.block == nil {
				return &device.FreedBufferError{Input: i, Spec: in.spec}
			}
			if in.spec.Equal(x.in[i]) {
				x.arrays[i].Buf = in.buf
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

// allocate takes HBM for the outputs that get no donated buffer and for the
// intermediates, whose block it gives. On error nothing is taken.
func (x *executable) allocate(l *device.Launch) (temp *device.Block, err error) {
	d := x.dev
	if len(l.Donate) > 0 || len(x.donate) > 0 {
		x.pairDonors(l)
	}
	for i := range x.outs {
		o := &x.outs[i]
		if x.claim(l, i) {
			continue
		}
		if x.blocks[i], err = d.hbm.Alloc(o.bytes, o.padded, owner(l, i)); err != nil {
			return nil, x.exhausted(l, err)
		}
	}
	if x.temp > 0 {
		if temp, err = d.hbm.Alloc(x.temp, x.temp, device.Owner{What: "temp"}); err != nil {
			return nil, x.exhausted(l, err)
		}
	}
	if err = x.allocateHost(); err != nil {
		x.release(l)
		if temp != nil {
			d.hbm.Free(temp)
		}
		return nil, err
	}
	return temp, nil
}

// exhausted gives back what was taken and makes the error of one block that
// did not fit the error of all that the program needs, when it needs several.
func (x *executable) exhausted(l *device.Launch, err error) error {
	bytes, padded := x.temp, x.temp
	for i := range x.outs {
		if x.donor[i] < 0 && !x.claim(l, i) {
			bytes, padded = sum(bytes, x.outs[i].bytes), sum(padded, x.outs[i].padded)
		}
	}
	x.release(l)
	if len(x.outs) == 1 && x.temp == 0 {
		return err
	}
	o := device.Owner{What: x.name}
	var oom *device.OutOfMemoryError
	if errors.As(err, &oom) {
		o.Stack = oom.Stack
	}
	return x.dev.hbm.Exhausted(bytes, padded, o)
}

// allocateHost makes the host arrays of the outputs and the arena.
func (x *executable) allocateHost() error {
	d := x.dev
	for i := range x.outs {
		o := &x.outs[i]
		if !o.owns {
			continue
		}
		if err := d.host.take(o.host, x.name); err != nil {
			return err
		}
		x.arrays[o.slot].Buf = kernel.Alloc(int(o.host))
	}
	if x.arenaBytes > int64(len(d.arena)) {
		d.arena = nil
		if err := d.host.take(x.arenaBytes, x.name); err != nil {
			return err
		}
		d.arena = kernel.Alloc(int(x.arenaBytes))
	}
	return nil
}

func owner(l *device.Launch, i int) device.Owner {
	if i < len(l.Owners) {
		return l.Owners[i]
	}
	return device.Owner{}
}

// pairDonors decides which donated input gives its HBM to which output: one of
// the same type, else one that takes as much. The answer is kept until other
// inputs are donated.
func (x *executable) pairDonors(l *device.Launch) {
	if slices.Equal(x.donate, l.Donate) {
		return
	}
	x.donate = append(x.donate[:0], l.Donate...)
	for i := range x.pair {
		x.pair[i] = -1
	}
	used := make([]bool, len(x.in))
	for _, sameType := range []bool{true, false} {
		for i := range x.outs {
			o := &x.outs[i]
			for k := 0; k < len(x.in) && k < len(l.Donate) && x.pair[i] < 0; k++ {
				if l.Donate[k] && !used[k] && (x.in[k].Equal(o.spec) || !sameType && x.padded[k] == o.padded && o.padded > 0) {
					x.pair[i], used[k] = k, true
				}
			}
		}
	}
}

// claim gives output i the HBM of its donor, if it has one. The donor keeps
// it until the run has succeeded.
func (x *executable) claim(l *device.Launch, i int) bool {
	x.donor[i] = -1
	if k := x.pair[i]; k >= 0 {
		if in, ok := l.In[k].(*buffer); ok && !in.claimed {
			in.claimed = true
			x.donor[i] = k
			return true
		}
	}
	return false
}

// release frees the blocks of the outputs after a failure, and lets the donors off.
func (x *executable) release(l *device.Launch) {
	for i, b := range x.blocks {
		if b != nil {
			x.dev.hbm.Free(b)
			x.blocks[i] = nil
		}
		if k := x.donor[i]; k >= 0 {
			l.In[k].(*buffer).claimed = false
		}
	}
	for i := range x.donor {
		x.donor[i] = -1
	}
}

// compute calls the kernels in order. A panic of a kernel is a defect; it must
// not take the session along.
func (x *executable) compute(l *device.Launch) (err error) {
	at := 0
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
			*to = kernel.New(s.outs[0].Spec())
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
			if from := x.arena[k]; from >= 0 {
				o := &s.outs[j]
				n := o.Size() * o.DType.HostBytes()
				x.arrays[k].Buf = x.dev.arena[from : from+n : from+(n+63)&^63]
			}
			if s.how == constant && x.arena[k] < 0 {
				x.arrays[k].Buf = kernel.Alloc(s.outs[j].DType.HostBytes()) // an output
			}
			s.outs[j].Buf = x.arrays[k].Buf
		}
		if s.def.Name == asStrided && len(s.ins) > 0 {
			densify(&s.ins[0])
		}
		x.call.In, x.call.Out, x.call.Attrs = s.ins, s.outs, a
		if err := s.def.Kernel(&x.call); err != nil {
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
	d := kernel.New(a.Spec())
	kernel.Copy(d, *a)
	*a = d
}

// unbind forgets the bytes that the steps up to the last one saw, so that a
// cached executable keeps nothing alive.
func (x *executable) unbind(last int) {
	x.call = kernel.Call{}
	for i := range min(last+1, len(x.steps)) {
		s := &x.steps[i]
		for j := range s.ins {
			s.ins[j].Buf = nil
		}
		for j := range s.outs {
			s.outs[j].Buf = nil
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
			block, in.block, in.claimed = in.block, nil, false
			x.dev.hbm.Move(block, o.bytes, owner(l, i))
		}
		l.Out[i] = &buffer{form: &o.form, buf: x.arrays[o.slot].Buf, block: block}
	}
}
