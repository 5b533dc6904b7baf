package dtype

import (
	"fmt"
	"strconv"
	"strings"
)

// Markdown is the page docs/dtypes.md: every element type with its names and
// limits, and the table of promotion.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Element types\n\n")
	b.WriteString("Generated from the table in `runtime/dtype`; `go test ./runtime/dtype -update` rewrites it.\n\n")
	b.WriteString("| type | Go | PyTorch | HLO | StableHLO | bits | lowest | largest | eps | |\n")
	b.WriteString("|---|---|---|---|---|--:|--:|--:|--:|---|\n")
	for _, d := range All() {
		r := d.Row()
		eps := ""
		if e := d.Eps(); e > 0 {
			eps = short(e)
		}
		lo, hi := short(d.Lowest()), short(d.Max())
		if d.IsInt() {
			lo, hi = strconv.FormatInt(d.MinInt(), 10), strconv.FormatUint(d.MaxInt(), 10)
		}
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | `%s` | `%s` | %d | %s | %s | %s | %s |\n",
			r.Name, r.Go, r.Torch, r.HLO, r.StableHLO, r.Bits, lo, hi, eps, r.Doc)
	}
	b.WriteString("\nFloats round to nearest, to even at a tie. Beyond the largest number f8e4m3 and f4e2m1 saturate, " +
		"the fnuz types and f8e8m0 give NaN, the others infinity. " +
		"Floats to integers truncate and saturate, NaN becomes 0; integers to narrower integers wrap.\n")
	b.WriteString("\n## Promotion\n\nThe common type of two tensors with dimensions; – where there is none. " +
		"A 0-d tensor counts only when its kind (bool, integer, float, complex) is higher than that of the tensors with dimensions; " +
		"a Go number only when its kind is higher than that of every tensor, and then as i64, f32 or c64.\n\n| |")
	for _, d := range All() {
		fmt.Fprintf(&b, " %v |", d)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(All())) + "\n")
	for _, x := range All() {
		fmt.Fprintf(&b, "| **%v** |", x)
		for _, y := range All() {
			cell := "–"
			if p, err := Promote(x, y); err == nil {
				cell = p.String()
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
