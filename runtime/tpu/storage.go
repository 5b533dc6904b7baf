package tpu

import (
	"runtime"
	"sync"
	"weak"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A Storage is the box that an in-place write refills: a dense value, seen by
// tensors through views. Nothing else is ever changed.
type Storage struct {
	e         *engine
	value     *exec.Value
	version   uint32 // writes so far
	slot      uint8  // place in the batch
	freed     bool
	inference bool  // made in Inference
	keep      bool  // survives the Tidy it was made in
	pins      int32 // live nodes that saved the present value, see liveness
	batch     *batch
	rare      *rare // nil: nothing of it
}

// rare is what few storages have.
type rare struct {
	memo  []viewMemo // views of the present value
	wrote written    // the last write
}

// A written says what wrote a storage.
type written struct {
	op string
	at *trace.Stack
}

// lastWrite says what wrote the storage last, nothing when nothing has.
func (s *Storage) lastWrite() written {
	if s.rare == nil {
		return written{}
	}
	return s.rare.wrote
}

// A viewMemo keeps the value of a view, so that reading it twice makes one node.
type viewMemo struct {
	view  shape.View
	value *exec.Value
}

// maxMemo bounds the views a storage remembers.
const maxMemo = 4

// A batch lets storages share one cleanup: when all of them are unreachable,
// Go's collector runs it and the values go back to the dispatcher. A cleanup
// costs more than an operation on a small tensor.
type batch struct {
	list *dropBatch
	used int
}

// dropBatch is what the cleanup gets; it must not lead to the storages, nor to
// the dispatcher, whose engine has the newest of them.
type dropBatch struct {
	d    weak.Pointer[exec.Dispatcher]
	husk *exec.Husk
	mask uint32                  // which values of the slab belong to storages of the batch
	vals *[batchSize]*exec.Value // others that do; nil while there are none
}

// A slabDrop is the dropBatch of a slab with its husk: one allocation.
type slabDrop struct {
	dropBatch
	husk exec.Husk
}

// batchSize is how many small storages share a cleanup, smallBytes what counts as small.
const (
	batchSize  = exec.SlabValues
	smallBytes = 16 << 10
)

// A slab is the memory of small tensors that are made one after the other, and their batch.
type slab struct {
	batch
	vals  *exec.Slab
	owned [batchSize]owned
}

func dropAll(l *dropBatch) {
	d := l.d.Value()
	if d == nil {
		return
	}
	if l.mask != 0 {
		d.DropHusk(l.husk, l.mask)
	}
	if l.vals == nil {
		return
	}
	for _, v := range l.vals {
		if v != nil {
			d.Drop(v)
		}
	}
}

// put makes v the value that the storage in a slot owns; nil: none.
func (l *dropBatch) put(slot uint8, v *exec.Value) {
	l.mask &^= 1 << slot
	if l.vals == nil {
		if v == nil {
			return
		}
		l.vals = new([batchSize]*exec.Value)
	}
	l.vals[slot] = v
}

// room gives a slab with room for one more tensor, nil when a tensor is to
// stand alone: where a root walk decides what lives, and in a compiled function.
func (e *engine) room() *slab {
	if e.capture != nil || !e.d.Slabs() {
		return nil
	}
	if s := e.slab; s != nil && s.used < batchSize {
		return s
	}
	return e.newSlab()
}

// newSlab makes the slab of the next tensors.
func (e *engine) newSlab() *slab {
	l := &slabDrop{dropBatch: dropBatch{d: e.weakly}}
	l.dropBatch.husk = &l.husk
	s := &slab{vals: e.d.NewSlab(&l.husk)}
	s.list = &l.dropBatch
	e.slab = s
	runtime.AddCleanup(s, dropAll, s.list)
	return s
}

// adopt registers the storage's value with Go's collector, when no root walk decides what lives.
func (s *Storage) adopt() {
	e := s.e
	if c := e.capture; c != nil {
		c.born(s)
		return
	}
	if e.d.Rooted() || s.batch != nil {
		return
	}
	b := e.batch
	if s.value.Spec().Bytes() > smallBytes {
		b = nil
	}
	if b == nil || b.used == batchSize {
		b = &batch{list: &dropBatch{d: e.weakly}}
		runtime.AddCleanup(b, dropAll, b.list)
		if s.value.Spec().Bytes() <= smallBytes {
			e.batch = b
		}
	}
	s.batch, s.slot = b, uint8(b.used)
	b.list.put(s.slot, s.value)
	b.used++
}

// set replaces the value: the only write there is. The former value is given
// back unless keep says that somebody else holds it.
func (s *Storage) set(v *exec.Value, name string, keep bool) {
	if c := s.e.capture; c != nil {
		c.touch(s)
	}
	old := s.value
	s.e.live.written(s)
	views := s.views()
	s.value = v
	v.Hold()
	s.version++
	if s.e.capture != nil {
		s.e.capture.wrote = append(s.e.capture.wrote, s)
		if !keep && old != v {
			s.e.d.Replaced(old)
		}
	}
	if w := s.lastWrite(); w.op != name || w.at != v.Stack() {
		s.rare = &rare{wrote: written{name, v.Stack()}} // a Snapshot has the former one
	}
	if s.batch != nil {
		s.batch.list.put(s.slot, v)
		if left := old.Unhold(); !keep && old != v {
			if left == 0 {
				s.e.d.Discard(old, views...)
			} else {
				s.e.d.Drop(old)
			}
		}
	} else {
		s.e.d.Touch()
	}
}

// views takes the values of views of the present value away from s.
func (s *Storage) views() []*exec.Value {
	if s.rare == nil {
		return nil
	}
	var vs []*exec.Value
	for _, m := range s.rare.memo {
		vs = append(vs, m.value)
	}
	s.rare.memo = nil
	return vs
}

// size is the number of elements.
func (s *Storage) size() int { return shape.Size(s.value.Spec().Dims) }

// dtype is the type of the elements.
func (s *Storage) dtype() dtype.DType { return s.value.Spec().DType }

// viewed gives the value of a view that is not the whole of the storage's value.
func (s *Storage) viewed(v shape.View) *exec.Value {
	if s.rare == nil {
		s.rare = &rare{}
	}
	r := s.rare
	memo := r.memo
	for i := range memo {
		m := &memo[i]
		if m.view.Offset == v.Offset && shape.EqualDims(m.view.Dims, v.Dims) && shape.EqualDims(m.view.Strides, v.Strides) {
			return m.value
		}
	}
	x, err := s.e.d.Apply1(asStrided(), stridedAttrs(v), s.value)
	if err != nil {
		s.e.fail("as_strided", err)
	}
	if len(memo) >= maxMemo {
		memo = nil
	}
	r.memo = append(memo, viewMemo{v, x})
	return x
}

var asStrided = sync.OnceValue(func() *op.Def { return op.Must("as_strided") })

// stridedAttrs are the attributes of as_strided and as_strided_scatter.
func stridedAttrs(v shape.View) op.Attrs {
	return op.Attrs{{Name: "size", Value: v.Dims}, {Name: "stride", Value: v.Strides}, {Name: "storage_offset", Value: v.Offset}}
}

// seen gives the host array a through a view.
func seen(a kernel.Array, v shape.View) kernel.Array {
	a.View = v
	return a
}
