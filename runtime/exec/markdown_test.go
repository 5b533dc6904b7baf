package exec

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/modes.md")

func TestReasonsDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "modes.md")
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Markdown() {
		t.Error("docs/modes.md is not what the tables say; run with -update")
	}
	for r := NoReason + 1; r < numReasons; r++ {
		if row := r.Row(); row.Reason != r || row.Name == "" || row.Doc == "" || strings.ContainsAny(row.Doc+row.Fix, "|\n") {
			t.Errorf("reason %d: the row %+v is not complete", r, row)
		}
	}
}
