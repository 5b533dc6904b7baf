package glyph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestWrapWords(t *testing.T) {
	for _, tt := range []struct {
		s    string
		w    int
		want []string
	}{
		{"short", 20, []string{"short"}},
		{"some words that do not fit", 12, []string{"some words", "that do not", "fit"}},
		{"  ctrl+c  interrupt the cell", 20, []string{"  ctrl+c  interrupt", "          the cell"}},
		{"    indented words go on below", 16, []string{"    indented", "    words go on", "    below"}},
		{"averyveryverylongword", 8, []string{"averyver", "yverylon", "gword"}},
		{"\x1b[31mred words go\x1b[0m on", 6, []string{"\x1b[31mred\x1b[0m", "\x1b[31mwords\x1b[0m", "\x1b[31mgo\x1b[0m on"}},
	} {
		if got := WrapWords(tt.s, tt.w); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d: %q, want %q", tt.s, tt.w, got, tt.want)
		}
	}
}

// TestWrapWordsKeepsEverything: no row is too wide, and nothing but blanks is lost.
func TestWrapWordsKeepsEverything(t *testing.T) {
	words := []string{"a", "some", "words", "  ", "   ", "世界", "日本語", "\x1b[31m", "\x1b[0m", "e\u0301", "\t", "supercalifragilistic"}
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == ' ' || r == '\t' {
				return -1
			}
			return r
		}, Strip(s))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		s, w := b.String(), 2+r.IntN(40)
		rows := WrapWords(s, w)
		for _, row := range rows {
			if Cells(row) > w {
				t.Fatalf("%q in %d: %q is too wide", s, w, row)
			}
		}
		if got := letters(strings.Join(rows, "")); got != letters(s) {
			t.Fatalf("%q in %d became %q", s, w, rows)
		}
	}
}
