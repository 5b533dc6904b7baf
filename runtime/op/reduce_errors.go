package op

import (
	"fmt"

	"github.com/tpush/tpush/runtime/shape"
)

// An EmptyError says that a reduction without a neutral element has nothing to reduce.
type EmptyError struct {
	Op   Name
	In   shape.Spec
	Axis int // the empty axis, -1 when there are no axes to name
}

// Error names the operand.
func (e *EmptyError) Error() string {
	if e.Axis >= 0 {
		return fmt.Sprintf("%s: axis %d of %v is empty", e.Op, e.Axis, e.In)
	}
	return fmt.Sprintf("%s: %v is empty", e.Op, e.In)
}
