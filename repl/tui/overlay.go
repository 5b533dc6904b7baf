package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// An overlay lies over the screen and takes the keys first.
type overlay interface {
	// key says whether the key was for it.
	key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool)
	paste(m *Model, text string) (tea.Cmd, bool)
	// draw changes rows, which are the screen; x, y is the cursor below. It may put the cursor elsewhere.
	draw(m *Model, rows []string, x, y int) (cx, cy int, cursor bool)
}

// box frames lines at the width they need, at most w: rows of equal width.
func box(t *Theme, title string, lines []string, w int) []string {
	inner := glyph.Cells(title) + 2
	for _, l := range lines {
		inner = max(inner, glyph.Cells(l))
	}
	inner = max(min(inner, w-4), 1)
	corner := [4]string{"╭", "╮", "╰", "╯"}
	if t.Viz.Rule == "-" {
		corner = [4]string{"+", "+", "+", "+"}
	}
	head := title
	if head != "" {
		head = " " + glyph.Fit(title, min(glyph.Cells(title), max(inner-2, 0)), "") + " "
	}
	rule := func(n int) string {
		s := ""
		for range n {
			s += t.Viz.Rule
		}
		return s
	}
	rows := []string{paint(t.Rule, corner[0]+t.Viz.Rule) + paint(t.Title, head) + paint(t.Rule, rule(max(inner+1-glyph.Cells(head), 0))+corner[1])}
	wall := paint(t.Rule, t.Viz.Wall)
	for _, l := range lines {
		rows = append(rows, wall+" "+glyph.Fit(l, inner, t.More)+" "+wall)
	}
	return append(rows, paint(t.Rule, corner[2]+rule(inner+2)+corner[3]))
}

// lay puts a box over rows, its upper left corner at x, y; it is moved to where it fits.
func lay(rows, box []string, x, y, w int) {
	if len(box) == 0 {
		return
	}
	bw := glyph.Cells(box[0])
	x = max(min(x, w-bw), 0)
	y = max(min(y, len(rows)-len(box)), 0)
	for i, b := range box {
		if y+i < len(rows) {
			rows[y+i] = glyph.Splice(rows[y+i], b, x, bw, w)
		}
	}
}

// center lays a box in the middle.
func center(rows, box []string, w int) {
	if len(box) == 0 {
		return
	}
	lay(rows, box, (w-glyph.Cells(box[0]))/2, (len(rows)-len(box))/2, w)
}
