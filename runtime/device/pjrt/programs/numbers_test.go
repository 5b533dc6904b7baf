package programs

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// TestNumbers: numbers of narrow types are rounded to the nearest, ties to
// even, on their way to the host bytes.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		name string
		x    string
		want float64
	}{
		{"bf16", "1.00390625", 1}, {"bf16", "1.01171875", 1 + 4.0/256}, {"f16", "65520", math.Inf(1)}, {"f8E4M3FN", "1000", 448}, {"f4E2M1FN", "2.5", 2},
		{"f4E2M1FN", "5", 4}, {"f8E5M2", "1e-9", 0}, {"f8E4M3", "0.5", 0.5}, {"f8E3M4", "3", 3}, {"f8E4M3B11FNUZ", "0.25", 0.25}, {"f8E8M0FNU", "8", 8},
		{"i4", "-3", -3}, {"i2", "-1", -1}, {"ui2", "3", 3}, {"f64", "0.1", 0.1},
	} {
		a := array{DType: tt.name, Shape: []int64{1}, Data: []any{json.Number(tt.x)}}
		b, typ, err := a.encode()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := decode(b, typ); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %s became %v, want %v", tt.name, tt.x, got, tt.want)
		}
	}
	if _, err := capi.ParseType("f9"); err == nil {
		t.Error("f9 is a type")
	}
}
