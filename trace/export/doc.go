package export

import (
	"fmt"
	"strings"
)

// Markdown is docs/exports.md: the formats.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Exports\n\nGenerated from the table in `trace/export`; do not edit.\n\n| format | extension | what | opened by |\n|---|---|---|---|\n")
	for _, f := range All() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", f.Name, f.Extension, f.Doc, f.Opens)
	}
	b.WriteString(`
## pprof

A sample is one op at one place of the program. Its stack is the op, the line
that applied it, the lines that called that line. The sample types, in order:

| type | unit | meaning |
|---|---|---|
`)
	for _, q := range quantities {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", q.name, q.unit, q.doc)
	}
	b.WriteString("\nThe default is `" + defaultQuantity + "`. Samples carry the labels `op`, `mode`, `chip`, `group` (the launch) and `cut_reason` (why it ended).\n" + `
    go tool pprof -top digits.pb.gz
    go tool pprof -top -sample_index=hbm_alloc digits.pb.gz
    go tool pprof -list 'In' digits.pb.gz
    go tool pprof -tagroot=group -http=: digits.pb.gz

Cells that came from a file point into that file. Cells that were typed are
written to a folder beside the profile (` + "`FILE.sources/cell_3.tpu`" + `), and the profile
points there. The totals count every op of the session, however long it ran.

Time of a launch with several ops is shared out among them in proportion to
their cost. Host time is measured and differs from run to run; all other figures
of the simulated TPU repeat exactly.

## perfetto and chrome

Tracks ` + "`host`, `queue`, `device` and `transfers`" + ` under one process, and the counter
` + "`" + counterName + "`" + `. Time is virtual. A slice carries its source line and the fields of its
event; a flow leads from the cut of a region to its launch. Only the events still
in the ring are written; the text form says how many were dropped.
`)
	return b.String()
}
