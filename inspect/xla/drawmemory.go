package xla

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/viz"
)

// How much of a buffer assignment is printed; the JSON form has all of it.
const (
	shownBuffers = 24
	shownLines   = 10
	smallest     = 1000 // of the largest buffer, that is drawn
)

// sum writes what the HBM of a program is made of.
func (m *Memory) sum() string {
	s := fmt.Sprintf("%s = %s arguments + %s results", viz.Bytes(m.HBM), viz.Bytes(m.Arguments), viz.Bytes(m.Outputs))
	if m.Alias > 0 {
		s += fmt.Sprintf(" - %s in place", viz.Bytes(m.Alias))
	}
	return s + fmt.Sprintf(" + %s temporary", viz.Bytes(m.Temp))
}

// Sections draw the assignment: what lives when, in HBM and in VMEM, and which
// lines hold HBM at the peak.
func (m *Memory) Sections() []Section {
	var all []Section
	for _, s := range []struct {
		name string
		use  []int64
		peak int64
		mark int
	}{{"HBM", m.HBMUse, m.PeakHBM, m.PeakAt}, {"VMEM", m.VMEMUse, m.PeakVMEM, -1}} {
		if s.peak == 0 {
			continue
		}
		title := fmt.Sprintf("%s over the %d steps of the program, peak %s", s.name, len(m.Steps), viz.Bytes(s.peak))
		if s.mark >= 0 && s.mark < len(m.Steps) {
			title += fmt.Sprintf(" at step %d, %s", s.mark, m.Steps[s.mark])
		}
		all = append(all, Section{title, m.lifetimes(s.name, s.use, s.mark)})
	}
	if len(m.Lines) > 1 {
		all = append(all, Section{"HBM at the peak, by line", m.lineBars()})
	}
	return all
}

// lifetimes draws the largest buffers of a space, those made first on top.
func (m *Memory) lifetimes(space string, use []int64, mark int) viz.Drawing {
	var largest []*Buffer
	for i := range m.Buffers {
		if u := &m.Buffers[i]; u.Space == space && u.First >= 0 {
			largest = append(largest, u)
		}
	}
	slices.SortStableFunc(largest, func(a, b *Buffer) int { return cmp.Compare(b.Bytes, a.Bytes) })
	shown := 0
	for shown < min(len(largest), shownBuffers) && (shown == 0 || largest[shown].Bytes >= largest[0].Bytes/smallest) {
		shown++
	}
	left := len(largest) - shown
	largest = largest[:shown]
	slices.SortStableFunc(largest, func(a, b *Buffer) int { return cmp.Compare(a.First, b.First) })
	d := viz.Lifetimes{Steps: max(len(use)-1, 1), Label: space, Mark: mark, Level: make([]float64, len(use))}
	for i, n := range use {
		d.Level[i] = float64(n)
	}
	if left > 0 {
		d.Note = fmt.Sprintf("and %d smaller", left)
	}
	for _, u := range largest {
		row := viz.Lifetime{Name: u.Name, First: u.First, Last: u.Last, Meaning: viz.HBM}
		switch u.Kind {
		case "temp":
			row.Meaning = viz.Hot
		case "result":
			row.Meaning = viz.OK
		}
		row.Note = fmt.Sprintf("%8s @%-5s %s", viz.Bytes(u.Bytes), viz.BytesShort(u.Offset), strings.Join(strings.Fields(u.Where+" "+u.What+" "+u.Shape), " "))
		if u.Kind == inPlace {
			row.Note += " (in place)"
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// lineBars draws who holds HBM at the peak.
func (m *Memory) lineBars() viz.Drawing {
	b := viz.Bars{}
	for i, l := range m.Lines {
		if i == shownLines {
			break
		}
		name := l.Where
		if !strings.Contains(name, l.What) {
			name += "  " + shortened(l.What, shownWhat)
		}
		b.Rows = append(b.Rows, viz.BarRow{Label: name, Value: float64(l.Bytes), Text: viz.Bytes(l.Bytes), Meaning: viz.HBM})
	}
	return b
}

// shownWhat is how much is written of what a line holds.
const shownWhat = 40

func shortened(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// sections draw a refusal: what it says, who holds the memory, and the plan.
func (o *OOM) sections(ours *Predicted) []Section {
	rows := [][]viz.Piece{
		{{Text: "compiler  ", Meaning: viz.Dim}, {Text: o.Message, Meaning: viz.Bad}},
		{{Text: "          "}, {Text: fmt.Sprintf("needs %s of %s, %s there are", viz.Bytes(o.Needed), strings.ToUpper(o.Space), viz.Bytes(o.Available))}},
	}
	if ours != nil {
		text := ours.Error
		if text == "" {
			text = fmt.Sprintf("HBM %s of %s", viz.Bytes(ours.HBM), viz.Bytes(ours.Limit))
			if ours.Fits {
				text += ": it fits (the compiler disagrees)"
			} else {
				text += ": it does not fit"
			}
		}
		rows = append(rows, []viz.Piece{{Text: "predicted ", Meaning: viz.Dim}, {Text: text}})
	}
	all := []Section{{"", viz.Lines{Rows: rows}}}
	tb := viz.Table{Columns: []viz.Column{{Title: "bytes", Right: true}, {Title: "unpadded", Right: true, Drop: 2}, {Title: "type"}, {Title: "what"}, {Title: "lines", Meaning: viz.Place}, {Title: "kind", Drop: 1}}}
	for _, e := range o.Entries {
		tb.Rows = append(tb.Rows, []string{viz.Bytes(e.Bytes), size(e.Unpadded), e.Shape, e.What, e.Where, e.Kind})
	}
	if len(tb.Rows) > 0 {
		title := "the largest allocations"
		if o.Memory != nil {
			title += " at the peak"
		}
		all = append(all, Section{title, tb})
	}
	if o.Memory != nil {
		all = append(all, o.Memory.Sections()...)
	}
	return all
}
