package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Native runs programs as Go does and gives their outputs in order. All are
// built as one: each becomes a package, and its main a function that the
// command calls by number.
func Native(list []Program) ([]string, error) {
	dir, err := os.MkdirTemp("", "programs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	write := func(name, text string) error {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	}
	if err := write("go.mod", "module native\n\ngo 1.26\n"); err != nil {
		return nil, err
	}
	var imports, calls strings.Builder
	for i, p := range list {
		text, err := asPackage(p.Source, packageName(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if err := write(packageName(i)+"/p.go", text); err != nil {
			return nil, err
		}
		fmt.Fprintf(&imports, "\t%q\n", "native/"+packageName(i))
		fmt.Fprintf(&calls, "\t%q: %s.Main,\n", packageName(i), packageName(i))
	}
	if err := write("main.go", "package main\n\nimport (\n\t\"os\"\n"+imports.String()+")\n\nvar mains = map[string]func(){\n"+calls.String()+"}\n\nfunc main() { mains[os.Args[1]]() }\n"); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-gcflags=-l=0", "-o", "native", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if msg, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, msg)
	}
	out := make([]string, len(list))
	for i, p := range list {
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "native"), packageName(i))
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		late := ctx.Err() != nil
		cancel()
		if late {
			out[i] = Endless
			continue
		}
		if err != nil {
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			line, _, _ := strings.Cut(stderr.String(), "\n")
			line, _, _ = strings.Cut(line, " [recovered")
			stdout.WriteString(line + "\n")
		}
		text := strings.ReplaceAll(stdout.String(), "native/"+packageName(i)+".", "main.")
		out[i] = strings.ReplaceAll(text, packageName(i)+".", "main.")
	}
	return out, nil
}

// patience is how long a program may run.
const patience = 10 * time.Second

// Endless is the output of a program that ran out of patience.
const Endless = "endless"

func packageName(i int) string { return fmt.Sprintf("prog%03dx", i) }

// asPackage makes a package with a function Main of a program.
func asPackage(src, name string) (string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, 0)
	if err != nil {
		return "", err
	}
	text := []byte(src)
	set := func(id *ast.Ident, to string) {
		at := fset.Position(id.Pos()).Offset
		text = append(text[:at:at], append([]byte(to), text[at+len(id.Name):]...)...)
	}
	for i := len(f.Decls) - 1; i >= 0; i-- {
		if fd, ok := f.Decls[i].(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.Name == "main" {
			set(fd.Name, "Main")
		}
	}
	set(f.Name, name)
	return string(text), nil
}
