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
	queued, queuedNS := 0, int64(0)
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
			if queued == 0 {
				queuedNS = e.AtNS
			}
			queued++
			add(e, sliceName(e), e.AtNS, e.AtNS+e.DurationNS, 1)
		case Cut:
			if queued == 0 {
				queuedNS = e.AtNS
			}
			add(e, sliceName(e), queuedNS, e.AtNS, len(e.Ops))
			queued = max(0, queued-len(e.Ops))
			queuedNS = e.AtNS
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
