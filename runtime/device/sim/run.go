package sim

import (
	"runtime/debug"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// asStrided addresses the elements of its operand directly, not through the operand's strides.
const asStrided op.Name = "as_strided"

// maxArenaKept is how much of the arena stays between runs.
const maxArenaKept = 256 << 20

// Run computes l.Out. It allocates the HBM of the outputs first, so that
// nothing has run when it returns *device.OutOfMemoryError or
// *device.HostMemoryError. An operation that fails gives *device.KernelError.
func (x *executable) Run(l *device.Launch) error {
	if len(l.In) != len(x.in) {
		return &device.InputError{Input: -1, Why: "wrong number of inputs"}
	}
	for i, b := range l.In {
		in, ok := b.(*buffer)
		if !ok && b != nil && b.Spec().Equal(x.in[i]) {
			x.arrays[i].Buf = b.Host().Buf // a number on the host, passed as an argument
			continue
		}
		if !ok || in.dev != x.dev || !in.spec.Equal(x.in[i]) {
			e := &device.InputError{Input: i, Want: x.in[i]}
			if b != nil {
				e.Got = b.Spec()
			}
			return e
		}
		if in.block == nil {
			return &device.FreedBufferError{Input: i, Spec: in.spec}
		}
		x.arrays[i].Buf = in.array.Buf
	}
	temp, err := x.allocate(l)
	if err == nil {
		err = x.compute(l)
	}
	if temp != nil {
		x.dev.hbm.Free(temp)
	}
	if err == nil {
		x.collect(l)
	} else {
		x.release(len(x.outs))
	}
	for i := range x.arrays {
		x.arrays[i].Buf = nil
	}
	if int64(len(x.dev.arena)) > maxArenaKept {
		x.dev.arena = nil
	}
	return err
}

// allocate takes HBM for the outputs that get no donated buffer, and for the
// intermediates; it gives the block of the latter. On error nothing is taken.
func (x *executable) allocate(l *device.Launch) (temp *device.Block, err error) {
	d := x.dev
	for i := range x.outs {
		o := &x.outs[i]
		x.donor[i] = x.findDonor(l, i)
		if x.donor[i] >= 0 {
			continue
		}
		var owner device.Owner
		if i < len(l.Owners) {
			owner = l.Owners[i]
		}
		if x.blocks[i], err = d.hbm.Alloc(o.bytes, o.padded, owner); err != nil {
			x.release(i)
			return nil, err
		}
	}
	if x.temp > 0 {
		if temp, err = d.hbm.Alloc(x.temp, x.temp, device.Owner{What: "temp"}); err != nil {
			x.release(len(x.outs))
			return nil, err
		}
	}
	for i := range x.outs {
		if o := &x.outs[i]; o.slot >= len(x.in) && o.shares < 0 {
			if err = d.host.take(o.host, x.name); err != nil {
				break
			}
			x.arrays[o.slot].Buf = kernel.Alloc(int(o.host))
		}
	}
	if err == nil && x.arenaBytes > int64(len(d.arena)) {
		d.arena = nil
		if err = d.host.take(x.arenaBytes, x.name); err == nil {
			d.arena = kernel.Alloc(int(x.arenaBytes))
		}
	}
	if err != nil {
		x.release(len(x.outs))
		if temp != nil {
			d.hbm.Free(temp)
		}
		return nil, err
	}
	return temp, nil
}

// findDonor finds a donated input for output i: one of the same type, else one
// that takes as much HBM; -1 when there is none.
func (x *executable) findDonor(l *device.Launch, i int) int {
	found := -1
	for k, donate := range l.Donate {
		if !donate || x.taken(l, i, k) {
			continue
		}
		in, ok := l.In[k].(*buffer)
		if !ok {
			continue
		}
		if in.spec.Equal(x.outs[i].spec) {
			return k
		}
		if found < 0 && in.padded == x.outs[i].padded {
			found = k
		}
	}
	return found
}

// taken says whether an output before i got the buffer of input k.
func (x *executable) taken(l *device.Launch, i, k int) bool {
	for _, j := range x.donor[:i] {
		if j >= 0 && l.In[j] == l.In[k] {
			return true
		}
	}
	return false
}

// release frees the blocks of the first n outputs after a failure.
func (x *executable) release(n int) {
	for i, b := range x.blocks[:n] {
		if b != nil {
			x.dev.hbm.Free(b)
			x.blocks[i] = nil
		}
	}
}

// compute calls the kernels in order.
func (x *executable) compute(l *device.Launch) (err error) {
	c := &x.call
	at := 0
	defer func() {
		clear(c.In[:cap(c.In)])
		clear(c.Out[:cap(c.Out)])
		c.In, c.Out, c.Attrs = c.In[:0], c.Out[:0], nil
		if p := recover(); p != nil {
			err = &device.KernelError{Op: string(x.steps[at].def.Name), Node: x.steps[at].node, Panic: p, Trace: string(debug.Stack())}
		}
	}()
	for i := range x.steps {
		s := &x.steps[i]
		at = i
		c.Attrs = s.attrs
		if s.node < len(l.Attrs) {
			c.Attrs = l.Attrs[s.node]
		}
		if s.view && x.see(s, c.Attrs) {
			continue
		}
		c.In, c.Out = c.In[:0], c.Out[:0]
		for _, k := range s.in {
			if k < 0 {
				c.In = append(c.In, kernel.Array{})
			} else {
				c.In = append(c.In, x.arrays[k])
			}
		}
		for k := s.out; k < s.out+s.nout; k++ {
			a := &x.arrays[k]
			if s.view {
				a.View, a.Buf = s.dense, kernel.Alloc(shape.Size(s.dense.Dims)*a.DType.HostBytes())
			} else if from := x.arena[k]; from >= 0 {
				n := a.Size() * a.DType.HostBytes()
				a.Buf = x.dev.arena[from : from+n : from+(n+63)&^63]
			}
			c.Out = append(c.Out, *a)
		}
		if err := s.def.Kernel(c); err != nil {
			return &device.KernelError{Op: string(s.def.Name), Node: s.node, Err: err}
		}
	}
	return nil
}

// see makes the result of a metadata-only step a view of its operand. It says
// no when the row cannot express the view; the kernel then copies.
func (x *executable) see(s *step, a op.Attrs) bool {
	from, to := &x.arrays[s.in[0]], &x.arrays[s.out]
	if s.def.Name == asStrided && (from.Offset != 0 || !from.Contiguous()) {
		return false // strides count in the dense value, which nobody holds
	}
	v, err := s.def.View(from.View, a)
	if err != nil || from.DType != to.DType {
		return false
	}
	to.View, to.Buf = v, from.Buf
	return true
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
			block, in.block = in.block, nil
			var owner device.Owner
			if i < len(l.Owners) {
				owner = l.Owners[i]
			}
			x.dev.hbm.Move(block, o.bytes, owner)
		}
		l.Out[i] = &buffer{
			dev: x.dev, spec: o.spec, padded: o.padded, block: block,
			array: kernel.Array{DType: o.spec.DType, View: o.view, Buf: x.arrays[o.slot].Buf},
		}
	}
}
