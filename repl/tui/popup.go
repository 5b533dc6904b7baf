package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/viz"
)

// A popup is what may stand at the cursor. The kernel is asked once for a word;
// while it is typed on, the answer is narrowed here.
type popup struct {
	from  edit.Pos // where the word begins
	items []kernel.Candidate
	found []hit
	at    int // the chosen item; -1 until one is: Enter is not the popup's before
	top   int
}

// complete completes the word before the cursor, or indents.
func (m *Model) complete() tea.Cmd {
	e := m.text()
	if m.popup != nil {
		m.popup.step(1)
		return nil
	}
	c := e.Cursor()
	if strings.TrimSpace(e.Line(c.Line)[:c.Col]) == "" && !isCommandLine(e) {
		if _, _, ok := e.Selection(); ok {
			e.Indent(false)
		} else {
			e.Insert("\t")
		}
		return m.typed()
	}
	return m.askCompletion(true)
}

func isCommandLine(e *edit.Editor) bool { return strings.HasPrefix(e.Line(0), ":") }

// askCompletion asks what may stand at the cursor. wanted says that the user
// asked: a single answer is then taken at once.
func (m *Model) askCompletion(wanted bool) tea.Cmd {
	e := m.text()
	req := kernel.CompleteRequest{Code: e.Text(), CursorPos: e.Offset()}
	own := m.completeScreenCommand(req)
	return m.askKernel(func(ctx context.Context, k Kernel) func(m *Model) tea.Cmd {
		rep, err := k.Complete(ctx, req)
		return func(m *Model) tea.Cmd {
			if err != nil || m.text() != e || !strings.HasPrefix(e.Text(), req.Code[:rep.CursorStart]) {
				return nil
			}
			return m.openPopup(merge(rep, own), wanted)
		}
	})
}

// merge gives the candidates of both answers.
func merge(rep kernel.CompleteReply, own []kernel.Candidate) kernel.CompleteReply {
	if len(own) > 0 && len(rep.Matches) == 0 {
		rep.CursorStart = rep.CursorEnd - len(own[0].Kind)
	}
	rep.Details = append(rep.Details, own...)
	return rep
}

func (m *Model) openPopup(rep kernel.CompleteReply, wanted bool) tea.Cmd {
	e := m.text()
	p := &popup{from: e.At(rep.CursorStart), at: -1}
	seen := map[string]bool{}
	for _, d := range rep.Details {
		if !seen[d.Text] {
			seen[d.Text] = true
			p.items = append(p.items, d)
		}
	}
	m.popup = p
	p.narrow(e)
	switch {
	case len(p.found) == 0:
		m.popup = nil
		if wanted {
			m.say("nothing completes this")
		}
	case wanted && len(p.found) == 1:
		return m.accept(0)
	case wanted:
		if more := p.common(); len(more) > len(p.word(e)) {
			e.Replace(p.from, e.Cursor(), more)
			p.narrow(e)
		}
	}
	return nil
}

// word is what is typed of the word.
func (p *popup) word(e *edit.Editor) string {
	c := e.Cursor()
	if c.Line != p.from.Line || c.Col < p.from.Col {
		return ""
	}
	return e.Line(c.Line)[p.from.Col:c.Col]
}

// narrow keeps the candidates that match what is typed: those that begin so
// first, then those that have the letters in order.
func (p *popup) narrow(e *edit.Editor) {
	word := p.word(e)
	p.found, p.at, p.top = p.found[:0], -1, 0
	if word == "" {
		for i := range p.items {
			p.found = append(p.found, hit{item: i})
		}
		return
	}
	var texts []string
	for i, it := range p.items {
		texts = append(texts, it.Text)
		if strings.HasPrefix(it.Text, word) {
			p.found = append(p.found, hit{item: i})
		}
	}
	for _, h := range fuzzy(word, texts) {
		if !strings.HasPrefix(texts[h.item], word) {
			p.found = append(p.found, h)
		}
	}
}

