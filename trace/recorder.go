package trace

import (
	"sync"
	"sync/atomic"
)

// DefaultCapacity is how many events a Recorder keeps unless told otherwise.
const DefaultCapacity = 1 << 16

const chunkLen = 1 << 10

// A Recorder is the Sink that keeps: the last events in a bounded ring, and
// totals that count all of them. It is safe for concurrent use. Emit copies
// the event, numbers it and allocates nothing once the ring is full.
type Recorder struct {
	on atomic.Bool

	mu       sync.Mutex
	chunks   [][]Event // made as they are needed; slot i is chunks[i/chunkLen][i%chunkLen]
	capacity uint64
	first    uint64 // Seq of the oldest event kept
	last     uint64 // Seq of the newest event, 0 before any
	dropped  uint64
	cell     int // the cell that runs: for events that do not say
	tally    tally
}

// NewRecorder makes a recorder that is on and keeps capacity events, or
// DefaultCapacity when capacity is not positive.
func NewRecorder(capacity int) *Recorder {
	r := &Recorder{first: 1, tally: newTally()}
	r.capacity = atLeastOneChunk(capacity)
	r.chunks = make([][]Event, r.capacity/chunkLen)
	r.on.Store(true)
	return r
}

// atLeastOneChunk rounds a capacity up to whole chunks.
func atLeastOneChunk(capacity int) uint64 {
	if capacity <= 0 {
		capacity = DefaultCapacity
	}
	return (uint64(capacity) + chunkLen - 1) / chunkLen * chunkLen
}

// On says whether events are recorded. Emitters may ask it to skip building one.
func (r *Recorder) On() bool { return r.on.Load() }

// SetOn switches recording. While it is off nothing is kept or counted.
func (r *Recorder) SetOn(on bool) { r.on.Store(on) }

// Emit records a copy of ev under the next sequence number. An event that does
// not say its cell is of the one that runs.
func (r *Recorder) Emit(ev *Event) {
	if !r.on.Load() {
		return
	}
	r.mu.Lock()
	r.last++
	if r.last-r.first >= r.capacity {
		r.first++
		r.dropped++
	}
	slot := r.slot(r.last)
	*slot = *ev
	slot.Seq = r.last
	switch {
	case slot.Kind == CellBegin:
		r.cell = slot.Cell
	case slot.Cell == 0:
		slot.Cell = r.cell
	}
	if slot.Kind == CellEnd {
		r.cell = 0
	}
	r.tally.add(slot)
	r.mu.Unlock()
}

func (r *Recorder) slot(seq uint64) *Event {
	i := seq % r.capacity
	chunk := r.chunks[i/chunkLen]
	if chunk == nil {
		chunk = make([]Event, chunkLen)
		r.chunks[i/chunkLen] = chunk
	}
	return &chunk[i%chunkLen]
}

// Capacity is how many events are kept: what was asked for, rounded up.
func (r *Recorder) Capacity() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.capacity)
}

// SetCapacity changes how many events are kept. The newest that fit stay.
func (r *Recorder) SetCapacity(capacity int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.between(r.first, r.last)
	r.capacity = atLeastOneChunk(capacity)
	r.chunks = make([][]Event, r.capacity/chunkLen)
	if n := uint64(len(kept)); n > r.capacity {
		r.first += n - r.capacity
		r.dropped += n - r.capacity
		kept = kept[n-r.capacity:]
	}
	for i := range kept {
		*r.slot(kept[i].Seq) = kept[i]
	}
}

// Last is the sequence number of the newest event, 0 before any.
func (r *Recorder) Last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// First is the sequence number of the oldest event that is kept; larger than
// Last when there is none.
func (r *Recorder) First() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

// Dropped is how many events the ring no longer has.
func (r *Recorder) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// Peak is the moment of largest HBM use.
func (r *Recorder) Peak() Peak {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally.peak
}

// ResetPeak begins a new peak at inUseBytes.
func (r *Recorder) ResetPeak(inUseBytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.peak = Peak{InUseBytes: inUseBytes, Seq: r.last}
}

// A Snapshot is what a recorder held at one moment. It is a copy.
type Snapshot struct {
	Events  []Event
	Totals  []Total
	Dropped uint64
	Peak    Peak
}

// Snapshot copies everything.
func (r *Recorder) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Snapshot{r.between(r.first, r.last), r.tally.totals(), r.dropped, r.tally.peak}
}

// Since copies the events after seq that are still there.
func (r *Recorder) Since(seq uint64) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.between(seq+1, r.last)
}

// Range copies the events first to last, both included, that are still there.
func (r *Recorder) Range(first, last uint64) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.between(first, last)
}

func (r *Recorder) between(first, last uint64) []Event {
	first, last = max(first, r.first), min(last, r.last)
	if first > last {
		return nil
	}
	out := make([]Event, 0, last-first+1)
	for seq := first; seq <= last; seq++ {
		out = append(out, *r.slot(seq))
	}
	return out
}

// Totals copies the totals since the recorder was made, in the order in which
// the places first appeared.
func (r *Recorder) Totals() []Total {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally.totals()
}

// Reset forgets events and totals, but not what HBM holds now. Sequence numbers go on.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first = r.last + 1
	r.dropped = 0
	clear(r.chunks)
	r.tally.reset()
}

// Discard gives the Sink that keeps nothing.
func Discard() Sink { return discard{} }

type discard struct{}

func (discard) Emit(*Event) {}

// Tee gives a Sink that passes every event on to each of sinks, in order.
func Tee(sinks ...Sink) Sink { return tee(sinks) }

type tee []Sink

func (t tee) Emit(ev *Event) {
	for _, s := range t {
		s.Emit(ev)
	}
}
