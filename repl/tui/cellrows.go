package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/viz"
)

// A rowCache holds the rows of a cell as they were drawn last.
type rowCache struct {
	rows      []string
	spans     [][2]int // rows of each source line: from, until
	version   int
	w, gutter int
	theme     int
	flags     uint8
}

// A cellLook is what the drawing of a cell depends on beside the cell.
type cellLook struct {
	w, gutter int
	theme     *Theme
	themeID   int
	selected  bool // in cell mode
	marked    bool // a panel selected one of its lines
	line      int  // that line
	now       time.Time
	editing   func() []string // the rows of the editor when the cell is being edited
}

func (l *cellLook) flags() uint8 {
	var f uint8
	if l.selected {
		f |= 1
	}
	if l.marked {
		f |= 2
	}
	return f
}

// rows draws a cell: its source, what it produced, and a footer.
func (c *cell) rows(l *cellLook) []string {
	if l.editing != nil || c.status == running || l.marked {
		return c.draw(l)
	}
	k := &c.cache
	if k.rows != nil && k.version == c.version && k.w == l.w && k.gutter == l.gutter && k.theme == l.themeID && k.flags == l.flags() {
		return k.rows
	}
	rows := c.draw(l)
	k.rows, k.version, k.w, k.gutter, k.theme, k.flags = rows, c.version, l.w, l.gutter, l.themeID, l.flags()
	return rows
}

// A pen collects the rows of a cell.
type pen struct {
	l    *cellLook
	rows []string
}

// row adds a row: a mark, a label in the gutter, and text that may be styled.
func (p *pen) row(mark, label, text string) {
	p.rows = append(p.rows, glyph.Fit(glyph.Fit(mark, 1, "")+glyph.Fit(label, p.l.gutter-1, "")+text, p.l.w, ""))
}

func (p *pen) inner() int { return max(p.l.w-p.l.gutter, 1) }

// bar is the mark of a selected cell.
func (p *pen) bar() string {
	if p.l.selected {
		return paint(p.l.theme.In, p.l.theme.Bar1)
	}
	return " "
}

func (c *cell) draw(l *cellLook) []string {
	p := &pen{l: l}
	if l.editing != nil {
		p.rows = l.editing()
	} else {
		c.drawSource(p)
	}
	if c.stop != nil {
		c.drawStop(p)
	}
	if !c.fold {
		c.drawOutputs(p)
	}
	c.drawFooter(p)
	return p.rows
}

// label is In[12], with a star while it runs.
func (c *cell) label() string {
	switch {
	case c.aside:
		return "dbg"
	case c.status == running || c.status == queued:
		return "In[*]"
	case c.command():
		return ""
	case c.count > 0:
		return "In[" + strconv.Itoa(c.count) + "]"
	}
	return "In[ ]"
}

// foldedLines is how many lines of source a folded cell shows.
const foldedLines = 1

func (c *cell) drawSource(p *pen) {
	t, lines := p.l.theme, c.lines()
	shown := lines
	if c.fold && len(lines) > foldedLines {
		shown = lines[:foldedLines]
	}
	c.cache.spans = c.cache.spans[:0]
	if c.title != "" {
		p.row(p.bar(), "", paint(t.Title, c.title))
	}
	for i, rows := range edit.Draw(shown, p.inner(), &t.Tokens) {
		from := len(p.rows)
		mark := p.bar()
		switch {
		case c.stopLine == i+1:
			mark = paint(t.Brk, t.Stop)
		case c.breaks[i+1]:
			mark = paint(t.Err, t.Break)
		}
		for k, r := range rows {
			label := ""
			switch {
			case i == 0 && k == 0:
				label = paint(t.In, c.label())
				if len(c.stale) > 0 {
					label = paint(t.Stale, c.label()+"~")
				}
			case k > 0:
				label = paint(t.Dim, strings.Repeat(" ", max(p.l.gutter-4, 0))+t.Wrap)
			}
			if p.l.marked && p.l.line == i+1 || c.stopLine == i+1 {
				r = paint(t.Select, glyph.Fit(glyph.Strip(r), p.inner(), ""))
			}
			p.row(mark, label, r)
			mark = p.bar()
		}
		c.cache.spans = append(c.cache.spans, [2]int{from, len(p.rows)})
	}
	if n := len(lines) - len(shown); n > 0 {
		p.row(p.bar(), "", paint(t.Dim, fmt.Sprintf("%s %s more, z unfolds", t.More, viz.Plural(n, "line"))))
	}
}

