package viz

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "rewrite golden files and documents")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not current (go test -update writes it)\n--- got\n%s", path, got)
	}
}

func TestMarkdownIsCurrent(t *testing.T) { golden(t, "../docs/viz.md", Markdown()) }

// awkward are drawings of data that is empty, extreme or wide.
func awkward() []Example {
	inf, nan := math.Inf(1), math.NaN()
	wide := "宽字符 👩‍🚀 🇩🇪 e\u0301 \x1b[31mred\x1b[0m\ttab\nline \x00\x7f \u0301"
	huge := []float64{math.MaxFloat64, -math.MaxFloat64, inf, -inf, nan, 0, 1e-320}
	return []Example{
		{Drawing: Gauge{}},
		{Drawing: Gauge{Parts: []Part{{wide, inf, true, true, false}, {wide, nan, false, false, true}, {"x", -1, false, false, false}, {"", 1e300, false, true, true}}, Total: 1, Text: wide}},
		{Drawing: Gauge{Parts: []Part{{Label: "x", Value: 1e-9}}, Total: 1e9, Text: strings.Repeat("long ", 50)}},
		{Drawing: Bars{}},
		{Drawing: Bars{Title: wide, Rows: []BarRow{{wide, inf, wide, Bad}, {wide, nan, wide, Hot}, {"", -3, "", OK}, {"a", 5, "5", OK}}}},
		{Drawing: Spark{}},
		{Drawing: Spark{Values: huge, Label: wide, Text: wide}},
		{Drawing: Spark{Values: []float64{3, 3, 3}, Low: 3, High: 3}},
		{Drawing: Table{}},
		{Drawing: Table{Rows: [][]string{{"more cells than columns"}}}},
		{Drawing: Table{Columns: []Column{{Title: wide}, {Title: wide, Right: true}, {}}, Rows: [][]string{{wide, wide, wide, wide}, {}, {wide}}}},
		{Drawing: BlockMap{}},
		{Drawing: BlockMap{SizeBytes: math.MaxInt64, Blocks: []Block{{0, math.MaxInt64, 0}, {math.MaxInt64 - 1, math.MaxInt64, 0}, {-1, 5, 0}, {5, -1, 0}, {0, 1, 7}}, Classes: []Class{{"P", wide, HBM}}, Notes: []string{wide}}},
		{Drawing: BlockMap{SizeBytes: 3, Blocks: []Block{{1, 1, 0}}, Classes: []Class{{"P", "p", HBM}}}},
		{Drawing: Timeline{}},
		{Drawing: Timeline{StartNS: 5, EndNS: 5, Lanes: []Lane{{Name: wide, Spans: []Span{{5, 5, wide, Bad}}}}}},
		{Drawing: Timeline{StartNS: 1 << 40, EndNS: math.MaxInt64, Note: wide, Lanes: []Lane{
			{Name: wide, Note: wide, Spans: []Span{{0, math.MaxInt64, wide, OK}, {1 << 60, 1 << 59, "", OK}, {1 << 61, 1 << 62, wide, OK}}},
			{Name: "s", Samples: []Sample{{1 << 50, inf}, {0, nan}, {1 << 60, 5}, {1 << 61, -5}}},
		}}},
		{Drawing: Histogram{}},
		{Drawing: HistogramOf(nil, 0)},
		{Drawing: HistogramOf(huge, 300)},
		{Drawing: HistogramOf([]float64{2, 2, 2}, 5)},
		{Drawing: HeatMap{}},
		{Drawing: HeatMap{Rows: 2, Cols: 2, Values: []float64{1}}},
		{Drawing: HeatMap{Rows: 1, Cols: 7, Values: huge}},
		{Drawing: HeatMap{Rows: 300, Cols: 300, Values: make([]float64, 90000)}},
		{Drawing: Tree{}},
		{Drawing: Tree{Label: wide, Note: wide, Children: []Tree{{Label: wide, Children: []Tree{{}, {Label: "x"}}}, {}}}},
		{Drawing: Plot{}},
		{Drawing: Plot{Title: wide, XLabel: wide, Series: []PlotSeries{{Label: wide, Values: huge}, {}, {Values: []float64{nan}}, {Values: []float64{3}}}}},
		{Drawing: Plot{Low: 1, High: -1, Series: []PlotSeries{{Values: []float64{1, 2}}}}},
		{Drawing: DAG{}},
		{Drawing: Layered([]DAGNode{{Label: wide, From: []int{5, -1, 0}}, {Label: wide, From: []int{0, 0}}, {From: []int{0, 1}}, {Label: strings.Repeat("x", 99), From: []int{2}}})},
		{Drawing: func() DAG {
			d := Layered([]DAGNode{{Label: wide}, {From: []int{0}}})
			d.X, d.Y, d.Marked = 7, -3, 1
			return d
		}()},
		{Drawing: Roofline{}},
		{Drawing: Roofline{BytesPerSec: 1, Ceilings: []Ceiling{{wide, inf, Bad}}, Points: []RoofPoint{{wide, nan, inf, OK}}, Marked: 4}},
		{Drawing: Roofline{BytesPerSec: 1e9, Ceilings: []Ceiling{{wide, 1e12, Bad}, {"", 0, OK}}, Points: []RoofPoint{{"", 0, 0, OK}, {"A", inf, -1, OK}, {"文", 1e300, 1e-300, OK}}, Marked: 2}},
		{Drawing: Lines{}},
		{Drawing: Lines{Rows: [][]Piece{{{wide, Bad}, {wide, OK}}, nil, {{}}}, Choose: true, Marked: 77}},
		{Drawing: Table{Rows: [][]string{{"a"}}, Choose: true, Marked: -3}},
		{Drawing: Table{Columns: []Column{{Title: wide}, {}}, Rows: [][]string{{wide, wide}, {}, {wide}}, Choose: true, Marked: 1, Meanings: []Meaning{Bad}}},
		{Drawing: Stack{}},
		{Drawing: Stack{Parts: []StackPart{{Drawing: Gauge{}, Min: 3, Grow: true}, {Drawing: List{Marked: -1}, Max: 1}, {Drawing: Table{}, Min: -5, Grow: true}}}},
		{Drawing: Beside{Left: Gauge{Text: wide}, Right: Lines{Rows: [][]Piece{{{wide, Bad}}}}, Cells: 500}},
		{Drawing: List{Marked: -1}},
		{Drawing: List{Title: wide, Items: []string{wide, "", wide}, Marked: 99}},
		{Drawing: List{Items: []string{"a", "b", "c"}, Marked: 2}},
	}
}

