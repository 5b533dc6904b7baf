// Package exec is the one path from an operation to its result: node, queue,
// cut, region, executable, launch, buffers.
//
// It never draws, prints or panics; it knows no tensors, views or gradients.
// It imports trace, shape, kernel, op, graph and device. Invariant: a Value is
// immutable; whether and when it is computed never changes its bits.
package exec

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// State is where a value is in its life.
type State uint8

// The states of a value.
const (
	Deferred  State = iota // has a recipe, was not computed
	Constant               // known on the host: a Go number
	Pending                // launched; the device has not finished by the virtual clock
	Ready                  // computed
	Failed                 // its region failed
	Donated                // its HBM went to the value that replaced it
	Swallowed              // fusion computed it and kept it on chip; it is recomputed if used again
	Swept                  // nothing reaches it: its HBM was given back
)

// String gives the name of the state.
func (s State) String() string {
	return [...]string{"deferred", "constant", "pending", "ready", "failed", "donated", "swallowed", "swept"}[s]
}

// A Value is an immutable result, perhaps not computed yet.
type Value struct {
	typ      *Type
	id       uint64
	state    State
	out      uint8  // which result of the node
	used     bool   // an operation of the running statement has consumed it
	charged  bool   // its numbers are only held by the history
	place    int32  // index in Dispatcher.live, -1 when not registered
	depth    int32  // frame depth of the statement that made it, settled when it survived a sweep
	epoch    uint32 // last mark that reached it
	frame    uint64 // serial of the activation of that frame
	held     uint32 // last mark that found it read by an operation that will run
	last     int32  // last region of the running cut that reads it
	region   uint32 // region being built that has it as an input
	at       int32  // its position among that region's inputs
	kept     int32  // records of the history that hold it
	holders  int32  // storages of the layer above, see Hold
	readers  int32  // queued operations and views that read it
	spent    bool   // given up: its numbers go when nothing reads it any more
	replaced bool   // a write of the running program put another value in its place
	slot     uint8  // its place in a slab, see husk
	pins     int32  // holders that keep it without being walked to
	wanted   uint32 // last cut of which it is an output
	husk     *Husk  // of its slab, of a value that was not launched when it was made; else nil
	readyNS  int64  // virtual time at which the device has it
	node     *node  // recipe; dropped when the value is materialized
	buf      device.Buffer
	err      *FailedValueError
	stack    *trace.Stack
	opn      uint64
}

// name gives the operation that made v.
func (v *Value) name() string { return v.typ.what }

// A Type is a Spec and the view of a tensor that sees the whole of such a
// value, without strides. Values and tensors of one call share it, so it also
// names the operation that made them.
type Type struct {
	Spec shape.Spec
	Seen shape.View
	what string
	text string // of Spec, once it was asked for
}

// string gives Spec as text. The dispatcher's lock is held.
func (t *Type) string() string {
	if t.text == "" {
		t.text = t.Spec.String()
	}
	return t.text
}

// typeOf makes a Type.
func typeOf(s shape.Spec, what string) *Type {
	return &Type{Spec: s, Seen: shape.View{Dims: s.Dims}, what: what}
}

// settled is the depth of values that outlived the statement that made them.
const settled = -1

// Spec is the type of the value, known before it is computed.
func (v *Value) Spec() shape.Spec { return v.typ.Spec }

// SpecRef is Spec without a copy, not to be written to.
func (v *Value) SpecRef() *shape.Spec { return &v.typ.Spec }

// Type is what Spec is a part of, not to be written to.
func (v *Value) Type() *Type { return v.typ }

// IsConstant says whether it is an argument known on the host.
func (v *Value) IsConstant() bool { return v.state == Constant }

// Hold counts a holder of v, Unhold one less; it gives how many are left. Only
// what Discard is told hangs on it.
func (v *Value) Hold() { v.holders++ }

// Unhold is the end of a Hold.
func (v *Value) Unhold() int32 {
	v.holders--
	return v.holders
}

// ID is unique in a session.
func (v *Value) ID() uint64 { return v.id }

// Stack is where the user wrote the operation that made it.
func (v *Value) Stack() *trace.Stack { return v.stack }

// What names the operation that made it.
func (v *Value) What() string { return v.name() }

// OpNumber is the N of op #N.
func (v *Value) OpNumber() uint64 { return v.opn }

// HBMBytes is what the value takes in HBM now: 0 unless it is materialized.
func (v *Value) HBMBytes() int64 {
	if v.buf == nil || v.buf.Freed() {
		return 0
	}
	return v.buf.PaddedBytes()
}

// A node is one application in the queue: the recipe of its values.
type node struct {
	def     *op.Def
	info    *defInfo
	site    *site         // of an operation with one result
	shelf   *device.Shelf // where that has its home, nil when it is on the list of the living
	place   int           // of that home
	attrs   op.Attrs
	in      []*Value
	outs    []*Value
	opn     uint64
	stack   *trace.Stack
	spare   bool   // used again when it is done
	queued  bool   // in the queue
	needed  uint32 // last cut that needs it
	reached uint32 // last cut whose outputs read it, see reach
	held    uint32 // last mark that found that it will run
	region  uint32 // region being built that contains it
	at      int32  // its position in that region
	part    int32  // segment of the running cut that it is in
	read    int32  // position of its last reader in a segment
}

// A deferred is a queued operation with its only result, and room for its
// operands: one allocation.
type deferred struct {
	node
	result Value
	ins    [3]*Value
	out    [1]*Value
}
