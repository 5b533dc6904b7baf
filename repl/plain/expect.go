package plain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/tpush/tpush/repl/kernel"
)

// normalize brings text into the form in which expectations are compared: Go's
// rule for examples (surrounding blank trimmed), and no blanks at line ends,
// which editors remove.
func normalize(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines
}

// matches compares what happened with what a block wants. A line of three dots
// stands for any number of lines.
func matches(want, got string) bool {
	return matchLines(normalize(want), normalize(got))
}

func matchLines(want, got []string) bool {
	for i, w := range want {
		if strings.TrimSpace(w) == "..." {
			rest := want[i+1:]
			for k := i; k <= len(got); k++ {
				if matchLines(rest, got[min(k, len(got)):]) {
					return true
				}
			}
			return false
		}
		if i >= len(got) || w != got[i] {
			return false
		}
	}
	return len(got) == len(want)
}

// matchesUnordered compares the lines in any order.
func matchesUnordered(want, got string) bool {
	w, g := normalize(want), normalize(got)
	slices.Sort(w)
	slices.Sort(g)
	return slices.Equal(w, g)
}

// matchesShown compares a shown value; its type may be left out: 42 or 42  int.
func matchesShown(want, got string) bool {
	if matches(want, got) {
		return true
	}
	if i := strings.LastIndex(got, "  "); i >= 0 && !strings.Contains(got, "\n") {
		return matches(want, got[:i])
	}
	return false
}

// matchesError says whether the first line of the first error contains the wanted text.
func matchesError(want string, errs []kernel.ErrorContent) bool {
	return len(errs) > 0 && strings.Contains(errorLine(errs[0]), strings.TrimSpace(want))
}

// errorLine is the first line of an error without its place: bounds: gather: index 9 …
func errorLine(e kernel.ErrorContent) string { return e.Name + ": " + e.Value }

// diff shows two texts as a unified diff.
func diff(file string, line int, what, want, got string) string {
	d, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(want), B: lines(got), FromFile: fmt.Sprintf("%s:%d want %s", file, line, what), ToFile: "got", Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(d, "\n")
}

func lines(s string) []string {
	l := normalize(s)
	for i := range l {
		l[i] += "\n"
	}
	return l
}
