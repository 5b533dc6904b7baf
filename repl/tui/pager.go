package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A pager shows text on the whole screen: all of an output, help, the keys.
// Only the lines in the window are cut into rows.
type pager struct {
	of    *cell // whose output it is, nil for other text
	title string
	lines func() []string // asked anew for each frame: output may still arrive
	line  int             // the first line shown
	row   int             // of it
	wrap  bool
	find  *edit.Editor // what is looked for, nil when nothing is
	asked bool         // it is being typed
}

func newPager(title string, lines func() []string) *pager {
	return &pager{title: title, lines: lines, wrap: true}
}

// textPager shows a text that does not change.
func textPager(title, text string) *pager {
	lines := glyph.Clean(text)
	return newPager(title, func() []string { return lines })
}

func (p *pager) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	name := k.String()
	if p.asked {
		p.typing(m, k)
		return nil, true
	}
	page := max(m.h-3, 1)
	popup, _ := m.keys.Lookup(config.Popup, "", name)
	switch {
	case popup == "close" || popup == "interrupt" || name == "q" || name == "o":
		m.over = nil
	case name == "up" || name == "k":
		p.scroll(m, -1)
	case name == "down" || name == "j" || name == "enter":
		p.scroll(m, 1)
	case popup == "page-up" || name == "b" || name == "ctrl+b":
		p.scroll(m, -page)
	case popup == "page-down" || name == "space" || name == "f":
		p.scroll(m, page)
	case name == "home" || name == "g" || name == "ctrl+home":
		p.line, p.row = 0, 0
	case name == "end" || name == "G" || name == "ctrl+end":
		p.line, p.row = len(p.lines()), 0
		p.scroll(m, 0)
	case name == "w":
		p.wrap, p.row = !p.wrap, 0
	case name == "/":
		p.find, p.asked = edit.New(""), true
	case name == "n":
		p.next(m, 1)
	case name == "N":
		p.next(m, -1)
	case name == "v" && p.of != nil:
		return m.pageAll(p.of), true
	case name == "y":
		return m.clip(glyph.Strip(strings.Join(p.lines(), "\n")), "all of it"), true
	}
	return nil, true
}

func (p *pager) typing(m *Model, k tea.KeyPressMsg) {
	switch name := k.String(); name {
	case "enter":
		p.asked = false
		p.next(m, 0)
	case "esc", "ctrl+c", "ctrl+g":
		p.find, p.asked = nil, false
	case "backspace":
		p.find.Backspace()
	default:
		if k.Text != "" {
			p.find.Type(k.Text)
		}
	}
}

// next goes to the next line, at or after the first shown, that holds what is looked for.
func (p *pager) next(m *Model, d int) {
	if p.find == nil || p.find.Text() == "" {
		return
	}
	lines, want := p.lines(), strings.ToLower(p.find.Text())
	step := d
	if d == 0 {
		step = 1
	}
	for i := p.line + d; i >= 0 && i < len(lines); i += step {
		if strings.Contains(strings.ToLower(glyph.Strip(lines[i])), want) {
			p.line, p.row = i, 0
			p.scroll(m, 0)
			return
		}
	}
	m.say("%q is not found", p.find.Text())
}

func (p *pager) rows(m *Model, s string) []string {
	if p.wrap {
		return glyph.WrapWords(s, max(m.w, 1))
	}
	return []string{s}
}

// scroll moves d rows and stays inside of the text.
func (p *pager) scroll(m *Model, d int) {
	lines := p.lines()
	p.line = min(max(p.line, 0), max(len(lines)-1, 0))
	if len(lines) == 0 {
		return
	}
	for p.row += d; p.row < 0 && p.line > 0; {
		p.line--
		p.row += len(p.rows(m, lines[p.line]))
	}
	p.row = max(p.row, 0)
	for p.line < len(lines)-1 && p.row >= len(p.rows(m, lines[p.line])) {
		p.row -= len(p.rows(m, lines[p.line]))
		p.line++
	}
	// Not beyond the last page.
	line, need := len(lines)-1, max(m.h-2, 1)
	row := 0
	for ; line >= 0; line-- {
		n := len(p.rows(m, lines[line]))
		if n >= need {
			row = n - need
			break
		}
		need -= n
	}
	if line = max(line, 0); p.line > line || p.line == line && p.row > row {
		p.line, p.row = line, row
	}
}

func (p *pager) paste(_ *Model, text string) (tea.Cmd, bool) {
	if p.asked {
		p.find.Insert(strings.ReplaceAll(text, "\n", " "))
	}
	return nil, true
}

func (p *pager) draw(m *Model, rows []string, x, y int) (int, int, bool) {
	t, lines := &m.theme, p.lines()
	if m.h == 0 {
		return 0, 0, false
	}
	body := max(m.h-2, 0)
	n := 1
	rows[0] = paint(t.Bar, glyph.Fit(" "+p.title, m.w, t.More))
	row := p.row
	i := p.line
	for ; i < len(lines) && n <= body; i++ {
		list := p.rows(m, lines[i])
		for _, r := range list[min(row, len(list)):] {
			if n > body {
				break
			}
			rows[n] = glyph.Fit(r, m.w, t.More)
			n++
		}
		row = 0
	}
	for ; n <= body && n < m.h; n++ {
		rows[n] = glyph.Spaces(m.w)
	}
	if m.h < 2 {
		return 0, 0, false
	}
	if p.asked {
		rows[m.h-1] = glyph.Fit("/"+p.find.Text(), m.w, "")
		return min(1+glyph.Width(p.find.Text()), max(m.w-1, 0)), m.h - 1, true
	}
	note := m.note
	if note == "" {
		note = fmt.Sprintf("lines %d-%d of %d   / find  n next  w wrap  y copy  q leaves%s", min(p.line+1, len(lines)), i, len(lines), p.more())
	}
	rows[m.h-1] = paint(t.Dim, glyph.Fit(" "+note, m.w, t.More))
	return x, y, false
}

// more tells of the key for what is not kept here.
func (p *pager) more() string {
	if p.of != nil && p.of.spoolFile() != "" {
		return "  v all of it in $PAGER"
	}
	return ""
}

// showOutput shows all that the selected cell produced.
func (m *Model) showOutput() tea.Cmd {
	if len(m.nb.cells) == 0 {
		return nil
	}
	c := m.nb.cells[m.selected]
	last, made := -1, []string(nil)
	p := newPager(c.label()+" "+firstLine(c.source), func() []string {
		if last != c.version { // only what changed is put together again
			last, made = c.version, c.allLines(&m.theme)
		}
		return made
	})
	p.of = c
	m.over = p
	return nil
}

// allLines is everything a cell produced, line by line.
func (c *cell) allLines(t *Theme) []string {
	var list []string
	for _, o := range c.outputs {
		if o.kind == outError {
			list = append(list, o.drawError(1<<20, t)...)
			continue
		}
		list = append(list, o.all()...)
	}
	return list
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