func TestExactSize(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 8, 27, 61, 200}
	for i, e := range append(Gallery(), awkward()...) {
		for w := range 201 {
			natural := e.Drawing.Height(w)
			if natural < 1 {
				t.Errorf("%d %T: height %d at width %d", i, e.Drawing, natural, w)
			}
			heights := []int{natural}
			if slices.Contains(sizes, w) {
				heights = append(heights, sizes...)
			}
			for _, h := range heights {
				// Few sizes in every theme, every size in some.
				themes := Themes()
				if !slices.Contains(sizes, w) || h > 61 {
					themes = themes[(w+h)%len(themes):][:1]
				}
				for _, th := range themes {
					exact(t, e.Drawing, th, w, h)
				}
			}
		}
	}
}

func exact(t *testing.T, d Drawing, th Theme, w, h int) {
	t.Helper()
	lines := d.Draw(th, w, h)
	if len(lines) != h {
		t.Fatalf("%T in %s at %dx%d: %d lines", d, th.Name, w, h, len(lines))
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Fatalf("%T in %s at %dx%d: line %d is %d cells wide: %q", d, th.Name, w, h, y, n, l)
		}
		if !th.Colored() && strings.Contains(l, "\x1b") {
			t.Fatalf("%T: an escape sequence in theme %s: %q", d, th.Name, l)
		}
	}
}

func TestPlainIsASCII(t *testing.T) {
	for _, e := range Gallery() {
		if e.Name == "Table" {
			continue // shows wide letters of the user
		}
		for _, r := range Text(Plain(), e.Width, e.Drawing) {
			if r > 0x7e {
				t.Errorf("%s has %q in the plain theme", e.Name, r)
			}
		}
	}
}

