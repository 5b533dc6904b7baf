package trace

import (
	"sync"
	"sync/atomic"
)

// MaxFrames is how many frames an interned stack keeps: of a deeper one, the
// innermost MaxFrames-outerFrames and the outermost outerFrames. It bounds what
// a deep recursion can take.
const MaxFrames = 64

const outerFrames = 16

// A StackTable interns stacks: equal frames give the same *Stack for as long
// as the table lives. It is safe for concurrent use; finding a stack that is
// there takes no lock and allocates nothing. The zero table is ready.
type StackTable struct {
	slots atomic.Pointer[[]atomic.Pointer[Stack]] // open addressing, a power of two long
	mu    sync.Mutex                              // held to insert
	n     uint32
}

// Intern gives the stack of frames, innermost first. The table keeps a copy of
// frames, not frames. No frames gives nil.
func (t *StackTable) Intern(frames []Frame) *Stack {
	if len(frames) == 0 {
		return nil
	}
	inner, outer := frames, frames[:0]
	if len(frames) > MaxFrames {
		inner, outer = frames[:MaxFrames-outerFrames], frames[len(frames)-outerFrames:]
	}
	h := hashFrames(hashFrames(0x9e3779b97f4a7c15, inner), outer)
	if s := find(t.slots.Load(), h, inner, outer); s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := t.slots.Load()
	if s := find(slots, h, inner, outer); s != nil {
		return s
	}
	if slots == nil || int(t.n)*2 >= len(*slots) {
		slots = grown(slots)
		t.slots.Store(slots)
	}
	t.n++
	s := &Stack{hash: h, id: t.n, Frames: make([]Frame, 0, len(inner)+len(outer))}
	s.Frames = append(append(s.Frames, inner...), outer...)
	put(*slots, s)
	return s
}

// Len says how many stacks the table holds.
func (t *StackTable) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(t.n)
}

func find(slots *[]atomic.Pointer[Stack], h uint64, inner, outer []Frame) *Stack {
	if slots == nil {
		return nil
	}
	mask := uint64(len(*slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := (*slots)[i].Load()
		if s == nil {
			return nil
		}
		if s.hash == h && len(s.Frames) == len(inner)+len(outer) &&
			equalFrames(s.Frames[:len(inner)], inner) && equalFrames(s.Frames[len(inner):], outer) {
			return s
		}
	}
}

func put(slots []atomic.Pointer[Stack], s *Stack) {
	mask := uint64(len(slots) - 1)
	i := s.hash & mask
	for slots[i].Load() != nil {
		i = (i + 1) & mask
	}
	slots[i].Store(s)
}

func grown(old *[]atomic.Pointer[Stack]) *[]atomic.Pointer[Stack] {
	if old == nil {
		slots := make([]atomic.Pointer[Stack], 64)
		return &slots
	}
	slots := make([]atomic.Pointer[Stack], 2*len(*old))
	for i := range *old {
		if s := (*old)[i].Load(); s != nil {
			put(slots, s)
		}
	}
	return &slots
}

// hashFrames mixes the numbers of the frames and a little of their strings:
// equal frames have equal hashes, and equality is checked after.
func hashFrames(h uint64, frames []Frame) uint64 {
	const prime = 0xff51afd7ed558ccd
	for i := range frames {
		f := &frames[i]
		h ^= uint64(f.Cell)<<40 ^ uint64(f.Line)<<20 ^ uint64(f.Column) ^ uint64(f.FileLine)<<52 ^ uint64(len(f.Func))<<32 ^ uint64(len(f.File))<<12
		if n := len(f.Func); n > 0 {
			h ^= uint64(f.Func[n-1]) << 8
		}
		h *= prime
		h ^= h >> 32
	}
	return h
}

func equalFrames(a, b []Frame) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
