package cell

import (
	"fmt"
	"go/token"
	"strings"
)

// A chunk is one top-level declaration or statement of a cell.
type chunk struct {
	kind   token.Token // IMPORT, FUNC, TYPE, CONST, VAR, PACKAGE; ILLEGAL for a statement
	text   string
	offset int  // in the text that was split
	quiet  bool // ended by a written semicolon
}

// split cuts src at its top-level semicolons.
func split(src string) []chunk {
	toks, errs := scan(src)
	var out []chunk
	start, depth := 0, 0
	header := false
	flush := func(i, end int, quiet bool) {
		if cur := toks[start:i]; len(cur) > 0 {
			off := cur[0].offset
			out = append(out, chunk{kind: chunkKind(cur), text: src[off:end], offset: off, quiet: quiet})
		} else if quiet && len(out) > 0 {
			out[len(out)-1].quiet = true
		}
		start = i + 1
	}
	for i, t := range toks {
		switch t.tok {
		case token.EOF:
			flush(i, t.offset, false)
		case token.FOR, token.IF, token.SWITCH, token.SELECT:
			header = header || depth == 0
		case token.LPAREN, token.LBRACK:
			depth++
		case token.LBRACE:
			if depth == 0 && header && !literalBrace(toks[start:i]) {
				header = false
			}
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth <= 0 && !(header && t.lit == ";") {
				header = false
				flush(i, t.offset, t.lit == ";")
			}
		}
	}
	// A comment that never ends belongs to no statement: it must be reported all the same.
	for _, e := range errs {
		at := e.Pos.Offset
		if e.Msg == "comment not terminated" && (len(out) == 0 || at >= out[len(out)-1].offset+len(out[len(out)-1].text)) {
			out = append(out, chunk{text: src[at:], offset: at})
		}
	}
	return out
}

// literalBrace tells whether a { that follows the tokens in a statement header
// opens a literal rather than the statement's body: after []T, map[K]V, struct,
// interface or a func type. A plain T{ may not stand there in Go.
func literalBrace(before []tok) bool {
	n := len(before)
	if n == 0 {
		return false
	}
	switch before[n-1].tok {
	case token.STRUCT, token.INTERFACE:
		return true
	case token.RBRACE:
		k := opening(before, n-1)
		return k > 0 && (before[k-1].tok == token.STRUCT || before[k-1].tok == token.INTERFACE)
	case token.IDENT:
		k := n - 2
		for k > 0 && before[k].tok == token.PERIOD && before[k-1].tok == token.IDENT {
			k -= 2
		}
		if k >= 0 && before[k].tok == token.RBRACK {
			return true
		}
	}
	for k := n - 1; k >= 0; k-- {
		switch before[k].tok {
		case token.RPAREN, token.RBRACK:
			k = opening(before, k)
		case token.RBRACE, token.SEMICOLON, token.DEFINE, token.ASSIGN:
			return false
		case token.FUNC:
			return true
		}
	}
	return false
}

// opening gives the index of the bracket that toks[i] closes, -1 if none.
func opening(toks []tok, i int) int {
	depth := 0
	for ; i >= 0; i-- {
		switch toks[i].tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

func chunkKind(toks []tok) token.Token {
	switch toks[0].tok {
	case token.IMPORT, token.TYPE, token.CONST, token.VAR, token.PACKAGE:
		return toks[0].tok
	case token.FUNC:
		if len(toks) < 2 {
			return token.ILLEGAL
		}
		if toks[1].tok == token.IDENT {
			return token.FUNC
		}
		depth := 0
		for k := 1; k+2 < len(toks); k++ {
			switch toks[k].tok {
			case token.LPAREN:
				depth++
			case token.RPAREN:
				depth--
			}
			if depth == 0 { // after a receiver comes a name and a parameter list
				if toks[k].tok == token.RPAREN && toks[k+1].tok == token.IDENT && toks[k+2].tok == token.LPAREN {
					return token.FUNC
				}
				return token.ILLEGAL
			}
		}
	}
	return token.ILLEGAL
}

// Complete tells whether src can be run as it is: false means that the reader
// should ask for another line, because a bracket, a raw string or a comment is
// open or the last line ends in the middle of an expression.
func Complete(src string) bool {
	src, _, _ = rewriteTokens(src)
	toks, errs := scan(src)
	for _, e := range errs {
		if strings.Contains(e.Msg, "comment not terminated") || strings.Contains(e.Msg, "raw string literal not terminated") {
			return false
		}
	}
	depth := 0
	for _, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
	}
	if depth > 0 {
		return false
	}
	if len(toks) < 2 {
		return true
	}
	return !wantsMore(toks[:len(toks)-1])
}

// wantsMore tells whether the last token can't end a statement.
func wantsMore(toks []tok) bool {
	t := toks[len(toks)-1].tok
	if t.IsOperator() {
		switch t {
		case token.RPAREN, token.RBRACK, token.RBRACE, token.INC, token.DEC, token.SEMICOLON, token.ELLIPSIS:
			return false
		case token.COLON: // a label or a case waits for its statement
			return true
		}
		return true
	}
	switch t {
	case token.IMPORT, token.FUNC, token.TYPE, token.CONST, token.VAR, token.FOR, token.IF, token.ELSE, token.SWITCH, token.SELECT,
		token.GO, token.DEFER, token.MAP, token.CHAN, token.STRUCT, token.INTERFACE, token.RANGE, token.GOTO, token.PACKAGE, token.CASE:
		return true
	}
	return false
}

// unbalanced finds what would leak out of a cell: a comment that never closes,
// which no chunk holds, and a brace that closes nothing, which would end the
// function that holds the cell. msg is "" when there is none.
func unbalanced(src string) (offset int, msg string) {
	toks, errs := scan(src)
	for _, e := range errs {
		if strings.Contains(e.Msg, "comment not terminated") {
			return e.Pos.Offset, e.Msg
		}
	}
	depth := 0
	for _, t := range toks {
		switch t.tok {
		case token.LBRACE:
			depth++
		case token.RBRACE:
			if depth--; depth < 0 {
				return t.offset, "unexpected }"
			}
		}
	}
	return 0, ""
}

// unclosed finds the innermost bracket that nothing closes; msg is "" when
// there is none.
func unclosed(src string) (offset int, msg string) {
	toks, _ := scan(src)
	var open []tok
	for _, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, t)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return 0, ""
	}
	t := open[len(open)-1]
	return t.offset, fmt.Sprintf("'%v' is never closed", t.tok)
}

// lineColumn gives the place of an offset, both from 1.
func lineColumn(src string, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	return strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n')
}
