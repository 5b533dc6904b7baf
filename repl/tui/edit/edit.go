// Package edit is a text editor as a value: lines of Go with a cursor, a
// selection, undo, kill and yank, highlighting, and rows of an exact size.
//
// It reads no keys and no terminal and knows no screen: each operation is a
// method, and somebody else decides which key calls it. It imports only
// repl/tui/glyph, for widths. Invariant: every change goes through replace, so
// that undo, highlighting and the version see all of them.
package edit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// A Pos is a place in the text: a line and a byte in it, both from 0.
type Pos struct{ Line, Col int }

func (p Pos) before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// An Editor is a text being edited. New makes one.
type Editor struct {
	lines   []string
	cur     Pos
	mark    Pos // the other end of the selection
	marking bool
	want    int // column that vertical moves keep, -1: that of the cursor

	undo, redo []change
	group      kind // of the last change: typing goes on in it
	killed     []string
	yanked     int // which of killed was yanked last; -1 when the last thing done was no yank
	yankFrom   Pos

	marks   marks // highlighting
	version uint64
	top     Pos // line and row in it of the first row shown
}

// New makes an editor that holds text, the cursor at its end.
func New(text string) *Editor {
	e := &Editor{want: -1, yanked: -1}
	e.Reset(text)
	return e
}

// Reset replaces the text and forgets how it came about. What was killed stays.
func (e *Editor) Reset(text string) {
	e.lines = strings.Split(text, "\n")
	e.undo, e.redo, e.group = nil, nil, none
	e.marks = marks{}
	e.marks.splice(0, 0, len(e.lines))
	e.top = Pos{}
	e.moved()
	e.cur = e.End()
	e.version++
}

// Text gives the text.
func (e *Editor) Text() string { return strings.Join(e.lines, "\n") }

// Len is how many lines there are, at least 1.
func (e *Editor) Len() int { return len(e.lines) }

// Line gives a line.
func (e *Editor) Line(i int) string { return e.lines[i] }

