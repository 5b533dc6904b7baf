package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/runtime/op"
)

// TestOpsExamples runs the example of every operation as a cell, and compares
// docs/ops.md with the table and with what the examples show.
func TestOpsExamples(t *testing.T) {
	s := session(t)
	got := command.OpsMarkdown(func(example string) string {
		c := s.Run(context.Background(), "tpu.Seed(0)\n"+example, "", 1, discard{})
		if c == nil {
			t.Errorf("%s: no cell", example)
			return ""
		}
		for _, r := range c.Reports {
			t.Errorf("%s: %s: %s", example, r.Kind, r.Message)
			return ""
		}
		if len(c.Values) == 0 {
			t.Errorf("%s: shows nothing", example)
		}
		shown, err := s.Show(context.Background(), c)
		if err != nil {
			t.Errorf("%s: %v", example, err)
		}
		return shown
	})
	path := filepath.Join("..", "..", "docs", "ops.md")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Error("docs/ops.md is not what the table says; run with -update")
	}
	for _, table := range op.All() {
		for _, d := range table {
			if !strings.Contains(got, "\n### "+string(d.Name)+"\n") && !strings.Contains(got, "\n| `"+string(d.Name)+"` |") {
				t.Errorf("%s is not on the page", d.Name)
			}
		}
	}
}