// Lines of output that a cell shows: all when there are few, else the first and the last.
const (
	shownLines = 40
	shownHead  = 10
	shownTail  = 25
)

func (c *cell) drawOutputs(p *pen) {
	t := p.l.theme
	label, kind := "", outputKind(255)
	for _, o := range c.outputs {
		first := ""
		switch o.kind {
		case outResult:
			first = paint(t.Out, "Out["+c.number()+"]")
		case outError:
			first = paint(t.Err, "Err["+c.number()+"]")
		case outWarning:
			first = paint(t.Wait, "warn")
		case outStderr:
			if kind != outStderr {
				first = paint(t.Dim, "stderr")
			}
		}
		kind = o.kind
		for _, r := range o.draw(p.inner(), t) {
			p.row(p.bar(), first, r)
			first = label
		}
	}
}

func (c *cell) number() string {
	if c.count == 0 && c.status == running {
		return "*"
	}
	if c.count == 0 {
		return " "
	}
	return strconv.Itoa(c.count)
}

// draw gives the rows of one output, at most w cells wide.
func (o *output) draw(w int, t *Theme) []string {
	if o.kind == outError {
		return o.drawError(w, t)
	}
	extra := o.drawTensor(w, t)
	if extra != nil && o.form != asText {
		return extra
	}
	return append(o.drawText(w, t), extra...)
}

// drawText draws lines: all when they are few, else the first and the last.
func (o *output) drawText(w int, t *Theme) []string {
	n := o.text.len()
	if o.partial != "" {
		n++
	}
	var rows []string
	tabular := o.kind == outDisplay || o.tensor() != nil // columns stay below each other
	add := func(list []string) {
		for _, s := range list {
			switch {
			case tabular && o.kind == outDisplay && !drawn(s):
				rows = append(rows, glyph.WrapWords(s, w)...)
			case tabular:
				rows = append(rows, glyph.Fit(s, min(w, glyph.Cells(s)), t.More))
			case o.kind == outWarning:
				rows = append(rows, glyph.WrapWords(paint(t.Wait, s), w)...)
			default:
				rows = append(rows, wrapLine(s, w, t)...)
			}
		}
	}
	if n <= shownLines {
		add(o.all())
		return rows
	}
	add(o.text.head(shownHead))
	hidden := o.text.len() - shownHead - shownTail
	rows = append(rows, paint(t.Dim, fmt.Sprintf("%s %s more, o shows all", t.More, viz.Plural(hidden, "line"))))
	add(o.text.tail(shownTail))
	if o.partial != "" {
		add([]string{o.partial})
	}
	return rows
}

// drawn says whether a line is part of a drawing, which must not be broken: it
// holds lines or blocks.
func drawn(s string) bool {
	return len(s) > shownLineBytes || strings.ContainsFunc(s, func(r rune) bool { return r >= 0x2500 && r < 0x25a0 || r >= 0x2800 && r < 0x2900 })
}

// shownLineBytes is how much of one line a cell shows.
const shownLineBytes = 4 << 10

// wrapLine breaks a line into rows; of a very long one it shows the beginning.
func wrapLine(s string, w int, t *Theme) []string {
	if len(s) <= shownLineBytes {
		return glyph.Wrap(s, w)
	}
	head := strings.ToValidUTF8(s[:shownLineBytes], "")
	if i := strings.LastIndexByte(head, 0x1b); i >= 0 && i > len(head)-64 { // a colour that is cut in two
		head = head[:i]
	}
	rows := glyph.Wrap(head, w)
	return append(rows, paint(t.Dim, t.More+" "+viz.Plural(len(s)-len(head), "byte")+" more of the line, o shows all"))
}

