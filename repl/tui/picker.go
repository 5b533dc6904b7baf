package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// An item is a line of a picker.
type item struct {
	text   string
	note   string // at the right, dim
	detail string // what is shown of the item that is chosen
	do     func(m *Model) tea.Cmd
}

// A picker is a list that is narrowed by typing: the palette, the history.
type picker struct {
	title   string
	items   []item
	query   *edit.Editor
	found   []hit
	at, top int
}

// A hit is an item that matches, and the bytes of it that do.
type hit struct {
	item  int
	where []int
}

func newPicker(title string, items []item, query string) *picker {
	p := &picker{title: title, items: items, query: edit.New(query)}
	p.narrow()
	return p
}

// narrow finds the items that match what is typed, the best first.
func (p *picker) narrow() {
	texts := make([]string, len(p.items))
	for i := range p.items {
		texts[i] = p.items[i].text
	}
	p.found = fuzzy(p.query.Text(), texts)
	p.at, p.top = 0, 0
}

// pickerRows is how many items a picker shows.
const pickerRows = 12

func (p *picker) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	action, _ := m.keys.Lookup(config.Popup, "", k.String())
	n := len(p.found)
	switch action {
	case "accept":
		m.over = nil
		if n == 0 {
			return nil, true
		}
		return p.items[p.found[p.at].item].do(m), true
	case "next":
		p.at = min(p.at+1, max(n-1, 0))
	case "previous":
		p.at = max(p.at-1, 0)
	case "page-down":
		p.at = min(p.at+pickerRows, max(n-1, 0))
	case "page-up":
		p.at = max(p.at-pickerRows, 0)
	case "close", "interrupt":
		m.over = nil
	default:
		if k.String() == "ctrl+r" { // once more: the next older one
			p.at = min(p.at+1, max(n-1, 0))
			return nil, true
		}
		if a, _ := m.keys.Lookup(config.Editor, "", k.String()); a != "" && oneLine[a] != nil {
			oneLine[a](p.query)
			p.narrow()
		} else if k.Text != "" {
			p.query.Type(k.Text)
			p.narrow()
		}
	}
	return nil, true
}

// oneLine is what the keys of the editor do in a line for a query.
var oneLine = map[string]func(*edit.Editor){
	"delete-left": (*edit.Editor).Backspace, "delete-right": (*edit.Editor).Delete,
	"left": func(e *edit.Editor) { e.Move(edit.Left, false) }, "right": func(e *edit.Editor) { e.Move(edit.Right, false) },
	"line-start": func(e *edit.Editor) { e.Move(edit.LineStart, false) }, "line-end": func(e *edit.Editor) { e.Move(edit.LineEnd, false) },
	"delete-word-left": func(e *edit.Editor) { e.Kill(edit.WordLeft) }, "kill-start": func(e *edit.Editor) { e.Kill(edit.LineStart) },
	"kill-line": func(e *edit.Editor) { e.Kill(edit.LineEnd) }, "yank": (*edit.Editor).Yank, "undo": func(e *edit.Editor) { e.Undo() },
}

func (p *picker) paste(_ *Model, text string) (tea.Cmd, bool) {
	p.query.Insert(strings.ReplaceAll(text, "\n", " "))
	p.narrow()
	return nil, true
}

func (p *picker) draw(m *Model, rows []string, x, y int) (int, int, bool) {
	t := &m.theme
	w := max(min(m.w-4, 100), 1)
	n := max(min(pickerRows, m.h-6), 1)
	p.top = min(max(p.top, p.at-n+1), p.at)
	lines := []string{"> " + p.query.Text(), ""}
	for i := p.top; i < p.top+n; i++ {
		if i >= len(p.found) {
			lines = append(lines, "")
			continue
		}
		it := p.items[p.found[i].item]
		text, _, more := strings.Cut(it.text, "\n")
		if more {
			text += " " + t.More
		}
		text = strings.ReplaceAll(text, "\t", " ")
		noteW := glyph.Width(it.note)
		if i == p.at {
			lines = append(lines, paint(t.PopupItem, glyph.Fit("  "+glyph.Fit(text, max(w-noteW-4, 1), t.More)+" "+it.note, w, "")))
			continue
		}
		lines = append(lines, "  "+glyph.Fit(mark(text, p.found[i].where, t.Key), max(w-noteW-4, 1), t.More)+" "+paint(t.Dim, it.note))
	}
	if len(p.found) > 0 {
		if d := p.items[p.found[p.at].item].detail; d != "" {
			lines = append(lines, "")
			preview := strings.Split(d, "\n")
			for _, r := range edit.Draw(preview[:min(len(preview), max(m.h-n-9, 0))], w, &t.Tokens) {
				lines = append(lines, r[0])
			}
		}
	}
	b := box(t, fmt.Sprintf("%s  %d/%d", p.title, len(p.found), len(p.items)), fitAll(lines, w), m.w)
	bx, by := max((m.w-glyph.Cells(b[0]))/2, 0), max((m.h-len(b))/3, 0)
	lay(rows, b, bx, by, m.w)
	return min(bx+4+glyph.Width(p.query.Text()[:p.query.Offset()]), m.w-1), min(by+1, m.h-1), true
}

func fitAll(lines []string, w int) []string {
	for i := range lines {
		lines[i] = glyph.Fit(lines[i], w, "")
	}
	return lines
}

// mark paints some bytes of text.
func mark(text string, where []int, sgr string) string {
	if len(where) == 0 || sgr == "" {
		return text
	}
	var b strings.Builder
	k := 0
	for i := 0; i < len(text); {
		n, draw, _ := glyph.Next(text[i:])
		for k < len(where) && where[k] < i {
			k++
		}
		if k < len(where) && where[k] < i+n {
			b.WriteString(paint(sgr, draw))
		} else {
			b.WriteString(draw)
		}
		i += n
	}
	return b.String()
}
