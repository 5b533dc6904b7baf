package config

import (
	"fmt"
	"strings"
)

// Markdown is the page of the settings and keys.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings and keys

` + "`tpush` reads `config.toml` in `$XDG_CONFIG_HOME/tpush` (or `~/.config/tpush`), then `.tpush.toml` in the folder or one above it, then the environment;\n" +
		"a flag wins over all. Something unknown is an error with its line. `:config` shows what is in force and where it comes from.\n\n" +
		"```toml\n[ui]\ntheme = \"light\"\n\n[keys]\nrun-as-is = [\"ctrl+r\", \"f8\"]\nhistory = \"alt+r\"\n```\n\n## Settings\n\n")
	b.WriteString("| setting | takes | default | environment | meaning |\n|---|---|---|---|---|\n")
	def := Default()
	for _, s := range settings {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` | %s |\n", s.Key, s.Takes, s.get(def), EnvName(s.Key), s.Doc)
	}
	b.WriteString("\n## Keys\n\nEach line of `[keys]` gives an action its key, a list of keys, or `\"\"` for none. The keys of a context win over global ones,\nthose of one panel over those of every panel; `d d` is d twice.\n")
	b.WriteString(KeysTable(def.Keys))
	return b.String()
}

// KeysTable lists the actions of each context with the keys they have.
func KeysTable(m Keymap) string {
	var b strings.Builder
	for _, c := range Contexts() {
		fmt.Fprintf(&b, "\n### %s\n\n| action | keys | does |\n|---|---|---|\n", c)
		for _, a := range actions {
			if a.Context != c {
				continue
			}
			quoted := make([]string, len(m.keys[a.Name]))
			for i, k := range m.keys[a.Name] {
				quoted[i] = "`" + k + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Name, strings.Join(quoted, " "), a.Doc)
		}
	}
	return b.String()
}
