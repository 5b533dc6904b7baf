package repl

import (
	"bytes"
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

// A Notebook is a .tpu file cut into steps, in order.
type Notebook struct {
	Path  string // as given on the command line
	Lines []string
	Steps []Step
	BOM   bool // the file begins with a byte order mark
	CRLF  bool // its lines end in \r\n
}

// Restore gives text that replaces the file the form of the file: its line ends and its mark.
func (n *Notebook) Restore(text string) []byte {
	if n.CRLF {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if n.BOM {
		text = bom + text
	}
	return []byte(text)
}

// Source gives the text of the file.
func (n *Notebook) Source() []byte { return n.Restore(strings.Join(n.Lines, "\n")) }

const bom = "\ufeff"

// StepKind says what a step is.
type StepKind uint8

// The kinds of steps.
const (
	Code    StepKind = iota // Go, run as one cell
	Command                 // a : command
	Expect                  // an expectation block about the steps before it
)

// A Step is one thing to do: run a cell, answer a command, compare.
type Step struct {
	Kind  StepKind
	Part  int    // number of the notebook cell it stands in, from 1: separators and expectation blocks end one
	Title string // of the cell, from its separator
	Line  int    // first line in the file, from 1
	Last  int    // last line
	Text  string // Go source, command line, or expected text
	Want  Expectation
}

// Expectation is what a block compares.
type Expectation uint8

// The kinds of expectation blocks.
const (
	NoExpectation Expectation = iota
	WantOutput                // // Output: everything printed since the last such block
	WantUnordered             // // Unordered output: the same lines in any order
	WantOut                   // // Out: the shown value of the cell
	WantShows                 // // Shows: what the cell's commands answered
	WantError                 // // Error: the cell fails and its first error line contains the text
	numExpectations
)

// expectationHeads are the words that open a block, indexed by Expectation.
var expectationHeads = [numExpectations]string{
	WantOutput: "Output:", WantUnordered: "Unordered output:", WantOut: "Out:", WantShows: "Shows:", WantError: "Error:",
}

// ParseNotebook cuts the text of a .tpu file into steps. Any text parses:
// what is not structure is Go for the cell compiler to judge. What is
// structure is decided by Go's scanner: separators, commands and expectation
// comments inside raw strings, block comments or open brackets are text.
func ParseNotebook(path string, src []byte) *Notebook {
	marked := bytes.HasPrefix(src, []byte(bom))
	src = bytes.TrimPrefix(src, []byte(bom))
	first := bytes.IndexByte(src, '\n')
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(src))
	p := &notebookParser{nb: &Notebook{Path: path, BOM: marked, CRLF: first > 0 && src[first-1] == '\r'}, src: text, part: 1}
	p.nb.Lines = strings.Split(text, "\n")
	p.run()
	return p.nb
}

// Sources gives, for a cell whose first line is first, its text.
func (n *Notebook) Line(i int) string {
	if i < 1 || i > len(n.Lines) {
		return ""
	}
	return n.Lines[i-1]
}

type notebookParser struct {
	nb    *Notebook
	src   string
	at    int // offset of the line being looked at
	line  int // its number, from 1
	part  int
	title string
	used  bool // something stands in the present part

	code      strings.Builder
	codeLine  int // first line of the code collected, 0 when none
	codeLast  int
	codeHasGo bool // something other than blanks and comments
}

func (p *notebookParser) run() {
	p.line = 1
	if strings.HasPrefix(p.src, "#!") {
		p.skipLine()
	}
	for p.at < len(p.src) {
		line := p.peekLine()
		trimmed := strings.TrimSpace(line)
		switch {
		case isSeparator(trimmed):
			p.endCell()
			p.title = strings.TrimSpace(strings.TrimPrefix(trimmed, "// %%"))
			p.skipLine()
		case isCommand(trimmed):
			p.endCode()
			p.step(Step{Kind: Command, Line: p.line, Last: p.line, Text: trimmed})
			p.skipLine()
		case strings.HasPrefix(trimmed, "//tpu:"):
			p.endCode()
			p.step(Step{Kind: Command, Line: p.line, Last: p.line, Text: ":" + strings.TrimPrefix(trimmed, "//tpu:")})
			p.skipLine()
		case expectationOf(trimmed) != NoExpectation:
			p.expectation(expectationOf(trimmed), trimmed)
		default:
			p.goLines()
		}
	}
	p.endCode()
}

// isSeparator recognizes // %% and // %% title.
func isSeparator(s string) bool {
	rest, ok := strings.CutPrefix(s, "// %%")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isCommand recognizes a : command or a ? question.
func isCommand(s string) bool {
	if s == "?" {
		return true
	}
	if len(s) < 2 || s[0] != ':' && s[0] != '?' {
		return false
	}
	c, _ := utf8.DecodeRuneInString(s[1:])
	return c == '!' || c == '?' || c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// IsCommand says whether a line is a command and not Go.
func IsCommand(line string) bool { return isCommand(strings.TrimSpace(line)) }

// expectationOf gives the kind of block that a comment line opens.
func expectationOf(s string) Expectation {
	rest, ok := strings.CutPrefix(s, "//")
	if !ok {
		return NoExpectation
	}
	rest = strings.TrimLeft(rest, " \t")
	for e := WantOutput; e < numExpectations; e++ {
		if len(rest) >= len(expectationHeads[e]) && strings.EqualFold(rest[:len(expectationHeads[e])], expectationHeads[e]) {
			return e
		}
	}
	return NoExpectation
}

func (p *notebookParser) step(s Step) {
	s.Part, s.Title = p.part, p.title
	p.nb.Steps = append(p.nb.Steps, s)
	p.used = true
}

func (p *notebookParser) endCode() {
	if p.codeHasGo {
		p.step(Step{Kind: Code, Line: p.codeLine, Last: p.codeLast, Text: p.code.String()})
	}
	p.code.Reset()
	p.codeLine, p.codeLast, p.codeHasGo = 0, 0, false
}

func (p *notebookParser) endCell() {
	p.endCode()
	if p.used {
		p.part++
		p.used = false
	}
}

// expectation reads a comment block; it closes the cell unless another block follows.
func (p *notebookParser) expectation(kind Expectation, first string) {
	p.endCode()
	s := Step{Kind: Expect, Line: p.line, Want: kind}
	rest := strings.TrimLeft(strings.TrimPrefix(first, "//"), " \t")
	lines := []string{strings.TrimPrefix(rest[len(expectationHeads[kind]):], " ")}
	p.skipLine()
	for p.at < len(p.src) {
		t := strings.TrimSpace(p.peekLine())
		body, ok := strings.CutPrefix(t, "//")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(body, " "))
		p.skipLine()
	}
	s.Last = p.line - 1
	s.Text = strings.Join(lines, "\n")
	p.step(s)
	if !p.anotherBlock() {
		p.endCell()
	}
}

// anotherBlock says whether the next line that is not blank opens a further expectation.
func (p *notebookParser) anotherBlock() bool {
	for rest := p.src[p.at:]; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if t := strings.TrimSpace(line); t != "" {
			return expectationOf(t) != NoExpectation
		}
		rest = after
	}
	return false
}

func (p *notebookParser) peekLine() string {
	line, _, _ := strings.Cut(p.src[p.at:], "\n")
	return line
}

func (p *notebookParser) skipLine() {
	p.at += len(p.peekLine())
	if p.at < len(p.src) {
		p.at++
	}
	p.line++
}

// goLines takes the lines that Go's scanner holds together: up to the first
// line end outside of raw strings, block comments and brackets.
func (p *notebookParser) goLines() {
	n, hasGo := goExtent(p.src[p.at:])
	text := p.src[p.at : p.at+n]
	lines := strings.Count(text, "\n") + 1
	if p.codeLine == 0 && (hasGo || strings.TrimSpace(text) != "") {
		p.codeLine = p.line
	}
	if p.codeLine != 0 {
		p.code.WriteString(text)
		p.code.WriteByte('\n')
	}
	if hasGo {
		p.codeLast = p.line + lines - 1
		p.codeHasGo = true
	}
	p.at += n
	if p.at < len(p.src) {
		p.at++
	}
	p.line += lines
}

// goExtent gives how many bytes from the start of src belong together, up to
// but without a line end, and whether they hold any token. A bracket, string
// or comment that never closes holds only its own line: the mistake is reported
// there and does not swallow the rest of the file.
func goExtent(src string) (n int, hasGo bool) {
	eol := func(from int) int {
		if i := strings.IndexByte(src[from:], '\n'); i >= 0 {
			return from + i
		}
		return len(src)
	}
	first := eol(0)
	if strings.TrimSpace(src[:first]) == "" {
		return first, false
	}
	// A short window is scanned first so that a long file is not scanned once per line.
	for window := first; ; window = min(2*window+64, len(src)) {
		window = eol(window)
		n, hasGo, ok := scanExtent(src[:window])
		if ok {
			return n, hasGo
		}
		if window == len(src) {
			return first, true
		}
	}
}

// scanExtent looks for the first line end outside of every bracket and token.
func scanExtent(src string) (n int, hasGo, ok bool) {
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	broken := false
	s.Init(f, []byte(src), func(_ token.Position, msg string) {
		if strings.Contains(msg, "not terminated") && (strings.Contains(msg, "raw string") || strings.Contains(msg, "comment")) {
			broken = true
		}
	}, scanner.ScanComments)
	depth, end := 0, 0
	for {
		pos, tok, lit := s.Scan()
		off := f.Offset(pos)
		if broken {
			return 0, true, false
		}
		if depth <= 0 && end > 0 && end < off {
			if i := strings.IndexByte(src[end:off], '\n'); i >= 0 {
				return end + i, hasGo, true
			}
		}
		switch tok {
		case token.EOF:
			return len(src), hasGo, depth <= 0
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if tok == token.SEMICOLON && lit == "\n" {
			if depth <= 0 {
				return off, hasGo, true
			}
			continue
		}
		if tok != token.COMMENT {
			hasGo = true
		}
		end = off + len(lit)
		if lit == "" {
			end = off + len(tok.String())
		}
		end = min(end, len(src))
	}
}

// blank says whether text holds no Go: only blanks and whole comments.
func blank(text string) bool {
	fset := token.NewFileSet()
	var s scanner.Scanner
	broken := false // such as a comment that never closes: the compiler will say it
	s.Init(fset.AddFile("", fset.Base(), len(text)), []byte(text), func(token.Position, string) { broken = true }, 0)
	for {
		switch _, tok, lit := s.Scan(); {
		case broken:
			return false
		case tok == token.EOF:
			return true
		case tok != token.SEMICOLON || lit != "\n":
			return false
		}
	}
}

// Head gives the word that opens a block of this kind: Output:
func (e Expectation) Head() string { return expectationHeads[e] }
