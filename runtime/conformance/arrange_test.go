package conformance

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
)

// arranging are the recordings of products, convolutions, poolings, moves,
// views and indexing, with how many records may have no row: what the tensor
// layer makes of several rows. The counts only fall.
var arranging = map[string]int{"contraction": 2, "conv": 0, "pooling": 5, "movement": 16, "view": 46, "indexing": 47}

// TestArrangingRecordings runs the samples in testdata, and all recordings when they are there.
func TestArrangingRecordings(t *testing.T) {
	arrange(t, filepath.Join("testdata", "arrange"))
	if dir, ok := Find(".", "conformance"); ok {
		arrange(t, dir)
	}
}

func arrange(t *testing.T, dir string) {
	for file, most := range arranging {
		recs, err := ReadFile(filepath.Join(dir, file+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		skipped := map[string]int{}
		n := 0
		for i := range recs {
			r := &recs[i]
			_, out, err := Run(r)
			var be *BindError
			var te *op.TypeError
			switch {
			case errors.As(err, &be):
				skipped[be.Error()]++
				n++
				continue
			case errors.As(err, &te) && te.DType == dtype.Bool && te.Arg == "index":
				skipped["a mask as index"]++ // the tensor layer makes positions of it
				n++
				continue
			case err != nil:
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			for k := range min(len(out), len(r.Outputs)) { // one row gives one of several views
				if err := Compare(out[k], r.Outputs[k].Array, r.Tol); err != nil {
					t.Errorf("%s: output %d: %v", r.ID, k, err)
				}
			}
		}
		if n == len(recs) || n > most {
			t.Errorf("%s/%s: %d of %d records have no row, at most %d may: %v", dir, file, n, len(recs), most, skipped)
		}
	}
}
