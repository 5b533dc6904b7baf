package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated documents")

const module = "github.com/tpush/tpush"

// A layer holds packages that may import the packages of lower layers, and of
// their own layer only what may says. Relaxing a line needs a heading in
// docs/rationale.md.
type layer struct {
	name     string
	packages []string
	may      map[string][]string // imports inside the layer
}

// layers is the import diagram, lowest first. docs/architecture.md shows it.
var layers = []layer{
	{name: "the machine", packages: []string{"runtime/mem", "runtime/par", "runtime/simd", "runtime/simd/simdtest"}, may: map[string][]string{"runtime/simd/simdtest": {"runtime/simd"}}},
	{name: "events and drawings", packages: []string{"trace", "viz", "runtime/spelling", "runtime/stdpipe", "repl/shot", "runtime/safetensors"}},
	{name: "the user's files", packages: []string{"repl/config", "repl/store", "repl/store/atomicfile", "repl/publish"}, may: map[string][]string{"repl/store": {"repl/store/atomicfile"}, "repl/publish": {"repl/store"}}},
	{name: "types and loops", packages: []string{"runtime/dtype", "runtime/shape", "runtime/jit", "runtime/jit/recipe", "runtime/kernel", "runtime/stablehlo"}, may: map[string][]string{
		"runtime/shape": {"runtime/dtype"}, "runtime/jit": {"runtime/dtype"}, "runtime/jit/recipe": {"runtime/jit"}, "runtime/kernel": {"runtime/dtype", "runtime/shape", "runtime/jit", "runtime/jit/recipe"}, "runtime/stablehlo": {"runtime/dtype", "runtime/shape"},
	}},
	{name: "operations and graphs", packages: []string{"runtime/op", "runtime/graph"}, may: map[string][]string{"runtime/graph": {"runtime/op"}}},
	{name: "devices", packages: []string{
		"runtime/device", "runtime/device/sim", "runtime/device/devicetest",
		"runtime/device/pjrt", "runtime/device/pjrt/capi", "runtime/device/pjrt/worker", "runtime/device/pjrt/plugin", "runtime/device/pjrt/programs",
		"runtime/device/pjrt/hlo", "runtime/device/pjrt/ahead", "runtime/device/pjrt/plugintest",
	}, may: map[string][]string{
		"runtime/device/pjrt":            {"runtime/device", "runtime/device/sim", "runtime/device/pjrt/capi", "runtime/device/pjrt/hlo", "runtime/device/pjrt/worker"},
		"runtime/device/pjrt/worker":     {"runtime/device/pjrt/capi"},
		"runtime/device/pjrt/programs":   {"runtime/device/pjrt/capi", "runtime/device/pjrt/worker"},
		"runtime/device/pjrt/plugintest": {"runtime/device/pjrt/plugin", "runtime/device/pjrt/worker"},
		"runtime/device/pjrt/ahead":      {"runtime/device", "runtime/device/pjrt/capi", "runtime/device/pjrt/hlo", "runtime/device/pjrt/worker"},
		"runtime/device/sim":             {"runtime/device"}, "runtime/device/devicetest": {"runtime/device"},
	}},
	{name: "dispatch", packages: []string{"runtime/exec"}},
	{name: "what a user types", packages: []string{"runtime/tpu", "runtime/nn", "runtime/optim", "runtime/data", "runtime/checkpoint"}, may: map[string][]string{
		"runtime/nn": {"runtime/tpu"}, "runtime/optim": {"runtime/tpu", "runtime/nn"}, "runtime/data": {"runtime/tpu", "runtime/checkpoint"}, "runtime/checkpoint": {"runtime/tpu"},
	}},
	{name: "generators", packages: []string{"runtime/tpu/gen"}},
	{name: "test programs", packages: []string{"repl/interp/internal/stand", "repl/interp/programs"}},
	{name: "recordings and workloads", packages: []string{"runtime/conformance", "runtime/selftest", "runtime/bench"}, may: map[string][]string{"runtime/selftest": {"runtime/conformance"}}},
	{name: "questions and formats", packages: []string{"inspect", "inspect/xla", "trace/export"}},
	{name: "sessions", packages: []string{"repl/cell", "repl/interp", "repl/debug", "repl", "repl/kernel"}, may: map[string][]string{
		"repl/interp": {"repl/cell"}, "repl/debug": {"repl/cell", "repl/interp"}, "repl": {"repl/cell", "repl/interp", "repl/debug"},
	}},
	{name: "snapshots and panels", packages: []string{"repl/view", "repl/panel"}},
	{name: "commands", packages: []string{"repl/command"}},
	{name: "front ends", packages: []string{"repl/plain", "repl/dap", "repl/tui/glyph", "repl/tui/edit", "repl/tui/render", "repl/tui"}, may: map[string][]string{
		"repl/dap": {"repl/plain"}, "repl/tui/edit": {"repl/tui/glyph"}, "repl/tui/render": {"repl/tui/glyph"}, "repl/tui": {"repl/tui/edit", "repl/tui/glyph", "repl/tui/render"},
	}},
	{name: "program", packages: []string{"cmd/tpush"}},
}

