package cell

import (
	"go/token"
	"sort"
	"strings"
)

// A Source is the text of one cell and where it came from.
type Source struct {
	Cell      int
	File      string // file of the cell, as given by the user; "" when typed
	FirstLine int    // line of File where Text begins; 0 when File is ""
	Text      string
}

// A Site is a place in a cell: what an instrumented program counter means.
type Site struct {
	Cell      int
	File      string
	Line      int // inside the cell, from 1
	Column    int // bytes, from 1
	FirstLine int
	Func      string

	// For a debugger.
	ID      int
	Kind    HookKind
	Entry   bool     // first statement of its function
	Lead    bool     // first statement on its line in its function
	Last    int      // line that a simple statement ends on, 0 for others
	Locals  *Local   // in scope
	Assigns []string // variables that the statement gives a value
	For     []string // of the first statement of a function literal: the variables of the statement around it
}

// BeginBit marks a program counter that begins a statement; the bits below are
// the site's number.
const BeginBit = 1 << 30

// A piece is a chunk of a cell with the way back to the user's text. Pieces of
// functions are kept: a redefinition compiles their users again.
type piece struct {
	src    *Source
	text   string     // rewritten
	offset int        // of text in the rewritten cell
	m      *offsetMap // rewritten cell to user's text
	matmul map[int]bool
	lines  []int // offsets of line starts in the user's text
}

// position gives line and column of an offset inside the piece.
func (p *piece) position(off int) (line, column int) {
	at := p.m.source(p.offset + off)
	line = sort.SearchInts(p.lines, at+1)
	return line, at - p.lines[line-1] + 1
}

// last gives line and column just after the last word of the piece.
func (p *piece) last() (line, column int) {
	n := len(strings.TrimRight(p.text, " \t\r\n"))
	if n == 0 {
		return p.position(0)
	}
	line, column = p.position(n - 1)
	return line, column + 1
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

type segment struct {
	start, end int // in the assembled file
	piece      *piece
}

// An assembly is the Go file made of a cell's pieces.
type assembly struct {
	text     strings.Builder
	segments []segment
	file     *token.File
}

func (a *assembly) add(p *piece) {
	start := a.text.Len()
	a.text.WriteString(p.text)
	a.segments = append(a.segments, segment{start, a.text.Len(), p})
	a.text.WriteByte('\n')
}

// find gives the segment that holds or last precedes the offset.
func (a *assembly) find(off int) *segment {
	i := sort.Search(len(a.segments), func(i int) bool { return a.segments[i].start > off }) - 1
	if i < 0 {
		if len(a.segments) == 0 {
			return nil
		}
		i = 0
	}
	return &a.segments[i]
}

// locate gives the user's place of an offset of the assembled file.
func (a *assembly) locate(off int) (src *Source, line, column int) {
	s := a.find(off)
	if s == nil {
		return nil, 1, 1
	}
	rel := min(max(off-s.start, 0), s.end-s.start)
	line, column = s.piece.position(rel)
	return s.piece.src, line, column
}

// isMatMul tells whether the &^ at the offset was written @.
func (a *assembly) isMatMul(off int) bool {
	s := a.find(off)
	return s != nil && s.piece.matmul[s.piece.offset+off-s.start]
}
