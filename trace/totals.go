package trace

import (
	"cmp"
	"math/bits"
	"slices"
)

// A TotalKey says what a Total is of.
type TotalKey struct {
	Stack  *Stack
	Op     string // op name, or the owner's name for memory that no op made
	Mode   string
	Group  string // name of the launch, "" for what no launch did
	Reason string // why the launch was cut
}

// A Total is the sum of what happened at one place for one op. Totals count
// every event emitted, those that the ring has dropped too.
type Total struct {
	TotalKey
	Ops           int64 // ops applied
	Launches      int64 // launches the op took part in
	DeviceNS      int64 // its share of the launches' time
	RealNS        int64 // its share of what real XLA measured for the launches
	HostNS        int64 // apply, compile, launch, transfer and read on the host
	FLOPs         int64
	TransferBytes int64 // between host and device
	AllocBytes    int64 // HBM taken, padding included, ever
	PaddingBytes  int64 // of AllocBytes, what holds no numbers
	InUseBytes    int64 // HBM held now, padding included
}

// tally keeps the totals. Its size depends on the number of places in the
// program and of live allocations, not on how much ran.
type tally struct {
	rows  map[TotalKey]*Total
	order []*Total
	// recent remembers the row last used for a place and op, so that the usual
	// event costs no hashing of strings.
	recent [512]*Total
	live   map[block]*holding
	spare  *holding
	mode   string
	op     uint64 // last op applied: one with several results is applied in as many events
	peak   Peak
}

// A Peak is the moment of largest HBM use.
type Peak struct {
	InUseBytes int64
	Seq        uint64
	Stack      *Stack
}

// block identifies an allocation until it is freed.
type block struct {
	value uint64
	bytes int64
}

// holding is who owns a block; next, who owns an equal one.
type holding struct {
	total *Total
	next  *holding
}

func newTally() tally {
	return tally{rows: map[TotalKey]*Total{}, live: map[block]*holding{}}
}

// row finds or makes the total of key.
func (t *tally) row(key *TotalKey) *Total {
	var slot uint32
	if key.Stack != nil {
		slot = key.Stack.id * 4
	}
	slot += uint32(len(key.Op))
	if key.Group != "" {
		slot += 2
	}
	recent := &t.recent[slot%uint32(len(t.recent))]
	if r := *recent; r != nil && r.TotalKey == *key {
		return r
	}
	r := t.rows[*key]
	if r == nil {
		r = &Total{TotalKey: *key}
		t.rows[*key] = r
		t.order = append(t.order, r)
	}
	*recent = r
	return r
}

func (t *tally) add(e *Event) {
	switch e.Kind {
	case CellBegin:
		if e.Mode != "" {
			t.mode = e.Mode
		}
	case Apply:
		r := t.row(t.key(e))
		if e.Op == 0 || e.Op != t.op {
			r.Ops++
		}
		t.op = e.Op
		r.HostNS += e.HostNS
	case Compile, Read, Recompute:
		if e.HostNS != 0 {
			t.row(t.key(e)).HostNS += e.HostNS
		}
	case Launch:
		t.launch(e)
	case Transfer:
		r := t.row(t.key(e))
		r.HostNS += e.HostNS
		r.TransferBytes += e.Bytes
	case Alloc:
		r := t.row(t.key(e))
		r.AllocBytes += e.PaddedBytes
		r.PaddingBytes += e.PaddedBytes - e.Bytes
		r.InUseBytes += e.PaddedBytes
		t.hold(block{e.Value, e.PaddedBytes}, r)
		if e.InUseBytes > t.peak.InUseBytes {
			t.peak = Peak{InUseBytes: e.InUseBytes, Seq: e.Seq, Stack: e.Stack}
		}
	case Free:
		if r := t.release(block{e.Value, e.PaddedBytes}); r != nil {
			r.InUseBytes -= e.PaddedBytes
		}
	}
}

func (t *tally) key(e *Event) *TotalKey {
	mode := e.Mode
	if mode == "" {
		mode = t.mode
	}
	return &TotalKey{Stack: e.Stack, Op: e.Name, Mode: mode}
}

