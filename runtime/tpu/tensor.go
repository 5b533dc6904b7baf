package tpu

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A Tensor is a handle: a Storage seen through a view, perhaps with a place on
// the gradient tape. Copying the pointer shares it.
type Tensor struct {
	s     *Storage
	view  *shape.View // shared, never written to; Strides are nil while whole is true
	dt    dtype.DType
	whole bool // the view is the whole storage in row-major order
	weak  bool // a Go number on the tape
	multi bool // one of several views made by one call
	quiet bool // a view made without gradients of something that wants them
	gen   uint32
	run   uint32   // of a compiled function that made the handle, 0 for none
	hist  *history // nil: takes no part in gradients
	base  *Tensor  // the tensor this is a view of, nil for none; never itself a view
}

// owned is a tensor with a storage of its own: one allocation.
type owned struct {
	t Tensor
	s Storage
}

// wrap makes a tensor with a storage of its own of a value nobody else stores.
func (e *engine) wrap(v *exec.Value) *Tensor {
	o := &owned{}
	e.own(o, v)
	o.s.adopt()
	return &o.t
}

// own makes o, which is zero, a tensor of v.
func (e *engine) own(o *owned, v *exec.Value) {
	typ := v.Type()
	o.s.e, o.s.value, o.s.inference = e, v, e.inference > 0
	v.Hold()
	o.t.s, o.t.view, o.t.dt, o.t.whole = &o.s, &typ.Seen, typ.Spec.DType, true
	if e.tidy != nil {
		e.tidy.made = append(e.tidy.made, &o.t)
	}
}

// apply1 applies a row with one result that is no view and takes no part in
// gradients. A small result lies in a slab with its tensor: a tensor on the tape
// may not, for the tape would tie slab to slab and keep all of them.
func (e *engine) apply1(def *op.Def, attrs op.Attrs, vals []*exec.Value) (*Tensor, error) {
	s := e.room()
	if s == nil {
		v, err := e.d.Apply1(def, attrs, vals...)
		if err != nil {
			return nil, err
		}
		if c := e.capture; c != nil {
			c.applied(def, v)
		}
		return e.wrap(v), nil
	}
	k := s.used
	s.used++ // a hook of the operation may make tensors too
	slot := exec.Slot{Slab: s.vals, Husk: s.list.husk, At: k}
	v, err := e.d.Apply1At(&slot, def, attrs, vals...)
	if err != nil {
		return nil, err
	}
	if v != slot.Value() {
		if s.used == k+1 {
			s.used = k
		}
		return e.wrap(v), nil
	}
	return &s.own(e, k, v).t, nil
}

// own makes the tensor at k of the slab one of v, the value in the slot at k.
func (s *slab) own(e *engine, k int, v *exec.Value) *owned {
	o := &s.owned[k]
	e.own(o, v)
	o.s.batch, o.s.slot = &s.batch, uint8(k)
	s.list.mask |= 1 << k
	return o
}

// seenAs makes a tensor that sees the storage of t through v.
func (t *Tensor) seenAs(v shape.View) *Tensor {
	x := &Tensor{s: t.s, view: &v, dt: t.dt, run: t.s.e.run()}
	x.whole = v.Offset == 0 && v.Contiguous() && shape.Size(v.Dims) == t.s.size()
	return x
}

// root is the tensor at the bottom of a chain of views: t itself when it is none.
func (t *Tensor) root() *Tensor {
	for t.base != nil {
		t = t.base
	}
	return t
}

// layout gives the view with its strides.
func (t *Tensor) layout() shape.View {
	if t.view.Strides == nil {
		return shape.View{Dims: t.view.Dims, Strides: shape.RowMajor(t.view.Dims), Offset: t.view.Offset}
	}
	return *t.view
}

// value gives the value of the tensor as an operand.
func (t *Tensor) value() *exec.Value {
	s := t.s
	if s.freed {
		s.e.fail("", &FreedError{t.Spec()})
	}
	if c := s.e.capture; c != nil {
		c.use(t)
	}
	if t.whole {
		have := s.value.SpecRef().Dims
		if len(have) == len(t.view.Dims) && (unsafe.SliceData(have) == unsafe.SliceData(t.view.Dims) || shape.EqualDims(t.view.Dims, have)) {
			return s.value
		}
	}
	return s.viewed(t.layout())
}

