package repl

import (
	"context"
	"strings"
	"testing"
)

type silent struct{}

func (silent) Stream(string, string)  {}
func (silent) Input() (string, error) { return "", nil }

// shown runs a cell and gives what stands after Out[n].
func shown(t *testing.T, s *Session, text string) string {
	t.Helper()
	c := s.Run(context.Background(), text, "", 1, silent{})
	if len(c.Reports) > 0 {
		t.Fatalf("%s: %s", text, c.Reports[0].Message)
	}
	out, err := s.Show(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCutValues looks at values that are too long to be shown whole.
func TestCutValues(t *testing.T) {
	s, err := NewSession(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tt := range []struct {
		cell, part string
		lines      int
	}{
		{"make([]int, 1000)", "… 980 more, :inspect _1\n]  []int", 23},
		{"make([]int, 3_000_000)", "… 2999980 more, :inspect _2\n]  []int", 23},
		{"m := map[int]string{}; for i := range 500 { m[i] = \"x\" }; m", "  19:\"x\"\n  … 480 more, :inspect _3\n]  map[int]string", 23},
		{"struct{ A []int; S string }{make([]int, 200_000), \"s\"}", "0 0 … 199950 more]\n  S: \"s\"\n}", 4},
		{"strings.Repeat(\"abc \", 5000)", "… 15906 more bytes, :inspect _5  string", 1},
		{"[]int{1, 2, 3}", "[1 2 3]  []int", 1},
		{"func two() (int, []string) { return 1, make([]string, 100) }; two()", "1  int, [\n", 23},
		{"[][]int{make([]int, 100), {1}}", "0 0 … 50 more]\n  [1]\n]  [][]int", 4},
	} {
		got := shown(t, s, tt.cell)
		if !strings.Contains(got, tt.part) || strings.Count(got, "\n")+1 != tt.lines {
			t.Errorf("%s: %d lines, want %d with %q\n%s", tt.cell, strings.Count(got, "\n")+1, tt.lines, tt.part, got)
		}
	}
}
