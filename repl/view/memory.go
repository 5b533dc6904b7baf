package view

import (
	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/trace"
)

// historyPoints is how many points of the past the HBM history has.
const historyPoints = 256

// history follows the HBM in use through the recording.
type history struct {
	seq    uint64 // last event read
	series inspect.Series
}

// follow reads the events that came since the last look.
func (h *history) follow(rec *trace.Recorder) {
	last := rec.Last()
	if last == h.seq {
		return
	}
	for _, e := range rec.Since(h.seq) {
		if e.Kind == trace.Alloc || e.Kind == trace.Free {
			h.series.Add(e.AtNS, e.InUseBytes)
		}
		h.seq = e.Seq
	}
	h.seq = max(h.seq, last)
}

// Memory is who holds the HBM.
func (v *Views) Memory() inspect.Memory {
	dev := v.s.Device()
	m := inspect.MemoryOf(dev.HBM())
	m.Chip = dev.Chip().Name
	v.hbm.follow(v.s.Recorder())
	for _, p := range v.hbm.series.Points(historyPoints) {
		m.Points = append(m.Points, inspect.HBMPoint{AtNS: p.AtNS, Bytes: p.Value})
	}
	v.s.Quiet(func() {
		var names []inspect.NameBytes
		var values [][]uint64
		for _, x := range v.s.Interp().Variables() {
			if x.Name == "ans" { // the latest result, which has a name of its own
				continue
			}
			if ids := reached(x.Value); len(ids) > 0 {
				names = append(names, inspect.NameBytes{Name: x.Name, Output: repl.IsOutput(x.Name)})
				values = append(values, ids)
			}
		}
		m.SetNames(names, values)
	})
	return m
}