// launch shares the time of a launch out to its parts. The shares add up
// exactly: each part gets the difference of two rounded running sums.
func (t *tally) launch(e *Event) {
	key := t.key(e)
	key.Group, key.Reason = e.Name, e.Reason
	if len(e.Parts) == 0 {
		if len(e.Ops) == 1 {
			key.Op = e.Ops[0]
		}
		r := t.row(key)
		r.Launches++
		r.DeviceNS += e.DurationNS
		r.RealNS += e.RealNS
		r.HostNS += e.HostNS
		r.FLOPs += e.FLOPs
		return
	}
	var all, sum uint64
	for i := range e.Parts {
		all += uint64(max(e.Parts[i].Weight, 0))
	}
	equal := all == 0
	if equal {
		all = uint64(len(e.Parts))
	}
	var device, host, measured, flops int64
	for i := range e.Parts {
		p := &e.Parts[i]
		if equal {
			sum++
		} else {
			sum += uint64(max(p.Weight, 0))
		}
		key.Stack, key.Op = p.Stack, p.Name
		r := t.row(key)
		r.Launches++
		d, h, f, m := share(e.DurationNS, sum, all), share(e.HostNS, sum, all), share(e.FLOPs, sum, all), share(e.RealNS, sum, all)
		r.RealNS += m - measured
		r.DeviceNS += d - device
		r.HostNS += h - host
		r.FLOPs += f - flops
		device, host, measured, flops = d, h, m, f
	}
}

// share gives n × part / all without overflow; part ≤ all, n ≥ 0.
func share(n int64, part, all uint64) int64 {
	if n <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), part)
	q, _ := bits.Div64(hi, lo, all)
	return int64(q)
}

func (t *tally) hold(b block, r *Total) {
	h := t.spare
	if h == nil {
		h = new(holding)
	} else {
		t.spare = h.next
	}
	h.total, h.next = r, t.live[b]
	t.live[b] = h
}

func (t *tally) release(b block) *Total {
	h := t.live[b]
	if h == nil {
		return nil
	}
	if h.next == nil {
		delete(t.live, b)
	} else {
		t.live[b] = h.next
	}
	r := h.total
	h.total, h.next = nil, t.spare
	t.spare = h
	return r
}

// reset forgets everything but what HBM holds now.
func (t *tally) reset() {
	var kept []*Total
	for _, r := range t.order {
		if r.InUseBytes == 0 {
			delete(t.rows, r.TotalKey)
			continue
		}
		*r = Total{TotalKey: r.TotalKey, InUseBytes: r.InUseBytes}
		kept = append(kept, r)
	}
	t.order = kept
	t.recent = [len(t.recent)]*Total{}
	t.peak = Peak{}
}

// totals copies the rows, in the order they first appeared.
func (t *tally) totals() []Total {
	out := make([]Total, len(t.order))
	for i, r := range t.order {
		out[i] = *r
	}
	return out
}

// TotalsSince gives what was added to now after before was taken: rows of now
// less the rows of before with the same key. InUseBytes is that of now, not a
// difference. Rows that come to nothing are left out.
func TotalsSince(now, before []Total) []Total {
	old := make(map[TotalKey]*Total, len(before))
	for i := range before {
		old[before[i].TotalKey] = &before[i]
	}
	var out []Total
	for _, t := range now {
		if b := old[t.TotalKey]; b != nil {
			t.Ops -= b.Ops
			t.Launches -= b.Launches
			t.DeviceNS -= b.DeviceNS
			t.RealNS -= b.RealNS
			t.HostNS -= b.HostNS
			t.FLOPs -= b.FLOPs
			t.TransferBytes -= b.TransferBytes
			t.AllocBytes -= b.AllocBytes
			t.PaddingBytes -= b.PaddingBytes
		}
		if (t != Total{TotalKey: t.TotalKey}) {
			out = append(out, t)
		}
	}
	return out
}

// Totals adds up a recording, as a Recorder does while it records.
func Totals(events []Event) []Total {
	t := newTally()
	for i := range events {
		t.add(&events[i])
	}
	return t.totals()
}

// SortTotals orders totals by a quantity, largest first; equal ones keep their order.
func SortTotals(totals []Total, quantity func(*Total) int64) {
	slices.SortStableFunc(totals, func(a, b Total) int { return cmp.Compare(quantity(&b), quantity(&a)) })
}
