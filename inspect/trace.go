package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A Trace is what ran when in a stretch of virtual time.
type Trace struct {
	StartNS int64  `json:"start_ns"` // of the stretch
	EndNS   int64  `json:"end_ns"`
	FirstNS int64  `json:"first_ns"` // of what is kept
	LastNS  int64  `json:"last_ns"`
	Events  uint64 `json:"events"`         // kept
	Dropped uint64 `json:"dropped"`        // events that are missing at the front
	Cell    int    `json:"cell,omitempty"` // the stretch is that of this cell
	Off     bool   `json:"off,omitempty"`  // recording is switched off

	Lanes   []TraceLane  `json:"lanes"` // host, queue, device, transfers, HBM
	Marks   []TraceSlice `json:"marks,omitempty"`
	BusyNS  int64        `json:"busy_ns"` // device time
	HostNS  int64        `json:"host_ns"` // of the host in cells, waits included
	Ops     int          `json:"ops"`     // applied
	Groups  int          `json:"groups"`  // launched
	PeakHBM int64        `json:"peak_hbm"`

	Found *TraceSlice `json:"found,omitempty"` // what was searched for
	Card  *OpCard     `json:"card,omitempty"`  // of the event that was asked for
}

// TraceArgs ask for a stretch of the trace.
type TraceArgs struct {
	StartNS int64 `json:"start_ns,omitempty"`
	EndNS   int64 `json:"end_ns,omitempty"` // not after StartNS: all, or the cell
	Cell    int   `json:"cell,omitempty"`   // the stretch of this cell; -1 for the last that used the device
	Cols    int   `json:"cols,omitempty"`   // cells it will be drawn in: shorter slices are joined

	Find  string `json:"find,omitempty"`  // an op, group (g3), op number (#7) or cell (In[2])
	After uint64 `json:"after,omitempty"` // search from this event on
	Back  bool   `json:"back,omitempty"`  // search backwards
	Group uint64 `json:"group,omitempty"` // find the launch of this group
	Op    uint64 `json:"op,omitempty"`    // find this op
	Value uint64 `json:"value,omitempty"` // find what made this value
	At    At     `json:"at,omitzero"`     // find what this line did
	Card  uint64 `json:"card,omitempty"`  // the event to look into
}

// A TraceLane is one lane: slices, or samples of a quantity.
type TraceLane struct {
	Name    string        `json:"name"`
	Slices  []TraceSlice  `json:"slices,omitempty"`
	Samples []TraceSample `json:"samples,omitempty"`
	Note    string        `json:"note,omitempty"`
}

