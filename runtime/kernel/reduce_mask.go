package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/shape"
)

// Masked is x with v where the mask, stretched to x, is false. The largest
// I64 and U64 are the nearest numbers to v that the type has.
func Masked(x, mask Array, v float64) Array {
	out := New(x.Spec())
	Convert(out, x)
	n := x.DType.HostBytes()
	one := New(shape.Of(x.DType))
	if x.DType.IsInt() && v > 0 && v >= x.DType.Max() {
		Convert(one, denseOf([]int64{int64(min(x.DType.MaxInt(), math.MaxInt64))}, nil))
	} else {
		Convert(one, denseOf([]float64{v}, nil))
	}
	for i, m := range Bools(spread(mask, x.Dims)) {
		if m == 0 {
			copy(out.Buf[i*n:(i+1)*n], one.Buf[:n])
		}
	}
	return out
}

// maskedRows sets each result to f of the elements of its row where the mask is true.
func maskedRows(c *Call, f func(row []float64) float64) error {
	x := c.In[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	var mask []int64
	if len(c.In) > 1 && c.In[1].Valid() {
		m, _ := axesLast(spread(c.In[1], x.Dims), axes)
		mask = Int64s(m)
	}
	dst := dest[float64](c.Out[0])
	rows(x, axes, func(i int, row []float64) {
		if mask != nil {
			kept := make([]float64, 0, len(row))
			for k, v := range row {
				if mask[i*len(row)+k] != 0 {
					kept = append(kept, v)
				}
			}
			row = kept
		}
		dst[i] = f(row)
	})
	settle(c.Out[0], dst)
	return nil
}

// MaskedMean is the mean of the elements where the mask is true. Inputs x, optional mask.
func MaskedMean(c *Call) error {
	return maskedRows(c, func(r []float64) float64 { return sumRow(r) / float64(len(r)) })
}

// MaskedVar is their variance.
func MaskedVar(c *Call) error {
	less := Correction(c.Attrs)
	return maskedRows(c, func(r []float64) float64 { _, v := meanVar(r, less); return v })
}

// MaskedStd is the square root of their variance.
func MaskedStd(c *Call) error {
	less := Correction(c.Attrs)
	return maskedRows(c, func(r []float64) float64 { _, v := meanVar(r, less); return math.Sqrt(v) })
}

// Correction is what the count of a masked variance is lessened by: the
// attribute "correction", or when that is not set 1 for "unbiased".
func Correction(a Attrs) float64 {
	if a.Has("correction") {
		if v := numberOf(a.Get("correction")); !math.IsInf(v, -1) {
			return v
		}
	}
	if a.Bool("unbiased") {
		return 1
	}
	return 0
}

// MaskedLogAddExp is log(e^x + e^y), an operand counting as −∞ where its mask
// is false. Inputs x, y, optional mask of x, of y.
func MaskedLogAddExp(c *Call) error {
	out := c.Out[0]
	var in [2][]float64
	var mask [2][]uint8
	for i := range in {
		in[i] = Float64s(spread(c.In[i], out.Dims))
		if len(c.In) > 2+i && c.In[2+i].Valid() {
			mask[i] = Bools(spread(c.In[2+i], out.Dims))
		}
	}
	dst := dest[float64](out)
	for i := range dst {
		var v [2]float64
		for k := range v {
			v[k] = in[k][i]
			if mask[k] != nil && mask[k][i] == 0 {
				v[k] = math.Inf(-1)
			}
		}
		dst[i] = logAddExp(v[0], v[1])
	}
	settle(out, dst)
	return nil
}
