package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/viz"
)

// A statusPart is a piece of the status bar; sgr is "" for the colours of the
// bar. The parts of a narrow bar that are extra go before any other.
type statusPart struct {
	text, sgr string
	extra     bool
}

// statusBar is the bar: in fixed order, dropped from the right when it is narrow.
func (m *Model) statusBar() string {
	t := &m.theme
	bar := t.Bar
	if m.state == dead || m.stopped != nil {
		bar = t.BarHot
	}
	var b strings.Builder
	x := 0
	for i, p := range withoutExtras(m.statusParts(), m.at.w) {
		w := glyph.Width(p.text) + 1
		if i > 0 {
			w++
		}
		if i > 0 && x+w > m.at.w {
			break
		}
		b.WriteString(paint(bar, glyph.Spaces(min(i, 1)+1)))
		if p.sgr == "" {
			p.sgr = bar
		}
		b.WriteString(paint(p.sgr, p.text))
		x += w
	}
	return glyph.Fit(glyph.Fit(b.String(), min(x, m.at.w), t.More)+paint(bar, glyph.Spaces(max(m.at.w-x, 0))), m.at.w, "")
}

// withoutExtras drops what is extra, from the right, until the bar fits into w columns.
func withoutExtras(parts []statusPart, w int) []statusPart {
	need := 0
	for _, p := range parts {
		need += glyph.Width(p.text) + 2
	}
	for i := len(parts) - 1; i >= 0 && need > w; i-- {
		if parts[i].extra {
			need -= glyph.Width(parts[i].text) + 2
			parts = slices.Delete(parts, i, i+1)
		}
	}
	return parts
}

// statusParts are the pieces of the bar, the most important first.
func (m *Model) statusParts() []statusPart {
	mode := m.status.Mode
	if mode == "" {
		mode = "debug"
	}
	parts := []statusPart{{text: strings.ToUpper(mode)}}
	add := func(format string, args ...any) {
		parts = append(parts, statusPart{text: fmt.Sprintf(format, args...)})
	}
	if m.stopped != nil {
		cell, line := m.lastStop.place()
		add("STOPPED %s", placeOf("", cell, line, 0))
		if m.lastStop.past {
			add("LOOKING BACK")
		}
	}
	if chip := m.chip(); chip != "" {
		add("tpu:0 %s", chip)
	}
	parts = append(parts, m.hbmParts()...)
	if s := &m.status; s.Steps > 0 {
		add("step %s", viz.DurationNS(s.StepNS))
		if s.Steps > 1 {
			parts = append(parts, statusPart{text: "p95 " + viz.DurationNS(s.StepP95NS), extra: true})
		}
	}
	if n := m.status.QueuedOps; n > 0 {
		add("queue %s", viz.Plural(n, "op"))
	}
	if s := &m.status; s.CacheHits+s.CacheMisses > 0 {
		parts = append(parts, statusPart{text: fmt.Sprintf("cache %s %s", viz.Plural(s.CacheHits, "hit"), viz.Plural(s.CacheMisses, "miss")), extra: true})
	}
	switch m.state {
	case starting:
		add("kernel starts")
	case dead:
		add("NO KERNEL")
	case ready:
		if m.job != nil {
			add("busy %s", clock(m.now().Sub(m.job.cell.started)))
			if n := len(m.queue); n > 0 {
				add("%d wait", n)
			}
		} else if m.info.PID > 0 {
			add("kernel %d", m.info.PID)
		}
	}
	add("In[%d]", m.count+1)
	if n := m.stales; n > 0 {
		add("%d stale", n)
	}
	if !m.autosavedAt.IsZero() {
		parts = append(parts, statusPart{text: "autosave " + m.autosavedAt.Format("15:04"), extra: true})
	}
	return parts
}

// Cells of the gauge of HBM in the bar.
const hbmGauge = 10

// hbmParts are what is used of HBM, the peak and the limit, with a gauge; when
// it is high the words say so, not the colour alone.
func (m *Model) hbmParts() []statusPart {
	r, t := &m.status, &m.theme
	if r.HBMLimitBytes <= 0 {
		return nil
	}
	full := min(int(r.HBMUsedBytes*hbmGauge/r.HBMLimitBytes), hbmGauge)
	if r.HBMUsedBytes > 0 {
		full = max(full, 1)
	}
	gauge := "[" + strings.Repeat(t.Viz.Full, full) + strings.Repeat(t.Viz.Free, hbmGauge-full) + "]"
	text := "HBM " + gauge + " " + viz.BytesShort(r.HBMUsedBytes) + "/" + viz.BytesShort(r.HBMPeakBytes) + "/" + viz.BytesShort(r.HBMLimitBytes)
	parts := []statusPart{{text: text}}
	switch state := (inspect.Memory{UsedBytes: r.HBMUsedBytes, LimitBytes: r.HBMLimitBytes}).State(); state {
	case "":
	case "HBM HIGH":
		parts = append(parts, statusPart{text: state, sgr: strings.TrimLeft(t.Err+";7", ";")})
	default:
		parts = append(parts, statusPart{text: state, sgr: t.BarHot})
	}
	return parts
}
