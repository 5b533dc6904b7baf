package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/tpush/tpush/repl/shot"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A watched terminal is sent what a painter says and compared with the frames.
type watched struct {
	t    testing.TB
	p    *Painter
	sent strings.Builder
	w, h int
}

func watch(t testing.TB, w, h int) *watched {
	s := &watched{t: t, p: New(colorprofile.TrueColor), w: w, h: h}
	s.sent.WriteString("\x1b[?7l" + strings.Repeat("what was here before\n", h))
	return s
}

// show paints a frame, checks what the terminal shows then, and gives the bytes that took.
func (s *watched) show(rows []string) string {
	s.t.Helper()
	for i, r := range rows {
		rows[i] = glyph.Fit(r, s.w, "")
	}
	sent := string(s.p.Paint(Frame{Rows: rows, W: s.w, X: s.w / 2, Y: s.h - 1, Cursor: true}))
	s.sent.WriteString(sent)
	got := shot.NewScreen(s.sent.String(), s.w, s.h, false)
	want := shot.NewScreen(strings.Join(rows, "\n"), s.w, s.h, false)
	if g, w := got.ANSI(), want.ANSI(); g != w {
		s.t.Fatalf("the terminal shows\n%s\nand not\n%s\nafter %q", g, w, sent)
	}
	return sent
}

// words are texts of which frames are made at random.
var words = []string{"x := ", "tpu.Randn(64)", " ", "    ", "\x1b[31mred\x1b[0m", "\x1b[1;38;5;200mbold", "\x1b[48;2;1;2;3m on \x1b[49m", "\x1b[m", "世界", "日本語の出力", "e\u0301", "🚀", "│", "\x1b[4:3mcurl\x1b[24m", "→", "9", "\x1b[7mback\x1b[0m", "한"}

func text(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// TestTerminalShowsTheFrame changes frames in the ways a notebook changes: the
// terminal always shows the last one.
func TestTerminalShowsTheFrame(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, h := 1+r.IntN(60), 1+r.IntN(24)
		s := watch(t, w, h)
		rows := make([]string, h)
		for i := range rows {
			rows[i] = text(r, 8)
		}
		for range 12 {
			rows = append([]string(nil), rows...)
			switch y := r.IntN(h); r.IntN(7) {
			case 0: // something else in a row
				rows[y] = text(r, 8)
			case 1: // an insertion, beside which a panel stays
				at := r.IntN(w)
				rows[y] = glyph.Fit(glyph.Fit(rows[y], at, "")+text(r, 1)+glyph.Skip(rows[y], at), max(w-10, 0), "") + "│ panel"
			case 2: // a deletion
				at := r.IntN(w)
				rows[y] = glyph.Fit(rows[y], at, "") + glyph.Skip(rows[y], at+1+r.IntN(3))
			case 3: // lines scroll up
				k := r.IntN(h)
				rows = append(rows[k:], rows[:k]...)
			case 4: // a part scrolls down
				k := r.IntN(h - y)
				copy(rows[y+k:], append([]string(nil), rows[y:]...))
				for i := y; i < y+k; i++ {
					rows[i] = text(r, 3)
				}
			case 5:
				s.p.Forget()
			case 6:
				s.p.Synchronize()
			}
			s.show(rows)
		}
	}
}

// TestBytes are the bytes that what users do costs.
func TestBytes(t *testing.T) {
	wide := strings.Repeat("日本語", 12)
	code := "\x1b[34mfor\x1b[0m i := range \x1b[32m100\x1b[0m { \x1b[35mfmt\x1b[0m.Println(i, \x1b[31m\"text\"\x1b[0m) }"
	screen := func(row string) []string {
		rows := make([]string, 24)
		for i := range rows {
			rows[i] = fmt.Sprintf("%d %s", i, wide)
		}
		rows[20] = row
		return rows
	}
	for _, tt := range []struct {
		name, before, after string
		most                int
	}{
		{"a letter at the end", "x := 1", "x := 12", 20},
		{"a letter before the end", code, strings.Replace(code, "100", "1000", 1), 60},
		{"a letter gone", strings.Replace(code, "100", "1000", 1), code, 60},
		{"a letter beside a panel", glyph.Fit(code, 80, "") + "│ HBM", glyph.Fit("x"+code, 80, "") + "│ HBM", 60},
		{"a letter in place of a wide one", wide, "日x " + wide[6:], 60},
		{"a letter between few wide ones", "// 日本語 and more", "// 日x本語 and more", 60},
		{"a wide letter at the end", wide, wide + "語", 20},
		{"nothing", wide, wide, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := watch(t, 100, 24)
			s.show(screen(tt.before))
			if sent := s.show(screen(tt.after)); len(sent) > tt.most {
				t.Errorf("%d bytes, want %d at most: %q", len(sent), tt.most, sent)
			}
		})
	}
	t.Run("a line of output", func(t *testing.T) {
		s := watch(t, 100, 24)
		rows := screen("x := 1")
		s.show(append([]string(nil), rows...))
		if sent := s.show(append(append([]string(nil), rows[1:20]...), append([]string{"a new line"}, rows[20:]...)...)); len(sent) > 100 {
			t.Errorf("%d bytes: %q", len(sent), sent)
		}
	})
}

// TestColours: what a terminal cannot show is not sent.
func TestColours(t *testing.T) {
	const row = "\x1b[1;38;2;250;10;10mred\x1b[0m \x1b[7mback\x1b[0m"
	for _, tt := range []struct {
		profile colorprofile.Profile
		has     string
		not     string
	}{
		{colorprofile.TrueColor, "38;2;250;10;10", "38;5"},
		{colorprofile.ANSI256, "38;5;", "38;2"},
		{colorprofile.ANSI, "91", "38;"},
		{colorprofile.ASCII, "\x1b[1m", "38"},
	} {
		sent := string(New(tt.profile).Paint(Frame{Rows: []string{glyph.Fit(row, 20, "")}, W: 20}))
		if !strings.Contains(sent, tt.has) || strings.Contains(sent, tt.not) || !strings.Contains(sent, "back") {
			t.Errorf("%v: %q", tt.profile, sent)
		}
	}
}

func BenchmarkPaintKey(b *testing.B) {
	p := New(colorprofile.TrueColor)
	rows := make([]string, 36)
	for i := range rows {
		rows[i] = glyph.Fit("\x1b[34mfor\x1b[0m i := range \x1b[32m100\x1b[0m 日本語", 120, "")
	}
	for i := 0; b.Loop(); i++ {
		rows[30] = glyph.Fit(strings.Repeat("x", 20+i%40), 120, "")
		p.Paint(Frame{Rows: rows, W: 120, Cursor: true})
	}
}

func BenchmarkPaintAll(b *testing.B) {
	p := New(colorprofile.TrueColor)
	rows := make([]string, 36)
	for i := range rows {
		rows[i] = glyph.Fit("\x1b[34mfor\x1b[0m i := range \x1b[32m100\x1b[0m 日本語", 120, "")
	}
	for b.Loop() {
		p.Forget()
		p.Paint(Frame{Rows: rows, W: 120, Cursor: true})
	}
}
