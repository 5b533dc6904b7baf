package exec

import (
	"sort"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A Ref names an operand or a result of a recorded operation. ID is 0 for an
// absent operand.
type Ref struct {
	ID   uint64
	OpN  uint64 // of the operation that made it, 0 for an upload or a number
	Spec shape.Spec
	// Value is nil once the history gave its numbers up for others.
	Value *Value
}

// A Binding says that from this operation on a variable named a value.
type Binding struct {
	Name   string
	Depth  int    // of the frame whose variable it is, 0 for a variable of the session
	Serial uint64 // of the frame's activation, 0 for a variable of the session
	View   shape.View
	Ref    Ref
}

// A Record is one operation of the history: its recipe, and what the program's
// variables named when it began.
type Record struct {
	OpN   uint64
	Def   *op.Def
	Attrs op.Attrs
	In    []Ref
	Out   []Ref
	Bound []Binding // what changed since the record before, and the locals of the running statements
	Stack *trace.Stack
	Cell  int
	Depth int    // of the frame that applied it
	Frame uint64 // serial of that frame's activation
	Mode  *Mode
	Group int64 // launch that computed it, 0: none so far
}

// A record is a Record as the ring has it. Its lists are used again.
type record struct {
	opn   uint64
	def   *op.Def
	attrs op.Attrs
	in    []held
	out   []held
	bound []Binding
	stack *trace.Stack
	cell  int
	depth int
	frame uint64
	mode  *Mode
	group int64
}

// A held value is a Ref as the ring has it: the type is not copied.
type held struct {
	id, opn uint64
	typ     *Type // nil for an absent operand
	v       *Value
}

func (x *held) ref() Ref {
	if x.typ == nil {
		return Ref{}
	}
	return Ref{ID: x.id, OpN: x.opn, Spec: x.typ.Spec, Value: x.v}
}

// A history keeps the last operations in a ring. It holds their values, so that
// one may look back; a value that the program has freed counts against
// limitBytes, and when there are too many such bytes the oldest records let
// their values go. HBM is never held.
type history struct {
	ring       []record
	next       uint64 // records ever made; the ring holds the last ones
	empty      uint64 // records before this one have let their values go
	limitBytes int64
	heldBytes  int64 // numbers of values that only the history holds
	base       map[string]Binding
	names      func(Spot, func(Binding))
	bind       func(Binding) // appends to the newest record; made once
}

// SetHistory makes the dispatcher keep the last ops operations, and of the
// values that the program has freed at most bytes of numbers. What was kept
// before is forgotten. 0 ops switch it off.
func (d *Dispatcher) SetHistory(ops int, bytes int64) {
	d.lock()
	defer d.mu.Unlock()
	h := &d.past
	for i := h.first(); i < h.next; i++ {
		h.letGo(h.at(i))
	}
	h.dropBase()
	h.ring, h.next, h.empty, h.limitBytes = nil, 0, 0, bytes
	if ops > 0 {
		h.ring = make([]record, ops)
		h.base = map[string]Binding{}
		h.bind = func(b Binding) {
			r := h.at(h.next - 1)
			r.bound = append(r.bound, b)
			h.keep(b.Ref.Value)
		}
	}
}

// HistoryLimits gives what SetHistory was told.
func (d *Dispatcher) HistoryLimits() (ops int, bytes int64) {
	d.lock()
	defer d.mu.Unlock()
	return len(d.past.ring), d.past.limitBytes
}

// SetNames gives the function that tells, at an operation that begins a
// statement, which variables name which values: those of the session that have
// changed since it was asked last, and the locals of the frames that moved on.
func (d *Dispatcher) SetNames(f func(Spot, func(Binding))) {
	d.lock()
	defer d.mu.Unlock()
	d.past.names = f
}

// RefOf makes the reference of a value.
func RefOf(v *Value) Ref {
	if v == nil {
		return Ref{}
	}
	return Ref{ID: v.id, OpN: v.opn, Spec: v.typ.Spec, Value: v}
}

func (h *history) at(i uint64) *record { return &h.ring[i%uint64(len(h.ring))] }

// first is the oldest record that the ring holds.
func (h *history) first() uint64 {
	if n := uint64(len(h.ring)); h.next > n {
		return h.next - n
	}
	return 0
}

// record notes an accepted operation; its results are to be added.
func (d *Dispatcher) record(def *op.Def, attrs op.Attrs, opn uint64, st *trace.Stack, in []*Value) *record {
	h := &d.past
	r := h.begin()
	r.opn, r.cell, r.group, r.depth, r.frame = opn, d.cell, 0, d.spot.Depth, d.spot.Serial
	if r.def != def { // writing pointers costs more than comparing them
		r.def = def
	}
	if r.mode != d.mode {
		r.mode = d.mode
	}
	if r.stack != st {
		r.stack = st
	}
	if !r.attrs.Is(attrs) {
		r.attrs = attrs
	}
	for _, v := range in {
		r.in = h.hold(r.in, v)
	}
	if h.names != nil && d.spot.Fresh > 0 {
		h.names(d.spot, h.bind)
	}
	return r
}

// begin makes room for a record.
func (h *history) begin() *record {
	r := h.at(h.next)
	if h.next >= uint64(len(h.ring)) {
		h.retire(r)
	}
	h.next++
	h.empty = max(h.empty, h.first())
	r.in, r.out, r.bound = r.in[:0], r.out[:0], r.bound[:0]
	return r
}

// hold adds a value to a list of a record.
func (h *history) hold(list []held, v *Value) []held {
	if v == nil {
		return append(list, held{})
	}
	h.keep(v)
	return append(list, held{v.id, v.opn, v.typ, v})
}

// launched notes which launch computed an operation.
func (h *history) launched(opn uint64, group int64) {
	if h.next == 0 {
		return
	}
	if r := h.at(h.next - 1); r.opn == opn {
		r.group = group
	} else if i, ok := h.find(opn); ok {
		h.at(i).group = group
	}
}

// find gives the position of an operation: their numbers grow.
func (h *history) find(opn uint64) (uint64, bool) {
	lo := h.first()
	n := int(h.next - lo)
	i := sort.Search(n, func(i int) bool { return h.at(lo+uint64(i)).opn >= opn })
	at := lo + uint64(i)
	return at, i < n && h.at(at).opn == opn
}

// keep notes that a record holds v.
func (h *history) keep(v *Value) {
	if v == nil {
		return
	}
	v.kept++
	if v.kept == 1 && v.buf != nil && v.state != Constant && v.buf.Freed() {
		h.charge(v)
	}
}

// drop notes that a record holds v no longer.
func (h *history) drop(v *Value) {
	if v == nil {
		return
	}
	v.kept--
	if v.kept == 0 {
		h.discharge(v)
	}
}

// charge counts the numbers of a value that the program has freed.
func (h *history) charge(v *Value) {
	if v.kept == 0 || v.charged || v.buf == nil {
		return
	}
	v.charged = true
	h.heldBytes += int64(v.typ.Spec.HostBytes())
	for h.heldBytes > h.limitBytes && h.empty < h.next {
		h.letGo(h.at(h.empty))
		h.empty++
	}
	if h.heldBytes > h.limitBytes {
		h.dropBase()
	}
}

func (h *history) discharge(v *Value) {
	if v.charged {
		v.charged = false
		h.heldBytes -= int64(v.typ.Spec.HostBytes())
	}
}

// letGo drops the values of a record; what they were stays.
func (h *history) letGo(r *record) {
	for _, list := range [2][]held{r.in, r.out} {
		for i := range list {
			h.release(&list[i].v)
		}
	}
	for i := range r.bound {
		h.release(&r.bound[i].Ref.Value)
	}
}

func (h *history) release(v **Value) {
	h.drop(*v)
	*v = nil
}

// retire makes room: what the variables of the session named from this record
// on still holds for the records after it.
func (h *history) retire(r *record) {
	for _, b := range r.bound {
		if b.Serial == 0 {
			h.keep(b.Ref.Value)
			h.drop(h.base[b.Name].Ref.Value)
			h.base[b.Name] = b
		}
	}
	h.letGo(r)
}

func (h *history) dropBase() {
	for name, b := range h.base {
		h.release(&b.Ref.Value)
		h.base[name] = b
	}
}

// History gives copies of the last n records, oldest first; all when n is not positive.
func (d *Dispatcher) History(n int) []Record {
	d.lock()
	defer d.mu.Unlock()
	h := &d.past
	from := h.first()
	if n > 0 && h.next-from > uint64(n) {
		from = h.next - uint64(n)
	}
	list := make([]Record, 0, h.next-from)
	for i := from; i < h.next; i++ {
		list = append(list, h.at(i).clone())
	}
	return list
}

func (r *record) clone() Record {
	c := Record{OpN: r.opn, Def: r.def, Attrs: r.attrs, Bound: append([]Binding(nil), r.bound...), Stack: r.stack,
		Cell: r.cell, Depth: r.depth, Frame: r.frame, Mode: r.mode, Group: r.group}
	for i := range r.in {
		c.In = append(c.In, r.in[i].ref())
	}
	for i := range r.out {
		c.Out = append(c.Out, r.out[i].ref())
	}
	return c
}

// RecordOf gives the record of an operation, if it is still kept.
func (d *Dispatcher) RecordOf(opn uint64) (Record, bool) {
	d.lock()
	defer d.mu.Unlock()
	if i, ok := d.past.find(opn); ok {
		return d.past.at(i).clone(), true
	}
	return Record{}, false
}

// RecordBack gives the record n operations before the one called opn (after it
// when n is negative), 0 meaning now. Beyond the ends it gives the last one
// there is and how many steps were left over.
func (d *Dispatcher) RecordBack(opn uint64, n int) (r Record, left int, ok bool) {
	d.lock()
	defer d.mu.Unlock()
	h := &d.past
	lo := h.first()
	if lo == h.next {
		return Record{}, n, false
	}
	at := h.next
	if opn > 0 {
		at, _ = h.find(opn)
	}
	to := int64(at) - int64(n)
	switch {
	case to < int64(lo):
		return h.at(lo).clone(), int(int64(lo) - to), true
	case to >= int64(h.next):
		return h.at(h.next - 1).clone(), int(to - int64(h.next) + 1), true
	}
	return h.at(uint64(to)).clone(), 0, true
}

// Recorded gives the numbers of the first and the last operation kept, and how
// many were kept once and are not any more.
func (d *Dispatcher) Recorded() (first, last, forgotten uint64) {
	d.lock()
	defer d.mu.Unlock()
	h := &d.past
	lo := h.first()
	if lo == h.next {
		return 0, 0, lo
	}
	return h.at(lo).opn, h.at(h.next - 1).opn, lo
}

// NamesAt gives what the variables named when an operation began: those of the
// session, and the locals of the frame that applied it.
func (d *Dispatcher) NamesAt(opn uint64) []Binding {
	d.lock()
	defer d.mu.Unlock()
	h := &d.past
	at, ok := h.find(opn)
	if !ok {
		return nil
	}
	frame := h.at(at).frame
	seen := map[string]bool{}
	var list []Binding
	for i := int64(at); i >= int64(h.first()); i-- {
		for _, b := range h.at(uint64(i)).bound {
			if (b.Serial == frame || b.Serial == 0) && !seen[b.Name] {
				seen[b.Name] = true
				list = append(list, b)
			}
		}
	}
	for name, b := range h.base {
		if !seen[name] {
			list = append(list, b)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// ValueByID finds a value that lives or that the history holds.
func (d *Dispatcher) ValueByID(id uint64) *Value {
	d.lock()
	defer d.mu.Unlock()
	for _, v := range d.live {
		if v.id == id {
			return v
		}
	}
	h := &d.past
	for i := h.next; i > h.empty; i-- {
		r := h.at(i - 1)
		for _, list := range [2][]held{r.out, r.in} {
			for k := range list {
				if list[k].id == id && list[k].v != nil {
					return list[k].v
				}
			}
		}
	}
	return nil
}

// QueuedOps gives the numbers of the operations in the queue.
func (d *Dispatcher) QueuedOps() []uint64 {
	d.lock()
	defer d.mu.Unlock()
	list := make([]uint64, len(d.queue))
	for i, n := range d.queue {
		list[i] = n.opn
	}
	return list
}

// Revive charges the HBM of values again that were freed and are to be used
// after all. It stops at the first that does not fit, which stays freed.
func (d *Dispatcher) Revive(vs ...*Value) error {
	d.lock()
	defer d.mu.Unlock()
	for _, v := range vs {
		if err := d.revive(v); err != nil {
			return err
		}
	}
	return nil
}

// HeldBytes is what a value's numbers take on the host when the program has
// freed it and only looking back keeps it.
func (d *Dispatcher) HeldBytes(v *Value) int64 {
	d.lock()
	defer d.mu.Unlock()
	if v.buf == nil || v.state == Constant || !v.buf.Freed() {
		return 0
	}
	return int64(v.typ.Spec.HostBytes())
}
