package interp

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestTypesInPackages gives values of cells' types to packages that ask them for
// methods: fmt, log, log/slog, errors, encoding/json, sort, container/heap, io.
func TestTypesInPackages(t *testing.T) {
	a, err := txtar.ParseFile("testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := newSession(t, Options{Stdout: &out})
	if _, err := s.try(string(a.Files[0].Data)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.try("for _, f := range []func(){t1, t2, t3, t4, t5, t6, t7, t8, t9, t10} {\n\tf()\n}"); err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(out.String(), "\n"), strings.Split(string(a.Files[1].Data), "\n")
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d\n got %s\nwant %s", i+1, g, w)
		}
	}
}
