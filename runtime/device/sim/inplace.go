package sim

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A result that takes over the HBM of a donated input may take over its bytes on
// the host too, and those of an input that nobody reads any more: an update of
// parameters or of a cache then writes where it read, instead of into memory that
// no cache holds. The donor's bytes are gone, so its buffer is lost: who uses it
// after all gets an error, never another number.

// writers are the rows that copy their first operand and change a part of it:
// where that is the result's own memory there is nothing to copy.
var writers = map[op.Name]bool{"as_strided_scatter": true, "as_strided_write": true, "index_copy": true, "select_scatter": true, "slice_scatter": true}

// mayReplace says whether output i can be computed in the bytes of input k: what
// reads the input runs before the step that makes the output, or that step reads
// each element before it writes it.
func (x *executable) mayReplace(i, k int) bool {
	o := &x.outs[i]
	if !o.owns || !x.in[k].Equal(o.spec) || o.host <= lateMaxBytes {
		return false
	}
	for j := range x.outs { // the input itself is a result
		if x.outs[j].slot == k {
			return false
		}
	}
	sees := make([]bool, len(x.arrays)) // the bytes of the input
	sees[k] = true
	made := false
	for n := range x.steps {
		s := &x.steps[n]
		reads := false
		for _, in := range s.in {
			reads = reads || in >= 0 && sees[in]
		}
		if reads && made {
			return false
		}
		if s.how == alias || s.how == lateView {
			sees[s.first] = reads
			continue
		}
		for _, r := range s.results() {
			if r != o.slot {
				continue
			}
			made = true
			if reads && !x.readsFirst(s, k, sees) {
				return false
			}
		}
	}
	return made
}

// readsFirst says whether s, which reads input k, reads each element of it
// before it writes that element of its result.
func (x *executable) readsFirst(s *step, k int, sees []bool) bool {
	dims := x.arrays[k].Dims
	whole := func(in int) bool { return in == k && shape.EqualDims(x.arrays[in].Dims, dims) }
	switch {
	case s.group != nil:
		for _, in := range s.in {
			if in >= 0 && sees[in] && (!whole(in) || !s.group.fusion.Spans(dims)) {
				return false
			}
		}
		return true
	case s.how != compute || len(s.outs) != 1:
		return false
	case writers[s.def.Name]:
		for j, in := range s.in {
			if in >= 0 && sees[in] && (j > 0 || !whole(in)) {
				return false
			}
		}
		return true
	case s.late || s.def.Class != op.Elementwise || !kernel.Recipes(string(s.def.Name)) || kernel.AlongRows(string(s.def.Name)):
		return false
	}
	for _, in := range s.in {
		if in >= 0 && sees[in] && !whole(in) {
			return false
		}
	}
	return shape.EqualDims(s.outs[0].Dims, dims)
}

// replaced gives output i the bytes of its donor, when both allow it. A program
// whose kernels have not all run yet may still fail, and would take the numbers along.
func (x *executable) replaced(l *device.Launch, i int) []byte {
	k := x.donor[i]
	switch {
	case !l.InPlace || !x.ran:
		return nil
	case k < 0 && len(l.Spent) > 0:
		k = x.spare[i]
	case k >= 0 && !x.replaces[i]:
		return nil
	}
	if k < 0 {
		return nil
	}
	in := l.In[k].(*buffer)
	if in.lent || in.slab != nil || int64(len(in.buf)) != in.host || x.twice(l, k) {
		return nil
	}
	in.lost = true
	return in.buf
}

// pairSpent decides which spent input gives its bytes to which output that no
// donor is paired with. The answer is kept until others are spent.
func (x *executable) pairSpent(l *device.Launch) {
	if slices.Equal(x.spent, l.Spent) {
		return
	}
	x.spent = append(x.spent[:0], l.Spent...)
	x.spare = x.spare[:0]
	used := make([]bool, len(x.in))
	for i := range x.outs {
		x.spare = append(x.spare, -1)
		for k := 0; k < len(l.Spent) && x.pair[i] < 0 && x.spare[i] < 0; k++ {
			if l.Spent[k] && !used[k] && x.mayReplace(i, k) {
				x.spare[i], used[k] = k, true
			}
		}
	}
}

// twice says whether the buffer of input k is another input too.
func (x *executable) twice(l *device.Launch, k int) bool {
	for j, b := range l.In {
		if j != k && b == l.In[k] {
			return true
		}
	}
	return false
}
