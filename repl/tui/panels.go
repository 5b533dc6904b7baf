package tui

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A pane is an open panel.
type pane struct {
	panel.Panel
	asked bool   // an answer of the kernel is on its way
	again bool   // and the data have changed meanwhile
	why   string // the kernel gave none
}

// panes are the open panels and the place they have.
type panes struct {
	kept    map[string]*pane // every panel that was open once keeps its state
	open    []*pane
	focused int
	wider   int // columns more than by default, chosen with the keys
	taller  int // rows more for the strip, or for the editor
	sel     panel.Selection
	waking  bool // a later request is arranged
}

// viewEvery is the least time between two requests of a panel.
const viewEvery = time.Second / 30

// viewDeadline is how long a panel waits for its data.
const viewDeadline = 5 * time.Second

type viewMsg struct{}

// togglePanel opens a panel, or closes it.
func (m *Model) togglePanel(name string) tea.Cmd {
	for i, p := range m.panes.open {
		if p.Name() == name {
			m.panes.open = append(m.panes.open[:i:i], m.panes.open[i+1:]...)
			m.panes.focused = 0
			if len(m.panes.open) == 0 || m.at.overlay {
				m.unfocusPanel()
			}
			return nil
		}
	}
	p := m.panes.kept[name]
	if p == nil {
		found := panel.Named(name)
		if found == nil {
			m.say("there is no panel %s: %s", name, strings.Join(m.panelNames(), ", "))
			return nil
		}
		if m.panes.kept == nil {
			m.panes.kept = map[string]*pane{}
		}
		m.giveKeys(found)
		p = &pane{Panel: found}
		m.panes.kept[name] = p
	}
	p.Select(m.panes.sel)
	m.panes.open = append(m.panes.open, p)
	m.replan()
	if m.at.overlay { // it lies over the cells: the keys are its
		m.focusPane(len(m.panes.open) - 1)
	}
	return m.refreshPane(p)
}

// openPanel opens a panel if it is not, and gives it the keys.
func (m *Model) openPanel(name string) tea.Cmd {
	at := func() int {
		return slices.IndexFunc(m.panes.open, func(p *pane) bool { return p.Name() == name })
	}
	var cmd tea.Cmd
	if at() < 0 {
		cmd = m.togglePanel(name)
	}
	m.focusPane(at())
	return cmd
}

// giveKeys tells the help panel the keys in force.
func (m *Model) giveKeys(p panel.Panel) {
	h, ok := p.(*panel.Help)
	if !ok {
		return
	}
	var rows []inspect.HelpRow
	for _, c := range config.Contexts() {
		for _, a := range config.Actions() {
			if a.Context == c {
				rows = append(rows, inspect.HelpRow{Group: "keys " + contextTitles[c], Name: strings.Join(m.keys.Keys(a.Name), " "), Args: a.Name, Doc: a.Doc})
			}
		}
	}
	h.Keys = rows
}

func panelActor(name string) actor {
	return func(m *Model) tea.Cmd { return m.togglePanel(name) }
}

func (m *Model) panelNames() []string {
	var list []string
	for _, p := range panel.All() {
		list = append(list, p.Name())
	}
	return list
}

func (m *Model) panelCommand(arg string) tea.Cmd {
	if arg == "" {
		m.say("panels: %s", strings.Join(m.panelNames(), ", "))
		return nil
	}
	return m.togglePanel(arg)
}

// refreshPanels asks for new data of every panel that is open.
func (m *Model) refreshPanels() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.shownPanes() {
		cmds = append(cmds, m.refreshPane(p))
	}
	return tea.Batch(cmds...)
}

// shownPanes are the panels that can be seen: of an overlay only one.
func (m *Model) shownPanes() []*pane {
	if m.at.overlay && len(m.panes.open) > 0 {
		return m.panes.open[m.panes.focused : m.panes.focused+1]
	}
	return m.panes.open
}

