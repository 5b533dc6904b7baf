package config

import (
	"strings"
)

// Edit gives the text of a file with one setting changed: its line when the
// file has one, else a new line in its section. The rest stays as it was,
// comments too. The error is an *Error, and the text is then src.
func Edit(file string, src []byte, key, value string) ([]byte, error) {
	c := Default()
	if err := c.Set(key, value, file); err != nil {
		return src, err
	}
	written := `"` + value + `"`
	if s := lookup(key); s != nil {
		written = s.get(c)
	}
	section, name, _ := strings.Cut(key, ".")
	line := name + " = " + written
	lines := strings.Split(string(src), "\n")
	if p, ok := positions(src)[key]; ok && strings.HasPrefix(strings.TrimSpace(lines[p.Line-1]), name) {
		lines[p.Line-1] = line
	} else if p, ok := positions(src)[section]; ok {
		lines = append(lines[:p.Line], append([]string{line}, lines[p.Line:]...)...)
	} else {
		text := strings.TrimRight(string(src), "\n")
		if text != "" {
			text += "\n\n"
		}
		lines = strings.Split(text+"["+section+"]\n"+line+"\n", "\n")
	}
	out := []byte(strings.Join(lines, "\n"))
	if errs := Default().Read(file, out); len(errs) > 0 { // a value that spans lines, say
		return src, errs[0]
	}
	return out, nil
}
