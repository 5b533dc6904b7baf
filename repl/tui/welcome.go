package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
)

type tryThis struct{ key, cell, doc string }

// tryThese are what the welcome offers, each a cell that runs.
var tryThese = []tryThis{
	{"1", "x := tpu.Randn(256, 1024)\nx.MatMul(x.T()).Mean()", "two operations on a simulated TPU, and what they cost"},
	{"2", ":hbm", "what lies in its memory, and whose it is"},
	{"3", "tpu.Ones(2, 3) @ tpu.Ones(4, 5)", "a mistake, and where it points"},
	{"4", ":tour", "a short walk through fusion, memory and the debugger"},
}

// welcomeText is what a window of w cells has room for: what each thing is for
// stands beside it, or below, or for 0 nowhere.
func welcomeText(t *Theme, w int) []string {
	const widest = 9 + 40 + 56 // of a line with its doc
	beside := w >= widest
	list := []string{
		paint(t.Title, "tpush") + paint(t.Dim, "  Go cells on a simulated TPU."),
		paint(t.Dim, "It shows why something ran, waited, padded, or ran out of memory or bounds."),
		"",
		paint(t.Title, "Four things to try") + paint(t.Dim, "  type them, or press Alt and the number"),
		"",
	}
	for _, x := range tryThese {
		for i, l := range strings.Split(x.cell, "\n") {
			head := "  " + paint(t.Key, "Alt-"+x.key) + "  "
			if i > 0 {
				head = "         "
			}
			code := edit.Draw([]string{l}, 200, &t.Tokens)[0][0]
			if beside && i == 0 {
				code = glyph.Fit(code, max(40, glyph.Cells(code)+2), "") + paint(t.Dim, x.doc)
			}
			list = append(list, head+code)
		}
		if !beside && w > 0 {
			list = append(list, "         "+paint(t.Dim, x.doc))
		}
	}
	return append(list, "",
		paint(t.Key, "  F1")+" help   "+paint(t.Key, "Ctrl-P")+" every command   "+paint(t.Key, "Esc")+" cells   "+paint(t.Key, "Ctrl-D")+" leave")
}

// welcome draws the first screen over the empty rows.
func (m *Model) welcome(rows []string) {
	if !m.opts.Welcome {
		return
	}
	text := welcomeText(&m.theme, m.at.mainW-3)
	if len(text) > len(rows) {
		text = welcomeText(&m.theme, 0)
	}
	y := max((len(rows)-len(text))/2, 0)
	for i, l := range text {
		if y+i < len(rows) {
			rows[y+i] = glyph.Fit("   "+l, m.at.mainW, m.theme.More)
		}
	}
}

// trying tells whether the keys of the welcome still work: until something else
// was typed or a panel opened.
func (m *Model) trying() bool {
	if !m.opts.Welcome || len(m.panes.open) > 0 {
		return false
	}
	for _, c := range m.nb.cells {
		if !slices.ContainsFunc(tryThese, func(x tryThis) bool { return x.cell == c.source }) {
			return false
		}
	}
	return true
}

// tryOne runs one of the things to try.
func (m *Model) tryOne(n int) tea.Cmd {
	if n < 1 || n > len(tryThese) {
		return nil
	}
	return m.run(tryThese[n-1].cell)
}