// refreshPane asks for the data of a panel; while an answer is awaited it
// remembers to ask again, so that no panel has two questions under way.
func (m *Model) refreshPane(p *pane) tea.Cmd {
	if m.state != ready {
		return nil
	}
	if p.asked {
		p.again = true
		return nil
	}
	name, args := p.Wants()
	if name == "" {
		return nil
	}
	p.asked, p.again = true, false
	k := m.kernel
	return m.ask(func() func(m *Model) tea.Cmd {
		ctx, cancel := context.WithTimeout(context.Background(), viewDeadline)
		defer cancel()
		var data json.RawMessage
		err := k.View(ctx, name, args, &data)
		return func(m *Model) tea.Cmd {
			p.asked = false
			if err == nil {
				err = p.Load(data)
			}
			if p.why = ""; err != nil {
				p.why = err.Error()
			}
			if p.again {
				return m.refreshLater()
			}
			return nil
		}
	})
}

// refreshLater asks again once the least time has passed.
func (m *Model) refreshLater() tea.Cmd {
	if m.panes.waking {
		return nil
	}
	m.panes.waking = true
	m.waiting++
	return m.later(viewEvery, viewMsg{})
}

func (m *Model) viewDue() tea.Cmd {
	m.waiting--
	m.panes.waking = false
	var cmds []tea.Cmd
	for _, p := range m.shownPanes() {
		if p.again {
			cmds = append(cmds, m.refreshPane(p))
		}
	}
	return tea.Batch(cmds...)
}

// focusPane gives the keys to a panel.
func (m *Model) focusPane(i int) {
	if i < 0 || i >= len(m.panes.open) {
		return
	}
	m.commitEdit()
	m.focus, m.panes.focused = onPanel, i
}

func (m *Model) unfocusPanel() {
	if m.focus == onPanel {
		m.focus = onInput
	}
}

// leavePanel gives the keys back; an overlay closes.
func (m *Model) leavePanel() {
	if m.at.overlay && len(m.panes.open) > 0 {
		m.panes.open = nil
	}
	m.panes.focused = 0
	m.unfocusPanel()
}

// focusNextPanel goes round: the text, then each panel.
func (m *Model) focusNextPanel() {
	switch n := len(m.panes.open); {
	case n == 0:
		m.say("no panel is open: %s open them", m.keysOf("panel-hbm..panel-debug"))
	case m.focus != onPanel:
		m.focusPane(0)
	case m.panes.focused+1 < n:
		m.focusPane(m.panes.focused + 1)
	default:
		m.unfocusPanel()
	}
}

// focusPanel is 1 for the text, 2 for the first panel and so on.
func focusPanel(n int) actor {
	return then(func(m *Model) {
		if n == 1 {
			m.unfocusPanel()
			return
		}
		m.focusPane(n - 2)
	})
}

// resizer gives the panels more columns, or the strip and the editor more rows.
func resizer(columns, rows int) actor {
	return then(func(m *Model) {
		m.panes.wider = min(max(m.panes.wider+columns, -m.w), m.w)
		m.panes.taller = min(max(m.panes.taller+rows, 0), m.h)
	})
}

// focusedPane is the panel that has the keys.
func (m *Model) focusedPane() *pane {
	if m.focus != onPanel || m.panes.focused >= len(m.panes.open) {
		return nil
	}
	return m.panes.open[m.panes.focused]
}

// panelActions adds what the panels do: each acts in the one that has the focus.
func panelActions(all map[string]actor) map[string]actor {
	for _, p := range panel.All() {
		for _, a := range p.Actions() {
			all[a.Key(p)] = func(m *Model) tea.Cmd { return m.panelAct(a) }
		}
	}
	return all
}

// panelAct does an action in the panel that has the focus, and asks first for
// what the action takes.
func (m *Model) panelAct(a panel.Action) tea.Cmd {
	p := m.focusedPane()
	if p == nil {
		return nil
	}
	if a.Arg != "" {
		m.over = newPrompt(a.Arg, func(m *Model, arg string) tea.Cmd { return m.panelDo(p, a.Name+" "+arg) })
		return nil
	}
	return m.panelDo(p, a.Name)
}

// panelDo does an action of a panel and what follows from it.
func (m *Model) panelDo(p *pane, action string) tea.Cmd {
	effect, ok := p.Do(action)
	if !ok {
		return nil
	}
	var cmds []tea.Cmd
	if effect.Selection != nil {
		m.choose(*effect.Selection, p)
	}
	if effect.Command != "" {
		cmds = append(cmds, m.run(effect.Command))
	}
	if effect.Refresh {
		cmds = append(cmds, m.refreshPane(p))
	}
	return tea.Batch(cmds...)
}

