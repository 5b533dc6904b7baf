package viz

import (
	"fmt"
	"math"
	"strings"
)

// An Example is a drawing of the gallery.
type Example struct {
	Name    string // of the Go type
	Doc     string
	Drawing Drawing
	Width   int
}

// Gallery shows every drawing once.
func Gallery() []Example {
	wave := make([]float64, 60)
	for i := range wave {
		wave[i] = 5 + 4*math.Sin(float64(i)/6) + float64(i)/20
	}
	heat := HeatMap{Rows: 8, Cols: 24, Values: make([]float64, 8*24)}
	for i := range heat.Values {
		y, x := i/24, i%24
		heat.Values[i] = math.Sin(float64(x)/4) * math.Cos(float64(y)/3)
	}
	heat.Values[3*24+7] = math.NaN()
	bell := make([]float64, 4000)
	for i := range bell {
		x := float64(i)/2000 - 1
		bell[i] = x * x * x * 4 // dense in the middle
	}
	const gib = 1 << 30
	return []Example{
		{"Gauge", "how full something is, and where the peak was", Gauge{
			Parts: []Part{{Label: "live 6.1 GiB", Value: 6.1}, {Label: "peak 9.4 GiB", Value: 3.3, Peak: true}},
			Total: 16, Text: "6.1 of 16.0 GiB",
		}, 60},
		{"Bars", "quantities beside each other", Bars{Title: "TPU time by source line", Rows: []BarRow{
			{"digits.tpu:31 matmul", 612000, DurationNS(612000), MXU},
			{"digits.tpu:33 cross_entropy", 220000, DurationNS(220000), VPU},
			{"digits.tpu:38 add", 9000, DurationNS(9000), VPU},
		}}, 60},
		{"Spark", "a series over time on one line, or higher", Spark{Values: wave, Label: "HBM", Text: "2m"}, 60},
		{"Table", "rows in columns; the widest give way", Table{
			Columns: []Column{{Title: "name"}, {Title: "type"}, {Title: "size", Right: true}, {Title: "from", Meaning: Place}},
			Rows: [][]string{
				{"emb", "bf16[50257,1024]", Bytes(50257 * 1024 * 2), "In[9]"},
				{"w1", "bf16[1024,4096]", Bytes(8 << 20), "In[4]"},
				{"文字", "i32[8,128]", Bytes(4096), "In[8]"},
			},
		}, 60},
		{"BlockMap", "an address space and who holds it", BlockMap{
			SizeBytes: 16 * gib,
			Blocks:    []Block{{0, 4 * gib, 0}, {4 * gib, 5 * gib / 2, 1}, {7 * gib, gib / 2, 2}, {8 * gib, 1 << 20, 2}, {14 * gib, 2 * gib, 3}},
			Classes:   []Class{{"P", "params", HBM}, {"O", "optimizer", MXU}, {"t", "temps", Wait}, {"R", "reserved", Dim}},
			Notes:     []string{"largest free 6.0 GiB"},
		}, 60},
		{"Timeline", "lanes over one axis of time", Timeline{
			EndNS: 3_210_000,
			Lanes: []Lane{
				{Name: "host", Meaning: Host, Spans: []Span{{0, 400_000, "In[12]", Normal}, {500_000, 700_000, "enq", Normal}, {1_100_000, 2_900_000, "wait", Wait}}},
				{Name: "queue", Meaning: Wait, Samples: []Sample{{0, 2}, {200_000, 18}, {600_000, 3}, {900_000, 6}, {1_500_000, 0}}, Note: "max 18"},
				{Name: "device", Meaning: MXU, Spans: []Span{{450_000, 1_300_000, "matmul+add+gelu g1", Normal}, {1_300_000, 1_700_000, "softmax g2", Normal}, {1_750_000, 1_770_000, "gather g3", Normal}, {2_000_000, 3_000_000, "matmul+mul+sum g4", Normal}}},
				{Name: "HBM", Meaning: HBM, Samples: []Sample{{0, 6.1}, {500_000, 9.4}, {1_700_000, 7}, {3_000_000, 6.1}}, Note: "peak 9.4 GiB"},
			},
		}, 76},
		{"Lifetimes", "what lives from when to when", Lifetimes{
			Steps: 12, Level: []float64{2, 2, 3, 5, 7, 9, 9, 6, 5, 4, 2, 2}, Label: "HBM", Note: "peak 9.0 GiB", Mark: 5,
			Rows: []Lifetime{{"parameter 0", "2.0 GiB", 0, 11, HBM}, {"matmul#4", "5.0 GiB", 3, 7, MXU}, {"tanh#6", "2.0 GiB", 5, 9, VPU}},
		}, 60},
		{"Histogram", "how often values fall where", HistogramOf(bell, 30), 60},
		{"HeatMap", "a matrix as shades", heat, 60},
		{"Tree", "what holds what", Tree{Label: "loss", Note: "f32[]", Children: []Tree{
			{Label: "cross_entropy", Note: "digits.tpu:33", Children: []Tree{{Label: "logits"}, {Label: "target"}}},
			{Label: "w", Note: "parameter"},
		}}, 60},
		{"Plot", "series of values as lines", Plot{Title: "loss", XLabel: "step", Series: []PlotSeries{{Label: "train", Values: wave}, {Label: "test", Values: wave[:30]}}}, 60},
		{"DAG", "a graph in layers", Layered([]DAGNode{
			{Label: "x f32[32,64]", Meaning: Dim}, {Label: "w f32[64,128]", Meaning: Dim}, {Label: "matmul", Meaning: MXU, From: []int{0, 1}},
			{Label: "b f32[128]", Meaning: Dim}, {Label: "add", Meaning: VPU, From: []int{2, 3}}, {Label: "tanh", Meaning: VPU, From: []int{4}},
			{Label: "sum", Meaning: VPU, From: []int{5}}, {Label: "mul", Meaning: VPU, From: []int{5, 2}},
		}), 60},
		{"Roofline", "how fast kernels ran, below the ceilings of the chip", Roofline{
			BytesPerSec: 819e9, Ceilings: []Ceiling{{"MXU bf16 197 TFLOP/s", 197e12, MXU}, {"VPU 6.1 TOP/s", 6.1e12, VPU}},
			Points: []RoofPoint{{"A", 2000, 150e12, MXU}, {"B", 0.25, 180e9, VPU}, {"C", 12, 2e12, VPU}}, Marked: 1,
		}, 76},
		{"Lines", "lines of pieces in different meanings, one line under the cursor", Lines{Choose: true, Marked: 1, Rows: [][]Piece{
			{{"g1 ", Strong}, {"matmul+add+gelu  ", Normal}, {"ran", OK}},
			{{"g3 ", Strong}, {"matmul+mul+sum  ", Normal}, {"pending", Wait}},
		}}, 60},
		{"Stack", "drawings one below the other", Stack{Parts: []StackPart{
			{Drawing: Gauge{Parts: []Part{{Value: 6.1}}, Total: 16, Text: "6.1 of 16.0 GiB"}},
			{Drawing: List{Items: []string{"emb", "w1"}, Marked: 0}, Grow: true},
		}}, 60},
		{"Beside", "two drawings next to each other", Beside{
			Left:  List{Title: "stack", Items: []string{"In[12]:2 (cell)", "In[6]:14 train"}, Marked: 0},
			Right: List{Title: "locals", Items: []string{"step = 143", "lr = 0.0003"}, Marked: -1},
		}, 60},
		{"List", "lines, one of them chosen", List{Title: "breakpoints", Items: []string{"In[12]:3  if i > 2", "op gather", "mem > 14 GiB"}, Marked: 1}, 60},
	}
}

// Markdown is docs/viz.md: the gallery in the themes without colour.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Drawings\n\nGenerated from the gallery in `viz`; do not edit.\n\nA drawing is a pure function of data, a theme and a size, and gives exactly that\nmany lines and cells. Themes:\n\n")
	for _, t := range Themes() {
		fmt.Fprintf(&b, "- `%s`: %s\n", t.Name, t.Doc)
	}
	for _, e := range Gallery() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", e.Name, strings.ToUpper(e.Doc[:1])+e.Doc[1:])
		for _, t := range Themes() {
			if !t.Colored() {
				b.WriteString("\n```text\n" + Text(t, e.Width, e.Drawing) + "\n```\n")
			}
		}
	}
	return b.String()
}
