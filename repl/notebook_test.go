package repl

import (
	"fmt"
	"strings"
	"testing"
)

func steps(nb *Notebook) string {
	var b strings.Builder
	for _, s := range nb.Steps {
		kind := [...]string{"code", "command", "expect"}[s.Kind]
		fmt.Fprintf(&b, "%d %s %d-%d %q\n", s.Part, kind, s.Line, s.Last, s.Text)
	}
	return b.String()
}

func TestNotebookStructure(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"one cell without separators", "x := 1\nx\n", `1 code 1-2 "x := 1\nx\n"` + "\n"},
		{"separators begin cells", "// %% a\nx := 1\n// %% b\ny := 2", "1 code 2-2 \"x := 1\\n\"\n2 code 4-4 \"y := 2\\n\"\n"},
		{"a first separator makes no empty cell", "// %%\nx := 1\n", "1 code 2-2 \"x := 1\\n\"\n"},
		{"comments alone are no step", "// %% a\n// only words\n\n// %% b\nx", "1 code 5-5 \"x\\n\"\n"},
		{"commands and directives", "//tpu:mode fuse\nx := 1\n:hbm\ny := 2\n", "1 command 1-1 \":mode fuse\"\n1 code 2-2 \"x := 1\\n\"\n1 command 3-3 \":hbm\"\n1 code 4-4 \"y := 2\\n\"\n"},
		{"a raw string hides structure", "s := `\n// %% no\n:hbm\n// Output: no\n`\n", "1 code 1-5 \"s := `\\n// %% no\\n:hbm\\n// Output: no\\n`\\n\"\n"},
		{"open brackets hide structure", "xs := []int{1,\n2}\nxs[\n:1]\n", "1 code 1-4 \"xs := []int{1,\\n2}\\nxs[\\n:1]\\n\"\n"},
		{"a block comment hides structure", "/*\n// %% no\n*/\nx := 1\n", "1 code 1-4 \"/*\\n// %% no\\n*/\\nx := 1\\n\"\n"},
		{"a raw string that never closes is its own line", "s := `abc\n// %% b\nx := 1\n", "1 code 1-1 \"s := `abc\\n\"\n2 code 3-3 \"x := 1\\n\"\n"},
		{"a brace that never closes is its own line", "func f() {\n// %% b\nx := 1\n", "1 code 1-1 \"func f() {\\n\"\n2 code 3-3 \"x := 1\\n\"\n"},
		{"an expectation closes a cell", "f()\n// Output:\n// a\n//   b\ng()\n", "1 code 1-1 \"f()\\n\"\n1 expect 2-4 \"\\na\\n  b\"\n2 code 5-5 \"g()\\n\"\n"},
		{"two blocks about one cell", "x\n// Out: 1  int\n\n// Output:\n// a\ny\n", "1 code 1-1 \"x\\n\"\n1 expect 2-2 \"1  int\"\n1 expect 4-5 \"\\na\"\n2 code 6-6 \"y\\n\"\n"},
		{"no separator inside a block", "f()\n// Output:\n// %% a\n", "1 code 1-1 \"f()\\n\"\n1 expect 2-3 \"\\n%% a\"\n"},
		{"BOM, CRLF and #!", "\ufeff#!/usr/bin/env -S tpush run\r\nx := 1\r\n:hbm\r\n", "1 code 2-2 \"x := 1\\n\"\n1 command 3-3 \":hbm\"\n"},
		{"empty", "", ""},
		{"a rune literal does not confuse", "r := '`'\n:hbm\n", "1 code 1-1 \"r := '`'\\n\"\n1 command 2-2 \":hbm\"\n"},
		{"a label is Go", "loop:\nfor {\nbreak loop\n}\n", "1 code 1-4 \"loop:\\nfor {\\nbreak loop\\n}\\n\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := steps(ParseNotebook("f.tpu", []byte(tt.src))); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func FuzzParseNotebook(f *testing.F) {
	f.Add([]byte("x := 1\n// %% a\n:hbm\n// Output:\n// 1\n"))
	f.Add([]byte("`\n/*\n{[("))
	f.Fuzz(func(t *testing.T, src []byte) {
		nb := ParseNotebook("f", src)
		last := 0
		for _, s := range nb.Steps {
			if s.Line <= last || s.Last < s.Line || s.Last > len(nb.Lines) {
				t.Fatalf("step at lines %d-%d after line %d of %d", s.Line, s.Last, last, len(nb.Lines))
			}
			last = s.Last
		}
	})
}
