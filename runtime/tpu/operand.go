package tpu

import (
	"math"
	"reflect"

	"github.com/tpush/tpush/runtime/exec"
)

// number turns a Go number or bool of any type into float64, int64 or bool.
func number(x any) (any, bool) {
	switch x := x.(type) {
	case float64, int64, bool:
		return x, true
	case int:
		return int64(x), true
	case float32:
		return float64(x), true
	case int32:
		return int64(x), true
	case uint8:
		return int64(x), true
	case nil:
		return nil, false
	case LiveNumber:
		ambientEngine().capture.spoil() // nobody will ask again
		return x(), true
	}
	v := reflect.ValueOf(x)
	switch {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint():
		if u := v.Uint(); u <= math.MaxInt64 {
			return int64(u), true
		}
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	case v.Kind() == reflect.Bool:
		return v.Bool(), true
	}
	return nil, false
}

// An operand is one resolved input of a call.
type operand struct {
	t *Tensor     // nil for a Go number and for an absent operand
	v *exec.Value // nil for an absent operand
}

// resolve turns what the user passed into an operand. name is the operation, i its position.
func (e *engine) resolve(name string, x any) operand {
	switch x := x.(type) {
	case *Tensor:
		if x == nil {
			return operand{}
		}
		if x.engine() != e {
			e.fail(name, operandError(x, "it lives on another device"))
		}
		return operand{x, x.value()}
	case nil:
		return operand{}
	case float64, int64, bool:
		return operand{v: e.d.Scalar(x)}
	case int:
		return operand{v: e.d.Scalar(int64(x))}
	case LiveNumber:
		return operand{v: e.liveOperand(x)}
	case complex128:
		return operand{v: e.d.Scalar(x)}
	case complex64:
		return operand{v: e.d.Scalar(complex128(x))}
	}
	n, ok := number(x)
	if !ok {
		e.fail(name, operandError(x, "a *tpu.Tensor or a number is wanted"))
	}
	return operand{v: e.d.Scalar(n)}
}

// onTape gives the operand as a tensor, to be kept on the tape.
func (o operand) onTape(e *engine) *Tensor {
	if o.t != nil || o.v == nil {
		return o.t
	}
	return e.weak(o.v)
}

// weak makes a tensor of the value of a Go number.
func (e *engine) weak(v *exec.Value) *Tensor {
	return &Tensor{s: &Storage{e: e, value: v}, view: &v.Type().Seen, dt: v.Spec().DType, whole: true, weak: v.Spec().Weak}
}

// engineFor finds the engine of a call: that of its first tensor, else the ambient one.
func engineFor(in []any) *engine {
	for _, x := range in {
		if t, ok := x.(*Tensor); ok && t != nil {
			return t.engine()
		}
	}
	return ambientEngine()
}
