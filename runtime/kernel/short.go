package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// The short way of the four arithmetic operations: up to shortLen dense f32
// elements, for which the way into machine code costs more than the arithmetic.
// It gives the bits of the recipe.
const shortLen = 64

// nan32 is the NaN that programs store.
var nan32 = math.Float32frombits(0x7fc00000)

func shortAdd(d, a, b []float32) {
	for i := range d {
		d[i] = canonical(a[i] + b[i])
	}
}

func shortSub(d, a, b []float32) {
	for i := range d {
		d[i] = canonical(a[i] - b[i])
	}
}

func shortMul(d, a, b []float32) {
	for i := range d {
		d[i] = canonical(a[i] * b[i])
	}
}

func shortDiv(d, a, b []float32) {
	for i := range d {
		d[i] = canonical(a[i] / b[i])
	}
}

func canonical(x float32) float32 {
	if x != x {
		return nan32
	}
	return x
}

// runShort computes c when it is that short.
func (o *elementwise) runShort(c *Call) bool {
	if m := c.Memo; m == nil || m.short != o {
		if !shortCall(c) {
			return false
		}
		if m != nil {
			*m = Memo{short: o}
		}
	}
	a, b, out := &c.In[0], &c.In[1], &c.Out[0]
	n := shape.Size(out.Dims)
	o.short(As[float32](out.Buf)[:n], As[float32](a.Buf)[a.Offset:][:n], As[float32](b.Buf)[b.Offset:][:n])
	return true
}

// shortCall says whether c has two dense f32 operands of the shape of its short result.
func shortCall(c *Call) bool {
	out := &c.Out[0]
	if len(c.In) != 2 || out.DType != dtype.F32 || shape.Size(out.Dims) > shortLen {
		return false
	}
	for i := range c.In {
		if a := &c.In[i]; a.DType != dtype.F32 || !shape.EqualDims(a.Dims, out.Dims) || !a.Contiguous() {
			return false
		}
	}
	return true
}