func TestGalleryShowsEveryDrawing(t *testing.T) {
	shown := map[string]bool{}
	for _, e := range Gallery() {
		shown[e.Name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Draw" {
				continue
			}
			found++
			if typ := fn.Recv.List[0].Type.(*ast.Ident).Name; !shown[typ] {
				t.Errorf("%s: drawing %s is not in Gallery", name, typ)
			}
		}
	}
	if found != len(shown) {
		t.Errorf("%d drawings, %d in Gallery", found, len(shown))
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 B"},
		{Bytes(512), "512 B"},
		{Bytes(1023), "1023 B"},
		{Bytes(1024), "1.0 KiB"},
		{Bytes(4096), "4.0 KiB"},
		{Bytes(102969344), "98.2 MiB"},
		{Bytes(3296391823), "3.07 GiB"},
		{Bytes(16 << 30), "16.0 GiB"},
		{Bytes(210 << 20), "210 MiB"},
		{Bytes(1<<20 - 1), "1.0 MiB"},
		{Bytes(-2048), "-2.0 KiB"},
		{Bytes(math.MaxInt64), "8.0 EiB"},
		{Bytes(math.MinInt64), "-8.0 EiB"},
		{BytesShort(102969344), "98.2M"},
		{FLOPs(5379476100), "5.38 GFLOP"},
		{FLOPs(64), "64 FLOP"},
		{DurationNS(0), "0 ns"},
		{DurationNS(950), "950 ns"},
		{DurationNS(1200), "1.2 us"},
		{DurationNS(20000), "20.0 us"},
		{DurationNS(612345), "0.61 ms"},
		{DurationNS(3210000), "3.21 ms"},
		{DurationNS(143000000), "143 ms"},
		{DurationNS(999600000), "1.0 s"},
		{DurationNS(3200000000), "3.2 s"},
		{DurationNS(125000000000), "2m05s"},
		{DurationNS(7265000000000), "2h01m"},
		{DurationNS(-1200), "-1.2 us"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1234567), "1,234,567"},
		{Count(-1000), "-1,000"},
		{Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Percent(0, 10), "0%"},
		{Percent(38, 100), "38%"},
		{Percent(1, 250), "0.4%"},
		{Percent(1, 1e9), "<0.1%"},
		{Percent(1, 0), "-"},
		{Number(0.0312), "0.0312"},
		{Number(-3.4100001), "-3.41"},
		{Number(2.3e-7), "2.30e-07"},
		{Number(50257), "50257"},
		{Number(math.NaN()), "nan"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBlockMapShowsTheSmallestBlock(t *testing.T) {
	m := BlockMap{SizeBytes: 1 << 34, Classes: []Class{{"a", "", Normal}, {"b", "", Normal}}}
	m.Blocks = []Block{{Offset: 1<<33 + 12345, Bytes: 1, Class: 1}}
	text := strings.Join(m.Draw(Plain(), 60, 6), "\n")
	if n := strings.Count(text, "b"); n != 2 { // in the map and in the legend
		t.Errorf("a block of one byte shows %d times\n%s", n, text)
	}
	// Every cell of a full map has the class that holds most of it.
	m.Blocks = []Block{{0, 3 << 32, 0}, {3 << 32, 1 << 32, 1}}
	lines := m.Draw(Plain(), 64, 5)
	all := strings.Join(lines[:4], "")
	if a, b := strings.Count(all, "a"), strings.Count(all, "b"); a != 3*b || strings.Contains(all, "..") {
		t.Errorf("%d cells a and %d b, want three to one\n%s", a, b, strings.Join(lines, "\n"))
	}
}

func TestGaugeNeverHidesWhatIsThere(t *testing.T) {
	line := Gauge{Parts: []Part{{Value: 1}}, Total: 1e9}.Draw(Plain(), 22, 1)[0]
	if line != "[#...................]" {
		t.Errorf("got %q", line)
	}
	line = Gauge{Parts: []Part{{Value: 999}}, Total: 1000}.Draw(Plain(), 12, 1)[0]
	if line != "[##########]" {
		t.Errorf("got %q", line)
	}
}

func TestTableGivesWay(t *testing.T) {
	tb := Table{Columns: []Column{{Title: "a"}, {Title: "b", Right: true}}, Rows: [][]string{{"abcdefghijkl", "12"}, {"x", "345"}, {"y", "6"}}}
	for _, c := range []struct {
		w, h int
		want string
	}{
		{20, 4, "a               b   \nabcdefghijkl   12   \nx             345   \ny               6   "},
		{10, 4, "a        b\nabcd~   12\nx      345\ny        6"},
		{9, 3, "a       b\nabc~   12\n~ and 2 ~"},
		{5, 2, "a    \n~ an~"},
	} {
		got := strings.Join(tb.Draw(Plain(), c.w, c.h), "\n")
		if got != c.want {
			t.Errorf("%dx%d:\n%s\nwant\n%s", c.w, c.h, strings.ReplaceAll(got, " ", "_"), strings.ReplaceAll(c.want, " ", "_"))
		}
	}
}

func TestHistogramCounts(t *testing.T) {
	h := HistogramOf([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, math.NaN()}, 5)
	for i, want := range []int64{2, 2, 2, 2, 3} {
		if h.Counts[i] != want {
			t.Errorf("interval %d has %d, want %d", i, h.Counts[i], want)
		}
	}
	if h.Text != "n 12  nan 1" || h.Low != 0 || h.High != 10 {
		t.Errorf("%+v", h)
	}
}

func TestClassLetters(t *testing.T) {
	got := strings.Join(ClassLetters([]string{"params", "peak", "pe", "temp", ""}), "")
	if got != "PEpT0" {
		t.Errorf("got %s", got)
	}
}

func BenchmarkTimeline(b *testing.B) {
	for _, e := range Gallery() {
		if e.Name == "Timeline" {
			for b.Loop() {
				e.Drawing.Draw(Color(), 200, 8)
			}
		}
	}
}
