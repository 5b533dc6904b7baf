package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Element types of elementwise rows.

// refuse says that an operation has no meaning for operands that promote to t.
func refuse(t dtype.DType, want string) error {
	return &TypeError{Arg: "input", DType: t, Want: want}
}

// floatsOnly gives the promoted type, which must be a real float.
func floatsOnly(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	t, err := resultType(in...)
	if err == nil && !t.IsFloat() {
		err = refuse(t, "a floating-point type")
	}
	return t, err
}

// intsOnly gives the promoted type, which must be an integer type.
func intsOnly(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	t, err := resultType(in...)
	if err == nil && !t.IsInt() {
		err = refuse(t, "an integer")
	}
	return t, err
}

// bitsOnly gives the promoted type, which must be an integer type or Bool.
func bitsOnly(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	t, err := resultType(in...)
	if err == nil && t.Kind() >= dtype.KindFloat {
		err = refuse(t, "an integer or a bool")
	}
	return t, err
}

// realOnly gives the promoted type, which must not be complex.
func realOnly(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	t, err := resultType(in...)
	if err == nil && t.Kind() == dtype.KindComplex {
		err = refuse(t, "a type with an order")
	}
	return t, err
}

// numeric gives the promoted type, which must not be Bool.
func numeric(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	t, err := resultType(in...)
	if err == nil && t == dtype.Bool {
		err = refuse(t, "a number")
	}
	return t, err
}

// difference is numeric, and no operand may be Bool: PyTorch's rule for sub.
func difference(in []shape.Spec, a Attrs) (dtype.DType, error) {
	for _, s := range in {
		if s.DType == dtype.Bool {
			return dtype.Invalid, refuse(s.DType, "a number")
		}
	}
	return numeric(in, a)
}

// realFloating is floating without complex numbers.
func realFloating(in []shape.Spec, a Attrs) (dtype.DType, error) {
	t, err := floating(in, a)
	if err == nil && t.Kind() == dtype.KindComplex {
		err = refuse(t, "a real number")
	}
	return t, err
}

// partType gives the type of a complex operand's parts, and that of rule for others.
func partType(rule func([]shape.Spec, Attrs) (dtype.DType, error)) func([]shape.Spec, Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		if t := in[0].DType; t.IsComplex() {
			return t.Part(), nil
		}
		return rule(in, a)
	}
}

// ordered is boolean for operands that have an order.
func ordered(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if _, err := realOnly(in, a); err != nil {
		return dtype.Invalid, err
	}
	return dtype.Bool, nil
}

// scalarSpec is the spec of a Go number used as attribute.
func scalarSpec(v any) shape.Spec {
	s := shape.Spec{Weak: true}
	switch v.(type) {
	case float64:
		s.DType = dtype.F64
	case int:
		s.DType = dtype.I64
	case bool:
		s.DType = dtype.Bool
	}
	return s
}

// alphaType adds PyTorch's rules for sums: none of floats of eight bits and
// fewer; a float alpha needs a float result, a bool alpha a bool one.
func alphaType(rule func([]shape.Spec, Attrs) (dtype.DType, error)) func([]shape.Spec, Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		t, err := rule(in, a)
		if err == nil && t.IsFloat() && t.Bits() <= 8 {
			err = refuse(t, "a type with sums: convert it first")
		}
		if err != nil {
			return t, err
		}
		alpha := a.Get("alpha")
		switch alpha.(type) {
		case float64:
			if t.Kind() < dtype.KindFloat {
				err = &shape.ArgumentError{Arg: "alpha", Value: alpha, Why: "must be an integer, for a result of type " + t.String()}
			}
		case bool:
			if t != dtype.Bool {
				err = &shape.ArgumentError{Arg: "alpha", Value: alpha, Why: "must be a number, for a result of type " + t.String()}
			}
		}
		return t, err
	}
}
