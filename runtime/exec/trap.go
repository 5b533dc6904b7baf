package exec

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A TrapError says that an operation of integers got a number that PyTorch refuses.
type TrapError struct {
	Op    string
	Param string // name of the operand
	At    []int  // the first bad element
	Value int64
	Why   string
}

// Error is one line: floor_divide: integer division by zero at other[2].
func (e *TrapError) Error() string {
	at := ""
	if len(e.At) > 0 {
		at = shape.FormatDims(e.At)
	}
	return fmt.Sprintf("%s: %s at %s%s", e.Op, e.Why, e.Param, at)
}

// checkTrap looks at the operand that a row's trap is about. Debug by itself
// does not: on the device an integer divided by zero is -1.
func (d *Dispatcher) checkTrap(def *op.Def, attrs op.Attrs, in []*Value) error {
	t := def.Trap
	v := in[t.In]
	if v == nil || t.Numbers && !v.typ.Spec.Weak || !t.Numbers && d.checks != ChecksOn {
		return nil
	}
	specs, err := def.Specs(d.inputSpecs(in), attrs)
	if err != nil || specs[0].DType.Kind() >= dtype.KindFloat || v.typ.Spec.DType.Kind() >= dtype.KindFloat || v.typ.Spec.Size() == 0 {
		return err
	}
	a, err := d.indexArray(v)
	if err != nil {
		return err
	}
	for i, x := range kernel.Int64s(a) {
		if t.Bad(x) {
			return &TrapError{Op: string(def.Name), Param: def.Inputs()[t.In].Name, At: unravel(i, v.typ.Spec.Dims), Value: x, Why: t.Why}
		}
	}
	return nil
}
