package cell

import (
	"go/scanner"
	"go/token"
	"sort"
	"strings"
)

// An edit replaced old bytes at offset by text of another length.
type edit struct {
	offset int // in the user's text
	old    int
	text   string
}

// An offsetMap leads from offsets of the rewritten text back to the user's.
type offsetMap struct {
	out, in []int // out[i] in the rewritten text is in[i] in the user's, up to the next pair
}

// source gives the user's offset of an offset in the rewritten text.
func (m *offsetMap) source(off int) int {
	if m == nil || len(m.out) == 0 {
		return off
	}
	i := sort.SearchInts(m.out, off+1) - 1
	if i < 0 {
		return off
	}
	d := off - m.out[i]
	if i+1 < len(m.in) && m.in[i]+d > m.in[i+1] {
		return m.in[i+1]
	}
	return m.in[i] + d
}

func apply(src string, edits []edit) (string, *offsetMap) {
	if len(edits) == 0 {
		return src, nil
	}
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].offset < edits[j].offset })
	var b strings.Builder
	m := &offsetMap{out: []int{0}, in: []int{0}}
	at := 0
	for _, e := range edits {
		b.WriteString(src[at:e.offset])
		m.out, m.in = append(m.out, b.Len()), append(m.in, e.offset)
		b.WriteString(e.text)
		at = e.offset + e.old
		m.out, m.in = append(m.out, b.Len()), append(m.in, at)
	}
	b.WriteString(src[at:])
	return b.String(), m
}

// Names that stand for index items until the types are known.
const (
	sliceItem    = "ʹslice"    // ʹslice(start, stop, step), nil where left out
	ellipsisItem = "ʹellipsis" // ...
	severalItems = "ʹitems"    // ʹitems(a, b): a list of indices
)

type tok struct {
	offset int
	tok    token.Token
	lit    string
}

// scan gives the tokens of src, comments left out, and the scanner's errors.
func scan(src string) (toks []tok, errs scanner.ErrorList) {
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(f, []byte(src), func(p token.Position, msg string) { errs.Add(p, msg) }, 0)
	for {
		pos, t, lit := s.Scan()
		toks = append(toks, tok{f.Offset(pos), t, lit})
		if t == token.EOF {
			return toks, errs
		}
	}
}

// endsOperand tells whether a bracket after t indexes.
func endsOperand(t token.Token) bool {
	switch t {
	case token.IDENT, token.RPAREN, token.RBRACK, token.RBRACE, token.STRING, token.CHAR, token.INT, token.FLOAT:
		return true
	}
	return false
}

type bracket struct {
	tok     token.Token
	open    int
	index   bool // an index bracket
	commas  []int
	colons  []int
	dots    []int
	doubled bool // ::, or a third slice index left out
}

// rewriteTokens makes Go of the forms that do not parse as Go: x[:, 0],
// x[..., 0], x[::2] and a @ b. matmul holds the offsets of @ in the result.
//
// An index bracket that holds a : together with a , or a ... or a :: is never
// Go, so nothing that a Go programmer means is touched.
func rewriteTokens(src string) (out string, m *offsetMap, matmul map[int]bool) {
	if !strings.ContainsAny(src, "@[") {
		return src, nil, nil
	}
	toks, _ := scan(src)
	var edits []edit
	var stack []*bracket
	ats := 0
	for i, t := range toks {
		prev := token.ILLEGAL
		if i > 0 {
			prev = toks[i-1].tok
		}
		switch t.tok {
		case token.LPAREN, token.LBRACE:
			stack = append(stack, &bracket{tok: t.tok, open: i})
		case token.LBRACK:
			stack = append(stack, &bracket{tok: t.tok, open: i, index: endsOperand(prev) && !typeParams(toks, i, stack)})
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(stack) == 0 {
				continue
			}
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if t.tok != token.RBRACK || !b.index {
				continue
			}
			if prev == token.COLON && len(b.colons) > 1 {
				b.doubled = true
			}
			several := len(b.commas) > 0 && !typeList(toks[b.commas[0]+1:i])
			if len(b.colons) > 0 && len(b.commas) > 0 || len(b.dots) > 0 || b.doubled {
				edits = append(edits, b.items(toks, i, several)...)
			} else if several {
				edits = append(edits, edit{toks[b.open+1].offset, 0, severalItems + "("}, edit{t.offset, 0, ")"})
			}
		case token.ILLEGAL:
			if t.lit == "@" {
				edits = append(edits, edit{t.offset, 1, "&^"})
				ats++
			}
		}
		if len(stack) == 0 {
			continue
		}
		b := stack[len(stack)-1]
		switch t.tok {
		case token.COMMA:
			b.commas = append(b.commas, i)
		case token.COLON:
			b.doubled = b.doubled || prev == token.COLON
			b.colons = append(b.colons, i)
		case token.ELLIPSIS:
			b.dots = append(b.dots, i)
		}
	}
	out, m = apply(src, edits)
	if ats > 0 {
		matmul = map[int]bool{}
		for _, e := range edits {
			if e.text == "&^" {
				k := sort.Search(len(m.in), func(k int) bool { return m.in[k] >= e.offset })
				for ; k < len(m.in) && m.in[k] == e.offset; k++ {
					if strings.HasPrefix(out[m.out[k]:], "&^") {
						matmul[m.out[k]] = true
						break
					}
				}
			}
		}
	}
	return out, m, matmul
}

