package op

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestRowsComplete checks what the compiler cannot: every row says everything.
func TestRowsComplete(t *testing.T) {
	seen, methods := map[Name]bool{}, map[string]Name{}
	for _, table := range All() {
		for i := range table {
			d := &table[i]
			bad := func(format string, args ...any) {
				t.Helper()
				t.Errorf("%s: "+format, append([]any{d.Name}, args...)...)
			}
			if d.Name == "" || seen[d.Name] {
				bad("the name is empty or taken")
			}
			seen[d.Name] = true
			if d.Torch == "" {
				bad("Torch is empty")
			}
			for _, n := range []string{d.Method, d.Func} {
				if n != "" && (!token.IsIdentifier(n) || !unicode.IsUpper(rune(n[0]))) {
					bad("%q is no exported Go name", n)
				}
			}
			if d.Method != "" {
				if other, ok := methods[d.Method]; ok {
					bad("method %s belongs to %s", d.Method, other)
				}
				methods[d.Method] = d.Name
			}
			if d.InPlace && d.Method == "" {
				bad("InPlace without a method")
			}
			if !strings.HasSuffix(d.Doc, ".") || strings.Count(d.Doc, ". ") > 0 || strings.Contains(d.Doc, "\n") {
				bad("Doc is not one sentence: %q", d.Doc)
			}
			if d.Example == "" {
				if d.Method != "" || d.Func != "" { // others are steps of rows that users see
					bad("no example")
				}
			} else if _, err := parser.ParseExpr(plainGo(d.Example)); err != nil {
				bad("example %q: %v", d.Example, err)
			}
			if d.Class >= numClasses {
				bad("class %d", d.Class)
			}
			if (d.Shape == nil || d.DType == nil) == (d.Infer == nil) {
				bad("either Shape and DType or Infer is wanted")
			}
			if (d.Grad == nil) == (d.NoGrad == "") {
				bad("either Grad or NoGrad is wanted")
			}
			if d.Kernel == nil || d.Lower == nil || d.Cost == nil {
				bad("Kernel, Lower or Cost is missing")
			}
			if (d.View == nil) == (d.Class == View) {
				bad("View is wanted for class View and for no other")
			}
			checkParams(d, bad)
		}
	}
}

// plainGo takes away what only cells understand: several statements become one function.
func plainGo(example string) string {
	if _, err := parser.ParseExpr(example); err == nil {
		return example
	}
	return "func() {" + example + "}"
}

func checkParams(d *Def, bad func(string, ...any)) {
	names := map[string]bool{}
	list := false
	for _, p := range d.Params {
		if p.Name == "" || names[p.Name] {
			bad("parameter %q is empty or taken", p.Name)
		}
		names[p.Name] = true
		if p.Kind.IsTensor() {
			if list {
				bad("the list of tensors is not the last tensor parameter")
			}
			list = p.Kind == KTensors
			if p.Default != nil || p.Dynamic {
				bad("tensor parameter %s has a default or is dynamic", p.Name)
			}
			continue
		}
		if p.Default != nil && !fits(p.Kind, p.Default) {
			bad("default of %s is a %T", p.Name, p.Default)
		}
		if p.Doc != "" && strings.HasSuffix(p.Doc, ".") {
			bad("the description of %s is a sentence", p.Name)
		}
	}
}

// fits says whether a default has the Go type of its kind.
func fits(k Kind, v any) bool {
	switch v.(type) {
	case int:
		return k == KInt || k == KNumber
	case float64:
		return k == KFloat || k == KNumber
	case bool:
		return k == KBool || k == KNumber
	case string:
		return k == KString
	case []int:
		return k == KInts
	}
	return k == KDType
}

// TestAllListsEveryTable finds the tables and Name constants in the source of
// the package: each table is in All (or part of one that is), and each
// constant is the name of a row.
func TestAllListsEveryTable(t *testing.T) {
	listed := map[Name]bool{}
	for _, table := range All() {
		for _, d := range table {
			listed[d.Name] = true
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	tables, used, constants := map[string]bool{}, map[string]int{}, 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				used[n.Name]++
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if strings.HasSuffix(id.Name, "Ops") && id.Name != "Ops" {
						tables[id.Name] = true
					}
					typ, _ := n.Type.(*ast.Ident)
					if typ == nil || typ.Name != "Name" || i >= len(n.Values) {
						continue
					}
					lit, ok := n.Values[i].(*ast.BasicLit)
					if !ok {
						continue
					}
					constants++
					if name, err := strconv.Unquote(lit.Value); err != nil || !listed[Name(name)] {
						t.Errorf("%s: %s = %s names no row of All", f.Name(), id.Name, lit.Value)
					}
				}
			}
			return true
		})
	}
	if len(tables) < 19 || constants < 100 {
		t.Errorf("%d tables and %d names found: the test does not see the source", len(tables), constants)
	}
	for n := range tables {
		if used[n] < 2 {
			t.Errorf("table %s is in no list", n)
		}
	}
}
