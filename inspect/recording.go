package inspect

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tpush/tpush/trace"
)

// A Recording is the events of a session, laid out for those who look at it
// again and again: it is told what is new and answers for any stretch of time.
// It keeps the last events, as many as the recorder does.
type Recording struct {
	keep    uint64
	last    uint64 // newest event
	first   uint64 // oldest event kept
	lanes   [trace.NumLanes][]stretch
	cells   []stretch // spans of cells, oldest first
	open    int       // index of the cell that runs, -1 for none
	queue   []level
	hbm     []level
	waiting waiting
	marks   []stretch
	index   []indexed // of all events, from number base on
	base    uint64
	names   map[string]int32
	texts   []string
	atNS    int64 // the latest moment seen
}

// A stretch is one event on a lane, small enough to keep tens of thousands.
type stretch struct {
	startNS, endNS int64
	seq            uint64
	op, value      uint64
	group          uint32
	cell, line     int32
	name           int32
	ops            int32
	kind           trace.Kind
}

// An indexed event is what filters look at.
type indexed struct {
	op    uint64
	group uint32
	name  int32
	cell  int32
	kind  trace.Kind
}

// A level is a quantity from a moment on.
type level struct {
	atNS  int64
	value int64
	seq   uint64
}

// NewRecording makes one that keeps as many events.
func NewRecording(keep int) *Recording {
	return &Recording{keep: uint64(max(keep, 1)), first: 1, open: -1, names: map[string]int32{}}
}

// Last is the number of the newest event it was told of.
func (r *Recording) Last() uint64 { return r.last }

// Add tells of new events, in order.
func (r *Recording) Add(events []trace.Event) {
	for i := range events {
		r.add(&events[i])
	}
	r.trim()
}

func (r *Recording) add(e *trace.Event) {
	if len(r.index) == 0 || e.Seq != r.base+uint64(len(r.index)) { // events were dropped before they were seen
		r.base, r.index = e.Seq, r.index[:0]
		r.first = max(r.first, e.Seq)
	}
	r.index = append(r.index, indexed{op: e.Op, group: uint32(e.Launch), name: r.name(e.Name), cell: int32(e.Cell), kind: e.Kind})
	r.last = e.Seq
	r.atNS = max(r.atNS, e.AtNS+e.DurationNS)
	f := e.Stack.Top()
	s := stretch{startNS: e.AtNS, endNS: e.AtNS + max(e.DurationNS, 0), seq: e.Seq, op: e.Op, value: e.Value, group: uint32(e.Launch),
		cell: int32(f.Cell), line: int32(f.Line), kind: e.Kind, ops: int32(len(e.Ops))}
	if s.cell == 0 {
		s.cell = int32(e.Cell)
	}
	switch e.Kind {
	case trace.CellBegin:
		s.name, s.cell, s.line = r.name("In["+strconv.Itoa(e.Cell)+"]"), int32(e.Cell), 0
		r.open = len(r.cells)
		r.cells = append(r.cells, s)
		return
	case trace.CellEnd:
		if r.open >= 0 {
			r.cells[r.open].endNS = max(e.AtNS, r.cells[r.open].startNS)
			r.open = -1
		}
		return
	case trace.Alloc, trace.Free:
		r.hbm = appendLevel(r.hbm, level{e.AtNS, e.InUseBytes, e.Seq})
		return
	case trace.Apply:
		r.waiting.apply(e.Op)
		r.queue = appendLevel(r.queue, level{e.AtNS, int64(r.waiting.len()), e.Seq})
		s.name, s.ops = r.name(e.Name), 1
	case trace.Cut:
		r.waiting.cut(e.Op, len(e.Ops))
		r.queue = appendLevel(r.queue, level{e.AtNS, int64(r.waiting.len()), e.Seq})
		s.name = r.name("g" + strconv.Itoa(e.Launch))
	case trace.Launch:
		s.name = r.name(e.Name)
	case trace.Note:
		s.name = r.name(e.Name)
		if e.Name == "mark" {
			s.name = r.name(e.Text)
			r.marks = append(r.marks, s)
		}
	default:
		name := e.Name
		if name == "" {
			name = e.Kind.String()
		}
		s.name = r.name(name)
	}
	lane := e.Kind.Row().Lane
	if lane < trace.NumLanes {
		r.lanes[lane] = append(r.lanes[lane], s)
	}
}

// appendLevel adds a level; of several at one moment the largest and the last stay.
func appendLevel(list []level, l level) []level {
	if n := len(list); n > 1 && list[n-1].atNS == l.atNS && list[n-2].atNS == l.atNS {
		list[n-2].value = max(list[n-2].value, list[n-1].value)
		list[n-1] = l
		return list
	}
	return append(list, l)
}

// maxNames bounds the table of names: what loops name anew is not kept for ever.
const maxNames = 1 << 16

func (r *Recording) name(s string) int32 {
	if i, ok := r.names[s]; ok {
		return i
	}
	if len(r.texts) >= maxNames {
		s = "…"
		if i, ok := r.names[s]; ok {
			return i
		}
	}
	i := int32(len(r.texts))
	r.names[s] = i
	r.texts = append(r.texts, s)
	return i
}

// trim forgets what the recorder has dropped too. It moves memory only once in a while.
func (r *Recording) trim() {
	if r.last < r.keep {
		return
	}
	r.first = max(r.first, r.last-r.keep+1)
	const slack = 4096
	cut := func(list []stretch) []stretch {
		n, _ := slices.BinarySearchFunc(list, r.first, func(s stretch, seq uint64) int { return cmp.Compare(s.seq, seq) })
		if n < slack {
			return list
		}
		return append([]stretch(nil), list[n:]...)
	}
	for l := range r.lanes {
		r.lanes[l] = cut(r.lanes[l])
	}
	r.marks = cut(r.marks)
	for _, q := range []*[]level{&r.queue, &r.hbm} {
		n, _ := slices.BinarySearchFunc(*q, r.first, func(l level, seq uint64) int { return cmp.Compare(l.seq, seq) })
		if n >= slack {
			*q = append([]level(nil), (*q)[n:]...)
		}
	}
	if n := r.first - min(r.base, r.first); n >= slack {
		r.index = append([]indexed(nil), r.index[n:]...)
		r.base += n
	}
	if n := len(r.cells) - slack; n >= slack {
		r.cells = append([]stretch(nil), r.cells[n:]...)
		r.open -= n
	}
}

// waiting counts the ops that were applied and not cut.
type waiting struct {
	ops  []uint64
	from int
}

func (w *waiting) len() int { return len(w.ops) - w.from }

func (w *waiting) apply(op uint64) {
	if n := len(w.ops); n > w.from && op != 0 && w.ops[n-1] == op {
		return // another result of the same op
	}
	w.ops = append(w.ops, op)
}

// cut takes the ops up to the last op of the cut away; a cut that does not say
// its last op takes as many as it names.
func (w *waiting) cut(last uint64, n int) {
	n = min(n, w.len())
	if last != 0 {
		for n = 0; n < w.len() && w.ops[w.from+n] <= last; n++ {
		}
	}
	w.from += n
	if w.from == len(w.ops) || w.from > 1<<12 {
		w.ops = append(w.ops[:0], w.ops[w.from:]...)
		w.from = 0
	}
}
