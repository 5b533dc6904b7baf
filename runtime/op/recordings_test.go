package op_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// recorded are the files of recordings that TestRecordings plays, with how
// many of their records no row takes.
var recorded = []struct {
	folder, file string
	skipped      int
}{
	{"conformance", "reduction", 0},
	{"conformance", "scan_sort", 5},
	{"conformance", "normalization", 0},
	{"conformance", "loss", 0},
	{"conformance_opinfo", "reduction", 0},
	{"conformance_opinfo", "nn_loss", 5},
	{"conformance_opinfo", "nn_norm", 0},
	{"conformance_opinfo", "masked", 0},
}

// TestRecordings runs rows on recorded inputs and compares results and
// gradients: all the recordings beside the checkout, or else the sample of them in testdata.
func TestRecordings(t *testing.T) {
	playFile(t, filepath.Join("testdata", "reductions.jsonl"), 0)
	for _, f := range recorded {
		if dir, ok := conformance.Find(".", f.folder); ok {
			playFile(t, filepath.Join(dir, f.file+".jsonl"), f.skipped)
		}
	}
}

// playFile runs the records of a file; at most skipped of them may have no row.
func playFile(t *testing.T, path string, skipped int) {
	recs, err := conformance.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range recs {
		r := &recs[i]
		t.Run(r.ID, func(t *testing.T) {
			if !play(t, r) {
				n++
			}
		})
	}
	if n > skipped {
		t.Errorf("%s: no row takes %d records, at most %d expected", filepath.Base(path), n, skipped)
	}
}

// play runs one record; false when no row takes it.
func play(t *testing.T, r *conformance.Record) bool {
	var row *op.Def
	var in []kernel.Array
	var attrs op.Attrs
	var err error
	named := *r
	named.Op = strings.TrimPrefix(r.Op, "nn.functional.")
	row, in, attrs, err = conformance.Resolve(&named)
	if row == nil {
		t.Logf("no row: %v", err)
		return false
	}
	weak := make([]bool, len(in))
	for i := range in {
		for _, o := range r.Inputs {
			if o.Kind == conformance.Scalar && i < len(row.Inputs()) && row.Inputs()[i].Kind == op.KOperand && len(in[i].Dims) == 0 {
				weak[i] = true
			}
		}
	}
	out, grads, err := op.Applied(row.Name, attrs, in, weak, func([]kernel.Array) []kernel.Array {
		if len(r.Cotangents) == 0 || row.Grad == nil {
			return nil
		}
		cs := make([]kernel.Array, len(r.Cotangents))
		for i, c := range r.Cotangents {
			cs[i] = c.Array
		}
		return cs
	})
	var missing *op.MissingRowError
	if errors.As(err, &missing) {
		t.Log(err)
		return false
	}
	if err != nil {
		t.Errorf("%s%v: %v", row.Name, attrs, err)
		return true
	}
	tol := r.Tol
	if r.Exact {
		tol = conformance.Tol{}
	}
	if row.Name == op.Unique && !attrs.Bool("return_inverse") {
		out = []kernel.Array{out[0], out[2]} // PyTorch gives no inverse then
	}
	for i, w := range r.Outputs {
		if i >= len(out) {
			t.Errorf("%s: %d results, want %d", row.Name, len(out), len(r.Outputs))
			return true
		}
		if w.Kind != conformance.Tensor {
			continue
		}
		if err := conformance.Compare(out[i], w.Array, tol); err != nil {
			t.Errorf("%s%v: result %d: %v", row.Name, attrs, i, err)
		}
	}
	if grads == nil {
		for _, g := range r.Grads {
			if g.Kind == conformance.Tensor {
				t.Errorf("%s: no gradient rule", row.Name)
			}
		}
		return true
	}
	// Positional inputs that are tensors (or absent) are the row's inputs in order.
	k := 0
	for i, o := range r.Inputs {
		if o.Kind != conformance.Tensor && o.Kind != conformance.None {
			continue
		}
		if i < len(r.Grads) && r.Grads[i].Kind == conformance.Tensor && k < len(grads) {
			want := r.Grads[i].Array
			if !grads[k].Valid() {
				if err := conformance.Compare(kernel.New(want.Spec()), want, r.GradTol); err != nil {
					t.Errorf("%s%v: gradient %d is missing", row.Name, attrs, i)
				}
			} else if err := conformance.Compare(grads[k], want, r.GradTol); err != nil {
				t.Errorf("%s%v: gradient %d: %v", row.Name, attrs, i, err)
			}
		}
		k++
	}
	return true
}
