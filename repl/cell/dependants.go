package cell

import (
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// dependants lists the functions of earlier cells that use, directly or not, a
// function or constant that this cell declares again, or a type whose methods it
// changes. They are compiled again with it, so that they see the new ones.
func (c *compiler) dependants(chunks []*chunkPiece) []*entry {
	redeclared := map[string]bool{}
	methods := map[string]bool{}
	for _, k := range chunks {
		for _, n := range declaredNames(k.chunk) {
			if strings.Contains(n, ".") {
				methods[n] = true
				continue
			}
			e := c.s.names[n]
			if e == nil {
				continue
			}
			switch e.obj.(type) {
			case *types.Func, *types.Const:
				redeclared[n] = true
			}
		}
	}
	touched := c.affected()
	if len(redeclared) == 0 && len(touched) == 0 {
		return nil
	}
	found := map[string]*entry{}
	for changed := true; changed; {
		changed = false
		consider := func(key string, e *entry) {
			if e.piece == nil || found[key] != nil || redeclared[key] && !isDependant(found, key) || methods[key] || c.skip[key] {
				return
			}
			if touched[key] == e {
				found[key] = e
				redeclared[key] = true
				changed = true
				return
			}
			for n := range e.uses {
				if redeclared[n] {
					found[key] = e
					redeclared[key] = true
					changed = true
					return
				}
			}
		}
		for n, e := range c.s.names {
			if !declaredHere(chunks, n) {
				consider(n, e)
			}
		}
		for n, e := range c.s.methods {
			consider(n, e)
		}
	}
	out := make([]*entry, 0, len(found))
	for _, e := range found {
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}

func isDependant(found map[string]*entry, key string) bool { return found[key] != nil }

func declaredHere(chunks []*chunkPiece, name string) bool {
	for _, k := range chunks {
		for _, n := range declaredNames(k.chunk) {
			if n == name {
				return true
			}
		}
	}
	return false
}

// declaredNames lists what a declaration chunk declares; P.Inc for a method.
func declaredNames(k chunk) (out []string) {
	toks, _ := scan(k.text)
	switch k.kind {
	case token.FUNC:
		if len(toks) > 1 && toks[1].tok == token.IDENT {
			return []string{toks[1].lit}
		}
		base, i := "", 1
		for depth := 0; i < len(toks); i++ {
			switch toks[i].tok {
			case token.LPAREN:
				depth++
			case token.RPAREN:
				depth--
			case token.IDENT:
				base = toks[i].lit
			case token.LBRACK: // a generic receiver: the base is before the bracket
				for i < len(toks) && toks[i].tok != token.RBRACK {
					i++
				}
			}
			if depth == 0 {
				break
			}
		}
		if i+1 < len(toks) {
			return []string{base + "." + toks[i+1].lit}
		}
	case token.CONST, token.TYPE:
		depth, start := 0, true
		for i := 1; i < len(toks); i++ {
			t := toks[i]
			switch t.tok {
			case token.LPAREN, token.LBRACE, token.LBRACK:
				depth++
				start = i == 1
				continue
			case token.RPAREN, token.RBRACE, token.RBRACK:
				depth--
			case token.SEMICOLON:
				start = depth <= 1
				continue
			case token.IDENT:
				if start {
					out = append(out, t.lit)
					start = i+1 < len(toks) && toks[i+1].tok == token.COMMA
					continue
				}
			case token.COMMA:
				continue
			}
			start = false
		}
	}
	return out
}

// dependantAt gives the recompiled function that a position lies in.
func (c *compiler) dependantAt(p token.Pos) *entry {
	if c.asm.file == nil || int(p) < c.asm.file.Base() {
		return nil
	}
	seg := c.asm.find(c.asm.file.Offset(p))
	for _, e := range c.users {
		if seg != nil && seg.piece == e.piece {
			return e
		}
	}
	return nil
}
