package exec

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// Precisions lists the precisions of products, the first being the one a
// dispatcher begins with.
func Precisions() []string {
	return []string{kernel.PrecisionHighest, kernel.PrecisionHigh, kernel.PrecisionDefault}
}

// A PrecisionError says that a precision does not exist.
type PrecisionError struct{ Name string }

// Error names it.
func (e *PrecisionError) Error() string {
	return fmt.Sprintf("precision: %q is none of highest, high, default", e.Name)
}

// Precision is that of products on the matrix unit from now on.
func (d *Dispatcher) Precision() string {
	if d.precision == "" {
		return kernel.PrecisionHighest
	}
	return d.precision
}

// SetPrecision changes the precision: highest computes products of f32 in f32,
// high in three passes of bf16, default in one.
func (d *Dispatcher) SetPrecision(name string) error {
	if !slices.Contains(Precisions(), name) {
		return &PrecisionError{name}
	}
	if d.precision = name; name == kernel.PrecisionHighest {
		d.precision = ""
	}
	return nil
}

// precisely adds the precision to the attributes of a product; it is part of
// the key of the program.
func (d *Dispatcher) precisely(def *op.Def, attrs op.Attrs) op.Attrs {
	if _, _, ok := def.Product(); !ok {
		return attrs
	}
	return append(slices.Clip(attrs), op.Attr{Name: op.PrecisionAttr, Value: d.precision})
}
