package kernel

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
	"github.com/tpush/tpush/runtime/shape"
)

// Comparisons: operands are converted to their common type, in which a 0-d
// operand of a wider type is rounded first. NaN is unequal to everything.

func loopEq[T complexNumber](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x == b[i])
	}
}

func loopNe[T complexNumber](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x != b[i])
	}
}

func loopClose[T number](d []uint8, a, b, _ []T, p *Params) {
	for i, x := range a {
		y := b[i]
		close := x == y || x != x && y != y && p.N == 1
		if !close {
			diff := math.Abs(float64(x) - float64(y))
			close = diff-diff == 0 && diff <= p.F[1]+math.Abs(p.F[0]*float64(y))
		}
		d[i] = bit(close)
	}
}

var (
	eqOp      = &predicate{recipe: of2((*jit.Builder).Eq), c64: loopEq[complex64], c128: loopEq[complex128]}
	neOp      = &predicate{recipe: of2((*jit.Builder).Ne), c64: loopNe[complex64], c128: loopNe[complex128]}
	ltOp      = &predicate{recipe: ltRecipe}
	leOp      = &predicate{recipe: leRecipe}
	gtOp      = &predicate{recipe: gtRecipe}
	geOp      = &predicate{recipe: geRecipe}
	bothOp    = &predicate{recipe: truthsRecipe((*jit.Builder).And)}
	eitherOp  = &predicate{recipe: truthsRecipe((*jit.Builder).Or)}
	differOp  = &predicate{recipe: truthsRecipe((*jit.Builder).Xor)}
	isCloseOp = &predicate{f32: loopClose[float32], f64: loopClose[float64], i64: loopClose[int64], u64: loopClose[uint64],
		prep: func(c *Call, p *Params) {
			p.F[0], p.F[1], p.N = c.Attrs.Float("rtol"), c.Attrs.Float("atol"), int(bit(c.Attrs.Bool("equal_nan")))
		}}
)

// Eq asks a = b.
func Eq(c *Call) error { return eqOp.run(c) }

// Ne asks a ≠ b.
func Ne(c *Call) error { return neOp.run(c) }

// Lt asks a < b.
func Lt(c *Call) error { return ltOp.run(c) }

// Le asks a ≤ b.
func Le(c *Call) error { return leOp.run(c) }

// Gt asks a > b.
func Gt(c *Call) error { return gtOp.run(c) }

// Ge asks a ≥ b.
func Ge(c *Call) error { return geOp.run(c) }

// LogicalAnd asks whether neither operand is zero.
func LogicalAnd(c *Call) error { return bothOp.run(allTruths(c)) }

// LogicalOr asks whether an operand is not zero.
func LogicalOr(c *Call) error { return eitherOp.run(allTruths(c)) }

// LogicalXor asks whether exactly one operand is not zero.
func LogicalXor(c *Call) error { return differOp.run(allTruths(c)) }

// IsClose asks |a-b| ≤ atol + rtol·|b|.
func IsClose(c *Call) error { return isCloseOp.run(c) }

// all writes whether a predicate holds for every element of the stretched operands.
func all(o *predicate, c *Call) error {
	dims, _ := shape.Broadcast(c.In[0].Dims, c.In[1].Dims)
	each := New(shape.Of(dtype.Bool, dims...))
	err := o.run(&Call{In: c.In, Out: []Array{each}, Attrs: c.Attrs})
	c.Out[0].Buf[0] = bit(!slices.Contains(each.Buf, 0))
	return err
}

// AllClose asks whether all elements are close, as IsClose says.
func AllClose(c *Call) error { return all(isCloseOp, c) }

// Equal asks whether two arrays have the same dimensions and equal elements.
func Equal(c *Call) error {
	if !shape.EqualDims(c.In[0].Dims, c.In[1].Dims) {
		c.Out[0].Buf[0] = 0
		return nil
	}
	return all(eqOp, c)
}
