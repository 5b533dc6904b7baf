package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl/interp/programs"
)

// exceptions are the programs that cells run otherwise than Go, and why.
var exceptions = map[string]string{}

// programSource gives the declarations that the programs share, and each
// program's own text.
func programSource(t testing.TB) (helpers []string, byName map[string]string) {
	byName = map[string]string{}
	for _, path := range []string{"basic.go", "library.go", "language.go"} {
		b, err := programs.Sources.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src := string(b)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		var shared strings.Builder
		for _, d := range f.Decls {
			text := src[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset]
			if fd, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fd.Name.Name, "F_") {
				byName[fd.Name.Name] = text
				continue
			}
			shared.WriteString(text + "\n")
		}
		helpers = append(helpers, shared.String())
	}
	return helpers, byName
}

// TestDifferential runs each program natively and in cells: one cell with what
// they share, one with the program, one with the call.
func TestDifferential(t *testing.T) {
	helpers, byName := programSource(t)
	native := programs.All()
	names := make([]string, 0, len(native))
	for n := range native {
		names = append(names, n)
	}
	sort.Strings(names)
	failed := 0
	s := programSession(t, helpers)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			want := strings.ReplaceAll(native[name](), "programs.", "main.") // cells are package main
			got := runProgram(s, byName[name], name)
			why, excepted := exceptions[name]
			switch {
			case got == want && excepted:
				t.Errorf("runs right now: take it out of the exceptions (%s)", why)
			case got != want && !excepted:
				failed++
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
	t.Logf("%d programs, %d exceptions, %d failed", len(names), len(exceptions), failed)
}

// programSession is a session in which what the programs share is declared.
func programSession(t testing.TB, helpers []string) *session {
	s := newSession(t, Options{})
	for _, h := range helpers {
		if _, err := s.try(h); err != nil {
			t.Fatalf("shared declarations: %v", err)
		}
	}
	return s
}

func runProgram(s *session, src, name string) string {
	if _, err := s.try(src); err != nil {
		return "declaration: " + err.Error()
	}
	res, err := s.try(name + "()")
	if err != nil {
		return "run: " + err.Error()
	}
	if len(res.Values) != 1 {
		return fmt.Sprintf("%d values", len(res.Values))
	}
	return fmt.Sprint(res.Values[0].Value)
}
