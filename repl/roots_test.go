package repl

import (
	"context"
	"testing"
)

// TestHiddenTensors holds tensors where Go's types of the memory do not show
// them: HBM is what the program can still reach.
func TestHiddenTensors(t *testing.T) {
	holds(t, []heldAfter{
		{"func mk() func() *tpu.Tensor { w := tpu.Ones(256, 256); return func() *tpu.Tensor { return w } }\nf := mk()", 1},
		{"type Node struct { T *tpu.Tensor; Next *Node; Kids []*Node; M map[string]*Node; F func() }\nn := &Node{T: tpu.Ones(256, 256)}\nn.Next = &Node{T: tpu.Ones(256, 256), Kids: []*Node{{T: tpu.Ones(256, 256)}}}\nn.Next.Next = n", 4},
		{"n.M = map[string]*Node{\"a\": {T: tpu.Ones(256, 256)}}", 5},
		{"var a any = n\nn = nil", 5},
		{"x := tpu.Ones(256, 256)\ng := x.Exp\nx = nil", 6},
		{"h := func() int { y := tpu.Ones(256, 256); k := func() *tpu.Tensor { return y }; y.Add(1); return len(k().Dims()) }\nh()", 6},
		{"g, f = nil, nil", 4},
		{"a = nil", 0},
	})
}

// A heldAfter is a cell and the number of arrays of 256×256 that HBM holds after it.
type heldAfter struct {
	cell string
	held int64
}

// holds runs the cells one after the other in a session.
func holds(t *testing.T, cells []heldAfter) {
	t.Helper()
	s, err := NewSession(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const size = 256 * 256 * 4
	for _, tt := range cells {
		if c := s.Run(context.Background(), tt.cell, "", 1, silent{}); len(c.Reports) > 0 {
			t.Fatal(c.Reports[0].Message)
		}
		if got := s.Device().HBM().Used(); got != tt.held*size {
			t.Errorf("%s: %d bytes are held, want %d arrays of %d", tt.cell, got, tt.held, size)
		}
	}
}
