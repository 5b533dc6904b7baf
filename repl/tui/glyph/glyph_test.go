package glyph

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want []string
	}{
		"lines":               {"a\nb\r\nc", []string{"a", "b", "c"}},
		"progress":            {"  1%\r 50%\r100%\n", []string{"100%"}},
		"shorter over longer": {"abcdef\rxy\n", []string{"xycdef"}},
		"erased":              {"abcdef\rxy\x1b[K\n", []string{"xy"}},
		"backspace":           {"ab\b\bc\n", []string{"c"}},
		"SGR passes":          {"\x1b[1;31mred\x1b[0m\n", []string{"\x1b[1;31mred\x1b[0m"}},
		"others do not":       {"\x1b[2J\x1b[Ha\x1b]0;title\x07b\x1b]8;;x\x1b\\c\x1bPq\x1b\\d\x1b(Be\x1b[?25l\n", []string{"abcde"}},
		"controls":            {"a\x00\x07\u0085\u009b31mb\n", []string{"a31mb"}},
		"bad UTF-8":           {"a\xffb\n", []string{"a\ufffdb"}},
	} {
		if got := Clean(tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		// The pieces that it arrives in must not matter.
		var c Cleaner
		var got []string
		for i := range len(tt.in) {
			got = append(got, c.Write(tt.in[i:i+1])...)
		}
		if rest := c.Line(); rest != "" {
			got = append(got, rest)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s, byte by byte: %q, want %q", name, got, tt.want)
		}
	}
}

// odd is text that terminals and libraries disagree about.
var odd = []string{
	"a", "é", "日", "本", "🚀", "👨\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "e\u0301\u0302", "\u0301", "\u200b", "\u202e", "שלום", "مرحبا", "क्षि", "한", "\u1112\u1161\u11ab",
	"\t", "\x1b[31m", "\x1b[0m", "\x1b[48;2;1;2;3m", "─", "\u00ad", "👍🏽", "\ufffd", " ", "xyz", "\x07", "\u0600", "ก็",
}

func TestExactWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(odd[r.IntN(len(odd))])
		}
		s, w := b.String(), 1+r.IntN(40)
		check := func(what, row string) {
			t.Helper()
			for _, m := range []ansi.Method{ansi.GraphemeWidth, ansi.WcWidth} {
				if got := m.StringWidth(row); got != w {
					t.Fatalf("%s of %q to %d: %q is %d wide (method %d)", what, s, w, row, got, m)
				}
			}
		}
		check("Fit", Fit(s, w, "…"))
		check("Fit without a mark", Fit(s, w, ""))
		for _, row := range Wrap(s, w) {
			check("Wrap", Fit(row, w, ""))
			if n := Cells(row); n > w {
				t.Fatalf("Wrap of %q to %d: %q has %d cells", s, w, row, n)
			}
		}
		if w > 4 {
			check("Splice", Splice(Fit(s, w, ""), "box", 1+r.IntN(w-1), 3, w))
		}
	}
}

// Letters that terminals join, or not, are drawn as what all of them agree about.
func TestJoinedLetters(t *testing.T) {
	for in, want := range map[string]string{
		"🇩🇪":                       "DE",
		"🇩🇪🇫🇷":                     "DEFR",
		"🇩x":                       "Dx",
		"\u1112\u1161\u11ab":       "한",
		"\u1112\u1161":             "하",
		"\u1112":                   "ㅎ",
		"\u1161":                   "ㅏ",
		"\u11a8":                   "ㄱ",
		"\u1112\u1161\u11ab\u1100": "한ㄱ",
		"\u1140":                   "\ufffd", // of old texts
	} {
		got := strings.TrimRight(Fit(in, 12, ""), " ")
		if got != want {
			t.Errorf("%q is drawn as %q, want %q", in, got, want)
		}
		if w := ansi.StringWidth(got); w != Width(in) {
			t.Errorf("%q: %d cells, counted %d", in, w, Width(in))
		}
	}
}

func TestPaste(t *testing.T) {
	if got, want := Paste("a\rb\r\nc\x1b[31m\td\x00\u0085日"), "a\nb\nc[31m\td日"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A line that never ends is cut wherever it comes from, so that nothing is ever
// asked to draw all of it.
func TestEndlessLine(t *testing.T) {
	const n = 1 << 20
	for _, piece := range []int{n, 1000} {
		var c Cleaner
		var lines []string
		for i := 0; i < n; i += piece {
			lines = append(lines, c.Write(strings.Repeat("x", min(piece, n-i)))...)
		}
		total := len(c.Line())
		for _, l := range lines {
			if total += len(l); len(l) > maxLineBytes {
				t.Fatalf("a line of %d bytes", len(l))
			}
		}
		if total != n {
			t.Errorf("%d bytes of %d", total, n)
		}
	}
}

func TestWrapKeepsEveryLetter(t *testing.T) {
	if got, want := strings.Join(Wrap("\x1b[31mabcdefgh", 3), "|"), "\x1b[31mabc\x1b[0m|\x1b[31mdef\x1b[0m|\x1b[31mgh\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkClean(b *testing.B) {
	text := strings.Repeat("a line of output with some numbers 1234567890\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var c Cleaner
		c.Write(text)
	}
}
