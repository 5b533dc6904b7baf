package pjrt

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/shape"
)

// A room is the HBM of the outputs of a launch: blocks of their own, or those
// of donated inputs of the same size.
type room struct {
	x      *executable
	l      *device.Launch
	blocks []*device.Block // nil where a donor gives its
	donors []*buffer
	sizes  []int64
}

// allocate takes the HBM of the outputs, all or none. where says which are in parts.
func (x *executable) allocate(l *device.Launch, where []*shape.Sharding) (*room, error) {
	r := &room{x: x, l: l, blocks: make([]*device.Block, len(x.g.Outputs)), donors: make([]*buffer, len(x.g.Outputs)), sizes: make([]int64, len(x.g.Outputs))}
	given := make([]bool, len(l.In))
	for i, ref := range x.g.Outputs {
		s := partOf(ref.Spec(), where[i])
		r.sizes[i] = s.Bytes()
		for k, give := range l.Donate {
			own, ok := l.In[k].(*buffer)
			if give && ok && !given[k] && s.PaddedBytes() > 0 && own.PaddedBytes() == s.PaddedBytes() {
				r.donors[i], given[k] = own, true
				break
			}
		}
		if r.donors[i] != nil {
			continue
		}
		b, err := x.dev.hbm.Alloc(s.Bytes(), s.PaddedBytes(), r.owner(i))
		if err != nil {
			r.giveBack()
			return nil, err
		}
		r.blocks[i] = b
	}
	return r, nil
}

func (r *room) owner(i int) device.Owner {
	if i < len(r.l.Owners) {
		return r.l.Owners[i]
	}
	return device.Owner{}
}

// giveBack frees what was taken: the launch did not happen.
func (r *room) giveBack() {
	for _, b := range r.blocks {
		if b != nil {
			r.x.dev.hbm.Free(b)
		}
	}
}

// take gives the block of output i.
func (r *room) take(i int) *device.Block {
	d := r.donors[i]
	if d == nil {
		return r.blocks[i]
	}
	b := d.block
	d.block = nil
	r.x.dev.hbm.Move(b, r.sizes[i], r.owner(i))
	return b
}

// freeDonors frees the donated inputs whose block nothing took.
func (r *room) freeDonors() {
	for k, give := range r.l.Donate {
		if own, ok := r.l.In[k].(*buffer); give && ok {
			own.Free()
		}
	}
}
