package tpu

import (
	"fmt"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// An AnomalyError says that a backward pass made NaN out of numbers: in which
// gradient, of which operation, and where that was written.
type AnomalyError struct {
	Op    string
	Input int // whose gradient it is, in the order of the operation's operands
	Spec  shape.Spec
	Count int          // elements that are NaN
	At    *trace.Stack // of the forward operation
}

// Error names the operation and its line.
func (e *AnomalyError) Error() string {
	return fmt.Sprintf("the gradient of %s%s for operand %d, %v, has %d NaN", e.Op, lineOf(e.At), e.Input, e.Spec, e.Count)
}

// SetAnomaly makes every backward pass look for NaN after each operation and
// stop with *AnomalyError at the first one that makes it. It reads each
// gradient, so it is slow and cuts the queue.
func SetAnomaly(on bool) { ambientEngine().anomaly = on }

// Anomaly says whether backward passes look for NaN.
func Anomaly() bool { return ambientEngine().anomaly }

// DetectAnomaly runs f with SetAnomaly on.
func DetectAnomaly(f func()) {
	e := ambientEngine()
	old := e.anomaly
	e.anomaly = true
	defer func() { e.anomaly = old }()
	f()
}

// inspect refuses NaN among the gradients that a rule gave.
func (p *pass) inspect(n *node, grads []*Tensor) {
	for i, g := range grads {
		if g == nil || i >= len(n.ins) || n.ins[i] == nil || !g.dt.IsFloat() {
			continue
		}
		count := 0
		for _, x := range kernel.Float64s(g.host("backward", exec.ReasonHostCopy)) {
			if x != x {
				count++
			}
		}
		if count > 0 {
			p.e.fail("backward", &AnomalyError{Op: string(n.def.Name), Input: i, Spec: g.Spec(), Count: count, At: n.stack})
		}
	}
}
