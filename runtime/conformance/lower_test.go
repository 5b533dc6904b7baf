package conformance

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// lower writes a module of one call and checks that its results are the inferred ones.
func lower(d *op.Def, in []kernel.Array, attrs op.Attrs) (text string, err error) {
	specs := make([]shape.Spec, len(in))
	var params []shape.Spec
	for i, a := range in {
		specs[i] = a.Spec()
		if a.Valid() {
			params = append(params, specs[i])
		}
	}
	want, err := d.Specs(specs, attrs)
	if err != nil {
		return "", nil // refused calls have no lowering
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("lowering panics: %v", r)
		}
	}()
	text = stablehlo.Module(string(d.Name), params, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
		vals := make([]stablehlo.Value, len(in))
		for i := range in {
			if in[i].Valid() {
				vals[i], args = args[0], args[1:]
			}
		}
		out := d.Lower(w, &op.LowerCall{In: vals, Out: want, Attrs: attrs})
		if len(out) != len(want) {
			err = fmt.Errorf("%d results, want %d", len(out), len(want))
			return out
		}
		for i, v := range out {
			if !v.Spec.Equal(want[i]) && err == nil {
				err = fmt.Errorf("result %d is %v, want %v", i, v.Spec, want[i])
			}
		}
		return out
	}, stablehlo.ModuleOptions{})
	if err == nil {
		err = stablehlo.Check(text)
	}
	return text, err
}

// bound finds the row of a record and its arguments.
func bound(r *Record) (*op.Def, []kernel.Array, op.Attrs) {
	for _, name := range Rows(r.Op) {
		if d := op.Lookup(name); d != nil {
			if in, attrs, err := Bind(d, r); err == nil {
				return d, in, attrs
			}
		}
	}
	return nil, nil, nil
}

// TestLoweringsAreStableHLO lowers every recorded call: the text must be one
// that a StableHLO parser takes, with the inferred results.
func TestLoweringsAreStableHLO(t *testing.T) {
	for _, folder := range []string{"conformance", "conformance_opinfo"} {
		dir, ok := Find(".", folder)
		if !ok {
			t.Skip("no recordings beside this checkout")
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		for _, f := range files {
			recs, err := ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for i := range recs {
				d, in, attrs := bound(&recs[i])
				if d == nil || d.Lower == nil {
					continue
				}
				if text, err := lower(d, in, attrs); err != nil {
					t.Errorf("%s %s: %v\n%.2000s", recs[i].ID, d.Name, err, text)
				}
			}
		}
	}
}
