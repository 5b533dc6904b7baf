package tpu

import (
	"fmt"

	"github.com/tpush/tpush/runtime/shape"
)

// An InferenceError says that a tensor made in Inference was to take part in gradients.
type InferenceError struct {
	Spec shape.Spec
	What string // was to be done with it
}

// Error names the tensor.
func (e *InferenceError) Error() string {
	return fmt.Sprintf("%v was made in inference and may not be %s outside of it", e.Spec, e.What)
}

// Inference runs f without recording what gradients would need, as NoGrad
// does, and what f makes never takes part in gradients: it cannot be saved for
// a backward pass, require a gradient or be written in place afterwards.
func Inference(f func()) {
	e := ambientEngine()
	e.inference++
	defer func() { e.inference-- }()
	e.withoutGrad(f)
}

// EnableGrad runs f with gradients recorded, inside NoGrad too.
func EnableGrad(f func()) {
	e := ambientEngine()
	old := e.noGrad
	e.noGrad = 0
	defer func() { e.noGrad = old }()
	f()
}

// outside refuses what may not be done with a tensor of Inference.
func (t *Tensor) outside(name, what string) {
	if e := t.s.e; t.s.inference && e.inference == 0 {
		e.fail(name, &InferenceError{t.Spec(), what})
	}
}
