package edit

import "strings"

// matchLines bounds how far a bracket's other half is looked for.
const matchLines = 500

// Match gives the bracket before or at the cursor and the one that belongs to it.
func (e *Editor) Match() (at, other Pos, ok bool) {
	l := e.lines[e.cur.Line]
	for _, col := range [2]int{e.cur.Col - 1, e.cur.Col} {
		if col < 0 || col >= len(l) || strings.IndexByte("()[]{}", l[col]) < 0 || e.quoted(Pos{e.cur.Line, col}) {
			continue
		}
		at = Pos{e.cur.Line, col}
		other, ok = e.partner(at)
		return at, other, ok
	}
	return at, other, false
}

// quoted says whether a place lies in a string or a comment.
func (e *Editor) quoted(p Pos) bool {
	for _, s := range e.Spans(p.Line) {
		if p.Col >= s.From && p.Col < s.To {
			return s.Token == String || s.Token == Comment
		}
	}
	return false
}

// partner looks for the other half of the bracket at p.
func (e *Editor) partner(p Pos) (Pos, bool) {
	const pairs = "()[]{}"
	i := strings.IndexByte(pairs, e.lines[p.Line][p.Col])
	open, end, step := pairs[i], pairs[i^1], 1-2*(i&1)
	depth := 0
	for line := p.Line; line >= 0 && line < len(e.lines) && abs(line-p.Line) < matchLines; line += step {
		l := e.lines[line]
		col := 0
		switch {
		case line == p.Line:
			col = p.Col
		case step < 0:
			col = len(l) - 1
		}
		for ; col >= 0 && col < len(l); col += step {
			if l[col] != open && l[col] != end || e.quoted(Pos{line, col}) {
				continue
			}
			if l[col] == open {
				depth++
			} else if depth--; depth == 0 {
				return Pos{line, col}, true
			}
		}
	}
	return Pos{}, false
}

func abs(n int) int { return max(n, -n) }
