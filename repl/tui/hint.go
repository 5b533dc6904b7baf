package tui

import (
	"context"
	"go/scanner"
	"go/token"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A signature is how the call that the cursor stands in is made.
type signature struct {
	call string // as it stands in the text: x.MatMul
	text string // MatMul(b *Tensor) *Tensor
}

// callAt finds the innermost call that is open at a place: the text up to its
// bracket, and the name.
func callAt(text string, pos int) (upTo int, name string) {
	src := text[:min(max(pos, 0), len(text))]
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(f, []byte(src), func(token.Position, string) {}, 0)
	type bracket struct {
		at   int
		name string
	}
	var stack []bracket
	name = ""
	last := token.EOF
	for {
		p, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			for i := len(stack) - 1; i >= 0; i-- {
				if stack[i].name != "" {
					return stack[i].at, stack[i].name
				}
			}
			return 0, ""
		case token.IDENT:
			if last == token.PERIOD {
				name += "." + lit
			} else {
				name = lit
			}
		case token.PERIOD:
		case token.LPAREN:
			if last != token.IDENT {
				name = ""
			}
			stack = append(stack, bracket{f.Offset(p), name})
			name = ""
		case token.LBRACE, token.LBRACK:
			stack = append(stack, bracket{f.Offset(p), ""})
			name = ""
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			name = ""
		default:
			name = ""
		}
		last = tok
	}
}

// askSignature asks how the call at the cursor is made, when it is another than before.
func (m *Model) askSignature() tea.Cmd {
	e := m.text()
	if e == nil || isCommandLine(e) || len(e.Line(e.Cursor().Line)) > 4<<10 || e.Len() > 200 {
		return nil
	}
	text := e.Text()
	upTo, name := callAt(text, e.Offset())
	if name == m.sig.call {
		return nil
	}
	m.sig = signature{call: name}
	if name == "" {
		return nil
	}
	req := kernel.CompleteRequest{Code: text[:upTo], CursorPos: upTo}
	word := name[strings.LastIndexByte(name, '.')+1:]
	return m.askKernel(func(ctx context.Context, k Kernel) func(m *Model) tea.Cmd {
		rep, err := k.Complete(ctx, req)
		return func(m *Model) tea.Cmd {
			if err != nil || m.sig.call != name {
				return nil
			}
			for _, d := range rep.Details {
				if d.Text == word && strings.HasPrefix(d.Detail, "(") {
					m.sig.text = word + d.Detail
				}
			}
			return nil
		}
	})
}

// hint is the line under the editor: of the chosen candidate, of the call, or
// how the history would go on.
func (m *Model) hint() string {
	t := &m.theme
	text := ""
	switch {
	case m.popup != nil && m.popup.at >= 0 && len(m.popup.found) > 0:
		it := m.popup.items[m.popup.found[m.popup.at].item]
		text = it.Text + it.Detail
		if it.Detail != "" && it.Detail[0] != '(' {
			text = it.Text + "  " + it.Detail
		}
	case m.sig.text != "":
		text = m.sig.text
	case m.text() != nil && m.wrong(m.text()) != nil:
		return glyph.Fit(glyph.Spaces(m.at.gutter)+paint(t.Bad, m.checked.text), m.at.mainW, t.More)
	}
	return glyph.Fit(glyph.Spaces(m.at.gutter)+paint(t.Note, text), m.at.mainW, t.More)
}