// typeParams tells whether the bracket at token i begins the type parameters of a
// declaration.
func typeParams(toks []tok, i int, stack []*bracket) bool {
	if i < 2 || toks[i-1].tok != token.IDENT {
		return false
	}
	switch toks[i-2].tok {
	case token.TYPE, token.FUNC:
		return true
	case token.SEMICOLON, token.LPAREN: // type ( A[T any] …
		if len(stack) == 0 {
			return false
		}
		b := stack[len(stack)-1]
		return b.tok == token.LPAREN && b.open > 0 && toks[b.open-1].tok == token.TYPE
	}
	return false
}

// typeList tells whether tokens can be a list of types: what may follow the
// comma in an instantiation, and all that Go's parser takes there.
func typeList(toks []tok) bool {
	fn, str := false, false
	for i, t := range toks {
		fn, str = fn || t.tok == token.FUNC, str || t.tok == token.STRUCT
		switch t.tok {
		case token.INT: // [3]int
			if i == 0 || toks[i-1].tok != token.LBRACK || i > 1 && endsOperand(toks[i-2].tok) {
				return false
			}
		case token.ELLIPSIS:
			if !fn {
				return false
			}
		case token.STRING: // a tag
			if !str {
				return false
			}
		case token.IDENT, token.PERIOD, token.COMMA, token.MUL, token.LBRACK, token.RBRACK, token.MAP, token.CHAN, token.FUNC,
			token.STRUCT, token.INTERFACE, token.LBRACE, token.RBRACE, token.ARROW, token.SEMICOLON:
		case token.LPAREN, token.RPAREN: // a func type, or a call
			if !fn {
				return false
			}
		default:
			return false
		}
		if t.tok == token.IDENT && t.lit == "nil" {
			return false
		}
	}
	return len(toks) > 0
}

// items rewrites the items of the index bracket that ends at token end.
func (b *bracket) items(toks []tok, end int, several bool) (edits []edit) {
	start := b.open
	if several {
		edits = append(edits, edit{toks[start+1].offset, 0, severalItems + "("})
		defer func() { edits = append(edits, edit{toks[end].offset, 0, ")"}) }()
	}
	cuts := append(append([]int{start}, b.commas...), end)
	for k := 0; k+1 < len(cuts); k++ {
		lo, hi := cuts[k], cuts[k+1]
		var colons []int
		for _, c := range b.colons {
			if lo < c && c < hi {
				colons = append(colons, c)
			}
		}
		for _, d := range b.dots {
			if lo < d && d < hi {
				edits = append(edits, edit{toks[d].offset, 3, ellipsisItem})
			}
		}
		if len(colons) == 0 || lo+1 == hi {
			continue
		}
		first := toks[lo].offset + 1
		if lo+1 < hi {
			first = toks[lo+1].offset
		}
		edits = append(edits, edit{first, 0, sliceItem + "("})
		at := lo
		for n, c := range colons {
			text := ", "
			if c == at+1 {
				text = "nil, "
			}
			if n == len(colons)-1 && c+1 == hi {
				text += "nil"
			}
			edits = append(edits, edit{toks[c].offset, 1, text})
			at = c
		}
		close := ")"
		if len(colons) == 1 {
			close = ", nil)"
		}
		last := toks[hi-1]
		endOff := last.offset + len(last.lit)
		if last.lit == "" || !last.tok.IsLiteral() {
			endOff = last.offset + len(last.tok.String())
		}
		edits = append(edits, edit{endOff, 0, close})
	}
	return edits
}
