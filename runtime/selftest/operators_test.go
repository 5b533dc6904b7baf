package selftest

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
)

// TestOperatorsResolve: every operator that the real system registers or is
// known to lack is a row, a function under its own name, or a line of docs/ops-not.md.
func TestOperatorsResolve(t *testing.T) {
	names := operators(t)
	other, out := opsNot(t)
	used := map[string]bool{}
	for _, full := range names {
		library, name, ok := strings.Cut(full, "::")
		if !ok {
			t.Fatalf("%q has no library", full)
		}
		if library != "aten" {
			name = full
		}
		where := 0
		for _, p := range slices.Concat(other, out) {
			if p.re.MatchString(name) {
				used[p.text] = true
				where++
			}
		}
		switch here := library == "aten" && resolves(name); {
		case where > 1:
			t.Errorf("%s is in docs/ops-not.md more than once", full)
		case !here && where == 0:
			t.Errorf("%s is no row and no line of docs/ops-not.md", full)
		}
	}
	for _, p := range slices.Concat(other, out) {
		if !used[p.text] && !strings.HasPrefix(p.text, "reflection") && !strings.HasPrefix(p.text, "replication") {
			t.Errorf("docs/ops-not.md: `%s` is no operator", p.text)
		}
	}
}

// operators lists the names beside the checkout, which the committed list must
// hold all of, or the committed list.
func operators(t *testing.T) []string {
	data, err := os.ReadFile(filepath.Join("testdata", "operators.txt"))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(data))
	dir, ok := conformance.Find(".", "design")
	if !ok {
		return names
	}
	f, err := os.Open(filepath.Join(dir, "torchtpu_ops.tsv"))
	if err != nil {
		return names
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		name, _, _ := strings.Cut(s.Text(), "\t")
		if strings.Contains(name, "::") && !strings.HasPrefix(name, "#") && !slices.Contains(names, name) {
			t.Errorf("testdata/operators.txt lacks %s", name)
		}
	}
	return names
}

// A pattern is an operator of docs/ops-not.md; … stands for any text.
type pattern struct {
	text string
	re   *regexp.Regexp
}

// opsNot reads both tables: operators written in another way, whose Go names
// must exist, and those left out.
func opsNot(t *testing.T) (other, out []pattern) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "ops-not.md"))
	if err != nil {
		t.Fatal(err)
	}
	declared := exported(t)
	quoted := regexp.MustCompile("`([^`]+)`")
	part := &other
	for _, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "## Left out") {
			part = &out
		}
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) != 2 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			re := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(m[1], "…")), "…", ".*")
			tail := "(_backward|_backward_impl)?_?$"
			switch {
			case strings.HasSuffix(m[1], "…"):
				tail = ""
			case strings.HasSuffix(m[1], "_pad"):
				tail = "[123]d(_backward)?$"
			}
			*part = append(*part, pattern{m[1], regexp.MustCompile("^" + re + tail)})
		}
		if part == &other {
			for _, m := range regexp.MustCompile(`\b(?:\w+|\))\.([A-Z]\w*)`).FindAllStringSubmatch(cells[1], -1) {
				if !declared[m[1]] {
					t.Errorf("docs/ops-not.md: nothing is called %s", m[1])
				}
			}
		}
	}
	if len(other) < 50 || len(out) < 20 {
		t.Fatalf("docs/ops-not.md: %d and %d operators read", len(other), len(out))
	}
	return other, out
}

// exported lists the functions and types of the packages that users see.
func exported(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, pkg := range []string{"tpu", "nn", "optim"} {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range tree.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					names[d.Name.Name] = true
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if ts, ok := s.(*ast.TypeSpec); ok {
							names[ts.Name.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

// resolves says whether an operator of PyTorch's core library is a row, the
// gradient of one, or a name that the recordings' reader knows.
func resolves(name string) bool {
	base := strings.TrimSuffix(name, "_")
	for _, tail := range []string{"", "_backward", "_backward_data", "_forward", "_ex"} {
		for _, head := range []string{"", "_", "special_", "linalg_", "_linalg_", "_foreach_"} {
			x, ok := strings.CutPrefix(base, head)
			if !ok || !strings.HasSuffix(x, tail) {
				continue
			}
			x = strings.TrimSuffix(strings.TrimSuffix(x, tail), "_copy")
			_, converts := conversions[x]
			if converts || hasRow(x) || form(x) != nil || special[x] != nil || composed[x] != nil || composites[x] != nil || aliases[x] != "" || strings.Contains(x, "_polynomial_") {
				return true
			}
		}
	}
	return false
}
