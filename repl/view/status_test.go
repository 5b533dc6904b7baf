package view_test

import (
	"context"
	"testing"

	"github.com/tpush/tpush/repl/view"
)

// TestStatus trains: a step is from one change of the parameters to the next in
// the same cell, what is between cells is none.
func TestStatus(t *testing.T) {
	s := session(t, nil, "w := tpu.Ones(64, 64).RequireGrad()\nopt := optim.NewSGD([]*tpu.Tensor{w}, optim.SGDOptions{LR: 0.1})",
		"train := func() {\n\topt.ZeroGrad()\n\tw.Mul(w).Sum().Backward()\n\topt.Step()\n}")
	v := view.New(s)
	for _, tt := range []struct {
		cell  string
		steps int64
	}{{"train()", 0}, {"tpu.Randn(512, 512)", 0}, {"train()", 0}, {"for range 10 {\n\ttrain()\n}", 9}} {
		if c := s.Run(context.Background(), tt.cell, "", 1, discard{}); len(c.Reports) > 0 {
			t.Fatal(c.Reports[0].Message)
		}
		st, err := v.Status()
		if err != nil {
			t.Fatal(err)
		}
		if st.Steps != tt.steps || (st.StepNS > 0) != (tt.steps > 0) || st.StepP95NS < st.StepNS/2 {
			t.Errorf("after %q: %+v", tt.cell, st)
		}
		if st.Mode != "debug" || st.HBMUsedBytes <= 0 || st.HBMPeakBytes < st.HBMUsedBytes || st.HBMLimitBytes < st.HBMPeakBytes || st.CacheHits+st.CacheMisses == 0 {
			t.Errorf("after %q: %+v", tt.cell, st)
		}
	}
}
