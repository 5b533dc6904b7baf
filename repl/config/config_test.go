package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite generated documents")

func TestMarkdownIsCurrent(t *testing.T) {
	const file = "../../docs/config.md"
	if *update {
		if err := os.WriteFile(file, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != Markdown() {
		t.Errorf("docs/config.md is not current: go test ./repl/config -update (%v)", err)
	}
}

func TestRead(t *testing.T) {
	c := Default()
	errs := c.Read("f.toml", []byte(`
[ui]
theme = "light"
fps = 30
panels = ["hbm", "trace"]
[files]
autosave = "1m"
[keys]
history = "alt+r"
redraw = ["shift+ctrl+l", "f20"]
mouse = ""
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if c.Theme != "light" || c.FPS != 30 || !slices.Equal(c.Panels, []string{"hbm", "trace"}) || c.Autosave != time.Minute {
		t.Errorf("%+v", c)
	}
	if a, _ := c.Keys.Lookup(Editor, "", "alt+r"); a != "history" {
		t.Errorf("alt+r does %q", a)
	}
	if a, _ := c.Keys.Lookup(Editor, "", "ctrl+r"); a != "" {
		t.Errorf("ctrl+r still does %q", a)
	}
	if a, _ := c.Keys.Lookup(Cells, "", "ctrl+shift+l"); a != "redraw" {
		t.Errorf("modifiers in another order: %q", a)
	}
	if k := c.Keys.Keys("mouse"); len(k) > 0 {
		t.Errorf("mouse has %v", k)
	}
	if a, _ := Default().Keys.Lookup(Editor, "", "ctrl+r"); a != "history" {
		t.Errorf("the default keys changed: ctrl+r does %q", a)
	}
	if got := c.From("ui.fps"); got != "f.toml:4" {
		t.Errorf("ui.fps is from %s", got)
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"[ui]\nthem = \"dark\"", "f.toml:2:1: ui.them: there is no such setting, did you mean ui.theme?"},
		{"x = 1", "f.toml:1:1: x: there is no such setting"},
		{"[ui]\n\ntheme = \"pink\"", `f.toml:3:1: ui.theme: "pink" is not one of auto, dark, light, mono, high-contrast`},
		{"[ui]\nfps = 1000", "f.toml:2:1: ui.fps: 1000 is not a number from 1 to 240"},
		{"ui.fps = true", "f.toml:1:1: ui.fps: true is not a number from 1 to 240"},
		{"ui = { fps = 0 }", "f.toml:1:1: ui.fps: 0 is not a number from 1 to 240"},
		{"[files]\nautosave = \"soon\"", `f.toml:2:1: files.autosave: "soon" is not a duration such as "30s"`},
		{"[keys]\nhistry = \"alt+r\"", "f.toml:2:1: keys.histry: there is no such action, did you mean history?"},
		{"[keys]\nhistory = \"control+r\"", `f.toml:2:1: keys.history: "control+r": there is no modifier "control", there are ctrl, alt, shift, meta, hyper, super`},
		{"[keys]\nhistory = \"ctrl+entr\"", `f.toml:2:1: keys.history: "ctrl+entr": there is no key "entr", did you mean enter?`},
		{"[keys]\nhistory = 7", "f.toml:2:1: keys.history: 7 is not a key or a list of keys"},
		{"[keys]\nhistory = \"ctrl+z\"", "f.toml:2:1: keys.history: ctrl+z is the key of undo too"},
		{"[ui\n", "f.toml:1:4"},
		{"[ui]\nfps = 1\nfps = 2", "f.toml:3:1"},
	} {
		errs := Default().Read("f.toml", []byte(tt.src))
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), tt.want) {
			t.Errorf("%q:\n got %v\nwant %s", tt.src, errs, tt.want)
		}
	}
}

func TestSourcesInOrder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		f := filepath.Join(dir, name)
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	s := Sources{
		User:    write("user.toml", "[ui]\nfps = 10\ntheme = \"dark\"\nascii = true"),
		Project: write("project.toml", "[ui]\nfps = 20\ntheme = \"light\"\nbad = 1"),
		Env:     func(k string) string { return map[string]string{"TPUSH_UI_FPS": "30"}[k] },
	}
	c, err := Load(s)
	var ce *Error
	if !errors.As(err, &ce) || ce.File != s.Project || ce.Line != 4 {
		t.Errorf("got %v, want an error at line 4 of the project's file", err)
	}
	if c.FPS != 30 || c.Theme != "light" || !c.ASCII || c.From("ui.fps") != "TPUSH_UI_FPS" {
		t.Errorf("%+v from %s", c, c.From("ui.fps"))
	}
	if err := c.Set("ui.fps", "40", "--fps"); err != nil || c.FPS != 40 {
		t.Errorf("flag: %d %v", c.FPS, err)
	}
	s.Env = func(k string) string { return map[string]string{"TPUSH_UI_FPS": "fast"}[k] }
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), `TPUSH_UI_FPS: ui.fps: "fast" is not`) {
		t.Errorf("got %v", err)
	}
	if _, err := Load(Sources{User: filepath.Join(dir, "none.toml")}); err != nil {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(Sources{User: dir}); err == nil {
		t.Error("a folder instead of a file: no error")
	}
}

func TestSequences(t *testing.T) {
	m := Default().Keys
	if a, more := m.Lookup(Cells, "", "d"); a != "" || !more {
		t.Errorf("d: %q %v", a, more)
	}
	if a, more := m.Lookup(Cells, "d", "d"); a != "cell-delete" || more {
		t.Errorf("d d: %q %v", a, more)
	}
	if a, _ := m.Lookup(Cells, "d", "x"); a != "" {
		t.Errorf("d x: %q", a)
	}
}

// TestNoKeyClash: no two actions of a context have a key in common, every key
// is one a terminal can send, and names are unique.
func TestNoKeyClash(t *testing.T) {
	seen, names := map[string]string{}, map[string]bool{}
	for _, a := range Actions() {
		if names[a.Name] || a.Doc == "" || !slices.Contains(Contexts(), a.Context) {
			t.Errorf("%s: not unique, no sentence or no context", a.Name)
		}
		names[a.Name] = true
		for _, k := range a.Keys {
			if c, err := canonicalSequence(k); err != nil || c != k {
				t.Errorf("%s: key %q is %q %v", a.Name, k, c, err)
			}
			id := string(a.Context) + " " + k
			if other := seen[id]; other != "" {
				t.Errorf("%s: %s and %s", id, other, a.Name)
			}
			seen[id] = a.Name
		}
	}
}

func TestEdit(t *testing.T) {
	for _, tt := range []struct{ src, key, value, want string }{
		{"", "ui.fps", "30", "[ui]\nfps = 30\n"},
		{"# mine\n[ui]\nfps = 10 # slow\ntheme = \"dark\"\n", "ui.fps", "30", "# mine\n[ui]\nfps = 30\ntheme = \"dark\"\n"},
		{"[ui]\ntheme = \"dark\"\n", "ui.fps", "30", "[ui]\nfps = 30\ntheme = \"dark\"\n"},
		{"[ui]\ntheme = \"dark\"\n", "run.mode", "fuse", "[ui]\ntheme = \"dark\"\n\n[run]\nmode = \"fuse\"\n"},
		{"", "keys.history", "alt+r", "[keys]\nhistory = \"alt+r\"\n"},
	} {
		got, err := Edit("f.toml", []byte(tt.src), tt.key, tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s = %s in %q: %q %v", tt.key, tt.value, tt.src, got, err)
		}
	}
	if got, err := Edit("f.toml", []byte("[ui]\n"), "ui.fps", "many"); err == nil || string(got) != "[ui]\n" {
		t.Errorf("a bad value: %q %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("[ui]\nfps = 30\n[keys]\nhistory = [\"alt+r\", \"d d\"]\n")
	f.Add("ui = { fps = 1, theme = \"dark\" }\nkeys.run = \"\"")
	f.Fuzz(func(t *testing.T, src string) {
		c := Default()
		for _, err := range c.Read("f", []byte(src)) {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
		}
	})
}
