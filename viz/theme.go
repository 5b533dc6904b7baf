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
	Host   // work of the host
	MXU    // matrix unit
	VPU    // vector unit
	DMA    // transfers
	HBM    // memory
	Chosen // the row under the cursor; drawn over the meaning of its letters
	numMeanings
)

// A Theme is a set of glyphs, all one cell wide, and of colours.
type Theme struct {
	Name string
	Doc  string

	Full string   // of a bar: used
	Peak string   // of a bar: between used and peak
	Free string   // of a bar, of a map: nothing there
	More string   // the mark where text was cut off
	Rule string   // a horizontal line
	Wall string   // a vertical line
	Edge string   // the corner of an axis
	Mark string   // before the row under the cursor
	Dot  string   // a point of a chart
	Line []string // parts of a line of a chart: level, rising, falling, upright

	// Joint are the cells of lines that meet: bit 0 goes up, 1 right, 2 down, 3 left.
	Joint [16]string

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
		Mark: ">", Dot: "o", Line: []string{"-", "/", "\\", "|"},
		Joint:  [16]string{" ", "|", "-", "+", "|", "|", "+", "+", "-", "+", "-", "+", "+", "+", "+", "+"},
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
		Mark: "▸", Dot: "●", Line: []string{"─", "╱", "╲", "│"},
		Joint:  [16]string{" ", "╵", "╶", "└", "╷", "│", "┌", "├", "╴", "┘", "─", "┴", "┐", "┤", "┬", "┼"},
		Branch: "├─", Last: "└─", Through: "│ ",
		Ramp: []string{" ", "░", "▒", "▓", "█"}, Spark: eighths, Column: eighths,
	}
}

// Color is Unicode with the sixteen colours every terminal has, and a heat
// scale of the 256.
func Color() Theme {
	return Unicode().with("color", "line drawing and blocks, in the sixteen colours of the terminal", [numMeanings]string{
		Strong: "1", Dim: "2", OK: "32", Wait: "33", Bad: "1;31", Hot: "1;35", Place: "36",
		Host: "34", MXU: "34", VPU: "32", DMA: "35", HBM: "36", Chosen: "7",
	}, coldToHot())
}

// coldToHot is the heat scale: 256-colour numbers from black over red to white.
func coldToHot() []string {
	return []string{"16", "17", "18", "54", "90", "126", "162", "198", "204", "210", "216", "222", "229", "231"}
}

func (t Theme) with(name, doc string, colors [numMeanings]string, heat []string) Theme {
	t.Name, t.Doc, t.colors, t.heat = name, doc, colors, heat
	return t
}

// Dark is for a dark background: soft colours of the 256.
func Dark() Theme {
	return Unicode().with("dark", "for a dark background", [numMeanings]string{
		Strong: "1;38;5;255", Dim: "38;5;244", OK: "38;5;114", Wait: "38;5;221", Bad: "1;38;5;203", Hot: "1;38;5;213", Place: "38;5;80",
		Host: "38;5;75", MXU: "38;5;111", VPU: "38;5;150", DMA: "38;5;176", HBM: "38;5;80", Chosen: "48;5;237",
	}, coldToHot())
}

// Light is for a light background: dark colours of the 256.
func Light() Theme {
	return Unicode().with("light", "for a light background", [numMeanings]string{
		Strong: "1;38;5;16", Dim: "38;5;242", OK: "38;5;28", Wait: "38;5;130", Bad: "1;38;5;124", Hot: "1;38;5;127", Place: "38;5;24",
		Host: "38;5;25", MXU: "38;5;19", VPU: "38;5;22", DMA: "38;5;90", HBM: "38;5;30", Chosen: "48;5;253",
	}, []string{"231", "230", "229", "222", "216", "209", "203", "197", "161", "125", "89", "53", "17", "16"})
}

// Mono has no colours but bold, dim, underlined and reversed letters.
func Mono() Theme {
	return Unicode().with("mono", "bold, dim, underlined and reversed letters, no colour", [numMeanings]string{
		Strong: "1", Dim: "2", Wait: "4", Bad: "1;7", Hot: "1", Place: "4", Chosen: "7",
	}, nil)
}

// HighContrast has bright letters for a black background, nothing dim, and reversed where it is urgent.
func HighContrast() Theme {
	return Unicode().with("high-contrast", "bright letters on black, nothing dim", [numMeanings]string{
		Normal: "97", Strong: "1;97", Dim: "97", OK: "1;92", Wait: "1;93", Bad: "1;97;41", Hot: "1;95", Place: "1;96",
		Host: "1;94", MXU: "1;94", VPU: "1;92", DMA: "1;95", HBM: "1;96", Chosen: "1;30;107",
	}, coldToHot())
}

// ASCII is the letters of Plain in the colours of Color.
func ASCII() Theme {
	t := Color().ASCII()
	t.Name, t.Doc = "ascii", "ASCII, in the sixteen colours of the terminal"
	return t
}

// Themes lists the themes.
func Themes() []Theme {
	return []Theme{Plain(), Unicode(), Color(), Dark(), Light(), Mono(), HighContrast(), ASCII()}
}

// ThemeNamed finds a theme; false when there is none of that name.
func ThemeNamed(name string) (Theme, bool) {
	for _, t := range Themes() {
		if t.Name == name {
			return t, true
		}
	}
	return Theme{}, false
}

// Colored says whether the theme writes escape sequences.
func (t Theme) Colored() bool { return t.colors != [numMeanings]string{} }

// NoColor is t without any escape sequence: what NO_COLOR asks for.
func (t Theme) NoColor() Theme {
	t.colors, t.heat = [numMeanings]string{}, nil
	return t
}

// ASCII is t with the letters of Plain: for terminals and fonts without others.
func (t Theme) ASCII() Theme {
	p := Plain()
	p.Name, p.Doc, p.colors, p.heat = t.Name, t.Doc, t.colors, nil
	return p
}

// SGR gives the parameters of the escape sequence of a meaning, "" for none.
func (t Theme) SGR(m Meaning) string {
	if m >= numMeanings {
		return ""
	}
	return t.colors[m]
}

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