// Empty says whether there is nothing but blanks.
func (e *Editor) Empty() bool {
	for _, l := range e.lines {
		if strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}

// Version changes with the text.
func (e *Editor) Version() uint64 { return e.version }

// Cursor is where the cursor stands.
func (e *Editor) Cursor() Pos { return e.cur }

// End is the place after the last letter.
func (e *Editor) End() Pos { n := len(e.lines) - 1; return Pos{n, len(e.lines[n])} }

// Offset is the cursor as a byte offset into Text.
func (e *Editor) Offset() int {
	n := e.cur.Col
	for _, l := range e.lines[:e.cur.Line] {
		n += len(l) + 1
	}
	return n
}

// At gives the place of a byte offset into Text.
func (e *Editor) At(offset int) Pos {
	for i, l := range e.lines {
		if offset <= len(l) {
			return e.clamp(Pos{i, max(offset, 0)})
		}
		offset -= len(l) + 1
	}
	return e.End()
}

// MoveTo puts the cursor somewhere, at a whole letter.
func (e *Editor) MoveTo(p Pos) { e.cur = e.clamp(p); e.moved() }

// clamp gives the place in the text that is nearest to p.
func (e *Editor) clamp(p Pos) Pos {
	p.Line = min(max(p.Line, 0), len(e.lines)-1)
	l := e.lines[p.Line]
	p.Col = min(max(p.Col, 0), len(l))
	for p.Col > 0 && p.Col < len(l) && !utf8.RuneStart(l[p.Col]) {
		p.Col--
	}
	return p
}

// moved ends what a move of the cursor ends.
func (e *Editor) moved() { e.want, e.group, e.yanked = -1, none, -1 }

// Insert puts text at the cursor, over the selection if there is one.
func (e *Editor) Insert(text string) {
	from, to := e.cur, e.cur
	if a, b, ok := e.Selection(); ok {
		from, to = a, b
	}
	k := typing
	if strings.ContainsAny(text, " \n") || utf8.RuneCountInString(text) > 1 {
		k = none // a word is undone at a time
	}
	e.replace(from, to, text, k)
}

// Type inserts what a key typed. A closing bracket on a line of blanks first
// takes one tab away.
func (e *Editor) Type(text string) {
	if l := e.lines[e.cur.Line]; len(text) == 1 && strings.Contains("})]", text) && strings.HasSuffix(l, "\t") && strings.TrimSpace(l) == "" && e.cur.Col == len(l) {
		e.replace(Pos{e.cur.Line, e.cur.Col - 1}, e.cur, text, typing)
		return
	}
	e.Insert(text)
}

// Newline starts a line, indented as Go is: like the line before, one more after
// an opening bracket. Between two brackets the closing one gets a line of its own.
func (e *Editor) Newline() {
	from := e.cur
	if a, _, ok := e.Selection(); ok {
		from = a
	}
	l := e.lines[from.Line]
	indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
	if len(indent) > from.Col {
		indent = indent[:from.Col]
	}
	before := strings.TrimRight(l[:from.Col], " \t")
	deeper := ""
	if n := len(before); n > 0 && strings.IndexByte("{([:", before[n-1]) >= 0 && (before[n-1] != ':' || isCase(before)) {
		deeper = "\t"
	}
	after := e.lines[e.cur.Line][e.cur.Col:]
	e.Insert("\n" + indent + deeper)
	if deeper != "" && after != "" && strings.IndexByte("})]", after[0]) >= 0 && before[len(before)-1] != ':' {
		at := e.cur
		e.replace(at, at, "\n"+indent, none)
		e.cur = at
	}
	e.group = none
}

func isCase(l string) bool {
	l = strings.TrimSpace(l)
	return strings.HasPrefix(l, "case ") || l == "default:"
}

// Backspace deletes the selection, or the letter before the cursor, or one
// step of indentation.
func (e *Editor) Backspace() {
	if e.deleteSelection() {
		return
	}
	if p := e.left(e.cur); p != e.cur {
		e.replace(p, e.cur, "", deleting)
	}
}

// Delete deletes the selection or the letter at the cursor.
func (e *Editor) Delete() {
	if e.deleteSelection() {
		return
	}
	if p := e.right(e.cur); p != e.cur {
		e.replace(e.cur, p, "", deleting)
	}
}

func (e *Editor) deleteSelection() bool {
	a, b, ok := e.Selection()
	if ok {
		e.replace(a, b, "", none)
	}
	return ok
}

// Replace puts text in place of what stands between two places.
func (e *Editor) Replace(from, to Pos, text string) {
	e.replace(e.clamp(from), e.clamp(to), text, none)
}

// left is the place one letter before p.
func (e *Editor) left(p Pos) Pos {
	if p.Col == 0 {
		if p.Line == 0 {
			return p
		}
		return Pos{p.Line - 1, len(e.lines[p.Line-1])}
	}
	l := e.lines[p.Line]
	if c := l[p.Col-1]; c < utf8.RuneSelf {
		return Pos{p.Line, p.Col - 1}
	}
	at := 0
	for at < p.Col {
		n := letter(l[at:])
		if at+n >= p.Col {
			break
		}
		at += n
	}
	return Pos{p.Line, at}
}

// right is the place one letter after p.
func (e *Editor) right(p Pos) Pos {
	l := e.lines[p.Line]
	if p.Col >= len(l) {
		if p.Line == len(e.lines)-1 {
			return p
		}
		return Pos{p.Line + 1, 0}
	}
	return Pos{p.Line, p.Col + letter(l[p.Col:])}
}

// letter is the length of the first letter of s with its marks.
func letter(s string) int {
	if s[0] == '\t' {
		return 1
	}
	n, _, _ := glyph.Next(s)
	return n
}

// isWord says whether a letter belongs to a word.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordLeft is the beginning of the word before p.
func (e *Editor) wordLeft(p Pos) Pos {
	if p.Col == 0 {
		return e.left(p)
	}
	l, at := e.lines[p.Line], p.Col
	skip := func(word bool) {
		for at > 0 {
			r, n := utf8.DecodeLastRuneInString(l[:at])
			if isWord(r) != word {
				return
			}
			at -= n
		}
	}
	skip(false)
	skip(true)
	return Pos{p.Line, at}
}

// wordRight is the end of the word after p.
func (e *Editor) wordRight(p Pos) Pos {
	l, at := e.lines[p.Line], p.Col
	if at == len(l) {
		return e.right(p)
	}
	skip := func(word bool) {
		for at < len(l) {
			r, n := utf8.DecodeRuneInString(l[at:])
			if isWord(r) != word {
				return
			}
			at += n
		}
	}
	skip(false)
	skip(true)
	return Pos{p.Line, at}
}

// Word gives the name at the cursor, with the names and dots before it.
func (e *Editor) Word() string {
	l, p := e.lines[e.cur.Line], e.cur.Col
	from, to := p, p
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(l[:from])
		if !isWord(r) && r != '.' {
			break
		}
		from -= n
	}
	for to < len(l) {
		r, n := utf8.DecodeRuneInString(l[to:])
		if !isWord(r) {
			break
		}
		to += n
	}
	return strings.Trim(l[from:to], ".")
}

// replace puts text between two places and the cursor after it.
func (e *Editor) replace(from, to Pos, text string, k kind) {
	if to.before(from) {
		from, to = to, from
	}
	was := e.cur
	removed := e.slice(from, to)
	e.put(from, to, text)
	end := after(from, text)
	e.record(change{from: from, removed: removed, inserted: text, cursor: was}, k)
	e.cur = end
	e.marking, e.want, e.yanked = false, -1, -1
}

// after is the place behind text that stands at p.
func after(p Pos, text string) Pos {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return Pos{p.Line + strings.Count(text, "\n"), len(text) - i - 1}
	}
	return Pos{p.Line, p.Col + len(text)}
}

// slice gives the text between two places.
func (e *Editor) slice(from, to Pos) string {
	if from.Line == to.Line {
		return e.lines[from.Line][from.Col:to.Col]
	}
	var b strings.Builder
	b.WriteString(e.lines[from.Line][from.Col:])
	for i := from.Line + 1; i < to.Line; i++ {
		b.WriteByte('\n')
		b.WriteString(e.lines[i])
	}
	b.WriteByte('\n')
	b.WriteString(e.lines[to.Line][:to.Col])
	return b.String()
}

// put is replace without memory.
func (e *Editor) put(from, to Pos, text string) {
	head, tail := e.lines[from.Line][:from.Col], e.lines[to.Line][to.Col:]
	if from.Line == to.Line && strings.IndexByte(text, '\n') < 0 {
		e.lines[from.Line] = head + text + tail
		e.marks.splice(from.Line, 1, 1)
	} else {
		fresh := strings.Split(text, "\n")
		fresh[0] = head + fresh[0]
		fresh[len(fresh)-1] += tail
		e.lines = slices.Replace(e.lines, from.Line, to.Line+1, fresh...)
		e.marks.splice(from.Line, to.Line+1-from.Line, len(fresh))
	}
	e.version++
}
