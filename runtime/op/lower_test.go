package op

import (
	"testing"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// spec gives the type of one entry of a sample.
func (s *sample) spec(x any) shape.Spec {
	switch x := x.(type) {
	case []int:
		return f64s(x, make([]float64, shape.Size(x))...).Spec()
	case *kernel.Array:
		return x.Spec()
	case fixed:
		return x.Spec()
	case float64:
		w := f64s(nil, x).Spec()
		w.Weak = true
		return w
	}
	return shape.Spec{}
}

// TestLoweringsAreStableHLO lowers the sample calls of every row: the text must
// be one that a StableHLO parser takes, with the inferred results.
func TestLoweringsAreStableHLO(t *testing.T) {
	for name, ss := range gradSamples() {
		def := Lookup(name)
		if def == nil || def.Lower == nil {
			continue
		}
		for _, s := range ss {
			t.Run(string(name), func(t *testing.T) {
				specs := make([]shape.Spec, len(s.in))
				var params []shape.Spec
				for i, x := range s.in {
					if specs[i] = s.spec(x); specs[i].Valid() {
						params = append(params, specs[i])
					}
				}
				attrs, err := def.Complete(s.attrs)
				if err != nil {
					t.Fatal(err)
				}
				want, err := def.Specs(specs, attrs)
				if err != nil {
					t.Fatal(err)
				}
				text := stablehlo.Module(string(name), params, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
					vals := make([]stablehlo.Value, len(specs))
					for i, sp := range specs {
						if sp.Valid() {
							vals[i], args = args[0], args[1:]
						}
					}
					out := def.Lower(w, &LowerCall{In: vals, Out: want, Attrs: attrs})
					if len(out) != len(want) {
						t.Fatalf("%d results, want %d", len(out), len(want))
					}
					for i, v := range out {
						if !v.Spec.Equal(want[i]) {
							t.Errorf("result %d is %v, want %v", i, v.Spec, want[i])
						}
					}
					return out
				}, stablehlo.ModuleOptions{})
				if err := stablehlo.Check(text); err != nil {
					t.Errorf("%v\n%s", err, text)
				}
			})
		}
	}
}
