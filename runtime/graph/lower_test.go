package graph

import (
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// TestPrecisionIsLowered lowers a product at each precision.
func TestPrecisionIsLowered(t *testing.T) {
	s := shape.Of(dtype.F32, 4, 4)
	x := &Node{Outs: []shape.Spec{s}}
	for attr, want := range map[string]string{"": "HIGHEST", "high": "HIGH", "default": "DEFAULT"} {
		n := &Node{Def: op.Must("matmul"), In: []Ref{{x, 0}, {x, 0}}, Outs: []shape.Spec{s}}
		if attr != "" {
			n.Attrs = op.Attrs{{Name: op.PrecisionAttr, Value: attr}}
		}
		g := &Graph{Inputs: []*Node{x}, Nodes: []*Node{n}, Outputs: []Ref{{n, 0}}}
		text := stablehlo.Module("m", []shape.Spec{s}, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
			return Lower(g, w, args)
		}, stablehlo.ModuleOptions{})
		if !strings.Contains(text, "#stablehlo<precision "+want+">") {
			t.Errorf("%q: %s", attr, text)
		}
	}
}
