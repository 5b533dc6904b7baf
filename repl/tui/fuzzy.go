package tui

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fuzzy finds the texts that have the letters of the query in order, the best
// first: letters that follow each other, words that begin with one, short
// texts. Without a query all texts come in their order.
func fuzzy(query string, texts []string) []hit {
	words := strings.Fields(strings.ToLower(query))
	var hits []hit
	var scores []int
	for i, s := range texts {
		where, score, ok := matchAll(words, s)
		if ok {
			hits = append(hits, hit{i, where})
			scores = append(scores, score)
		}
	}
	if len(words) > 0 {
		order := make([]int, len(hits))
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(a, b int) bool { return scores[order[a]] > scores[order[b]] })
		sorted := make([]hit, len(hits))
		for i, o := range order {
			sorted[i] = hits[o]
		}
		hits = sorted
	}
	return hits
}

// matchAll matches every word of a query, in any order.
func matchAll(words []string, s string) (where []int, score int, ok bool) {
	for _, w := range words {
		at, n, ok := match(w, s)
		if !ok {
			return nil, 0, false
		}
		where, score = append(where, at...), score+n
	}
	sort.Ints(where)
	return where, score, true
}

// maxFuzzyBytes bounds what is looked at of one text.
const maxFuzzyBytes = 2000

// match looks for the letters of a word in s.
func match(word, s string) (where []int, score int, ok bool) {
	s = s[:min(len(s), maxFuzzyBytes)]
	lower := strings.ToLower(s)
	if len(lower) != len(s) {
		lower = s
	}
	if i := strings.Index(lower, word); i >= 0 { // as it is typed
		for k := range len(word) {
			where = append(where, i+k)
		}
		score = 100 + 10*len(word) - min(i, 40) - min(len(s), 200)/10
		if i == 0 || !wordByte(s[i-1]) {
			score += 30
		}
		return where, score, true
	}
	at, last := 0, -2
	for _, r := range word {
		i := strings.IndexRune(lower[at:], r)
		if i < 0 {
			return nil, 0, false
		}
		i += at
		switch {
		case i == last+1:
			score += 5
		case i == 0 || !wordByte(s[i-1]) || unicode.IsUpper(rune(s[i])):
			score += 4
		default:
			score -= min(i-at, 5)
		}
		where = append(where, i)
		last = i
		at = i + utf8.RuneLen(r)
	}
	return where, score - min(len(s), 200)/10, true
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
