package viz

// A Meaning is why something is drawn as it is. Themes give it a colour; the
// glyphs and words of a drawing say the same without one.
type Meaning uint8

// The meanings.
const (
	Normal Meaning = iota
	Strong         // titles, heads of columns
	Dim            // axes, free space, notes
	OK
	Wait // pending, queued, padding
	Bad  // failures, NaN, over the limit
	Hot  // the largest, the most expensive
	Place
	Host // work of the host
	MXU  // matrix unit
	VPU  // vector unit
	DMA  // transfers
	HBM  // memory
	numMeanings
)

// A Theme is a set of glyphs, all one cell wide, and of colours.
type Theme struct {
	Name string
	Doc  string

	Full string // of a bar: used
	Peak string // of a bar: between used and peak
	Free string // of a bar, of a map: nothing there
	More string // the mark where text was cut off
	Rule string // a horizontal line
	Wall string // a vertical line
	Edge string // the corner of an axis

	Branch, Last, Through string // of a tree: a child, the last child, a line that passes

	Ramp   []string // shades from nothing to full, for one cell
	Spark  []string // levels of one line, from nothing to full
	Column []string // the top of a column, from nothing to a full cell

	colors [numMeanings]string // parameters of SGR, "" for none
	heat   []string            // 256-colour numbers from cold to hot, nil without colour
}

// Plain is ASCII without colour: what is written to files and pipes.
func Plain() Theme {
	ramp := []string{" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"}
	return Theme{
		Name: "plain", Doc: "ASCII, no colour",
		Full: "#", Peak: "=", Free: ".", More: "~", Rule: "-", Wall: "|", Edge: "+",
		Branch: "|-", Last: "`-", Through: "| ",
		Ramp: ramp, Spark: ramp, Column: []string{" ", ".", "=", "#"},
	}
}

// Unicode is line drawing and block letters without colour.
func Unicode() Theme {
	eighths := []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	return Theme{
		Name: "unicode", Doc: "line drawing and blocks, no colour",
		Full: "█", Peak: "▒", Free: "·", More: "…", Rule: "─", Wall: "│", Edge: "└",
		Branch: "├─", Last: "└─", Through: "│ ",
		Ramp: []string{" ", "░", "▒", "▓", "█"}, Spark: eighths, Column: eighths,
	}
}

// Color is Unicode with the sixteen colours every terminal has, and a heat
// scale of the 256.
func Color() Theme {
	t := Unicode()
	t.Name, t.Doc = "color", "line drawing and blocks, in colour"
	t.colors = [numMeanings]string{
		Strong: "1", Dim: "2", OK: "32", Wait: "33", Bad: "1;31", Hot: "1;35", Place: "36",
		Host: "34", MXU: "34", VPU: "32", DMA: "35", HBM: "36",
	}
	t.heat = []string{"16", "17", "18", "54", "90", "126", "162", "198", "204", "210", "216", "222", "229", "231"}
	return t
}

// Themes lists the themes.
func Themes() []Theme { return []Theme{Plain(), Unicode(), Color()} }

// Sprint gives s in the colour of m.
func (t Theme) Sprint(m Meaning, s string) string {
	if m >= numMeanings || t.colors[m] == "" || s == "" {
		return s
	}
	return "\x1b[" + t.colors[m] + "m" + s + "\x1b[0m"
}

// level gives the step of scale for a fraction: nothing only for 0 or less (or
// NaN), the last for 1 and more.
func level(scale []string, fraction float64) string {
	if !(fraction > 0) {
		return scale[0]
	}
	n := len(scale) - 1
	return scale[min(n, 1+int(min(fraction, 1)*float64(n)*0.999999))]
}
