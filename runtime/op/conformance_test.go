package op_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// elementwiseFiles are the recordings whose records are single elementwise calls.
var elementwiseFiles = []string{"unary", "binary", "broadcast", "ternary", "activation", "cast", "factory"}

// TestConformance runs the kernels of recorded calls and compares the results.
func TestConformance(t *testing.T) {
	walk(t, "testdata/conformance", elementwiseFiles, 0)
	if dir, ok := conformance.Find(".", "conformance"); ok {
		walk(t, dir, elementwiseFiles, 40)
	}
}

// walk runs the records of files in dir; at most maxSkipped may have no row.
func walk(t *testing.T, dir string, files []string, maxSkipped int) {
	t.Helper()
	ran, skipped := 0, map[string]int{}
	total := 0
	for _, f := range files {
		recs, err := conformance.ReadFile(filepath.Join(dir, f+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range recs {
			r := &recs[i]
			row, out, err := conformance.Run(r)
			var be *conformance.BindError
			if errors.As(err, &be) {
				skipped[be.Error()]++
				total++
				continue
			}
			ran++
			if err != nil {
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			check(t, r, row, out)
		}
	}
	t.Logf("%s: %d records ran, %d skipped: %v", dir, ran, total, skipped)
	if ran == 0 || total > maxSkipped {
		t.Errorf("%s: %d records ran, %d have no row; at most %d may", dir, ran, total, maxSkipped)
	}
}

// check compares the results of one record.
func check(t *testing.T, r *conformance.Record, row *op.Def, out []kernel.Array) {
	t.Helper()
	if len(out) != len(r.Outputs) {
		t.Errorf("%s: %d results, want %d", r.ID, len(out), len(r.Outputs))
		return
	}
	for i, want := range r.Outputs {
		if want.Kind != conformance.Tensor {
			continue
		}
		if err := conformance.Compare(out[i], want.Array, r.Tol); err != nil {
			t.Errorf("%s (%s) %s: result %d: %v", r.ID, row.Name, r.Note, i, err)
		}
	}
}
