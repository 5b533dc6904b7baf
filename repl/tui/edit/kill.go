package edit

import "strings"

// killRing is how many killed texts are kept.
const killRing = 32

// Kill deletes as far as a motion goes and keeps it for Yank. At the end of a
// line, Kill(LineEnd) takes the line end.
func (e *Editor) Kill(m Motion) {
	if a, b, ok := e.Selection(); ok {
		e.kill(a, b)
		return
	}
	from := e.cur
	to := from
	switch m {
	case LineEnd:
		if to.Col = len(e.lines[from.Line]); to == from {
			to = e.right(from)
		}
	case LineStart:
		to.Col = 0
	case WordLeft:
		to = e.wordLeft(from)
	case WordRight:
		to = e.wordRight(from)
	default:
		return
	}
	e.kill(from, to)
}

func (e *Editor) kill(from, to Pos) {
	if from == to {
		return
	}
	if to.before(from) {
		from, to = to, from
	}
	e.killed = append(e.killed, e.slice(from, to))
	if len(e.killed) > killRing {
		e.killed = e.killed[1:]
	}
	e.replace(from, to, "", none)
}

// Cut takes the selection out and keeps it for Yank; it gives the text.
func (e *Editor) Cut() string {
	s := e.Selected()
	if a, b, ok := e.Selection(); ok {
		e.kill(a, b)
	}
	return s
}

// Keep puts text on the ring without deleting anything.
func (e *Editor) Keep(s string) {
	if s != "" {
		e.killed = append(e.killed, s)
	}
}

// Yank inserts what was killed last.
func (e *Editor) Yank() {
	if len(e.killed) > 0 {
		e.yank(len(e.killed) - 1)
	}
}

// YankPop replaces what was just yanked by what was killed before it.
func (e *Editor) YankPop() {
	n := e.yanked
	if n < 0 || len(e.killed) == 0 {
		return
	}
	from, to := e.yankFrom, e.cur
	e.replace(from, to, "", none)
	e.yank((n + len(e.killed) - 1) % len(e.killed))
}

func (e *Editor) yank(i int) {
	from := e.cur
	if a, _, ok := e.Selection(); ok {
		from = a
	}
	e.Insert(e.killed[i])
	e.yanked, e.yankFrom = i, from
}

// Indent moves the selected lines, or that of the cursor, one tab to the right,
// or to the left.
func (e *Editor) Indent(left bool) {
	a, b, selected := e.Selection()
	cur := e.cur
	for i := a.Line; i <= b.Line; i++ {
		l := e.lines[i]
		switch {
		case !left && l != "":
			e.replace(Pos{i, 0}, Pos{i, 0}, "\t", none)
			cur = shift(cur, i, 1)
		case left && l != "" && (l[0] == '\t' || l[0] == ' '):
			n := 1
			if l[0] == ' ' {
				n = min(4, len(l)-len(strings.TrimLeft(l, " ")))
			}
			e.replace(Pos{i, 0}, Pos{i, n}, "", none)
			cur = shift(cur, i, -n)
		default:
			continue
		}
		e.undo[len(e.undo)-1].joined = i > a.Line
	}
	e.cur = e.clamp(cur)
	if selected {
		e.mark, e.marking = Pos{a.Line, 0}, true
		e.cur = Pos{b.Line, len(e.lines[b.Line])}
	}
}

func shift(p Pos, line, n int) Pos {
	if p.Line == line {
		p.Col = max(p.Col+n, 0)
	}
	return p
}

// Comment puts // before the selected lines, or that of the cursor, or takes it away.
func (e *Editor) Comment() {
	a, b, _ := e.Selection()
	all := true
	for i := a.Line; i <= b.Line; i++ {
		if t := strings.TrimSpace(e.lines[i]); t != "" && !strings.HasPrefix(t, "//") {
			all = false
		}
	}
	cur, first := e.cur, true
	for i := a.Line; i <= b.Line; i++ {
		l := e.lines[i]
		at := len(l) - len(strings.TrimLeft(l, " \t"))
		if at == len(l) {
			continue
		}
		from, to, text := Pos{i, at}, Pos{i, at}, "// "
		if all {
			to.Col += len("//")
			if strings.HasPrefix(l[to.Col:], " ") {
				to.Col++
			}
			text = ""
		}
		e.replace(from, to, text, none)
		e.undo[len(e.undo)-1].joined = !first
		first = false
		if cur.Line == i && cur.Col > at {
			cur.Col += len(text) - (to.Col - at)
		}
	}
	e.cur = e.clamp(cur)
}
