package conformance

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
)

// TestArrangingRecordings runs the recorded calls of products, convolutions,
// poolings, moves, views and indexing through their rows.
func TestArrangingRecordings(t *testing.T) {
	dir, ok := Find(".", "conformance")
	if !ok {
		t.Skip("no recordings beside this checkout")
	}
	for _, file := range []string{"contraction", "conv", "pooling", "movement", "view", "indexing"} {
		recs, err := ReadFile(filepath.Join(dir, file+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		skipped := map[string]int{}
		for i := range recs {
			r := &recs[i]
			_, out, err := Run(r)
			var be *BindError
			if errors.As(err, &be) {
				skipped[be.Error()]++
				continue
			}
			var te *op.TypeError
			if errors.As(err, &te) && te.DType == dtype.Bool && te.Arg == "index" {
				skipped["a mask as index"]++ // the tensor layer makes positions of it
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			ran++
			for k := range r.Outputs {
				if k >= len(out) {
					break // a view that gives several tensors is made of single ones
				}
				if err := Compare(out[k], r.Outputs[k].Array, r.Tol); err != nil {
					t.Errorf("%s: output %d: %v", r.ID, k, err)
				}
			}
		}
		t.Logf("%s: %d of %d", file, ran, len(recs))
		for s, n := range skipped {
			t.Logf("  not bound: %d × %s", n, s)
		}
	}
}
