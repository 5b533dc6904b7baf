package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A Memory is who holds the HBM of a device.
type Memory struct {
	Chip             string  `json:"chip,omitempty"`
	UsedBytes        int64   `json:"used_bytes"`
	PeakBytes        int64   `json:"peak_bytes"`
	LimitBytes       int64   `json:"limit_bytes"`
	FreeBytes        int64   `json:"free_bytes"`
	LargestFreeBytes int64   `json:"largest_free_bytes"`
	PaddingBytes     int64   `json:"padding_bytes"` // part of UsedBytes that holds no numbers
	Fragmentation    float64 `json:"fragmentation"` // part of the free HBM that is not in the largest block
	Allocations      int     `json:"allocations"`

	Owners []MemoryOwner `json:"owners"`           // by source line, largest first
	Blocks []MemoryBlock `json:"blocks"`           // that are in use, in the order of addresses
	Points []HBMPoint    `json:"points,omitempty"` // HBM in use over time
	Names  []NameBytes   `json:"names,omitempty"`  // what holds it by name, largest first
	// NamesKnown is false when the variables could not be looked at: a cell runs.
	NamesKnown bool `json:"names_known"`
	// OutputBytes is what results of cells alone lead to.
	OutputBytes int64 `json:"output_bytes,omitempty"`
}

// A MemoryOwner is what one source line holds.
type MemoryOwner struct {
	Frame        trace.Frame `json:"frame"` // zero when the place is not known
	Place        string      `json:"place"` // of the frame, else what the largest block is
	What         string      `json:"what"`  // the op that made its largest block
	Spec         string      `json:"spec"`  // of its largest block
	Count        int         `json:"count"`
	Bytes        int64       `json:"bytes"` // HBM, padding included
	PaddingBytes int64       `json:"padding_bytes"`
}

// A MemoryBlock is a stretch of HBM that is in use.
type MemoryBlock struct {
	Addr  int64    `json:"addr"`
	Size  int64    `json:"size"`
	Bytes int64    `json:"bytes"` // what the numbers need; the rest is padding
	Owner int      `json:"owner"` // index into Memory.Owners
	Value uint64   `json:"value,omitempty"`
	Op    uint64   `json:"op,omitempty"`
	Group uint64   `json:"group,omitempty"` // that computed it
	What  string   `json:"what"`
	Spec  string   `json:"spec,omitempty"`
	Cell  int      `json:"cell,omitempty"`
	Line  int      `json:"line,omitempty"`
	Names []string `json:"names,omitempty"` // variables that lead to it
}

// A NameBytes is a variable, or an output, and the HBM it leads to.
type NameBytes struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	OnlyHere int64  `json:"only_here"` // of Bytes: what no other name leads to, and is free when it is gone
	Output   bool   `json:"output,omitempty"`
}

// An HBMPoint is the HBM in use from a moment on.
type HBMPoint struct {
	AtNS  int64 `json:"at_ns"`
	Bytes int64 `json:"bytes"`
}

// MemoryOf copies the state of an allocator. It may be called while a cell runs.
func MemoryOf(h *device.HBM) Memory {
	s := h.State()
	m := Memory{
		UsedBytes: s.Used, PeakBytes: s.Peak, LimitBytes: s.Limit, FreeBytes: s.Free, LargestFreeBytes: s.LargestFree,
		PaddingBytes: s.Padding, Fragmentation: s.Fragmentation, Allocations: s.Live, Owners: make([]MemoryOwner, len(s.Owners)),
		Blocks: make([]MemoryBlock, 0, s.Live),
	}
	index := make(map[ownerKey]int, len(s.Owners))
	for i := range s.Owners {
		o := &s.Owners[i]
		m.Owners[i] = MemoryOwner{Frame: o.Frame, Place: o.Frame.Place(), What: o.What, Spec: o.Spec, Count: o.Count, Bytes: o.Bytes, PaddingBytes: o.PaddingBytes}
		if m.Owners[i].Place == "" {
			m.Owners[i].Place = o.What
		}
		index[keyOf(o.Frame, o.What)] = i
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		if !b.Taken {
			continue
		}
		f := b.Owner.Stack.Top()
		m.Blocks = append(m.Blocks, MemoryBlock{
			Addr: b.Addr, Size: b.Size, Bytes: b.Bytes, Owner: index[keyOf(f, b.Owner.What)], Value: b.Owner.Value, Op: b.Owner.Op,
			Group: uint64(b.Owner.Launch), What: b.Owner.What, Cell: f.Cell, Line: f.Line, Spec: b.Spec(),
		})
	}
	return m
}

