package kernel

import "math"

// Frexp splits each element into a mantissa, at least ½ and below 1, and a power of two.
func Frexp(c *Call) error {
	x := Float64s(c.In[0])
	m, e := make([]float64, len(x)), make([]int64, len(x))
	for i, v := range x {
		var k int
		m[i], k = math.Frexp(v)
		e[i] = int64(k)
	}
	Convert(c.Out[0], denseOf(m, c.Out[0].Dims))
	Convert(c.Out[1], denseOf(e, c.Out[1].Dims))
	return nil
}

// HashTensor combines the bits of elements, as f64 or i64, by exclusive or
// along the axes of the attribute dim.
func HashTensor(c *Call) error {
	x := c.In[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	out := As[uint64](c.Out[0].Buf)
	if x.DType.IsFloat() {
		rows(x, axes, func(i int, row []float64) {
			h := uint64(0)
			for _, v := range row {
				h ^= math.Float64bits(v)
			}
			out[i] = h
		})
		return nil
	}
	rows(x, axes, func(i int, row []int64) {
		h := uint64(0)
		for _, v := range row {
			h ^= uint64(v)
		}
		out[i] = h
	})
	return nil
}
