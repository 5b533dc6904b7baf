package interp

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"go/types"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// A stdCase is a use of something that a package of the standard library
// exports: statements that return a text, and the text that compiled Go gave.
type stdCase struct{ name, body, want string }

// stdCases reads the recorded uses: each function called, each method of each
// type called on a value, each type, variable and constant mentioned, generic
// functions with their type arguments and with inferred ones. They were made
// from the packages' types and run with Go 1.26.
func stdCases(t *testing.T) (out []stdCase) {
	f, err := os.Open("testdata/stdlib.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(b), "\n== ") {
		name, rest, _ := strings.Cut(strings.TrimPrefix(part, "== "), "\n")
		body, quoted, ok := strings.Cut(rest, "\n-- ")
		want, err := strconv.Unquote(strings.TrimSpace(quoted))
		if !ok || err != nil {
			t.Fatalf("case %q: %v", name, err)
		}
		out = append(out, stdCase{name, body, want})
	}
	return out
}

// stdImports are the imports of the cases: two packages have a name of their own.
func stdImports(in *Interp) string {
	var b strings.Builder
	b.WriteString("import (\n")
	for _, p := range in.Packages() {
		switch {
		case strings.Contains(p, "."):
		case p == "html/template":
			b.WriteString("htemplate \"html/template\"\n")
		case p == "math/rand/v2":
			b.WriteString("rand2 \"math/rand/v2\"\n")
		default:
			fmt.Fprintf(&b, "%q\n", p)
		}
	}
	return b.String() + ")"
}

// TestStdlib runs each use in a cell and compares what it gives.
func TestStdlib(t *testing.T) {
	cases := stdCases(t)
	var out bytes.Buffer
	s := newSession(t, Options{Stdout: &out, Stderr: io.Discard, Args: []string{"test"}})
	if _, err := s.try(stdImports(s.in)); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for len(cases) > 0 {
		batch := cases[:min(len(cases), 40)]
		cases = cases[len(batch):]
		var src strings.Builder
		for i, c := range batch {
			fmt.Fprintf(&src, "func use%d() (out string) {\n\tdefer func() { if r := recover(); r != nil { out = fmt.Sprint(\"panic: \", r) } }()\n%s\n}\n", i, c.body)
		}
		src.WriteString("[]string{")
		for i := range batch {
			fmt.Fprintf(&src, "use%d(), ", i)
		}
		src.WriteString("}")
		res, err := s.try(src.String())
		if err != nil || len(res.Values) != 1 {
			t.Fatalf("from %s to %s: %v", batch[0].name, batch[len(batch)-1].name, err)
		}
		for i, got := range res.Values[0].Value.([]string) {
			if c := batch[i]; strings.ReplaceAll(got, "\n", "\\n") != c.want {
				if failed++; failed < 20 {
					t.Errorf("%s\n got %s\nwant %s\n%s", c.name, got, c.want, c.body)
				}
			}
		}
	}
}

// unusedExports are the exported names that no use mentions, and why.
var unusedExports = map[string]string{
	"cmp.Ordered": "a constraint", "io.NewOffsetWriter": "needs a WriterAt", "time.Local": "depends on the machine", "atomic.LoadPointer": "unsafe", "atomic.CompareAndSwapPointer": "unsafe", "atomic.StorePointer": "unsafe", "atomic.SwapPointer": "unsafe",
	"reflect.NewAt": "unsafe", "reflect.SliceAt": "unsafe", "runtime.SetCgoTraceback": "unsafe",
	"heap.Init": "in the programs", "heap.Fix": "in the programs", "heap.Pop": "in the programs", "heap.Push": "in the programs", "heap.Remove": "in the programs",
	"errors.AsType": "in the programs", "fmt.Print": "writes", "fmt.Printf": "writes", "fmt.FormatString": "needs a State", "flag.Var": "needs a Value", "flag.Parse": "in the scripts", "flag.Usage": "a variable",
	"os.Exit": "ends", "log.Fatal": "ends", "log.Fatalf": "ends", "log.Fatalln": "ends", "runtime.Goexit": "ends", "time.Sleep": "waits", "runtime.Breakpoint": "ends",
}

// TestStdlibIsComplete finds exported names that no use mentions: after the list
// of packages or the toolchain changed.
func TestStdlibIsComplete(t *testing.T) {
	s := newSession(t, Options{})
	all := &strings.Builder{}
	all.WriteString("\n")
	for _, c := range stdCases(t) {
		all.WriteString(c.name + "\n")
	}
	text := all.String()
	var missing []string
	for _, path := range s.in.Packages() {
		if strings.Contains(path, ".") || path == "os" || path == "io/fs" || path == "runtime" || path == "flag" { // what they do depends on the machine
			continue
		}
		pkg, err := s.in.importer.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		local := baseOf(path)
		switch path {
		case "html/template":
			local = "htemplate"
		case "math/rand/v2":
			local = "rand2"
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			full := local + "." + name
			if tn, ok := o.(*types.TypeName); ok && tn.IsAlias() || !o.Exported() || unusedExports[full] != "" {
				continue
			}
			if !strings.Contains(text, "\n"+full+"\n") && !strings.Contains(text, "\n"+full+" ") {
				missing = append(missing, full)
			}
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("%d names have no use: %s", len(missing), strings.Join(missing, " "))
	}
}
