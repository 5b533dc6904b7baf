package edit

import (
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A Token is what a piece of text is, for its colour.
type Token uint8

// The tokens.
const (
	Plain Token = iota
	Keyword
	Predeclared // types and values that Go declares
	String
	Number
	Comment
	Call     // a name before a bracket
	Operator // also the sugar: @
	Command  // a line for the program itself: :help
	NumTokens
)

// A Span is a piece of a line that is one token; what lies between spans is Plain.
type Span struct {
	From, To int // bytes
	Token    Token
}

// An open state says what a line begins inside of.
type open uint8

const (
	code open = iota
	rawString
	blockComment
)

// marks holds the spans of each line, computed when a line is first looked at
// and again only when it, or what it begins inside of, changes.
type marks struct {
	lines []lineMarks
	sure  int // lines before it are up to date
}

type lineMarks struct {
	known   bool // in and out are right
	drawn   bool // spans are too
	in, out open
	spans   []Span
}

// splice notes that n lines from a line on became m others.
func (m *marks) splice(from, n, added int) {
	if n == 1 && added == 1 {
		m.lines[from] = lineMarks{}
	} else {
		m.lines = slices.Replace(m.lines, from, from+n, make([]lineMarks, added)...)
	}
	m.sure = min(m.sure, from)
}

// Spans gives the tokens of a line.
func (e *Editor) Spans(line int) []Span {
	m := &e.marks
	for i := m.sure; i <= line; i++ {
		in := code
		if i > 0 {
			in = m.lines[i-1].out
		}
		l := &m.lines[i]
		switch {
		case l.known && l.in == in:
		case in == code && i > 0 && i < line && closed(e.lines[i]): // its tokens are nobody's wish yet
			*l = lineMarks{known: true}
		default:
			*l = lineMarks{known: true, drawn: true, in: in}
			l.spans, l.out = tokens(e.lines[i], in, i == 0)
		}
	}
	m.sure = max(m.sure, line+1)
	l := &m.lines[line]
	if !l.drawn {
		l.drawn = true
		l.spans, _ = tokens(e.lines[line], l.in, line == 0)
	}
	return l.spans
}

// closed says whether a line of code cannot begin anything that the next line goes on with.
func closed(line string) bool {
	return strings.IndexByte(line, '`') < 0 && !strings.Contains(line, "/*")
}

// Highlight gives the tokens of each line of a text.
func Highlight(lines []string) [][]Span {
	out := make([][]Span, len(lines))
	in := code
	for i, l := range lines {
		out[i], in = tokens(l, in, i == 0)
	}
	return out
}

// tokens scans one line that begins inside of in.
func tokens(line string, in open, first bool) (spans []Span, out open) {
	at := 0
	switch in {
	case rawString:
		i := strings.IndexByte(line, '`')
		if i < 0 {
			return []Span{{0, len(line), String}}, rawString
		}
		at = i + 1
		spans = append(spans, Span{0, at, String})
	case blockComment:
		i := strings.Index(line, "*/")
		if i < 0 {
			return []Span{{0, len(line), Comment}}, blockComment
		}
		at = i + 2
		spans = append(spans, Span{0, at, Comment})
	}
	if in == code {
		if t := strings.TrimLeft(line, " \t"); first && len(t) > 1 && strings.IndexByte(":?%", t[0]) >= 0 {
			word, _, _ := strings.Cut(t, " ")
			from := len(line) - len(t)
			return []Span{{from, from + len(word), Command}}, code
		}
	}
	if at >= len(line) {
		return spans, code
	}
	return scan(spans, line, at)
}

// scan adds the tokens of line from at on.
func scan(spans []Span, line string, at int) ([]Span, open) {
	src := line[at:]
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(f, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	out := code
	lastIdent := -1
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return spans, out
		}
		from := at + f.Offset(pos)
		if lit == "" {
			lit = tok.String()
		}
		to := min(from+len(lit), len(line))
		kind := Plain
		switch {
		case tok == token.LPAREN && lastIdent >= 0 && spans[lastIdent].To == from && spans[lastIdent].Token == Plain:
			spans[lastIdent].Token = Call
		case tok == token.IDENT:
			if types.Universe.Lookup(lit) != nil {
				kind = Predeclared
			}
			lastIdent = len(spans)
			spans = append(spans, Span{from, to, kind})
			continue
		case tok.IsKeyword():
			kind = Keyword
		case tok == token.STRING || tok == token.CHAR:
			kind = String
			if lit[0] == '`' && (len(lit) == 1 || lit[len(lit)-1] != '`') {
				out, to = rawString, len(line)
			}
		case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
			kind = Number
		case tok == token.COMMENT:
			kind = Comment
			if strings.HasPrefix(lit, "/*") && (len(lit) < 4 || !strings.HasSuffix(lit, "*/")) {
				out, to = blockComment, len(line)
			}
		case tok == token.ILLEGAL && lit == "@" || tok.IsOperator() && !bracket(tok):
			kind = Operator
			if tok == token.SEMICOLON && lit == "\n" {
				continue
			}
		}
		if kind != Plain {
			spans = append(spans, Span{from, to, kind})
		}
	}
}

func bracket(t token.Token) bool {
	switch t {
	case token.LPAREN, token.RPAREN, token.LBRACK, token.RBRACK, token.LBRACE, token.RBRACE, token.COMMA, token.PERIOD, token.SEMICOLON:
		return true
	}
	return false
}
