package kernel

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Comparisons: operands are converted to their common type, in which a 0-d
// operand of a wider type is rounded first. NaN is unequal to everything.

func loopEq[T number | complexNumber](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x == b[i])
	}
}

func loopNe[T number | complexNumber](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x != b[i])
	}
}

func loopLt[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x < b[i])
	}
}

func loopLe[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x <= b[i])
	}
}

func loopGt[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x > b[i])
	}
}

func loopGe[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x >= b[i])
	}
}

func loopBoth[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x != 0 && b[i] != 0)
	}
}

func loopEither[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit(x != 0 || b[i] != 0)
	}
}

func loopDiffer[T number](d []uint8, a, b, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = bit((x != 0) != (b[i] != 0))
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
	eqOp      = predicate{f32: loopEq[float32], f64: loopEq[float64], i64: loopEq[int64], u64: loopEq[uint64], c64: loopEq[complex64], c128: loopEq[complex128]}
	neOp      = predicate{f32: loopNe[float32], f64: loopNe[float64], i64: loopNe[int64], u64: loopNe[uint64], c64: loopNe[complex64], c128: loopNe[complex128]}
	ltOp      = predicate{f32: loopLt[float32], f64: loopLt[float64], i64: loopLt[int64], u64: loopLt[uint64]}
	leOp      = predicate{f32: loopLe[float32], f64: loopLe[float64], i64: loopLe[int64], u64: loopLe[uint64]}
	gtOp      = predicate{f32: loopGt[float32], f64: loopGt[float64], i64: loopGt[int64], u64: loopGt[uint64]}
	geOp      = predicate{f32: loopGe[float32], f64: loopGe[float64], i64: loopGe[int64], u64: loopGe[uint64]}
	bothOp    = predicate{f32: loopBoth[float32], f64: loopBoth[float64], i64: loopBoth[int64], u64: loopBoth[uint64]}
	eitherOp  = predicate{f32: loopEither[float32], f64: loopEither[float64], i64: loopEither[int64], u64: loopEither[uint64]}
	differOp  = predicate{f32: loopDiffer[float32], f64: loopDiffer[float64], i64: loopDiffer[int64], u64: loopDiffer[uint64]}
	isCloseOp = predicate{f32: loopClose[float32], f64: loopClose[float64], i64: loopClose[int64], u64: loopClose[uint64],
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
func AllClose(c *Call) error { return all(&isCloseOp, c) }

// Equal asks whether two arrays have the same dimensions and equal elements.
func Equal(c *Call) error {
	if !shape.EqualDims(c.In[0].Dims, c.In[1].Dims) {
		c.Out[0].Buf[0] = 0
		return nil
	}
	return all(&eqOp, c)
}