// choose selects one thing everywhere: in the other panels, and its line in the cell.
func (m *Model) choose(s panel.Selection, from *pane) {
	m.panes.sel = s
	for _, p := range m.panes.open {
		if p != from {
			p.Select(s)
		}
	}
	if c := m.nb.byCount(s.Cell); s.Cell > 0 && c != nil {
		m.marked, m.markedLine = c, s.Line
		m.replan()
		src := m.source()
		rows := src.rows(m.nb.index(c))
		from, to := 0, len(rows)-1
		if i := s.Line - 1; i >= 0 && i < len(c.cache.spans) {
			from, to = c.cache.spans[i][0], c.cache.spans[i][1]-1
		}
		m.view.show(src, m.nb.index(c), from, to)
	}
}

// strip says whether a panel is one that is drawn below the others.
func (p *pane) strip() bool { return p.Name() == "trace" }

// drawPanels draws the open panels over the rows of the screen: columns at the
// right, a strip below, or one panel over the cells.
func (m *Model) drawPanels(rows []string) {
	l := m.at
	m.rects = m.rects[:0]
	if len(m.panes.open) == 0 {
		return
	}
	if l.overlay {
		i := min(m.panes.focused, len(m.panes.open)-1)
		m.put(rows, m.panes.open[i], 0, 0, l.w, l.cellsH)
		return
	}
	var stacked []*pane
	for _, p := range m.panes.open {
		if l.stripH > 0 && p.strip() {
			y := l.h - l.statusH - l.keysH - l.stripH
			rows[y] = paint(m.theme.Rule, strings.Repeat(m.theme.Viz.Rule, l.w))
			m.put(rows, p, 0, y+1, l.w, l.stripH-1)
			continue
		}
		stacked = append(stacked, p)
	}
	for i, c := range l.columns {
		share := share(stacked, len(l.columns), i)
		m.column(rows, share, c, l.bodyH())
	}
}

// share deals panels out to columns, in order.
func share(list []*pane, columns, i int) []*pane {
	per := (len(list) + columns - 1) / columns
	return list[min(i*per, len(list)):min((i+1)*per, len(list))]
}

// column stacks panels, a rule between them.
func (m *Model) column(rows []string, list []*pane, c span, h int) {
	y := 0
	for i, p := range list {
		n := (h - y - (len(list) - 1 - i)) / (len(list) - i)
		if i == len(list)-1 {
			n = h - y
		}
		m.put(rows, p, c.x, y, c.w, n)
		if y += n; y < h {
			m.splice(rows, y, c.x, strings.Repeat(m.theme.Viz.Rule, c.w), m.theme.Rule, c.w)
			y++
		}
	}
	for ; y < h; y++ {
		m.splice(rows, y, c.x, glyph.Spaces(c.w), "", c.w)
	}
	for y := range min(h, len(rows)) { // the wall at its left
		m.splice(rows, y, c.x-1, m.theme.Viz.Wall, m.theme.Rule, 1)
	}
}

func (m *Model) splice(rows []string, y, x int, text, sgr string, w int) {
	if y < len(rows) {
		rows[y] = glyph.Splice(rows[y], paint(sgr, text), x, w, m.at.w)
	}
}

// A rect is where a panel was drawn.
type rect struct {
	pane       *pane
	x, y, w, h int
}

// paneAt finds the panel at a cell of the screen, nil when there is none.
func (m *Model) paneAt(x, y int) *pane {
	for _, r := range m.rects {
		if x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h {
			return r.pane
		}
	}
	return nil
}

// put draws a panel at a place.
func (m *Model) put(rows []string, p *pane, x, y, w, h int) {
	m.rects = append(m.rects, rect{p, x, y, w, h})
	focused := p == m.focusedPane()
	list := p.View(panel.Context{Theme: m.theme.Viz, Focused: focused, Keys: m.keys.Keys}, w, h)
	if p.why != "" && h > 1 {
		list[h-1] = glyph.Fit(paint(m.theme.Bad, p.why), w, m.theme.More)
	}
	for i, r := range list {
		if y+i >= len(rows) {
			break
		}
		if i == 0 && focused {
			r = paint(m.theme.PopupItem, glyph.Fit(glyph.Strip(r), w, ""))
		}
		if w == m.at.w {
			rows[y+i] = r
			continue
		}
		rows[y+i] = glyph.Splice(rows[y+i], r, x, w, m.at.w)
	}
}
