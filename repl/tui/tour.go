package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// A tour walks through a program that really runs, a step at a time.
type tour struct{ at int }

// A stage is one step of the tour: what is said, then a cell that runs.
type stage struct{ say, cell string }

func stages() []stage {
	return []stage{
		{"A cell is Go. tpu is the package of tensors; the value of the last expression is shown.", "x := tpu.Randn(128, 512)\nw := tpu.Randn(512, 256)\nh := (x @ w).GELU()\nh"},
		{"Each cell says what it cost: time, time on the device, launches, HBM. In debug mode each operation is launched alone.", ":ops 4"},
		{"What lies in the memory of the TPU, by the line that made it. Small arrays are padded to tiles.", ":hbm"},
		{"Fuse mode waits until a value is wanted and makes few kernels of many operations.", ":mode fuse"},
		{"The same again: one kernel instead of several.", "h2 := (x @ w).GELU().Mul(2).Add(1)\nh2.Mean()"},
		{"Why the group was cut there, and what it saved.", ":fusion"},
		{"Back to debug mode: indices are checked before an operation runs, and the error points at the operand.", ":mode debug"},
		{"An index out of bounds: nothing ran, nothing is lost.", "table := tpu.Ones(3, 2)\nrows := tpu.I64.Of(0, 7)\ntable.IndexSelect(0, rows)"},
	}
}

// startTour begins the tour.
func (m *Model) startTour() tea.Cmd {
	m.toInput()
	m.tour = &tour{}
	m.over = m.tour
	return nil
}

func (t *tour) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "enter", "space":
		if m.job != nil {
			return nil, true
		}
		list := stages()
		if t.at == len(list) {
			m.endTour()
			return nil, true
		}
		t.at++
		m.view.follow = true
		return m.enqueue(m.nb.append(list[t.at-1].cell)), true
	case "esc", "q", "ctrl+c", "ctrl+d":
		m.endTour()
	default:
		return nil, m.keys.Keys("scroll-up") == nil // scrolling and panels go on
	}
	return nil, true
}

func (m *Model) endTour() {
	m.tour, m.over = nil, nil
	m.say("the tour's cells are yours: Esc, move, Enter edits")
}

func (t *tour) paste(*Model, string) (tea.Cmd, bool) { return nil, true }

// box is what the tour says now.
func (t *tour) box(m *Model) []string {
	list := stages()
	title, lines := fmt.Sprintf("tour %d/%d", min(t.at+1, len(list)), len(list)), []string(nil)
	if t.at == len(list) {
		title, lines = "tour", []string{"That was it. F2 to F7 open panels that show the same while you work; F9 sets a breakpoint on a line.", "", "Enter or Esc ends the tour."}
	} else {
		s := list[t.at]
		w := max(min(m.w-6, 90), 1)
		lines = append(glyph.WrapWords(s.say, w), "")
		for l := range strings.SplitSeq(s.cell, "\n") {
			lines = append(lines, paint(m.theme.Key, l))
		}
		lines = append(lines, "", paint(m.theme.Dim, "Enter runs it, Esc leaves the tour"))
	}
	return box(&m.theme, title, lines, m.w)
}

// draw says the next step in the place of the editor.
func (t *tour) draw(m *Model, rows []string, x, y int) (int, int, bool) {
	b := t.box(m)
	lay(rows, b, 2, len(rows)-len(b)-m.at.statusH-m.at.keysH, m.w)
	return x, y, false
}
