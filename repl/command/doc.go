package command

import (
	"fmt"
	"strings"
)

// Markdown is docs/commands.md, from the table that answers :help.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the command table; `go test ./repl/command -update` renews it.\n\nA command stands on a line of its own and begins with a colon. A unique beginning of its\nname is enough. `?x` is `:help x`.\n")
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.ToUpper(string(g[:1]))+string(g[1:]))
		for _, c := range All() {
			if c.Group != g {
				continue
			}
			fmt.Fprintf(&b, "\n### `%s`\n\n%s.\n", strings.TrimSpace(":"+c.Name+" "+c.Args), sentence(c.Doc))
			if len(c.Aliases) > 0 {
				fmt.Fprintf(&b, "\nAlso `:%s`.\n", strings.Join(c.Aliases, "`, `:"))
			}
			if c.Help != "" {
				fmt.Fprintf(&b, "\n```text\n%s\n```\n", c.Help)
			}
			fmt.Fprintf(&b, "\n```go\n%s\n```\n", c.Example)
		}
	}
	return b.String()
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
