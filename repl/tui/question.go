package tui

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A question wants one of a few keys.
type question struct {
	title   string
	lines   []string
	answers []answer
}

// An answer is a key and what it does. Esc always answers nothing.
type answer struct {
	key, text string
	do        func(m *Model) tea.Cmd
}

func (q *question) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	name := k.String()
	for _, a := range q.answers {
		if strings.EqualFold(a.key, name) {
			m.over = nil
			return a.do(m), true
		}
	}
	if name == "esc" || name == "ctrl+c" {
		m.over = nil
	}
	return nil, true
}

func (q *question) paste(*Model, string) (tea.Cmd, bool) { return nil, true }

func (q *question) draw(m *Model, rows []string, x, y int) (int, int, bool) {
	t := &m.theme
	var lines []string
	for _, l := range q.lines {
		lines = append(lines, glyph.Wrap(l, max(m.w-6, 1))...)
	}
	lines = append(lines, "")
	for _, a := range q.answers {
		lines = append(lines, paint(t.Key, glyph.Fit(a.key, 4, ""))+a.text)
	}
	lines = append(lines, paint(t.Key, "esc ")+"nothing")
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
func newDeathQuestion(m *Model, err error) *question {
	q := &question{title: m.died, answers: []answer{
		{"p", "a new kernel, and run again what ran", func(m *Model) tea.Cmd { return m.restart(true) }},
		{"r", "a new kernel", func(m *Model) tea.Cmd { return m.restart(false) }},
	}}
	var d *kernel.DiedError
	if errors.As(err, &d) {
		words, _, _ := strings.Cut(d.Stderr, "\ngoroutine ")
		list := glyph.Clean(strings.TrimSpace(words))
		q.lines = append(q.lines, list[:min(len(list), lastWordLines)]...)
	}
	q.lines = append(q.lines, "The cells and what they showed are kept; the variables are gone.")
	return q
}
