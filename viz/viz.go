// Package viz draws numbers as text at an exact size.
//
// A drawing is a pure function of its data, a theme and a size: it never reads
// a clock, a terminal or the runtime, and imports nothing of this module.
// Invariant: Draw(t, w, h) gives exactly h lines of exactly w cells, whatever
// the data, wide letters included.
package viz

import "strings"

// A Drawing is data that knows how to draw itself.
type Drawing interface {
	// Draw gives exactly h lines that are w cells wide each.
	Draw(t Theme, w, h int) []string
	// Height is how many lines it would like at width w, at least 1.
	Height(w int) int
}

// Text draws d as high as it likes to be, without the spaces at the ends of
// lines and without a last newline. It is what is printed where there is no screen.
func Text(t Theme, w int, d Drawing) string {
	lines := d.Draw(t, w, d.Height(w))
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
