package repl

import (
	"context"
	"strings"
	"testing"
)

// TestAssignedParameter is the Go of w -= lr*w.Grad(): the variable names another
// tensor, without a gradient, and the error of using that names .Grad().
func TestAssignedParameter(t *testing.T) {
	s, err := NewSession(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const cell = "w := tpu.Param(\"w\", tpu.Of(1.0, 2.0))\np := w\n(w * w).Sum().Backward()\nw -= 0.1*w.Grad()\nfmt.Sprint(w != nil, w.Grad() == nil, p.Grad() == nil)"
	if got := shown(t, s, cell); got != "\"true true false\"  string" {
		t.Errorf("shows %s", got)
	}
	c := s.Run(context.Background(), "w -= 0.1*w.Grad()", "", 1, silent{})
	if len(c.Reports) != 1 || !strings.Contains(c.Reports[0].Message, "the tensor is nil; .Grad() is nil where no Backward has left a gradient") {
		t.Errorf("reports %v", c.Reports)
	}
}
