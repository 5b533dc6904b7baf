package tui

import (
	"cmp"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A question wants one of a few keys. One that nobody asked for comes while the
// user may be typing: it takes its letters only with Alt, and every other key
// goes on to where it was meant to go.
type question struct {
	title   string
	lines   []string
	answers []answer
	unasked bool
	later   string // what Esc means, for one that is unasked
}

// An answer is a key and what it does. Esc always answers nothing.
type answer struct {
	key, text string
	do        func(m *Model) tea.Cmd
}

func (q *question) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	name := k.String()
	for _, a := range q.answers {
		if strings.EqualFold(q.keyOf(a), name) {
			m.over = nil
			return a.do(m), true
		}
	}
	if name == "esc" || name == "ctrl+c" && !q.unasked {
		m.over = nil
		return nil, true
	}
	return nil, !q.unasked
}

// keyOf is the key that gives an answer.
func (q *question) keyOf(a answer) string {
	if q.unasked {
		return "alt+" + a.key
	}
	return a.key
}

func (q *question) paste(*Model, string) (tea.Cmd, bool) { return nil, !q.unasked }

func (q *question) draw(m *Model, rows []string, x, y int) (int, int, bool) {
	t := &m.theme
	var lines []string
	for _, l := range q.lines {
		lines = append(lines, glyph.WrapWords(l, max(m.w-6, 1))...)
	}
	lines = append(lines, "")
	wide := len("esc ")
	for _, a := range q.answers {
		wide = max(wide, len(q.keyOf(a))+1)
	}
	for _, a := range q.answers {
		lines = append(lines, paint(t.Key, glyph.Fit(keyName(q.keyOf(a)), wide, ""))+a.text)
	}
	if q.unasked {
		lines = append(lines, paint(t.Key, glyph.Fit("Esc", wide, ""))+cmp.Or(q.later, "later"))
		lay(rows, box(t, q.title, lines, m.w), 2, m.at.cellsH-len(lines)-2, m.w)
		return x, y, m.text() != nil
	}
	lines = append(lines, paint(t.Key, glyph.Fit("Esc", wide, ""))+"nothing")
	center(rows, box(t, q.title, lines, m.w), m.w)
	return x, y, false
}

func newRestartQuestion() *question {
	return &question{
		title: "the cell still runs", lines: []string{"A new kernel loses the variables; the cells stay."},
		answers: []answer{
			{"r", "restart the kernel", func(m *Model) tea.Cmd { return m.restart(false) }},
			{"p", "restart and run again what ran", func(m *Model) tea.Cmd { return m.restart(true) }},
		},
	}
}

func newLeaveQuestion() *question {
	return &question{title: "a cell runs", lines: []string{"Leave all the same?"}, answers: []answer{{"y", "stop it and leave", (*Model).leave}}}
}

// lastWordLines bounds what a dead kernel's last words take.
const lastWordLines = 8

// newDeathQuestion says how the kernel ended and offers another.
func newDeathQuestion(m *Model) *question {
	q := &question{title: m.died, unasked: true, answers: []answer{
		{"p", "a new kernel, and run again what ran", func(m *Model) tea.Cmd { return m.restart(true) }},
		{"r", "a new kernel", func(m *Model) tea.Cmd { return m.restart(false) }},
	}}
	var d *kernel.DiedError
	if errors.As(m.death, &d) {
		words, _, _ := strings.Cut(d.Stderr, "\ngoroutine ")
		list := glyph.Clean(strings.TrimSpace(words))
		q.lines = append(q.lines, list[:min(len(list), lastWordLines)]...)
	}
	q.lines = append(q.lines, "The cells and what they showed are kept; the variables are gone.")
	return q
}
