package repl

import (
	"strings"
	"unicode/utf8"
)

// clipColumns is how much of a source line a picture shows.
const clipColumns = 200

// clip cuts long lines of a picture around what is underlined, all alike, so
// that a line of a megabyte does not become the message.
func clip(lines []string) []string {
	from := 0
	for _, l := range lines {
		if i := strings.IndexByte(l, '^'); i > clipColumns/2 && strings.Trim(l[:i], " |") == "" {
			from = i - clipColumns/2
		}
	}
	for i, l := range lines {
		margin := strings.Index(l, " | ") + 3
		if margin < 3 || utf8.RuneCountInString(l) <= clipColumns {
			continue
		}
		body := []rune(l[margin:])
		lo, end := min(from, len(body)), min(from+clipColumns, len(body))
		text := string(body[lo:end])
		if lo > 0 && strings.Trim(l, " |^") != "" {
			text = "…" + string(body[min(lo+1, end):end])
		}
		if end < len(body) {
			text += "…"
		}
		lines[i] = l[:margin] + text
	}
	return lines
}