// drawError draws an error: kind, message, place, then the picture.
func (o *output) drawError(w int, t *Theme) []string {
	e := &o.err
	rows := glyph.WrapWords(paint(t.Bad, e.Name+":")+" "+clean(e.Value), w)
	if len(e.Traceback) == 0 && e.Line > 0 {
		rows = append(rows, paint(t.Dim, "--> "+placeOf(e.File, e.Cell, e.Line, e.Column)))
	}
	for _, l := range e.Traceback {
		for _, s := range glyph.Clean(l) {
			rows = append(rows, glyph.WrapWords(s, w)...)
		}
	}
	return rows
}

func clean(s string) string { return strings.Join(glyph.Clean(s), " ") }

func placeOf(file string, cell, line, column int) string {
	s := file
	if s == "" {
		s = "In[" + strconv.Itoa(cell) + "]"
	}
	s += ":" + strconv.Itoa(line)
	if column > 0 {
		s += ":" + strconv.Itoa(column)
	}
	return s
}

// drawFooter ends a cell: how it went and what it cost, at the right.
func (c *cell) drawFooter(p *pen) {
	t := p.l.theme
	var parts []string
	bad := ""
	if c.stop != nil {
		parts = append(parts, "stopped")
	}
	switch c.status {
	case queued:
		parts = append(parts, "queued")
	case running:
		if c.stop != nil {
			break
		}
		parts = append(parts, "running "+clock(p.l.now.Sub(c.started)), "Ctrl-C interrupts")
	case failed:
		bad = "failed"
	case interrupted:
		bad = "interrupted"
	case aborted:
		parts = append(parts, "not run: an earlier cell failed")
	}
	if c.aside {
		parts = nil
	}
	if c.reply.Status != "" && c.status != running && c.status != queued {
		if c.status == okay {
			parts = append(parts, "ok")
		}
		if c.reply.WallNS > 0 {
			parts = append(parts, viz.DurationNS(c.reply.WallNS))
		}
		if c.reply.Launches > 0 {
			parts = append(parts, "device "+viz.DurationNS(c.reply.DeviceNS))
		}
		if d := c.reply.HBMDeltaBytes; d != 0 {
			parts = append(parts, "HBM "+signedBytes(d))
		}
		if c.reply.Launches > 0 {
			parts = append(parts, viz.Plural(c.reply.Launches, "launch"))
		}
		if n := c.reply.ShownLaunches; n > 0 {
			parts = append(parts, fmt.Sprintf("shown by %s of %s, %s", viz.Plural(n, "launch"), viz.Plural(c.reply.ShownOps, "op"), viz.DurationNS(c.reply.ShownNS)))
		}
	}
	if c.restored {
		parts = append(parts, "from an earlier session")
	}
	if c.edited() && c.status != running {
		parts = append(parts, "edited since it ran")
	}
	if c.fold && len(c.outputs) > 0 {
		parts = append(parts, "output folded, z unfolds")
	}
	head := ""
	if len(c.stale) > 0 {
		head = paint(t.Stale, "stale: "+c.staleText()) + "  "
	}
	if bad != "" {
		head += paint(t.Bad, bad) + "  "
	}
	text := strings.Join(parts, "  ")
	for len(parts) > 1 && glyph.Cells(head)+glyph.Width(text) >= p.inner() { // the last matters least
		parts = parts[:len(parts)-1]
		text = strings.Join(parts, "  ")
	}
	if text = strings.TrimRight(head+paint(t.Dim, text), " "); glyph.Cells(text) >= p.inner() {
		text = glyph.Fit(text, max(p.inner()-1, 0), t.More)
	}
	p.row(p.bar(), "", glyph.Spaces(max(p.inner()-glyph.Cells(text)-1, 0))+text)
}

func signedBytes(d int64) string {
	if d < 0 {
		return "-" + viz.Bytes(-d)
	}
	return "+" + viz.Bytes(d)
}

func droppedLine(n int) string {
	return "… " + viz.Plural(n, "line") + " not kept here; o, then v shows all"
}

// clock prints 0:07.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
