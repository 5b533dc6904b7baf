package exec

import (
	"fmt"
	"strings"
)

// Markdown is the page docs/modes.md: what each mode does, and each reason for
// which a region is cut.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Modes and cut reasons\n\n" +
		"Generated from the tables in `runtime/exec`; `go test ./runtime/exec -update` rewrites it.\n\n" +
		"A mode says when the queue of operations is cut into regions and how a region is launched. It never changes a result: " +
		"every mode gives the same bits. `:mode NAME` changes it in a session, `--mode NAME` for a run, `tpu.SetMode` and `tpu.WithMode` in a program.\n\n")
	b.WriteString("| mode | name on the real system | what happens |\n|---|---|---|\n")
	for _, m := range Modes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, m.Title, m.Doc)
	}
	b.WriteString("\n| |")
	for _, m := range Modes() {
		fmt.Fprintf(&b, " %s |", m.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(Modes())) + "\n")
	for _, c := range modeColumns {
		fmt.Fprintf(&b, "| %s |", c.doc)
		for _, m := range Modes() {
			mark := ""
			if c.of(m) {
				mark = "yes"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nThe variables of the real system choose a mode when no flag does: `TORCH_TPU_LAUNCH_BLOCKING=1` debug, `TORCH_TPU_DEFER_AND_FUSE=1` fuse. " +
		"`TORCH_TPU_ENABLE_DEBUG_CHECKS=1` or `0` switches the checks of index values on or off in every mode, as `:set checks` does. With nothing set the mode is debug.\n")
	b.WriteString("\nIn a program without a session the loop rule of fuse waits for the end of a `tpu.Tidy`, for one turn of the loop at most: " +
		"what the block frees then stays on chip. Reads, waits and other cuts come at once. In a session what a statement leaves is known at its end.\n")
	b.WriteString("\n## Why a region was cut\n\n`:fusion` shows the reason of each region, `:why gN` explains one.\n\n| reason | it means | to avoid it |\n|---|---|---|\n")
	for _, r := range Reasons() {
		fix := r.Fix
		if fix == "" {
			fix = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Name, r.Doc, fix)
	}
	return b.String()
}

// modeColumns are the columns of a mode that its page shows.
var modeColumns = []struct {
	doc string
	of  func(*Mode) bool
}{
	{"each operation is a region of its own", func(m *Mode) bool { return m.EveryOp }},
	{"repeating loop bodies are found and cut", func(m *Mode) bool { return m.DetectLoops }},
	{"the statements of a cell are one program", func(m *Mode) bool { return m.PerCell }},
	{"the host waits for each launch", func(m *Mode) bool { return m.Wait }},
	{"index values are checked before an operation runs", func(m *Mode) bool { return m.Checks }},
	{"an in-place write may reuse the HBM of its operand", func(m *Mode) bool { return m.Donate }},
	{"a region is split where a value inside it is used after a later output", func(m *Mode) bool { return m.Split }},
}
