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

// isolated types promote with nothing but themselves: the floats of 8 bits and fewer.
func isolated(d DType) bool { return d.IsFloat() && d.Bits() <= 8 }

// storage types are the integers PyTorch keeps out of its lattice (uint16 and
// wider, 4-bit ones): they promote with themselves and with real floats.
func storage(d DType) bool {
	switch d {
	case U4, I4, U16, U32, U64:
		return true
	}
	return false
}

// Promote gives the common type of a and b by PyTorch's lattice, or a
// *PromotionError where PyTorch has none.
func Promote(a, b DType) (DType, error) {
	if a == b {
		return a, nil
	}
	lo, hi := a, b
	if rank(lo) > rank(hi) {
		lo, hi = hi, lo
	}
	switch {
	case lo == Invalid, isolated(lo), isolated(hi):
	case storage(lo) || storage(hi):
		if hi.IsFloat() {
			return hi, nil
		}
	case hi == C64 && lo == F64:
		return C128, nil
	case hi.IsComplex():
		return hi, nil
	case lo == U8 && hi == I8:
		return I16, nil
	case lo == F16 && hi == BF16, lo == BF16 && hi == F16:
		return F32, nil
	default:
		return hi, nil
	}
	return Invalid, &PromotionError{a, b}
}

// rank orders types so that the higher of two connected ones is their common type.
func rank(d DType) int {
	k := d.Kind()
	if k == KindUint {
		k = KindInt
	}
	r := int(k)*1024 + d.Bits()*2
	if d.Kind() == KindInt {
		r++ // above the unsigned type of the same width
	}
	return r
}

// ResultType gives the common type of operands of the three categories: a
// weaker category counts only when it is of a higher kind (bool, integer,
// float, complex) than everything stronger. A Go number is taken as Default of its kind.
func ResultType(ops ...Operand) (DType, error) {
	var r [3]DType
	for _, o := range ops {
		c, d := o.Category, o.DType
		if c == Number {
			d = Default(d)
		}
		if r[c] == Invalid {
			r[c] = d
			continue
		}
		p, err := Promote(r[c], d)
		if err != nil {
			return Invalid, err
		}
		r[c] = p
	}
	res, err := combine(r[Dim], r[ZeroDim])
	if err != nil {
		return Invalid, err
	}
	return combine(res, r[Number])
}

// combine lets the weaker category take part: PyTorch's combine_categories.
func combine(strong, weak DType) (DType, error) {
	switch {
	case strong == Invalid:
		return weak, nil
	case weak == Invalid, strong.IsComplex():
		return strong, nil
	case strong.IsFloat():
		switch {
		case !weak.IsComplex():
			return strong, nil
		case strong == F32:
			return C64, nil
		case strong == F64:
			return C128, nil
		}
		return Invalid, &PromotionError{strong, weak} // complex of 16 bits and fewer
	case weak.IsComplex() && storage(strong): // PyTorch's number path goes through the default complex type
		return weak, nil
	case strong == Bool, weak.IsFloat(), weak.IsComplex():
		return Promote(strong, weak)
	}
	return strong, nil
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

// CanCast says whether a result of type from may be stored in place in a
// tensor of type to: a kind may only grow (bool, integer, float, complex);
// width and sign do not count.
func CanCast(from, to DType) bool { return rank(from)/1024 <= rank(to)/1024 }
