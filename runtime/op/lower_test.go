package op

import (
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

var update = goflag.Bool("update", false, "rewrite the recorded lowerings")

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

// lower writes a call of the row with the types of a sample, f64 replaced by
// float, and checks the results' types.
func (s *sample) lower(t *testing.T, def *Def, float dtype.DType) string {
	t.Helper()
	specs := make([]shape.Spec, len(s.in))
	var params []shape.Spec
	for i, x := range s.in {
		if specs[i] = s.spec(x); specs[i].Valid() {
			if specs[i].DType == dtype.F64 {
				specs[i].DType = float
			}
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
	return stablehlo.Module(string(def.Name), params, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
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
}

// TestLoweringsAreStableHLO lowers the sample calls of every row: the text must
// be one that a StableHLO parser takes, with the inferred results.
func TestLoweringsAreStableHLO(t *testing.T) {
	for name, ss := range lowerSamples() {
		for _, s := range ss {
			t.Run(string(name), func(t *testing.T) {
				text := s.lower(t, Must(name), dtype.F64)
				if err := stablehlo.Check(text); err != nil {
					t.Errorf("%v\n%s", err, text)
				}
			})
		}
	}
}

// classNames are the archives.
var classNames = [numClasses]string{"elementwise", "reduce", "contract", "move", "view", "index", "normalize", "loss", "random", "factory", "collective"}

// TestRecordedLowerings compares the lowering of every row, for its first
// sample in f32, with the one that was recorded and that XLA compiled (package
// pjrt compiles the records again): one archive a class.
func TestRecordedLowerings(t *testing.T) {
	samples := lowerSamples()
	classes := map[string]*txtar.Archive{}
	for _, table := range All() {
		for i := range table {
			def := &table[i]
			if len(samples[def.Name]) == 0 {
				t.Errorf("%s has no sample", def.Name)
				continue
			}
			t.Run(string(def.Name), func(t *testing.T) {
				text := samples[def.Name][0].lower(t, def, dtype.F32)
				class := classNames[def.Class]
				if classes[class] == nil {
					classes[class] = &txtar.Archive{}
				}
				classes[class].Files = append(classes[class].Files, txtar.File{Name: string(def.Name), Data: []byte(text)})
			})
		}
	}
	for class, a := range classes {
		file := filepath.Join("testdata", "stablehlo", class+".txtar")
		slices.SortFunc(a.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
		if *update {
			if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameFiles(a.Files, want.Files); err != nil {
			t.Errorf("%s: %v (-update rewrites it)", file, err)
		}
	}
}

// sameFiles says which of two lists of named texts differs first.
func sameFiles(got, want []txtar.File) error {
	for i, g := range got {
		if i >= len(want) || want[i].Name != g.Name {
			return fmt.Errorf("%s is not where it was", g.Name)
		}
		a, b := strings.Split(string(g.Data), "\n"), strings.Split(string(want[i].Data), "\n")
		for l := range a {
			if l >= len(b) || a[l] != b[l] {
				return fmt.Errorf("%s line %d: %s", g.Name, l+1, a[l])
			}
		}
		if len(b) > len(a) {
			return fmt.Errorf("%s lost lines after %d", g.Name, len(a))
		}
	}
	if len(want) > len(got) {
		return fmt.Errorf("%s is gone", want[len(got)].Name)
	}
	return nil
}
