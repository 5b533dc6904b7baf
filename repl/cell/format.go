package cell

import (
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// Format gives the text of a cell as gofmt would write it, the sugar kept. The
// error is a *CompileError with the places of what is no Go.
func Format(src string) (string, error) {
	if off, msg := unbalanced(src); msg != "" {
		line, col := lineColumn(src, off)
		return "", &CompileError{[]Diagnostic{{Line: line, Column: col, Kind: "syntax", Msg: msg}}}
	}
	text, m, matmul := rewriteTokens(src)
	chunks := split(text)
	var out strings.Builder
	from := 0 // of the segment, in text
	for i, k := range chunks {
		end := len(text)
		if i+1 < len(chunks) {
			next := chunks[i+1]
			if declares(k) == declares(next) {
				continue
			}
			end = cutBetween(text, k, next)
		}
		s, err := formatSegment(src, text[from:end], from, declares(k), m, matmul)
		if err != nil {
			return "", err
		}
		if out.Len() > 0 {
			out.WriteString("\n")
			if strings.HasPrefix(blankEnd(text[:from])+text[from:], "\n\n") {
				out.WriteString("\n")
			}
		}
		out.WriteString(s)
		from = end
	}
	s := out.String()
	if len(chunks) == 0 {
		return src, nil
	}
	if chunks[len(chunks)-1].quiet {
		s = quieted(s)
	}
	return s, nil
}

// declares tells whether a chunk may only stand outside of functions.
func declares(k chunk) bool {
	return k.kind == token.FUNC || k.kind == token.IMPORT || k.kind == token.PACKAGE
}

// cutBetween gives where the segment of chunk k ends: with its line, or where the
// next one begins on the same line.
func cutBetween(text string, k, next chunk) int {
	end := k.offset + len(k.text)
	if i := strings.IndexByte(text[end:next.offset], '\n'); i >= 0 {
		return end + i + 1
	}
	return next.offset
}

// blankEnd gives the line ends at the end of s.
func blankEnd(s string) string {
	s = strings.TrimRight(s, " \t;")
	return s[len(strings.TrimRight(s, "\n")):]
}

// formatSegment formats declarations, or statements; offset is that of the
// segment in the rewritten text.
func formatSegment(src, seg string, offset int, decls bool, m *offsetMap, matmul map[int]bool) (string, error) {
	var head, tail = "package p\n", "\n"
	if !decls {
		head, tail = "package p; func _() {", "\n}"
	}
	if strings.HasPrefix(strings.TrimSpace(seg), "package ") {
		head = ""
	}
	fset := token.NewFileSet()
	if _, err := parser.ParseFile(fset, "", head+seg+tail, parser.SkipObjectResolution); err != nil {
		first := &scanner.Error{Msg: err.Error()}
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
			first = list[0] // the others often follow from it
		}
		line, col := lineColumn(src, min(m.source(offset+max(first.Pos.Offset-len(head), 0)), len(src)))
		return "", &CompileError{[]Diagnostic{{Line: line, Column: col, Kind: "syntax", Msg: plain(strings.ReplaceAll(first.Msg, "&^", "@"))}}}
	}
	b, err := format.Source([]byte(strings.Trim(seg, "\n") + "\n"))
	if err != nil {
		return "", &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "syntax", Msg: err.Error()}}}
	}
	nth := map[int]bool{} // which of the &^ are @
	n := 0
	toks, _ := scan(seg)
	for _, t := range toks {
		if t.tok == token.AND_NOT || t.tok == token.AND_NOT_ASSIGN {
			nth[n] = matmul[offset+t.offset]
			n++
		}
	}
	return sugared(strings.TrimRight(string(b), " \t\n"), nth), nil
}

// sugared writes the sugar back that rewriteTokens took out of a text.
func sugared(text string, matmul map[int]bool) string {
	if !strings.Contains(text, "ʹ") && len(matmul) == 0 {
		return text
	}
	toks, _ := scan(text)
	var edits []edit
	n := 0
	for i, t := range toks {
		switch {
		case t.tok == token.AND_NOT || t.tok == token.AND_NOT_ASSIGN:
			if matmul[n] {
				edits = append(edits, edit{t.offset, 2, "@"})
			}
			n++
		case t.tok != token.IDENT:
		case t.lit == ellipsisItem:
			edits = append(edits, edit{t.offset, len(t.lit), "..."})
		case t.lit == severalItems:
			close := closing(toks, i+1)
			edits = append(edits, edit{t.offset, toks[i+1].offset + 1 - t.offset, ""}, edit{toks[close].offset, 1, ""})
		case t.lit == sliceItem:
			edits = append(edits, sliceSugar(toks, i)...)
		}
	}
	out, _ := apply(text, edits)
	return out
}

// closing gives the token that closes the bracket at token i.
func closing(toks []tok, i int) int {
	depth := 0
	for ; i < len(toks); i++ {
		switch toks[i].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks) - 1
}

// sliceSugar writes ʹslice(a, b, c) as a:b:c; nil is left out. As in gofmt there
// are blanks around the colons when an operand has an operator.
func sliceSugar(toks []tok, i int) (edits []edit) {
	open, close := i+1, closing(toks, i+1)
	cuts := []int{open}
	depth, spaced := 0, false
	for k := open + 1; k < close; k++ {
		switch t := toks[k].tok; t {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.COMMA:
			if depth == 0 {
				cuts = append(cuts, k)
			}
		default:
			spaced = spaced || depth == 0 && t.IsOperator() && t != token.PERIOD && k > 0 && endsOperand(toks[k-1].tok)
		}
	}
	cuts = append(cuts, close)
	isNil := func(k int) bool { return cuts[k+1] == cuts[k]+2 && toks[cuts[k]+1].lit == "nil" }
	edits = append(edits, edit{toks[i].offset, toks[open].offset + 1 - toks[i].offset, ""})
	items := len(cuts) - 1
	if items == 3 && isNil(2) {
		items = 2
	}
	for k := range len(cuts) - 1 {
		if k > 0 { // the comma and the blank behind it
			sep := ":"
			if spaced {
				if !isNil(k - 1) {
					sep = " " + sep
				}
				if !isNil(k) {
					sep += " "
				}
			}
			if k >= items {
				sep = ""
			}
			comma := toks[cuts[k]]
			edits = append(edits, edit{comma.offset, toks[cuts[k]+1].offset - comma.offset, sep})
		}
		if isNil(k) {
			edits = append(edits, edit{toks[cuts[k]+1].offset, len("nil"), ""})
		}
	}
	return append(edits, edit{toks[close].offset, 1, ""})
}

// quieted puts the semicolon that hides the value behind the last token.
func quieted(s string) string {
	toks, _ := scan(s)
	for i := len(toks) - 1; i >= 0; i-- {
		t := toks[i]
		if t.tok == token.EOF || t.tok == token.SEMICOLON && t.lit == "\n" {
			continue
		}
		if t.tok == token.SEMICOLON {
			return s
		}
		end := t.offset + len(t.lit)
		if t.lit == "" || !t.tok.IsLiteral() && !t.tok.IsKeyword() {
			end = t.offset + len(t.tok.String())
		}
		return s[:end] + ";" + s[end:]
	}
	return s
}
