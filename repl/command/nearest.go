package command

import "github.com/tpush/tpush/runtime/spelling"

// Nearest is the name that was probably meant, "" when none is near: within two
// edits, and within one for short words.
func Nearest(word string, names []string) string {
	best, at := "", min(2, (len(word)+1)/2)+1
	for _, n := range names {
		if d := spelling.Distance(word, n); d < at {
			best, at = n, d
		}
	}
	return best
}
