package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exported are the notebooks whose Go programs must print what tpush run
// prints. The one about HBM is missing: what lives how long differs in Go.
var exported = []string{
	"examples/tour.tpu", "examples/bounds.tpu", "cmd/tpush/testdata/export/redefine.tpu", "cmd/tpush/testdata/export/signatures.tpu",
}

// TestExportedGo builds the exported programs in a module of their own and
// compares their output with that of the cells.
func TestExportedGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	files := map[string]string{}
	for _, f := range exported {
		files[strings.TrimSuffix(filepath.Base(f), ".tpu")] = filepath.Join(root(t), f)
	}
	files["programs"] = filepath.Join(dir, "programs.tpu")
	write(t, files["programs"], programNotebook(t))
	write(t, filepath.Join(dir, "go.mod"), exportModule(t))
	sum, err := os.ReadFile(filepath.Join(root(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), string(sum))
	for name, file := range files {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := tpush(t, "export", "--go", "-o", filepath.Join(dir, name, "main.go"), file); code != 0 {
			t.Fatalf("%s: exit %d\n%s", name, code, errs)
		}
	}
	build := osexec.Command("go", "build", "-o", "bin/", "./...")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the programs do not build: %v\n%s", err, out)
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, errs, _ := tpush(t, "run", file, "--", "1")
			var out, stderr bytes.Buffer
			cmd := osexec.Command(filepath.Join(dir, "bin", name), "1")
			cmd.Dir, cmd.Stdout, cmd.Stderr = root(t), &out, &stderr
			err := cmd.Run()
			if out.String() != want {
				t.Errorf("%v\nthe program prints\n%s%s\nthe cells print\n%s%s", err, out.String(), stderr.String(), want, errs)
			}
			if want == "" {
				t.Error("the cells print nothing")
			}
		})
	}
}

// exportModule is the go.mod of a module that requires this one.
func exportModule(t *testing.T) string {
	b, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n")
	return fmt.Sprintf("module exported\n%s\nrequire github.com/tpush/tpush v0.0.0\n\nreplace github.com/tpush/tpush => %s\n", rest, root(t))
}

// programNotebook makes cells of the programs that Go and cells are compared on:
// one with what they share, one for each.
func programNotebook(t *testing.T) string {
	var shared, cells strings.Builder
	var imports []string
	for _, name := range []string{"basic.go", "library.go", "language.go"} {
		src, err := os.ReadFile(filepath.Join(root(t), "repl/interp/programs", name))
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			text := string(src[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset])
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				for _, s := range g.Specs {
					if path := s.(*ast.ImportSpec).Path.Value; !slices.Contains(imports, path) {
						imports = append(imports, path)
					}
				}
				continue
			}
			if fd, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fd.Name.Name, "F_") {
				fmt.Fprintf(&cells, "// %%%%\n%s\nfmt.Println(%q, %s())\n", text, fd.Name.Name, fd.Name.Name)
				continue
			}
			shared.WriteString(text + "\n")
		}
	}
	return "import (\n" + strings.Join(imports, "\n") + "\n)\n// %%\n" + shared.String() + cells.String()
}
