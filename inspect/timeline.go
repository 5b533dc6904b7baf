package inspect

import (
	"slices"

	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A Timeline is what ran when: the slices of each lane and the HBM in use.
type Timeline struct {
	StartNS, EndNS int64 // virtual time
	Slices         []trace.Slice
	Queue          []trace.Length
	Points         []trace.Point
	Dropped        uint64 // events that are missing at the front

	BusyNS  int64 // device time within the span
	HostNS  int64 // time of the host in cells, waits included
	Ops     int   // applied
	Groups  int   // launched
	PeakHBM int64
}

// TimelineOf lays a recording out.
func TimelineOf(events []trace.Event, dropped uint64) Timeline {
	t := Timeline{Slices: trace.Slices(events), Queue: trace.QueueLengths(events), Points: trace.Points(events), Dropped: dropped}
	for i := range events {
		e := &events[i]
		if i == 0 || e.AtNS < t.StartNS {
			t.StartNS = e.AtNS
		}
		t.EndNS = max(t.EndNS, e.AtNS+e.DurationNS)
		switch e.Kind {
		case trace.Launch:
			t.BusyNS += e.DurationNS
			t.Groups++
		case trace.Apply:
			if i == 0 || e.Op == 0 || events[i-1].Kind != trace.Apply || events[i-1].Op != e.Op {
				t.Ops++
			}
		}
	}
	for _, s := range t.Slices {
		if s.Lane == trace.HostLane && s.Depth == 0 {
			t.HostNS += s.EndNS - s.StartNS
		}
	}
	for _, p := range t.Points {
		t.PeakHBM = max(t.PeakHBM, p.InUseBytes)
	}
	return t
}

// Within is the part of t from start to end, with the slices that reach into it.
func (t Timeline) Within(startNS, endNS int64) Timeline {
	t.StartNS, t.EndNS = startNS, endNS
	t.Slices = slices.DeleteFunc(slices.Clone(t.Slices), func(s trace.Slice) bool { return s.EndNS < startNS || s.StartNS > endNS })
	return t
}

// Drawing is t as lanes: host, queue, device, transfers, HBM.
func (t Timeline) Drawing() viz.Timeline {
	d := viz.Timeline{StartNS: t.StartNS, EndNS: t.EndNS}
	d.Note = viz.DurationNS(t.EndNS-t.StartNS) + "   device busy " + viz.Percent(t.BusyNS, t.EndNS-t.StartNS) +
		"   " + viz.Count(int64(t.Ops)) + " ops in " + viz.Count(int64(t.Groups)) + " launches"
	if t.Dropped > 0 {
		d.Note += "   " + viz.Count(int64(t.Dropped)) + " events dropped"
	}
	for _, lane := range []struct {
		lane    trace.Lane
		meaning viz.Meaning
	}{{trace.HostLane, viz.Host}, {trace.QueueLane, viz.Wait}, {trace.DeviceLane, viz.MXU}, {trace.TransferLane, viz.DMA}} {
		l := viz.Lane{Name: lane.lane.String(), Meaning: lane.meaning}
		if lane.lane == trace.QueueLane {
			most := 0
			for _, q := range t.Queue {
				l.Samples = append(l.Samples, viz.Sample{AtNS: q.AtNS, Value: float64(q.Ops)})
				most = max(most, q.Ops)
			}
			l.Note = "max " + viz.Count(int64(most))
		} else {
			for _, s := range t.Slices {
				if s.Lane == lane.lane {
					m := viz.Normal
					if s.Event.Kind == trace.Failure {
						m = viz.Bad
					}
					l.Spans = append(l.Spans, viz.Span{StartNS: s.StartNS, EndNS: s.EndNS, Label: s.Name, Meaning: m})
				}
			}
		}
		d.Lanes = append(d.Lanes, l)
	}
	hbm := viz.Lane{Name: trace.MemoryLane.String(), Meaning: viz.HBM, Note: "peak " + viz.Bytes(t.PeakHBM)}
	for _, p := range t.Points {
		hbm.Samples = append(hbm.Samples, viz.Sample{AtNS: p.AtNS, Value: float64(p.InUseBytes)})
	}
	d.Lanes = append(d.Lanes, hbm)
	return d
}
