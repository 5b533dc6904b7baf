package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// spotOf reads placements over a mesh of 2 × 2.
func spotOf(t *testing.T, text string) *spot {
	t.Helper()
	mesh, err := shape.ParseMesh("dp=2,tp=2")
	if err != nil {
		t.Fatal(err)
	}
	on, err := shape.ParsePlacements(text)
	if err != nil {
		t.Fatal(err)
	}
	return &spot{&mesh, on}
}

// TestPartition cuts single operations. The exchanges of the products are those
// that XLA's partitioner makes (TestMesh of package pjrt).
func TestPartition(t *testing.T) {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	dim := func(d ...int) op.Attrs { return op.Attrs{{Name: "dim", Value: d}} }
	for _, tt := range []struct {
		name  op.Name
		attrs op.Attrs
		in    string // dimensions and placements of each operand
		want  string // where the result is, and the exchanges with their bytes
	}{
		{"matmul", nil, "8,12 S(0),R; 12,4 R,R", "[S(0) R]"},
		{"matmul", nil, "8,12 S(0),R; 12,4 R,S(1)", "[S(0) S(1)]"},
		{"matmul", nil, "8,12 S(1),R; 12,4 S(0),R", "[R R] all-reduce 128 2"},
		{"matmul", nil, "8,12 S(1),S(1); 12,4 S(0),S(0)", "[R R] all-reduce 128 4"},
		{"matmul", nil, "8,12 S(0),S(1); 12,4 R,S(0)", "[S(0) R] all-reduce 64 2"},
		{"matmul", nil, "8,12 S(0),R; 12,4 S(0),R", "[S(0) R] all-gather 192 2"}, // the smaller operand moves
		{"matmul", nil, "6,8,12 S(0),R; 12,4 R,S(1)", "[S(0) S(2)]"},
		{"linear", nil, "8,12 S(0),R; 4,12 R,S(0)", "[S(0) S(1)]"},
		{"add", nil, "8,12 S(0),R; 12 R,R", "[S(0) R]"},
		{"add", nil, "8,12 S(0),R; 8,12 S(1),R", "[S(0) R] all-to-all 192 2"},
		{"mul", nil, "8,12 R,S(1); 8,1 R,S(0)", "[R S(1)] all-gather 32 2"},
		{"sum", dim(0), "8,12 S(0),S(1)", "[R S(0)] all-reduce 24 2"},
		{"sum", dim(1), "8,12 S(0),R", "[S(0) R]"},
		{"sum", dim(), "8,12 S(0),S(1)", "[R R] all-reduce 4 4"},
		{"transpose", op.Attrs{{Name: "dim0", Value: 0}, {Name: "dim1", Value: 1}}, "8,12 S(0),R", "[S(1) R]"},
		{"reshape", op.Attrs{{Name: "shape", Value: []int{96}}}, "8,12 S(0),R", "[S(0) R]"},
		{"reshape", op.Attrs{{Name: "shape", Value: []int{96}}}, "8,12 S(1),R", "[R R] all-gather 384 2"},
		{"reshape", op.Attrs{{Name: "shape", Value: []int{2, 4, 12}}}, "8,12 S(0),R", "[S(0) R]"},
		{"softmax", op.Attrs{{Name: "dim", Value: 1}}, "8,12 S(0),R", "[S(0) R]"},
		{"flip", op.Attrs{{Name: "dims", Value: []int{0}}}, "8,12 S(0),R", "[R R] all-gather 384 2"},
		{"distribute", op.Attrs{{Name: "mesh", Value: "dp=2,tp=2"}, {Name: "placements", Value: "R,R"}}, "8,12 S(0),S(1)", "[R R] all-gather 192 2, all-gather 384 2"},
		{"add", nil, "8,12 R,R; 8,12 R,R", "R"},
	} {
		t.Run(fmt.Sprint(tt.name, " ", tt.in), func(t *testing.T) {
			var b builder
			var refs []graph.Ref
			var specs []shape.Spec
			var spots []*spot
			for _, o := range strings.Split(tt.in, "; ") {
				dims, where, _ := strings.Cut(o, " ")
				var d []int
				for _, n := range strings.Split(dims, ",") {
					var x int
					fmt.Sscan(n, &x)
					d = append(d, x)
				}
				specs = append(specs, f32(d...))
				refs = append(refs, b.input(specs[len(specs)-1]))
				spots = append(spots, spotOf(t, where))
			}
			def := op.Must(tt.name)
			attrs, err := def.Complete(tt.attrs)
			if err != nil {
				t.Fatal(err)
			}
			res, err := def.Specs(specs, attrs)
			if err != nil {
				t.Fatal(err)
			}
			n := b.all(def, attrs, res, refs...)
			outs, list, err := partitioned(b.graph(graph.Ref{Node: n}), spots, chip)
			if err != nil {
				t.Fatal(err)
			}
			got := "R"
			if outs[0] != nil {
				got = fmt.Sprint(outs[0].on)
			}
			for i, c := range list {
				var n int
				fmt.Sscan(c.Groups, &n)
				got += fmt.Sprintf("%s %s %d %d", map[bool]string{true: "", false: ","}[i == 0], c.Op, c.Bytes, n)
				if c.NS <= 0 || !c.Predicted {
					t.Errorf("%v costs nothing, or is real", c)
				}
			}
			if got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestPodSize: links connect so many devices of a generation.
func TestPodSize(t *testing.T) {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	var b builder
	x := b.input(f32(512, 4))
	def := op.Must(op.Distribute)
	n := b.all(def, op.Attrs{{Name: "mesh", Value: "x=512"}, {Name: "placements", Value: "S(0)"}}, []shape.Spec{f32(512, 4)}, x)
	_, _, err = partitioned(b.graph(graph.Ref{Node: n}), []*spot{nil}, chip)
	var me *shape.MeshError
	if !errors.As(err, &me) || err.Error() != "mesh: 512 devices, and links connect 256 of v5e" {
		t.Errorf("got %v, want a MeshError", err)
	}
}
