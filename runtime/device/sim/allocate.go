package sim

import (
	"errors"
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
)

// allocate takes HBM for the outputs that get no donated buffer and for the
// intermediates, whose block it gives. On error nothing is taken.
func (x *executable) allocate(l *device.Launch) (temp *device.Block, err error) {
	d := x.dev
	if len(l.Donate) > 0 || len(x.donate) > 0 {
		x.pairDonors(l)
	}
	if len(l.Spent) > 0 && l.InPlace {
		x.pairSpent(l)
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
	if err = x.allocateHost(l); err != nil {
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
func (x *executable) allocateHost(l *device.Launch) error {
	d := x.dev
	for i := range x.outs {
		o := &x.outs[i]
		if !o.owns {
			continue
		}
		if err := d.host.take(o.host, x.name); err != nil {
			return err
		}
	}
	if x.arenaBytes > int64(len(d.arena)) {
		d.arena = nil
		if err := d.host.take(x.arenaBytes, x.name); err != nil {
			return err
		}
		d.arena = kernel.AllocRaw(int(x.arenaBytes))
	}
	for i := range x.outs { // last: nothing may fail when a donor has lost its bytes
		o := &x.outs[i]
		if !o.owns {
			continue
		}
		if x.arrays[o.slot].Buf = x.replaced(l, i); x.arrays[o.slot].Buf == nil {
			x.arrays[o.slot].Buf = d.small.bytes(int(o.host))
		}
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
	for i := range x.replaces {
		x.replaces[i] = x.pair[i] >= 0 && x.mayReplace(i, x.pair[i])
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
	for _, b := range l.In {
		if in, ok := b.(*buffer); ok && in.lost {
			in.Free()
		}
	}
	for i := range x.donor {
		x.donor[i] = -1
	}
}
