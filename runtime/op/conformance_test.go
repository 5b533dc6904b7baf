package op_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// elementwiseFiles are the recordings whose records are single elementwise calls.
var elementwiseFiles = []string{"unary", "binary", "broadcast", "ternary", "activation", "cast", "factory"}

// TestConformance runs the kernels of recorded calls and compares the results.
func TestConformance(t *testing.T) {
	walk(t, "testdata/conformance", elementwiseFiles, 0)
	if dir, ok := conformance.Find(".", "conformance"); ok {
		walk(t, dir, elementwiseFiles, 40)
	}
	if dir, ok := conformance.Find(".", "conformance_opinfo"); ok {
		walk(t, dir, []string{"unary", "binary", "nn_activation", "special", "windows"}, 400)
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
			row, in, attrs, err := conformance.Resolve(r)
			if err != nil {
				skipped[err.Error()]++
				total++
				continue
			}
			ran++
			out, err := conformance.Apply(row, in, attrs)
			if err != nil {
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			check(t, r, row, out)
			checkGradient(t, r, row, in, attrs, out)
			checkLowering(t, r, row, in, attrs)
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

// checkGradient compares the gradients of one record.
func checkGradient(t *testing.T, r *conformance.Record, row *op.Def, in []kernel.Array, attrs op.Attrs, out []kernel.Array) {
	t.Helper()
	if r.Cotangents == nil {
		return
	}
	var dy []kernel.Array
	for _, c := range r.Cotangents {
		dy = append(dy, c.Array)
	}
	grads, err := conformance.Backward(row, in, attrs, out, dy, r.NoGradInputs...)
	if be := (*conformance.BindError)(nil); errors.As(err, &be) {
		t.Logf("%s: gradient skipped: %v", r.ID, err)
		return
	}
	if err != nil {
		t.Errorf("%s: gradient: %v", r.ID, err)
		return
	}
	var want []conformance.Operand
	for _, g := range r.Grads { // in the order of the inputs, scalars left out
		if g.Kind == conformance.List {
			want = append(want, g.Items...)
		} else {
			want = append(want, g)
		}
	}
	for i, g := range grads {
		if i >= len(want) || want[i].Kind != conformance.Tensor {
			continue
		}
		if !g.Valid() {
			g = kernel.New(want[i].Array.Spec())
		}
		if err := conformance.Compare(g, want[i].Array, r.GradTol); err != nil {
			t.Errorf("%s (%s) %s: gradient %d: %v", r.ID, row.Name, r.Note, i, err)
		}
	}
}

// checkLowering lowers one record and reads the text as a StableHLO parser would.
func checkLowering(t *testing.T, r *conformance.Record, row *op.Def, in []kernel.Array, attrs op.Attrs) {
	t.Helper()
	specs := make([]shape.Spec, len(in))
	var params []shape.Spec
	for i, a := range in {
		if specs[i] = a.Spec(); a.Valid() {
			params = append(params, specs[i])
		}
	}
	want, err := row.Specs(specs, attrs)
	if err != nil {
		t.Errorf("%s: %v", r.ID, err)
		return
	}
	text := stablehlo.Module("record", params, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
		vals := make([]stablehlo.Value, len(specs))
		for i, s := range specs {
			if s.Valid() {
				vals[i], args = args[0], args[1:]
			}
		}
		out := row.Lower(w, &op.LowerCall{In: vals, Out: want, Attrs: attrs})
		for i := range out {
			if !out[i].Spec.Equal(want[i]) {
				t.Errorf("%s (%s): result %d lowers to %v, want %v", r.ID, row.Name, i, out[i].Spec, want[i])
			}
		}
		return out
	}, stablehlo.ModuleOptions{})
	if err := stablehlo.Check(text); err != nil {
		t.Errorf("%s (%s): %v\n%s", r.ID, row.Name, err, text)
	}
}
