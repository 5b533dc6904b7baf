package view

import (
	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/trace"
)

// follow tells the recording of the events that came since the last look.
func (v *Views) follow() *inspect.Recording {
	rec := v.s.Recorder()
	if v.rec == nil || rec.First() > v.rec.Last() { // nothing seen yet, or nothing of it is left
		v.rec = inspect.NewRecording(rec.Capacity())
	}
	v.rec.Add(rec.Since(v.rec.Last()))
	return v.rec
}

// Trace is what ran when, in a stretch of virtual time.
func (v *Views) Trace(args inspect.TraceArgs) (inspect.Trace, error) {
	t := v.follow().Window(args)
	t.Off, t.Dropped = !v.s.Recorder().On(), v.s.Recorder().Dropped()
	if args.Card > 0 {
		t.Card = v.card(args.Card)
	}
	return t, nil
}

// card looks into an event, nil when it is not kept.
func (v *Views) card(seq uint64) *inspect.OpCard {
	events := v.s.Recorder().Range(seq, seq)
	if len(events) == 0 {
		return nil
	}
	c := &inspect.OpCard{Event: inspect.EventOf(&events[0])}
	number := c.Event.Group
	if number == 0 && events[0].Kind == trace.Apply {
		number = v.rec.GroupOf(seq, c.Event.Op)
	}
	if number > 0 {
		if d := v.group(number); d != nil {
			c.Look(d)
		}
	}
	return c
}

// usualEvents is how many events are listed when nobody says.
const usualEvents = 100

// Events are the last events that a filter lets through.
func (v *Views) Events(args inspect.EventsArgs) (inspect.Events, error) {
	rec := v.s.Recorder()
	r := v.follow()
	n := args.Last
	if n <= 0 {
		n = usualEvents
	}
	out := inspect.Events{Rows: []inspect.EventRow{}, Total: rec.Last(), Dropped: rec.Dropped(), Off: !rec.On(), Filter: args.Filter}
	for _, seq := range r.Match(args.Filter, args.Before, n) {
		for _, e := range rec.Range(seq, seq) {
			row := inspect.EventOf(&e)
			if row.Group == 0 && e.Kind == trace.Apply {
				row.Group = r.GroupOf(e.Seq, e.Op)
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out, nil
}
