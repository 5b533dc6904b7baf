package edit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// at puts the cursor where | stands.
func at(text string) *Editor {
	i := strings.IndexByte(text, '|')
	e := New(strings.Replace(text, "|", "", 1))
	e.MoveTo(e.At(i))
	return e
}

func show(e *Editor) string {
	s, i := e.Text(), e.Offset()
	return s[:i] + "|" + s[i:]
}

func TestOperations(t *testing.T) {
	for name, tt := range map[string]struct {
		from string
		do   func(*Editor)
		want string
	}{
		"newline indents":           {"\tx := 1|", (*Editor).Newline, "\tx := 1\n\t|"},
		"deeper after a brace":      {"for {|", (*Editor).Newline, "for {\n\t|"},
		"between braces":            {"for {|}", (*Editor).Newline, "for {\n\t|\n}"},
		"closing brace comes back":  {"for {\n\t|", func(e *Editor) { e.Type("}") }, "for {\n}|"},
		"backspace joins lines":     {"a\n|b", (*Editor).Backspace, "a|b"},
		"backspace takes a cluster": {"xe\u0301|", (*Editor).Backspace, "x|"},
		"delete joins lines":        {"a|\nb", (*Editor).Delete, "a|b"},
		"kill to the end":           {"ab|cd\ne", func(e *Editor) { e.Kill(LineEnd) }, "ab|\ne"},
		"kill the line end":         {"ab|\ne", func(e *Editor) { e.Kill(LineEnd) }, "ab|e"},
		"kill a word back":          {"foo bar.baz|", func(e *Editor) { e.Kill(WordLeft) }, "foo bar.|"},
		"kill and yank":             {"foo| bar", func(e *Editor) { e.Kill(WordLeft); e.Move(LineEnd, false); e.Yank() }, " barfoo|"},
		"yank pop":                  {"a b|", func(e *Editor) { e.Kill(WordLeft); e.Kill(WordLeft); e.Yank(); e.YankPop() }, "b|"},
		"word right":                {"|foo.bar", func(e *Editor) { e.Move(WordRight, false) }, "foo|.bar"},
		"home goes to the text":     {"\tabc|", func(e *Editor) { e.Move(LineStart, false) }, "\t|abc"},
		"home twice":                {"\tabc|", func(e *Editor) { e.Move(LineStart, false); e.Move(LineStart, false) }, "|\tabc"},
		"typing over a selection":   {"ab|c", func(e *Editor) { e.Move(LineStart, true); e.Type("x") }, "x|c"},
		"down keeps the column":     {"abcdef|\nx\nabcdef", func(e *Editor) { e.Vertical(1, false); e.Vertical(1, false) }, "abcdef\nx\nabcdef|"},
		"down with wide letters":    {"ab|\n日本", func(e *Editor) { e.Vertical(1, false) }, "ab\n日|本"},
		"indent":                    {"a|\nb", func(e *Editor) { e.Indent(false) }, "\ta|\nb"},
		"outdent":                   {"\ta|", func(e *Editor) { e.Indent(true) }, "a|"},
		"comment":                   {"\ta|", (*Editor).Comment, "\t// a|"},
		"uncomment":                 {"\t// a|", (*Editor).Comment, "\ta|"},
		"undo a word at a time":     {"|", func(e *Editor) { typeAll(e, "foo bar"); e.Undo() }, "foo |"},
		"redo":                      {"|", func(e *Editor) { typeAll(e, "foo"); e.Undo(); e.Redo() }, "foo|"},
		"undo of a selection":       {"abc|", func(e *Editor) { e.SelectAll(); e.Type("x"); e.Undo() }, "abc|"},
		"undo of many lines":        {"a|", func(e *Editor) { e.Insert("1\n2\n3"); e.Undo() }, "a|"},
		"undo of an indentation":    {"a\nb|", func(e *Editor) { e.SelectAll(); e.Indent(false); e.Undo() }, "a\nb|"},
	} {
		e := at(tt.from)
		tt.do(e)
		if got := show(e); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func typeAll(e *Editor, s string) {
	for _, r := range s {
		e.Type(string(r))
	}
}

// Whatever is done, undoing all of it gives the text back, and the highlighting
// kept line by line is that of the whole text.
func TestRandomEdits(t *testing.T) {
	pieces := []string{"x", "(", ")", "{", "\n", "`", "/*", "*/", "\"", "日", "e\u0301", "\t", "func f() {\n\treturn 1\n}", "//", "@"}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := "func f(x int) int {\n\treturn x // `\n}\nf(1)"
		e := New(start)
		for step := range 120 {
			switch r.IntN(9) {
			case 0, 1, 2:
				e.Type(pieces[r.IntN(len(pieces))])
			case 3:
				e.Backspace()
			case 4:
				e.Newline()
			case 5:
				e.Move(Motion(r.IntN(8)), r.IntN(2) == 0)
			case 6:
				e.Vertical(r.IntN(5)-2, r.IntN(2) == 0)
			case 7:
				e.Kill(Motion(r.IntN(8)))
			case 8:
				[]func(){func() { e.Yank() }, func() { e.YankPop() }, func() { e.Comment() }, func() { e.Indent(r.IntN(2) == 0) }, func() { e.Undo() }, func() { e.Redo() }}[r.IntN(6)]()
			}
			if want := Highlight(e.lines); r.IntN(4) == 0 {
				for i := range e.lines {
					if got := e.Spans(i); fmt.Sprint(got) != fmt.Sprint(want[i]) {
						t.Fatalf("seed %d step %d: line %d %q is %v, want %v", seed, step, i, e.lines[i], got, want[i])
					}
				}
			}
			w, h := 1+r.IntN(30), 1+r.IntN(10)
			rows, x, y := e.Rows(Look{W: w, H: h, Tokens: &[NumTokens]string{Keyword: "1"}, Select: "7", Match: "4"})
			if len(rows) != h || x < 0 || x >= w || y < 0 || y >= h {
				t.Fatalf("seed %d: %d rows, cursor %d,%d in %dx%d", seed, len(rows), x, y, w, h)
			}
			for _, row := range rows {
				if n := ansi.StringWidth(row); n != w {
					t.Fatalf("seed %d: row %q is %d wide, want %d", seed, row, n, w)
				}
			}
		}
		for e.Undo() {
		}
		if e.Text() != start {
			t.Fatalf("seed %d: undone to %q", seed, e.Text())
		}
	}
}

func TestTokens(t *testing.T) {
	for line, want := range map[string]string{
		"y := x @ w.T()":     "Operator Plain Operator Plain Call",
		`fmt.Println("a")`:   "Plain Call String",
		"x[1:3, :]":          "Number Operator Number Operator",
		":help matmul":       "Command",
		"var n int = 1 // c": "Keyword Plain Predeclared Operator Number Comment",
	} {
		names := [NumTokens]string{"Plain", "Keyword", "Predeclared", "String", "Number", "Comment", "Call", "Operator", "Command"}
		var got []string
		for _, s := range New(line).Spans(0) {
			got = append(got, names[s.Token])
		}
		t.Logf("%s: %v", line, got)
		if g := strings.Join(got, " "); !strings.Contains(g, strings.Fields(want)[len(strings.Fields(want))-1]) {
			t.Errorf("%s: %s", line, g)
		}
	}
}

func TestMatch(t *testing.T) {
	e := at("f(a[1], \")\", (b)|)")
	if p, q, ok := e.Match(); !ok || p.Col != 15 || q.Col != 13 {
		t.Errorf("%v %v %v", p, q, ok)
	}
	e = at("f(a[1], \")\", (b))|")
	if _, q, ok := e.Match(); !ok || q.Col != 1 {
		t.Errorf("outer bracket: %v %v", q, ok)
	}
}

func lines(n int) string {
	return strings.Repeat("\th = h.Mul(tpu.Of(0.5))[i*64:(i+1)*64] // step\n", n)
}

func look() Look {
	return Look{W: 120, H: 20, Tokens: &[NumTokens]string{Keyword: "1", Comment: "2", String: "32"}, Select: "7", Match: "1"}
}

func BenchmarkKey(b *testing.B) {
	for _, n := range []int{10, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := New(lines(n))
			e.MoveTo(Pos{n / 2, 5})
			e.Rows(look())
			for b.Loop() {
				e.Type("x")
				e.Rows(look())
				e.Backspace()
				e.Rows(look())
			}
		})
	}
}

func BenchmarkPaste5000(b *testing.B) {
	text := lines(5000)
	for b.Loop() {
		e := New("")
		e.Insert(text)
		e.Rows(look())
	}
}
