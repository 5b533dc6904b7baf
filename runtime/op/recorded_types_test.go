package op_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// TestRecordedTypes infers, for each element type, the result type of the
// operations of one operand whose types were recorded. What only a kernel was
// missing for may be accepted.
func TestRecordedTypes(t *testing.T) {
	dir, ok := conformance.Find(".", "conformance")
	if !ok {
		t.Skip("no recordings beside the checkout")
	}
	recs, err := conformance.ReadFile(filepath.Join(dir, "promotion.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range recs {
		of, _ := recs[i].Attrs["of"].(string)
		name, ok := strings.CutPrefix(of, "unary:")
		if !ok {
			continue
		}
		row := op.Lookup(conformance.Rows(name)[0])
		if row == nil {
			t.Errorf("no row for %s", name)
			continue
		}
		var given op.Attrs
		args, _ := recs[i].Attrs["arguments"].(map[string]any)
		for k, v := range args {
			if d, ok := v.(int); ok && row.Params[1].Kind == op.KInts {
				v = []int{d}
			}
			given = append(given, op.Attr{Name: k, Value: v})
		}
		attrs, err := row.Complete(given)
		if err != nil {
			t.Fatal(err)
		}
		results, _ := recs[i].Extra["results"].(map[string]any)
		for from, want := range results {
			d, ok := dtype.Parse(from)
			if !ok {
				continue // a type the runtime does not have
			}
			out, err := row.Specs([]shape.Spec{shape.Of(d, 3)}, attrs)
			to, _ := dtype.Parse(want.(string))
			switch want := want.(string); {
			case want == "error:not_implemented_on_cpu":
			case strings.HasPrefix(want, "error:"):
				if err == nil {
					t.Errorf("%s(%s) is %v, want %s", name, from, out[0].DType, want)
				}
			case err != nil && d.IsComplex(): // functions of complex numbers are refused
			case err != nil:
				t.Errorf("%s(%s): %v, want %s", name, from, err, want)
			case out[0].DType != to:
				t.Errorf("%s(%s) is %v, want %s", name, from, out[0].DType, want)
			}
		}
	}
}
