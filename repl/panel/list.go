package panel

import (
	"strings"

	"github.com/tpush/tpush/viz"
)

// A list is the cursor over the rows of a panel, and the filter that chose them.
type list struct {
	at     int
	rows   []Selection // what each row stands for
	sel    Selection   // selected elsewhere, to find again after the next Load
	filter string
	page   int // rows that were visible last
}

// set replaces the rows and keeps the cursor on what it was on.
func (l *list) set(rows []Selection) {
	was := l.sel
	if was == (Selection{}) && l.at < len(l.rows) {
		was = l.rows[l.at]
	}
	l.rows = rows
	if was != (Selection{}) && l.find(was) {
		l.sel = Selection{}
	}
	l.clamp()
}

func (l *list) clamp() { l.at = max(0, min(l.at, len(l.rows)-1)) }

// find puts the cursor on the row that fits best.
func (l *list) find(s Selection) bool {
	best := 0
	for i := range l.rows {
		if l.rows[i] == s {
			l.at = i
			return true
		}
	}
	for i := range l.rows {
		if m := s.matches(l.rows[i]); m > best {
			best, l.at = m, i
		}
	}
	return best > 0
}

// choose remembers a selection made elsewhere.
func (l *list) choose(s Selection) {
	l.sel = Selection{}
	if !l.find(s) {
		l.sel = s
	}
}

// now is the row under the cursor; false when there are no rows.
func (l *list) now() (Selection, bool) {
	if l.at >= len(l.rows) {
		return Selection{}, false
	}
	return l.rows[l.at], true
}

// move does the actions that every list has.
func (l *list) move(action string) bool {
	page := max(1, l.page-1)
	switch action {
	case "up":
		l.at--
	case "down":
		l.at++
	case "page-up":
		l.at -= page
	case "page-down":
		l.at += page
	case "top":
		l.at = 0
	case "bottom":
		l.at = len(l.rows) - 1
	default:
		return false
	}
	l.sel = Selection{}
	l.clamp()
	return true
}

// keeps says whether the filter lets a row with these texts through.
func (l *list) keeps(texts ...string) bool {
	if l.filter == "" {
		return true
	}
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), strings.ToLower(l.filter)) {
			return true
		}
	}
	return false
}

// listActions are the actions of every list.
func listActions(more ...Action) []Action {
	all := make([]Action, 0, len(listMoves)+len(more))
	for _, name := range listMoves {
		all = append(all, Action{Name: name, row: true})
	}
	return append(all, more...)
}

// listMoves are what list.move does.
var listMoves = [...]string{"up", "down", "page-up", "page-down", "top", "bottom"}

// selected is the effect of choosing a row.
func selected(s Selection, ok bool) Effect {
	if !ok {
		return Effect{}
	}
	return Effect{Selection: &s}
}

// head is the first line of a panel: its title and a note at the right.
type head struct{ title, note string }

// Height implements viz.Drawing.
func (head) Height(int) int { return 1 }

// Draw implements viz.Drawing.
func (hd head) Draw(t viz.Theme, w, h int) []string {
	room := w - viz.Width(hd.title) - 2
	if viz.Width(hd.note) > room {
		return viz.Lines{Rows: [][]viz.Piece{{{Text: hd.title, Meaning: viz.Strong}, {Text: "  "}, {Text: hd.note, Meaning: viz.Dim}}}}.Draw(t, w, h)
	}
	gap := strings.Repeat(" ", room-viz.Width(hd.note)+2)
	return viz.Lines{Rows: [][]viz.Piece{{{Text: hd.title, Meaning: viz.Strong}, {Text: gap}, {Text: hd.note, Meaning: viz.Dim}}}}.Draw(t, w, h)
}

// paragraph is text broken into lines at blanks: why a panel is empty.
type paragraph struct {
	text    string
	meaning viz.Meaning
}

func (p paragraph) lines(w int) viz.Lines {
	var out viz.Lines
	for _, par := range strings.Split(p.text, "\n") {
		line := ""
		for _, word := range strings.Fields(par) {
			if line != "" && viz.Width(line)+1+viz.Width(word) > w {
				out.Rows = append(out.Rows, viz.Line(p.meaning, line))
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		out.Rows = append(out.Rows, viz.Line(p.meaning, line))
	}
	return out
}

// Height implements viz.Drawing.
func (p paragraph) Height(w int) int { return p.lines(w).Height(w) }

// Draw implements viz.Drawing.
func (p paragraph) Draw(t viz.Theme, w, h int) []string { return p.lines(w).Draw(t, w, h) }

// stack draws parts below the head of a panel.
func stack(ctx Context, w, h int, top head, parts ...viz.StackPart) []string {
	all := append([]viz.StackPart{{Drawing: top, Min: 1, Max: 1}}, parts...)
	return viz.Stack{Parts: all}.Draw(ctx.Theme, w, h)
}

// empty draws a panel that has nothing to show, and why.
func empty(ctx Context, w, h int, top head, why string) []string {
	return stack(ctx, w, h, top, viz.StackPart{Drawing: paragraph{why, viz.Dim}, Min: 1})
}

// waiting is the reason of a panel that was not given a snapshot yet.
const waiting = "waiting for the kernel"
