package trace

import (
	"fmt"
	"strings"
)

// Markdown is docs/events.md: the kinds, the fields and the laws.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Events

Generated from the tables in ` + "`trace`" + `; do not edit.

Everything that happens in a session is one event. Events are kept in a ring of
` + fmt.Sprint(DefaultCapacity) + ` unless set otherwise; when it is full the oldest are dropped and counted.
Totals by source line and op count every event, dropped or not.

Two clocks are told apart. Virtual time is that of the simulated TPU: it advances
by the cost model only and repeats exactly. Host time is wall time.

## Kinds

| kind | lane | meaning | fields | ended by |
|---|---|---|---|---|
`)
	for _, row := range Kinds() {
		ends := ""
		if row.EndsBy != Unknown {
			ends = "`" + row.EndsBy.String() + "`"
		}
		keys := make([]string, 0, len(row.Fields))
		for _, name := range row.Fields {
			for i := range fields {
				if fields[i].Name == name {
					keys = append(keys, "`"+fields[i].Key+"`")
				}
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", row.Name, row.Lane, row.Doc, strings.Join(keys, " "), ends)
	}
	b.WriteString(`
Every kind also fills ` + "`at`, `cell` and `stack`" + ` where they are known.

## Text form

One event a line: sequence number, kind, then ` + "`key=value`" + ` for each field that is not
zero. Values are quoted as in Go when they hold a space, a quote or a character
that does not print. Lines that begin with ` + "`#`" + ` are skipped. Kinds and keys of a newer
version are carried through unchanged. In stacks, parts and lists the characters
` + "`%:;|,`" + ` are written ` + "`%XX`" + `.

| key | field | unit | meaning |
|---|---|---|---|
`)
	for _, f := range fields {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Key, f.Name, f.Unit, strings.ReplaceAll(f.Doc, "|", `\|`))
	}
	b.WriteString("\n## Laws\n\nEvery recording obeys these; `trace.Validate` checks them.\n\n| law | says |\n|---|---|\n")
	for _, l := range laws {
		fmt.Fprintf(&b, "| %s | %s |\n", l.Name, l.Doc)
	}
	return b.String()
}