// An ownerKey is what device.HBM adds owners up by.
type ownerKey struct {
	cell, line int
	file, what string
}

func keyOf(f trace.Frame, what string) ownerKey {
	k := ownerKey{cell: f.Cell, line: f.Line, file: f.File}
	if k == (ownerKey{}) {
		k.what = what
	}
	return k
}

// SetNames tells what each name leads to, as values. Names with no HBM are left out.
func (m *Memory) SetNames(names []NameBytes, values [][]uint64) {
	m.NamesKnown = true
	at := make(map[uint64]int, len(m.Blocks))
	for i := range m.Blocks {
		if v := m.Blocks[i].Value; v != 0 {
			at[v] = i
		}
	}
	for i, vs := range values {
		for _, v := range vs {
			if b, ok := at[v]; ok && !slices.Contains(m.Blocks[b].Names, names[i].Name) {
				m.Blocks[b].Names = append(m.Blocks[b].Names, names[i].Name)
			}
		}
	}
	index := map[string]int{}
	for _, n := range names {
		index[n.Name] = len(m.Names)
		m.Names = append(m.Names, n)
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		for _, name := range b.Names {
			n := &m.Names[index[name]]
			n.Bytes += b.Size
			if len(b.Names) == 1 {
				n.OnlyHere += b.Size
			}
		}
		if len(b.Names) > 0 && !slices.ContainsFunc(b.Names, func(name string) bool { return !m.Names[index[name]].Output }) {
			m.OutputBytes += b.Size
		}
	}
	m.Names = slices.DeleteFunc(m.Names, func(n NameBytes) bool { return n.Bytes == 0 })
	slices.SortStableFunc(m.Names, func(a, b NameBytes) int { return cmp.Compare(b.Bytes, a.Bytes) })
}

// Nameless adds up the blocks that no variable leads to: what the gradient
// tape and local variables hold.
func (m Memory) Nameless() (bytes int64, blocks int) {
	for i := range m.Blocks {
		if len(m.Blocks[i].Names) == 0 {
			bytes += m.Blocks[i].Size
			blocks++
		}
	}
	return bytes, blocks
}

// Holders says what holds the HBM by name, at most n names, and what freeing
// them would give.
func (m Memory) Holders(n int) [][]viz.Piece {
	var rows [][]viz.Piece
	line := func(name, text string) {
		rows = append(rows, []viz.Piece{{Text: fmt.Sprintf("%-9s", name), Meaning: viz.Place}, {Text: text}})
	}
	if b, ok := m.MostPadded(); ok {
		line("padding", viz.Bytes(m.PaddingBytes)+", most in "+b.Spec+": "+viz.Bytes(b.Bytes)+" of numbers in "+viz.Bytes(b.Size)+" at "+m.Owners[b.Owner].Place)
	}
	if !m.NamesKnown {
		return append(rows, viz.Line(viz.Dim, "names are not known while a cell runs"))
	}
	var all int64
	var gives []string
	for _, x := range m.Names {
		all += x.OnlyHere
		if x.OnlyHere > 0 && len(gives) < n {
			gives = append(gives, x.Name+" "+viz.BytesShort(x.OnlyHere))
		}
	}
	if m.OutputBytes > 0 {
		line("Out[n]", viz.Bytes(m.OutputBytes)+" held by results of cells alone; :free out gives it back")
	}
	if n, blocks := m.Nameless(); blocks > 0 {
		line("no name", viz.Bytes(n)+" in "+viz.Count(int64(blocks))+" blocks: gradients, the tape, temporaries")
	}
	if all > 0 {
		line(":free", viz.Bytes(all)+" is held by one name only and free when that name is: "+strings.Join(gives, ", "))
	}
	return rows
}

// The parts of HBM above which it is called warm and high: screens turn yellow
// and red there.
const (
	warnPart = 0.80
	highPart = 0.92
)

// State is "", "HBM WARM" or "HBM HIGH".
func (m Memory) State() string {
	switch f := float64(m.UsedBytes) / float64(max(m.LimitBytes, 1)); {
	case f >= highPart:
		return "HBM HIGH"
	case f >= warnPart:
		return "HBM WARM"
	}
	return ""
}

// Gauge is the bar of use, peak and limit.
func (m Memory) Gauge() viz.Gauge {
	used := viz.Part{Label: "used " + viz.Bytes(m.UsedBytes), Value: float64(m.UsedBytes)}
	switch m.State() {
	case "HBM HIGH":
		used.Over = true
	case "HBM WARM":
		used.Warm = true
	}
	g := viz.Gauge{
		Total: float64(m.LimitBytes),
		Text:  viz.Bytes(m.UsedBytes) + " of " + viz.Bytes(m.LimitBytes),
		Parts: []viz.Part{used, {Label: "peak " + viz.Bytes(m.PeakBytes), Value: float64(m.PeakBytes - m.UsedBytes), Peak: true}},
	}
	if s := m.State(); s != "" {
		g.Text += "  " + s
	}
	return g
}

