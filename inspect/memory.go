package inspect

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/viz"
)

// A Memory is who holds the HBM of a device.
type Memory struct {
	UsedBytes        int64
	PeakBytes        int64
	LimitBytes       int64
	FreeBytes        int64
	LargestFreeBytes int64
	PaddingBytes     int64   // part of UsedBytes that holds no numbers
	Fragmentation    float64 // part of the free HBM that is not in the largest block
	Allocations      int

	Owners []device.OwnerUse  // by source line, largest first
	Blocks []device.BlockInfo // in the order of addresses, free ones too
}

// MemoryOf copies the state of an allocator.
func MemoryOf(h *device.HBM) Memory {
	return Memory{
		UsedBytes: h.Used(), PeakBytes: h.Peak(), LimitBytes: h.Limit(), FreeBytes: h.FreeBytes(),
		LargestFreeBytes: h.LargestFree(), PaddingBytes: h.Padding(), Fragmentation: h.Fragmentation(),
		Allocations: h.Live(), Owners: h.Owners(), Blocks: h.Blocks(),
	}
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
	g := viz.Gauge{
		Total: float64(m.LimitBytes),
		Text:  viz.Bytes(m.UsedBytes) + " of " + viz.Bytes(m.LimitBytes),
		Parts: []viz.Part{
			{Label: "used " + viz.Bytes(m.UsedBytes), Value: float64(m.UsedBytes), Over: m.State() != ""},
			{Label: "peak " + viz.Bytes(m.PeakBytes), Value: float64(m.PeakBytes - m.UsedBytes), Peak: true},
		},
	}
	if s := m.State(); s != "" {
		g.Text += "  " + s
	}
	return g
}

const lettered = 9 // owners that have a letter of their own in the map

// letter is how the owner at rank i shows in the map: A, B, C and so on.
func letter(i int) string {
	if i >= lettered {
		return "o"
	}
	return string(rune('A' + i))
}

// place is what an owner is called: its line, or what it is.
func place(o *device.OwnerUse) string {
	if p := o.Frame.Place(); p != "" {
		return p
	}
	return o.What
}

// Table lists the n largest owners by source line; all when n is not positive.
func (m Memory) Table(n int) viz.Table {
	tb := viz.Table{Columns: []viz.Column{
		{},
		{Title: "line", Meaning: viz.Place},
		{Title: "HBM", Right: true},
		{Title: "share", Right: true},
		{Title: "padding", Right: true},
		{Title: "arrays", Right: true},
		{Title: "largest"},
	}}
	for i := range m.Owners {
		if n > 0 && i == n {
			break
		}
		o := &m.Owners[i]
		tb.Rows = append(tb.Rows, []string{
			letter(i), place(o), viz.Bytes(o.Bytes), viz.Percent(o.Bytes, m.UsedBytes),
			viz.Bytes(o.PaddingBytes), viz.Count(int64(o.Count)), o.What + " " + o.Spec,
		})
	}
	return tb
}

// shown is the part of the address space that a map shows: all of it, or, when
// no more than the first sixteenth is in use, twice what reaches up to the last block.
func (m Memory) shown() int64 {
	var end int64
	for _, b := range m.Blocks {
		if b.Taken {
			end = b.Addr + b.Size
		}
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

// Map draws the address space; the letters are those of Table. Of a nearly empty
// HBM it shows the beginning.
func (m Memory) Map() viz.BlockMap {
	b := viz.BlockMap{SizeBytes: m.shown(), Notes: []string{
		"largest free " + viz.Bytes(m.LargestFreeBytes) + " of " + viz.Bytes(m.FreeBytes) +
			"   fragmentation " + viz.Percent(int64(m.Fragmentation*1000), 1000) + "   padding " + viz.Bytes(m.PaddingBytes),
	}}
	if b.SizeBytes < m.LimitBytes {
		b.Notes = append(b.Notes, "the map shows the first "+viz.Bytes(b.SizeBytes)+" of "+viz.Bytes(m.LimitBytes)+"; the rest is free")
	}
	type key struct {
		cell, line int
		file, what string
	}
	keyOf := func(cell, line int, file, what string) key {
		k := key{cell: cell, line: line, file: file}
		if k == (key{}) {
			k.what = what
		}
		return k
	}
	class := map[key]int{}
	for i := range m.Owners {
		o := &m.Owners[i]
		n := min(i, lettered)
		if n == len(b.Classes) {
			label := place(o)
			if n == lettered {
				label = "others"
			}
			b.Classes = append(b.Classes, viz.Class{Letter: letter(i), Label: label, Meaning: viz.HBM})
		}
		class[keyOf(o.Frame.Cell, o.Frame.Line, o.Frame.File, o.What)] = n
	}
	for _, bl := range m.Blocks {
		if bl.Taken {
			f := bl.Owner.Stack.Top()
			b.Blocks = append(b.Blocks, viz.Block{Offset: bl.Addr, Bytes: bl.Size, Class: class[keyOf(f.Cell, f.Line, f.File, bl.Owner.What)]})
		}
	}
	return b
}

// MostPadded is the block with most padding; false when none has any.
func (m Memory) MostPadded() (device.BlockInfo, bool) {
	taken := slices.DeleteFunc(slices.Clone(m.Blocks), func(b device.BlockInfo) bool { return !b.Taken || b.Size <= b.Bytes })
	if len(taken) == 0 {
		return device.BlockInfo{}, false
	}
	return slices.MaxFunc(taken, func(a, b device.BlockInfo) int { return int((a.Size - a.Bytes) - (b.Size - b.Bytes)) }), true
}
