package panel_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/viz"
)

var update = flag.Bool("update", false, "rewrite golden files")

type discard struct{}

func (discard) Stream(string, string)  {}
func (discard) Input() (string, error) { return "", io.EOF }

// program is a session with something to see in every panel.
var program = []string{
	"emb := tpu.Ones(500, 64)\nw := tpu.Ones(64, 128)\nb := tpu.Zeros(128)",
	"ids := tpu.Arange(32)",
	"x := emb.IndexSelect(0, ids)\nh := x.MatMul(w).Add(b).Tanh()\ncol := h.Sum(1).Reshape(32, 1)",
	"loss := h.Mul(h).Mean()\nfor i := range 3 {\n\tloss = loss.Add(float64(i))\n}",
	"lr, step, name := 0.0003, 143, \"a 文字 name\"\nlayers := []int{64, 128}",
	"fmt.Println(loss.Item())",
	"y := h.Add(1).Mul(2)",
}

func session(t testing.TB, mode string, cells ...string) *repl.Session {
	t.Helper()
	m, err := exec.LookupMode(mode)
	if err != nil {
		t.Fatal(err)
	}
	s, err := repl.NewSession(repl.Options{Mode: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	run(t, s, cells...)
	return s
}

func run(t testing.TB, s *repl.Session, cells ...string) {
	t.Helper()
	for _, text := range cells {
		if c := s.Run(context.Background(), text, "", 1, discard{}); c != nil && len(c.Reports) > 0 {
			t.Fatalf("%s: %s", text, c.Reports[0].Message)
		}
	}
}

// load gives a panel what it wants.
func load(t testing.TB, v *view.Views, p panel.Panel) {
	t.Helper()
	name, args := p.Wants()
	if name == "" {
		return
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	data, err := v.Take(name, raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := p.Load(data); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, data)
	}
}

// loaded gives every panel with the snapshots of a session; twice, because
// what a panel wants depends on what it has.
func loaded(t testing.TB, s *repl.Session) []panel.Panel {
	t.Helper()
	v := view.New(s, command.Views()...)
	all := panel.All()
	for _, p := range all {
		load(t, v, p)
		load(t, v, p)
	}
	return all
}

func exact(t *testing.T, p panel.Panel, ctx panel.Context, w, h int) {
	t.Helper()
	lines := p.View(ctx, w, h)
	if len(lines) != max(h, 0) {
		t.Fatalf("%s at %dx%d: %d lines", p.Name(), w, h, len(lines))
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n != max(w, 0) {
			t.Fatalf("%s in %s at %dx%d: line %d is %d cells wide: %q", p.Name(), ctx.Theme.Name, w, h, y, n, l)
		}
	}
}

func TestExactSize(t *testing.T) {
	sets := map[string][]panel.Panel{
		"not loaded": panel.All(), "nothing ran": loaded(t, session(t, "debug")), "debug": loaded(t, session(t, "debug", program...)), "fuse": loaded(t, session(t, "fuse", program...)),
	}
	hollow := panel.All()
	for _, p := range hollow {
		if err := p.Load(json.RawMessage("{}")); err != nil {
			t.Errorf("%s: %v", p.Name(), err)
		}
		if err := p.Load(json.RawMessage("[")); err == nil {
			t.Errorf("%s takes what is no JSON", p.Name())
		}
	}
	sets["hollow"] = hollow
	sets["stopped"] = []panel.Panel{debugPanel(t)}
	for _, set := range sets {
		for _, p := range set {
			for w := 0; w <= 200; w += 1 + w/20 {
				for _, h := range []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 200, w} {
					if (w+h)%3 != 0 && w > 20 && h > 13 {
						continue
					}
					th := viz.Themes()[(w+h)%len(viz.Themes())]
					exact(t, p, panel.Context{Theme: th, Focused: (w+h)%2 == 0}, w, h)
				}
			}
		}
	}
}

func TestGoldens(t *testing.T) {
	for _, mode := range []string{"debug", "fuse"} {
		for _, p := range loaded(t, session(t, mode, program...)) {
			if p.Name() == "help" { // the table of commands has its own golden page
				continue
			}
			var b strings.Builder
			for _, size := range [][2]int{{78, 20}, {45, 30}, {96, 44}} {
				for _, th := range []viz.Theme{viz.Plain(), viz.Dark(), viz.Dark().NoColor()} {
					if th.Colored() && size[0] != 78 {
						continue
					}
					fmt.Fprintf(&b, "== %dx%d %s color=%v\n", size[0], size[1], th.Name, th.Colored())
					for _, l := range p.View(panel.Context{Theme: th, Focused: true, Keys: config.Default().Keys.Keys}, size[0], size[1]) {
						b.WriteString(strings.ReplaceAll(strings.TrimRight(l, " "), "\x1b", "^") + "\n")
					}
				}
			}
			golden(t, filepath.Join("testdata", p.Name()+"_"+mode+".txt"), b.String())
		}
	}
}

func TestEmptySaysWhy(t *testing.T) {
	for _, p := range append(panel.All(), loaded(t, session(t, "debug"))...) {
		text := ansi.Strip(strings.Join(p.View(panel.Context{Theme: viz.Plain()}, 80, 10), "\n"))
		if len(strings.Fields(text)) < 4 {
			t.Errorf("%s says nothing:\n%s", p.Name(), text)
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
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

func TestActionsAreDone(t *testing.T) {
	s := session(t, "fuse", program...)
	rows := map[string]config.Action{}
	for _, a := range config.Actions() {
		rows[a.Name] = a
	}
	for _, p := range loaded(t, s) {
		keys := map[string]string{}
		for _, a := range p.Actions() {
			row := rows[a.Key(p)]
			if row.Doc == "" || row.Context != config.Panel && row.Context != config.Context(p.Name()) {
				t.Errorf("%s: action %+v has no row in the table of keys", p.Name(), a)
			}
			for _, k := range row.Keys {
				if was := keys[k]; was != "" {
					t.Errorf("%s: %s and %s share the key %s", p.Name(), was, a.Name, k)
				}
				keys[k] = a.Name
			}
			name := a.Name
			if a.Arg != "" {
				name += " a"
			}
			if _, ok := p.Do(name); !ok {
				t.Errorf("%s does not know its action %q", p.Name(), name)
			}
			exact(t, p, panel.Context{Theme: viz.Plain(), Focused: true}, 60, 20)
		}
		if _, ok := p.Do("no such thing"); ok {
			t.Errorf("%s does anything", p.Name())
		}
	}
}

// A file that makes a panel is of no use unless All lists it.
func TestAllListsEveryPanel(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range panel.All() {
		listed[fmt.Sprintf("%T", p)] = true
		if panel.Named(p.Name()) == nil || p.Title() == "" {
			t.Errorf("%T is not complete", p)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \(\*?(?:p )?\*?(\w+)\) Actions\(\) \[\]Action`).FindAllStringSubmatch(string(text), -1) {
			n++
			if !listed["*panel."+m[1]] {
				t.Errorf("%s: panel %s is not in All", name, m[1])
			}
		}
	}
	if n != len(listed) {
		t.Errorf("%d panels, %d listed", n, len(listed))
	}
}

// Help finds commands, keys of the screen and keys of panels by any word of them.
func TestHelpSearches(t *testing.T) {
	p := panel.NewHelp()
	p.Keys = []inspect.HelpRow{{Group: "screen", Name: "ctrl+p", Doc: "the palette"}, {Group: "trace", Name: "w", Doc: "zoom: half the time"}}
	load(t, view.New(session(t, "debug"), command.Views()...), p)
	for word, want := range map[string]string{"roofline": ":roofline", "palette": "ctrl+p", "zoom": "half the time", "no such word": "nothing matches"} {
		p.Do("filter " + word)
		text := strings.Join(p.View(panel.Context{Theme: viz.Plain(), Focused: true}, 100, 20), "\n")
		if !strings.Contains(text, want) {
			t.Errorf("searching %q does not show %q:\n%s", word, want, text)
		}
	}
	p.Do("filter roofline")
	if e, _ := p.Do("choose"); e.Command != ":help roofline" {
		t.Errorf("enter gives %+v", e)
	}
}
