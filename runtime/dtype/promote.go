package dtype

import "fmt"

// Category is how strongly an operand takes part in promotion, weakest first.
type Category uint8

// The categories of PyTorch's type promotion.
const (
	Number  Category = iota // a Go number: only its kind counts
	ZeroDim                 // a 0-d tensor
	Dim                     // a tensor with dimensions
)

// An Operand is what promotion knows of one operand.
type Operand struct {
	DType    DType
	Category Category
}

// A PromotionError says that two element types have no common one.
type PromotionError struct{ Left, Right DType }

// Error names both types.
func (e *PromotionError) Error() string {
	return fmt.Sprintf("promote: %v and %v have no common type", e.Left, e.Right)
}

// Promote gives the common type of a and b by PyTorch's lattice.
func Promote(a, b DType) (DType, error) {
	if a == b {
		return a, nil
	}
	ka, kb := a.Kind(), b.Kind()
	if ka > kb || (ka == kb && a.Bits() >= b.Bits()) {
		return a, nil
	}
	return b, nil
}

// ResultType gives the common type of operands of the three categories.
func ResultType(ops ...Operand) (DType, error) {
	var r [3]DType
	for _, o := range ops {
		c := o.Category
		if r[c] == Invalid {
			r[c] = o.DType
			continue
		}
		p, err := Promote(r[c], o.DType)
		if err != nil {
			return Invalid, err
		}
		r[c] = p
	}
	res := r[Dim]
	for _, c := range []Category{ZeroDim, Number} {
		switch {
		case r[c] == Invalid:
		case res == Invalid:
			res = r[c]
			if c == Number {
				res = Default(res)
			}
		case r[c].Kind() > res.Kind():
			res = r[c]
			if c == Number {
				res = Default(res)
			}
		}
	}
	return res, nil
}

// Default is the tensor type of a Go number of the given kind: F32 for floats, I64 for integers, Bool for bools.
func Default(d DType) DType {
	switch d.Kind() {
	case KindFloat:
		return F32
	case KindComplex:
		return C64
	case KindBool:
		return Bool
	}
	return I64
}
