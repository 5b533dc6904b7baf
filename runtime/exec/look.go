package exec

import (
	"time"

	"github.com/tpush/tpush/runtime/shape"
)

// A Look is a copy of what a dispatcher did last and has before it.
type Look struct {
	Mode  *Mode
	Stats Stats
	Cache CacheStats
	Steps Steps
	// What is used of the HBM, was at most, and may be.
	HBMUsedBytes, HBMPeakBytes, HBMLimitBytes int64
	Queue                                     []QueuedOp // applied and not launched, oldest first
	Groups                                    []Group    // the last launches, oldest first
}

// A QueuedOp is an operation that waits in the queue.
type QueuedOp struct {
	GroupOp
	Bytes int64 // of its results
	// From are the queued operations it reads, as positions in the queue, and
	// Inputs what it reads beside them.
	From   []int
	Inputs []shape.Spec
}

// lookEvery is how often Look tries.
const lookEvery = 50 * time.Microsecond

// Look copies the last launches, at most n of them, for somebody who looks
// while a cell runs. It does not wait for an operation that runs for longer
// than patience: it then gives false.
func (d *Dispatcher) Look(n int, patience time.Duration) (Look, bool) {
	if !d.tryLock(patience) {
		return Look{}, false
	}
	defer d.mu.Unlock()
	out := Look{Mode: d.mode, Stats: d.stats, Cache: d.cache.stats(), Steps: d.steps.stats(),
		HBMUsedBytes: d.hbm.Used(), HBMPeakBytes: d.hbm.Peak(), HBMLimitBytes: d.hbm.Limit()}
	at := map[*node]int{}
	for i, q := range d.queue {
		at[q] = i
		op := QueuedOp{GroupOp: GroupOp{string(q.def.Name), q.opn, q.outs[0].typ.Spec, q.stack}}
		for _, v := range q.outs {
			op.Bytes += v.typ.Spec.PaddedBytes()
		}
		for _, v := range q.in {
			if v == nil {
				continue
			}
			if k, ok := at[through(v)]; ok {
				op.From = append(op.From, k)
			} else {
				op.Inputs = append(op.Inputs, v.typ.Spec)
			}
		}
		out.Queue = append(out.Queue, op)
	}
	g := &d.groups
	for i := max(0, g.next-min(n, keptGroups)); i < g.next; i++ {
		out.Groups = append(out.Groups, g.ring[i%keptGroups].group())
	}
	return out, true
}

// through is the queued operation that v leads to, views between left out;
// nil when v is computed.
func through(v *Value) *node {
	for v != nil && v.buf == nil && v.node != nil {
		if !v.node.info.meta || len(v.node.in) == 0 {
			return v.node
		}
		v = v.node.in[0]
	}
	return nil
}

// tryLock takes the lock unless it stays taken for longer than patience.
func (d *Dispatcher) tryLock(patience time.Duration) bool {
	for end := time.Now().Add(patience); !d.mu.TryLock(); time.Sleep(lookEvery) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// LookCache lists the programs in the cache as Look looks: it gives false
// rather than wait for long.
func (d *Dispatcher) LookCache(patience time.Duration) ([]CacheEntry, CacheStats, bool) {
	if !d.tryLock(patience) {
		return nil, CacheStats{}, false
	}
	defer d.mu.Unlock()
	return d.cache.list(), d.cache.stats(), true
}