// A TraceSlice is an event, or several short ones that a screen cannot tell apart.
type TraceSlice struct {
	Seq     uint64 `json:"seq"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	StartNS int64  `json:"start_ns"`
	EndNS   int64  `json:"end_ns"`
	Op      uint64 `json:"op,omitempty"`
	Group   uint64 `json:"group,omitempty"`
	Value   uint64 `json:"value,omitempty"`
	At      At     `json:"at,omitzero"`
	Count   int    `json:"count,omitempty"` // events it stands for, when more than one
	Ops     int    `json:"ops,omitempty"`
}

// A TraceSample is a quantity from a moment on.
type TraceSample struct {
	AtNS  int64 `json:"at_ns"`
	Value int64 `json:"value"`
}

// usualCols is how many cells a trace is made for when nobody says.
const usualCols = 100

// Window gives the stretch of time that was asked for.
func (r *Recording) Window(args TraceArgs) Trace {
	t := Trace{Events: r.last - r.first + 1, Dropped: r.first - 1}
	t.FirstNS, t.LastNS = r.span()
	t.StartNS, t.EndNS = args.StartNS, args.EndNS
	if c := r.cell(args.Cell); c != nil && args.EndNS <= args.StartNS {
		t.Cell, t.StartNS, t.EndNS = int(c.cell), c.startNS, r.end(c)
	}
	if s := r.find(args); s != nil {
		found := r.slice(*s)
		t.Found = &found
		if mid, half := (found.StartNS+found.EndNS)/2, (t.EndNS-t.StartNS)/2; half > 0 && (found.StartNS < t.StartNS || found.EndNS > t.EndNS) {
			t.StartNS, t.EndNS = mid-half, mid+half // the window moves to it
		}
	}
	if t.EndNS <= t.StartNS {
		t.StartNS, t.EndNS = t.FirstNS, max(t.LastNS, t.FirstNS+1)
	}
	cols := args.Cols
	if cols < 1 {
		cols = usualCols
	}
	for lane := range trace.NumLanes {
		l := TraceLane{Name: lane.String()}
		switch lane {
		case trace.QueueLane:
			var most int64
			l.Samples, most = samples(r.queue, t.StartNS, t.EndNS, cols)
			l.Note = "max " + viz.Count(most)
		case trace.MemoryLane:
			l.Samples, t.PeakHBM = samples(r.hbm, t.StartNS, t.EndNS, cols)
			l.Note = "peak " + viz.Bytes(t.PeakHBM)
		case trace.HostLane:
			for i := range r.cells {
				if c := r.cells[i]; c.startNS <= t.EndNS && r.end(&c) >= t.StartNS {
					c.endNS = r.end(&c)
					l.Slices = append(l.Slices, r.slice(c))
					t.HostNS += min(c.endNS, t.EndNS) - max(c.startNS, t.StartNS)
				}
			}
			l.Slices = append(joinedSlices(l.Slices, t.StartNS, t.EndNS, cols), r.within(r.lanes[lane], t.StartNS, t.EndNS, cols)...)
		default:
			l.Slices = r.within(r.lanes[lane], t.StartNS, t.EndNS, cols)
		}
		t.Lanes = append(t.Lanes, l)
	}
	r.count(&t)
	for _, m := range r.marks {
		if m.startNS >= t.StartNS && m.startNS <= t.EndNS {
			t.Marks = append(t.Marks, r.slice(m))
		}
	}
	return t
}

// count adds up what ran in the stretch.
func (r *Recording) count(t *Trace) {
	from, to := around(r.lanes[trace.DeviceLane], t.StartNS, t.EndNS)
	for i := from; i < to; i++ {
		s := &r.lanes[trace.DeviceLane][i]
		if s.kind == trace.Launch {
			t.Groups++
			t.BusyNS += min(s.endNS, t.EndNS) - max(s.startNS, t.StartNS)
		}
	}
	from, to = around(r.lanes[trace.QueueLane], t.StartNS, t.EndNS)
	var last uint64
	for i := from; i < to; i++ {
		if s := &r.lanes[trace.QueueLane][i]; s.kind == trace.Apply && (s.op == 0 || s.op != last) {
			t.Ops++
			last = s.op
		}
	}
}

// span is the time from the first event that is kept to the last.
func (r *Recording) span() (first, last int64) {
	first = r.atNS
	for l := range r.lanes {
		if len(r.lanes[l]) > 0 {
			first = min(first, r.lanes[l][0].startNS)
		}
	}
	if len(r.cells) > 0 {
		first = min(first, r.cells[0].startNS)
	}
	return first, r.atNS
}

// end is the end of a cell; that of one that runs is now.
func (r *Recording) end(c *stretch) int64 {
	if r.open >= 0 && r.cells[r.open].seq == c.seq {
		return r.atNS
	}
	return max(c.endNS, c.startNS)
}

// cell finds a cell by number, -1 for the last that used the device.
func (r *Recording) cell(n int) *stretch {
	launches := r.lanes[trace.DeviceLane]
	for i := len(r.cells) - 1; i >= 0; i-- {
		c := &r.cells[i]
		switch {
		case n > 0 && int(c.cell) == n:
			return c
		case n < 0 && len(launches) > 0:
			k, _ := slices.BinarySearchFunc(launches, c.seq, func(s stretch, seq uint64) int { return cmp.Compare(s.seq, seq) })
			if k < len(launches) && r.end(c) > c.startNS {
				return c
			}
		}
	}
	return nil
}

// around gives the stretches of a lane that reach into [start, end].
func around(list []stretch, startNS, endNS int64) (from, to int) {
	from, _ = slices.BinarySearchFunc(list, startNS, func(s stretch, at int64) int { return cmp.Compare(s.endNS, at) })
	to, _ = slices.BinarySearchFunc(list, endNS+1, func(s stretch, at int64) int { return cmp.Compare(s.startNS, at) })
	return from, max(from, to)
}

// within gives the slices of a lane; what is shorter than a cell of the screen
// is joined with its neighbours in that cell.
func (r *Recording) within(list []stretch, startNS, endNS int64, cols int) []TraceSlice {
	from, to := around(list, startNS, endNS)
	var out []TraceSlice
	width := max(1, (endNS-startNS)/int64(cols))
	column := int64(-1)
	var names [4]int32 // ops that were joined, to be told
	for i := from; i < to; i++ {
		s := list[i]
		if s.endNS-s.startNS >= width {
			out = append(out, r.slice(s))
			column = -1
			continue
		}
		if at := (s.startNS - startNS) / width; at != column || len(out) == 0 {
			column = at
			names[0] = s.name
			out = append(out, r.slice(s))
			continue
		}
		last := &out[len(out)-1]
		last.Count = max(last.Count, 1) + 1
		last.EndNS += s.endNS - s.startNS
		last.Ops += int(s.ops)
		if s.name != names[0] && !strings.HasSuffix(last.Name, "…") {
			last.Name += "…"
		}
	}
	return out
}

// joinedSlices drops all but one of slices that fall in the same cell of the screen.
func joinedSlices(list []TraceSlice, startNS, endNS int64, cols int) []TraceSlice {
	width := max(1, (endNS-startNS)/int64(cols))
	var out []TraceSlice
	for _, s := range list {
		if n := len(out); n > 0 && s.EndNS-s.StartNS < width && (s.StartNS-startNS)/width == (out[n-1].StartNS-startNS)/width {
			out[n-1].Count = max(out[n-1].Count, 1) + 1
			continue
		}
		out = append(out, s)
	}
	return out
}

func samples(list []level, startNS, endNS int64, cols int) (out []TraceSample, most int64) {
	from, _ := slices.BinarySearchFunc(list, startNS, func(l level, at int64) int { return cmp.Compare(l.atNS, at) })
	if from > 0 {
		out = append(out, TraceSample{startNS, list[from-1].value})
		most = list[from-1].value
	}
	width := max(1, (endNS-startNS)/int64(2*cols))
	for ; from < len(list) && list[from].atNS <= endNS; from++ {
		l := &list[from]
		most = max(most, l.value)
		if n := len(out); n > 1 && (l.atNS-startNS)/width == (out[n-1].AtNS-startNS)/width && (l.atNS-startNS)/width == (out[n-2].AtNS-startNS)/width {
			out[n-2].Value = max(out[n-2].Value, out[n-1].Value) // the peak of the cell, and its last value
			out[n-1].Value = l.value
			continue
		}
		out = append(out, TraceSample{l.atNS, l.value})
	}
	return out, most
}

func (r *Recording) slice(s stretch) TraceSlice {
	t := TraceSlice{Seq: s.seq, Kind: s.kind.String(), Name: r.texts[s.name], StartNS: s.startNS, EndNS: s.endNS, Op: s.op, Group: uint64(s.group), Value: s.value,
		At: At{int(s.cell), int(s.line)}, Ops: int(s.ops)}
	if s.kind == trace.Launch && s.group > 0 {
		t.Name += " g" + strconv.Itoa(int(s.group))
	}
	return t
}

// find gives the event that is searched for, nil when there is none.
func (r *Recording) find(args TraceArgs) *stretch {
	device, queue := r.lanes[trace.DeviceLane], r.lanes[trace.QueueLane]
	switch {
	case args.Group != 0:
		return latest(device, func(s *stretch) bool { return uint64(s.group) == args.Group })
	case args.Op != 0, args.Value != 0:
		applied := latest(queue, func(s *stretch) bool {
			return s.kind == trace.Apply && (args.Op != 0 && s.op == args.Op || args.Value != 0 && s.value == args.Value)
		})
		if applied == nil {
			return nil
		}
		if ran := r.ranIn(applied.seq, applied.op); ran != nil {
			return ran
		}
		return applied
	case args.At.Line != 0:
		here := func(s *stretch) bool { return int(s.cell) == args.At.Cell && int(s.line) == args.At.Line }
		if s := latest(device, here); s != nil {
			return s
		}
		return latest(queue, here)
	case args.Find != "":
		return r.search(args)
	}
	return nil
}

// ranIn is the launch that ran an op applied by event seq: the first after it
// whose last op is not before it. It is nil while the op waits.
func (r *Recording) ranIn(seq, op uint64) *stretch {
	device := r.lanes[trace.DeviceLane]
	i, _ := slices.BinarySearchFunc(device, seq, func(s stretch, seq uint64) int { return cmp.Compare(s.seq, seq) })
	for ; i < len(device); i++ {
		if device[i].kind == trace.Launch && device[i].op >= op {
			return &device[i]
		}
	}
	return nil
}

// GroupOf is the group that ran the op applied by event seq, 0 while it waits.
func (r *Recording) GroupOf(seq, op uint64) uint64 {
	if s := r.ranIn(seq, op); s != nil {
		return uint64(s.group)
	}
	return 0
}

func latest(list []stretch, ok func(*stretch) bool) *stretch {
	for i := len(list) - 1; i >= 0; i-- {
		if ok(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// search looks for text from an event on, over the lanes in order of events,
// and begins again at the other end.
func (r *Recording) search(args TraceArgs) *stretch {
	want := strings.ToLower(args.Find)
	hit := make([]bool, len(r.texts))
	for i, t := range r.texts {
		hit[i] = strings.Contains(strings.ToLower(t), want)
	}
	var group, op uint64
	if n, err := strconv.ParseUint(strings.TrimPrefix(want, "g"), 10, 32); err == nil && want[0] == 'g' {
		group = n
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(want, "#"), 10, 64); err == nil && want[0] == '#' {
		op = n
	}
	ok := func(s *stretch) bool {
		return hit[s.name] || group != 0 && uint64(s.group) == group || op != 0 && s.op == op
	}
	var next, first *stretch // nearest in the direction, and at its beginning
	better := func(a, b *stretch) bool { return b == nil || args.Back != (a.seq < b.seq) }
	all := append([][]stretch{r.cells}, r.lanes[:]...)
	for _, list := range all {
		for i := range list {
			s := &list[i]
			if !ok(s) {
				continue
			}
			if better(s, first) {
				first = s
			}
			if s.seq != args.After && args.Back == (s.seq < args.After) && better(s, next) {
				next = s
			}
		}
	}
	if next == nil {
		return first
	}
	return next
}

// meanings of the lanes, in their order.
var laneMeanings = [trace.NumLanes]viz.Meaning{viz.Host, viz.Wait, viz.MXU, viz.DMA, viz.HBM}

// Drawing is t as lanes. The slice of event chosen, 0 for none, stands out.
func (t *Trace) Drawing(chosen uint64) viz.Timeline {
	d := viz.Timeline{StartNS: t.StartNS, EndNS: t.EndNS}
	for i, lane := range t.Lanes {
		l := viz.Lane{Name: lane.Name, Note: lane.Note}
		if i < len(laneMeanings) {
			l.Meaning = laneMeanings[i]
		}
		for _, s := range lane.Slices {
			m := viz.Normal
			switch {
			case s.Seq == chosen && chosen != 0:
				m = viz.Hot
			case s.Kind == trace.Failure.String():
				m = viz.Bad
			}
			label := s.Name
			if s.Seq == chosen && chosen != 0 {
				label = ">" + label
			}
			if s.Count > 1 {
				label = viz.Count(int64(s.Count)) + " " + label
			}
			l.Spans = append(l.Spans, viz.Span{StartNS: s.StartNS, EndNS: s.EndNS, Label: label, Meaning: m})
		}
		for _, p := range lane.Samples {
			l.Samples = append(l.Samples, viz.Sample{AtNS: p.AtNS, Value: float64(p.Value)})
		}
		d.Lanes = append(d.Lanes, l)
	}
	if len(t.Marks) > 0 {
		l := viz.Lane{Name: "marks", Meaning: viz.Hot}
		for _, m := range t.Marks {
			l.Spans = append(l.Spans, viz.Span{StartNS: m.StartNS, EndNS: m.StartNS + (t.EndNS-t.StartNS)/12, Label: m.Name})
		}
		d.Lanes = append(d.Lanes, l)
	}
	return d
}

// Summary is a line: how long, how busy, how many.
func (t *Trace) Summary() string {
	s := viz.DurationNS(t.EndNS-t.StartNS) + "   device busy " + viz.Percent(t.BusyNS, t.EndNS-t.StartNS) +
		"   " + viz.Plural(t.Ops, "op") + " in " + viz.Plural(t.Groups, "launch")
	if t.Dropped > 0 {
		s += "   " + viz.Plural(t.Dropped, "event") + " dropped"
	}
	return s
}

// CellName is how a cell is called: In[3].
func CellName(n int) string { return "In[" + strconv.Itoa(n) + "]" }