// Spec gives element type and dimensions.
func (t *Tensor) Spec() shape.Spec {
	t.engine()
	return shape.Spec{DType: t.dt, Dims: t.view.Dims, Weak: t.weak}
}

// DType gives the element type.
func (t *Tensor) DType() DType {
	t.engine()
	return DType(t.dt)
}

// Dims gives a copy of the sizes.
func (t *Tensor) Dims() []int {
	t.engine()
	return append([]int{}, t.view.Dims...)
}

// Dim gives the size of one axis, which may count from the end.
func (t *Tensor) Dim(axis int) int {
	t.engine()
	a, err := shape.Axis("dim", axis, len(t.view.Dims))
	if err == nil && len(t.view.Dims) == 0 {
		err = &shape.AxisError{Op: "dim", Axis: axis, Rank: 0}
	}
	if err != nil {
		t.engine().fail("dim", err)
	}
	return t.view.Dims[a]
}

// Rank is the number of axes.
func (t *Tensor) Rank() int {
	t.engine()
	return len(t.view.Dims)
}

// Size is the number of elements.
func (t *Tensor) Size() int {
	t.engine()
	return shape.Size(t.view.Dims)
}

// Strides gives a copy of the strides, in elements.
func (t *Tensor) Strides() []int {
	t.engine()
	return append([]int{}, t.layout().Strides...)
}

// Offset is the position of the first element in the storage.
func (t *Tensor) Offset() int {
	t.engine()
	return t.view.Offset
}

// StorageView gives sizes, strides and offset over the storage.
func (t *Tensor) StorageView() shape.View {
	t.engine()
	return t.layout()
}

// Layout is how the TPU compiler lays the tensor out: f32[33,7]{0,1:T(8,128)}.
func (t *Tensor) Layout() shape.Layout {
	t.engine()
	return shape.LayoutOf(t.Spec())
}

// IsContiguous says whether the elements lie in row-major order without gaps.
func (t *Tensor) IsContiguous() bool {
	t.engine()
	return t.layout().Contiguous()
}

// Bytes is what the numbers need, PaddedBytes what they take in HBM.
func (t *Tensor) Bytes() int64 {
	t.engine()
	return t.Spec().Bytes()
}

// PaddedBytes is what the tensor takes in HBM when it has a buffer of its own.
func (t *Tensor) PaddedBytes() int64 {
	t.engine()
	return t.Spec().PaddedBytes()
}

// State says where the value is in its life; it never reads.
func (t *Tensor) State() exec.State { return t.engine().d.State(t.s.value) }

// Origin is where the value was made, nil when nobody knows.
func (t *Tensor) Origin() *trace.Stack {
	t.engine()
	return t.s.value.Stack()
}

// Version counts the writes to the storage.
func (t *Tensor) Version() int {
	t.engine()
	return int(t.s.version)
}

// SharesStorage says whether both tensors see the same storage.
func (t *Tensor) SharesStorage(u *Tensor) bool {
	t.engine()
	return t.s == u.s
}

// Value gives the value of the storage, for inspection.
func (t *Tensor) Value() *exec.Value {
	t.engine()
	return t.s.value
}

// Summary is one line that reads nothing: f32[256,4096]  4.0 MiB  deferred.
func (t *Tensor) Summary() string {
	t.engine()
	return t.Spec().String() + "  " + device.FormatBytes(t.Bytes()) + "  " + t.State().String()
}

// engine gives the engine the tensor lives on, and refuses one that no
// operation made.
func (t *Tensor) engine() *engine {
	if t == nil || t.s == nil {
		t.unmade()
	}
	return t.s.e
}

func (t *Tensor) unmade() {
	if t == nil {
		refuse("", &NilTensorError{})
	}
	refuse("", &UnmadeTensorError{})
}
