package trace

import (
	"cmp"
	"slices"
)

// A Slice is a stretch of one lane of the timeline: a cell on the host, the
// filling of the queue up to a cut, a launch on the device. Slices of a lane
// nest: of two, one holds the other or they do not overlap.
type Slice struct {
	Lane    Lane
	Name    string
	StartNS int64
	EndNS   int64 // equal to StartNS for an instant
	Depth   int   // how many slices of the lane hold it
	Ops     int   // ops in it, for the queue and the device
	Event   *Event
}

// A Point is the HBM in use from a moment on.
type Point struct {
	AtNS       int64
	InUseBytes int64
	Event      *Event
}

// Slices lays a recording out in lanes, each sorted by start, outer slices
// first. What has not ended ends with the recording. The slices point into events.
func Slices(events []Event) []Slice {
	var all []Slice
	add := func(e *Event, name string, start, end int64, ops int) {
		all = append(all, Slice{e.Kind.Row().Lane, name, start, max(start, end), 0, ops, e})
	}
	var first, last int64
	for i := range events {
		if i == 0 || events[i].AtNS < first {
			first = events[i].AtNS
		}
		last = max(last, events[i].AtNS+events[i].DurationNS)
	}
	open := map[Kind][]*Event{} // begun and not ended, by the kind that ends them
	var waiting queue
	for i := range events {
		e := &events[i]
		for _, begin := range [...]Kind{CellBegin, Pause} {
			if begin.Row().EndsBy != e.Kind {
				continue
			}
			if n := len(open[e.Kind]); n > 0 {
				b := open[e.Kind][n-1]
				open[e.Kind] = open[e.Kind][:n-1]
				add(b, sliceName(b), b.AtNS, e.AtNS, 0)
			} else {
				add(e, sliceName(e), first, e.AtNS, 0)
			}
		}
		switch e.Kind {
		case CellBegin, Pause:
			open[e.Kind.Row().EndsBy] = append(open[e.Kind.Row().EndsBy], e)
		case CellEnd, Resume, Alloc, Free:
		case Apply:
			waiting.apply(e)
			add(e, sliceName(e), e.AtNS, e.AtNS+e.DurationNS, 1)
		case Cut:
			add(e, sliceName(e), waiting.cut(e), e.AtNS, len(e.Ops))
		case Launch:
			add(e, sliceName(e), e.AtNS, e.AtNS+e.DurationNS, max(1, len(e.Ops)))
		default:
			add(e, sliceName(e), e.AtNS, e.AtNS+e.DurationNS, 0)
		}
	}
	for _, begun := range open {
		for _, b := range begun {
			add(b, sliceName(b), b.AtNS, last, 0)
		}
	}
	nest(all)
	return all
}

// nest sorts slices by lane and start, gives them depths and clips those that
// reach out of the one that holds them.
func nest(all []Slice) {
	slices.SortStableFunc(all, func(a, b Slice) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(b.EndNS, a.EndNS), cmp.Compare(a.Event.Seq, b.Event.Seq))
	})
	var holders []*Slice
	for i := range all {
		s := &all[i]
		for len(holders) > 0 {
			top := holders[len(holders)-1]
			instant := s.EndNS == s.StartNS && s.StartNS == top.EndNS
			if top.Lane == s.Lane && (s.StartNS < top.EndNS || instant) {
				break
			}
			holders = holders[:len(holders)-1]
		}
		if n := len(holders); n > 0 {
			s.EndNS = min(s.EndNS, holders[n-1].EndNS)
		}
		s.Depth = len(holders)
		if s.EndNS > s.StartNS {
			holders = append(holders, s)
		}
	}
}

// sliceName is what a slice is called on a timeline.
func sliceName(e *Event) string {
	switch e.Kind {
	case CellBegin, CellEnd:
		return "In[" + decimal(int64(e.Cell)) + "]"
	case Cut:
		return "g" + decimal(int64(e.Launch))
	case Launch:
		if e.Launch > 0 && e.Name != "" {
			return e.Name + " g" + decimal(int64(e.Launch))
		}
	case Transfer, Apply, Failure, Note:
		if e.Name != "" {
			return e.Name
		}
	}
	if e.Kind == Launch && e.Name != "" {
		return e.Name
	}
	return e.Kind.String()
}

// Points gives the HBM in use over a recording, in the order of time.
func Points(events []Event) []Point {
	var out []Point
	for i := range events {
		if e := &events[i]; e.Kind == Alloc || e.Kind == Free {
			out = append(out, Point{e.AtNS, e.InUseBytes, e})
		}
	}
	slices.SortStableFunc(out, func(a, b Point) int { return cmp.Compare(a.AtNS, b.AtNS) })
	return out
}

// A Length is how many ops waited in the queue from a moment on.
type Length struct {
	AtNS int64
	Ops  int
}

// QueueLengths gives the length of the queue after each change of it.
func QueueLengths(events []Event) []Length {
	var out []Length
	var waiting queue
	for i := range events {
		switch e := &events[i]; e.Kind {
		case Apply:
			waiting.apply(e)
			out = append(out, Length{e.AtNS, len(waiting)})
		case Cut:
			waiting.cut(e)
			out = append(out, Length{e.AtNS, len(waiting)})
		}
	}
	return out
}

// queue is the ops that were applied and not cut, oldest first.
type queue []queued

type queued struct {
	op   uint64
	atNS int64
}

// apply adds an op; one with several results comes several times.
func (q *queue) apply(e *Event) {
	if n := len(*q); n > 0 && e.Op != 0 && (*q)[n-1].op == e.Op {
		return
	}
	*q = append(*q, queued{e.Op, e.AtNS})
}

// cut takes the ops up to the last op of the cut away, views that never
// waited among them, and tells since when the oldest of them waited. A cut
// that does not say its last op takes as many as it names.
func (q *queue) cut(e *Event) (sinceNS int64) {
	n := min(len(*q), len(e.Ops))
	if e.Op != 0 {
		for n = 0; n < len(*q) && (*q)[n].op <= e.Op; n++ {
		}
	}
	sinceNS = e.AtNS
	if n > 0 {
		sinceNS = (*q)[0].atNS
	}
	*q = (*q)[n:]
	return sinceNS
}