// notFor lists imports that skip the layers: outside things are plugs, and
// only one package knows each.
var notFor = map[string][]string{
	"github.com/google/pprof/profile":      {"trace/export"},
	"github.com/spf13/cobra":               {"cmd/tpush"},
	"github.com/ebitengine/purego":         {"runtime/device/pjrt/capi"},
	"github.com/pelletier/go-toml/v2":      {"repl/config"},
	"github.com/charmbracelet/x/vt":        {"repl/shot"},
	"charm.land/bubbletea/v2":              {"repl/tui", "repl/shot"},
	"github.com/charmbracelet/ultraviolet": {"repl/tui", "repl/tui/render", "repl/shot"},
	"golang.org/x/tools/go/gcexportdata":   {"repl/interp"},
}

type listed struct {
	ImportPath string
	Name       string
	Doc        string
	Imports    []string
	GoFiles    []string
	Dir        string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports,GoFiles,Dir", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestArchitecture(t *testing.T) {
	rank := map[string]int{}
	allowed := map[string][]string{}
	for i, l := range layers {
		for _, p := range l.packages {
			rank[p] = i
			allowed[p] = l.may[p]
		}
	}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		if p.Doc == "" {
			t.Errorf("%s has no package comment", path)
		}
		if slices.Contains([]string{"runtime", "util", "utils", "common", "helper", "helpers", "base", "types", "misc"}, p.Name) {
			t.Errorf("%s: a package may not be called %s", path, p.Name)
		}
		r, ok := rank[path]
		if !ok {
			t.Errorf("%s stands in no layer", path)
			continue
		}
		for _, imp := range p.Imports {
			if users, ok := notFor[imp]; ok && !slices.Contains(users, path) {
				t.Errorf("%s imports %s, which only %v may", path, imp, users)
			}
			in, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			ri, ok := rank[in]
			switch {
			case !ok:
				t.Errorf("%s imports %s, which stands in no layer", path, in)
			case ri > r:
				t.Errorf("%s (%s) imports %s (%s), which is above it", path, layers[r].name, in, layers[ri].name)
			case ri == r && !slices.Contains(allowed[path], in):
				t.Errorf("%s imports %s of its own layer", path, in)
			}
		}
	}
}

// Wiring is visible in cmd/tpush: it hides in no init and no blank import.
func TestNoInitAndNoDotImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range file.Imports {
				if imp.Name != nil && (imp.Name.Name == "." || imp.Name.Name == "_" && imp.Path.Value != `"embed"`) {
					t.Errorf("%s/%s: %s import of %s", p.ImportPath, f, imp.Name.Name, imp.Path.Value)
				}
			}
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s/%s declares init", p.ImportPath, f)
				}
			}
		}
	}
}

// diagram draws the layers, highest first.
func diagram() string {
	var b strings.Builder
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		fmt.Fprintf(&b, "%3d  %-24s %s\n", i, l.name, strings.Join(l.packages, "  "))
		for _, p := range l.packages {
			if m := l.may[p]; len(m) > 0 {
				fmt.Fprintf(&b, "     %-24s   %s → %s\n", "", p, strings.Join(m, ", "))
			}
		}
	}
	return b.String()
}

const (
	diagramBegin = "<!-- layers: generated by go test ./cmd/tpush -run Diagram -update -->\n```\n"
	diagramEnd   = "```\n<!-- end layers -->"
)

func TestDiagramIsCurrent(t *testing.T) {
	file := filepath.Join(root(t), "docs/architecture.md")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	i, j := strings.Index(text, diagramBegin), strings.Index(text, diagramEnd)
	if i < 0 || j < i {
		t.Fatal("docs/architecture.md has no layer diagram between its markers")
	}
	want := text[:i] + diagramBegin + diagram() + text[j:]
	if want == text {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the layer diagram is stale: go test ./cmd/tpush -run Diagram -update")
}

// TestNothingOfThisMachine keeps paths of a developer's machine out of the tree.
func TestNothingOfThisMachine(t *testing.T) {
	err := filepath.WalkDir(root(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".tpu", ".txtar":
		default:
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, word := range []string{"/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"} {
			if strings.Contains(string(src), word) {
				t.Errorf("%s mentions %s", path, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