// common is the longest beginning that all candidates share.
func (p *popup) common() string {
	s := p.items[p.found[0].item].Text
	for _, h := range p.found[1:] {
		t := p.items[h.item].Text
		n := 0
		for n < len(s) && n < len(t) && s[n] == t[n] {
			n++
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

func (p *popup) step(d int) {
	n := len(p.found)
	if p.at += d; p.at >= n {
		p.at = 0
	} else if p.at < 0 {
		p.at = n - 1
	}
}

// refreshPopup follows what is typed: it narrows the popup, closes it when the
// word was left, and opens one after a dot.
func (m *Model) refreshPopup() tea.Cmd {
	e := m.text()
	if e == nil {
		return nil
	}
	if p := m.popup; p != nil {
		c := e.Cursor()
		if c.Line == p.from.Line && c.Col >= p.from.Col && isName(p.word(e)) {
			if p.narrow(e); len(p.found) > 0 && !(len(p.found) == 1 && p.items[p.found[0].item].Text == p.word(e)) {
				return m.askSignature()
			}
		}
		m.popup = nil
	}
	if at := e.Cursor(); at.Col > 0 && m.version != e.Version() {
		m.version = e.Version()
		line := e.Line(at.Line)[:at.Col]
		if strings.HasSuffix(line, ".") && at.Col > 1 && isName(line[at.Col-2:at.Col-1]) && !digits(line) || line == ":" && at.Line == 0 {
			return m.askCompletion(false)
		}
	}
	return m.askSignature()
}

// digits says whether the dot ends a number.
func digits(line string) bool {
	i := len(line) - 1
	for i > 0 && line[i-1] >= '0' && line[i-1] <= '9' {
		i--
	}
	return i < len(line)-1 && (i == 0 || !wordByte(line[i-1]))
}

func isName(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) && s[i] != ')' && s[i] != ']' && s[i] != '-' && s[i] != '/' && s[i] != '.' {
			return false
		}
	}
	return true
}

func (m *Model) dropPopup() tea.Cmd {
	m.popup = nil
	return nil
}

// accept puts a candidate in place of the word.
func (m *Model) accept(i int) tea.Cmd {
	e, p := m.text(), m.popup
	it := p.items[p.found[i].item]
	m.popup = nil
	e.Replace(p.from, e.Cursor(), it.Text)
	m.version = e.Version()
	if m.focus == onEdit {
		m.showEditing()
	}
	return m.askSignature()
}

// popupKey gives the popup the keys that are its own.
func (m *Model) popupKey(name string) (tea.Cmd, bool) {
	p := m.popup
	action, _ := m.keys.Lookup(config.Popup, "", name)
	switch action {
	case "accept":
		if p.at < 0 {
			m.popup = nil
			return nil, false
		}
		return m.accept(p.at), true
	case "next":
		if len(p.found) == 1 {
			return m.accept(0), true
		}
		p.step(1)
	case "previous":
		p.step(-1)
	case "close":
		m.popup = nil
	default:
		return nil, false
	}
	return nil, true
}

// popupRows is how many candidates are shown.
const popupRows = 9

// drawPopup lays the popup at the cursor: below it where there is room, else above.
func (m *Model) drawPopup(rows []string, x, y int) {
	p, t := m.popup, &m.theme
	n := min(popupRows, len(p.found), max(len(rows)-2, 0))
	if n == 0 {
		return
	}
	if p.at >= 0 {
		p.top = min(max(p.top, p.at-n+1), p.at)
	}
	textW, detailW := 4, 0
	for _, h := range p.found[p.top : p.top+n] {
		textW = max(textW, min(glyph.Width(p.items[h.item].Text), 40))
		detailW = max(detailW, min(glyph.Width(p.items[h.item].Detail), 48))
	}
	w := min(textW+detailW+5+len(kindWord("")), m.w)
	var list []string
	for i := p.top; i < p.top+n; i++ {
		it := p.items[p.found[i].item]
		line := glyph.Fit(" "+kindWord(it.Kind)+" "+glyph.Fit(it.Text, textW, t.More)+"  "+it.Detail, w-1, t.More) + " "
		sgr := t.Popup
		if i == p.at {
			sgr = t.PopupItem
		}
		list = append(list, paint(sgr, glyph.Fit(line, w, "")))
	}
	if more := len(p.found) - n; more > 0 && n > 1 {
		list = append(list, paint(t.Popup, glyph.Fit("   "+t.More+" and "+viz.Plural(more, "other"), w, "")))
	}
	px := x - glyph.Width(p.word(m.text())) - 1 - len(kindWord("")) - 1
	py := y + 1
	if py+len(list) > len(rows)-m.at.statusH-m.at.keysH {
		py = max(y-len(list), 0)
	}
	lay(rows, list, px, py, m.w)
}

// kindWord is three letters for what a candidate is.
func kindWord(kind string) string {
	switch kind {
	case "method", "func", "var", "const", "type", "field", "package", "keyword", "command", "file", "op", "value":
		return (kind + "   ")[:3]
	case "":
		return "   "
	}
	return "   "
}