const historyCells = 400 // a history has at least as many values as a line has cells

// History is the HBM in use over time.
func (m Memory) History() viz.Spark {
	s := viz.Spark{Label: "history", High: float64(max(m.PeakBytes, 1))}
	wide := 1 // of a point: a short history fills the line too
	if n := len(m.Points); n > 0 {
		wide = (historyCells + n - 1) / n
	}
	for _, p := range m.Points {
		for range wide {
			s.Values = append(s.Values, float64(p.Bytes))
		}
	}
	if n := len(m.Points); n > 1 && m.Points[n-1].AtNS > m.Points[0].AtNS {
		s.Text = viz.DurationNS(m.Points[n-1].AtNS - m.Points[0].AtNS)
	}
	return s
}

const lettered = 9 // owners that have a letter of their own in the map

// Letter is how the owner at rank i shows in the map: A, B, C and so on.
func Letter(i int) string {
	if i >= lettered {
		return "o"
	}
	return string(rune('A' + i))
}

// Table lists the n largest owners by source line; all when n is not positive.
func (m Memory) Table(n int) viz.Table {
	tb := viz.Table{Columns: []viz.Column{
		{},
		{Title: "line", Meaning: viz.Place},
		{Title: "HBM", Right: true},
		{Title: "share", Right: true, Drop: 2},
		{Title: "padding", Right: true, Drop: 1},
		{Title: "arrays", Right: true, Drop: 4},
		{Title: "largest", Drop: 3},
	}}
	for i := range m.Owners {
		if n > 0 && i == n {
			break
		}
		o := &m.Owners[i]
		tb.Rows = append(tb.Rows, []string{
			Letter(i), o.Place, viz.Bytes(o.Bytes), viz.Percent(o.Bytes, m.UsedBytes),
			viz.Bytes(o.PaddingBytes), viz.Count(int64(o.Count)), o.What + " " + o.Spec,
		})
	}
	return tb
}

// shown is the part of the address space that a map shows: all of it, or, when
// no more than the first sixteenth is in use, twice what reaches up to the last block.
func (m Memory) shown() int64 {
	var end int64
	if n := len(m.Blocks); n > 0 {
		end = m.Blocks[n-1].Addr + m.Blocks[n-1].Size
	}
	if end == 0 || end > m.LimitBytes/16 {
		return m.LimitBytes
	}
	size := int64(1 << 10)
	for size < 2*end {
		size *= 2
	}
	return min(size, m.LimitBytes)
}

// Note says how the free HBM is cut up and what padding takes.
func (m Memory) Note() string {
	return "largest free " + viz.Bytes(m.LargestFreeBytes) + " of " + viz.Bytes(m.FreeBytes) +
		"   fragmentation " + viz.Percent(int64(m.Fragmentation*1000), 1000) + "   padding " + viz.Bytes(m.PaddingBytes)
}

// Map draws the address space; the letters are those of Table. Of a nearly empty
// HBM it shows the beginning.
func (m Memory) Map() viz.BlockMap {
	b := viz.BlockMap{SizeBytes: m.shown(), Notes: []string{m.Note()}}
	if b.SizeBytes < m.LimitBytes {
		b.Notes = append(b.Notes, "the map shows the first "+viz.Bytes(b.SizeBytes)+" of "+viz.Bytes(m.LimitBytes)+"; the rest is free")
	}
	for i := range m.Owners[:min(len(m.Owners), lettered+1)] {
		label := m.Owners[i].Place
		if i == lettered {
			label = "others"
		}
		b.Classes = append(b.Classes, viz.Class{Letter: Letter(i), Label: label, Meaning: viz.HBM})
	}
	for i := range m.Blocks {
		bl := &m.Blocks[i]
		b.Blocks = append(b.Blocks, viz.Block{Offset: bl.Addr, Bytes: bl.Size, Class: min(bl.Owner, lettered)})
	}
	return b
}

// MostPadded is the block with most padding; false when none has any.
func (m Memory) MostPadded() (MemoryBlock, bool) {
	best, most := MemoryBlock{}, int64(0)
	for _, b := range m.Blocks {
		if p := b.Size - b.Bytes; p > most {
			best, most = b, p
		}
	}
	return best, most > 0
}
