package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/shape"
)

// spreadOf gives the mean of a row and 1/√(variance+eps).
func spreadOf[T float32 | float64](row []T, eps float64) (mean, rstd T) {
	n := T(len(row))
	mean = sumRow(row) / n
	var part [1]T
	sums := part[:0]
	if len(row) > sumBlock {
		sums = make([]T, 0, (len(row)+sumBlock-1)/sumBlock)
	}
	for k := 0; k < len(row); k += sumBlock {
		var s [sumLanes]T
		x := row[k:min(k+sumBlock, len(row))]
		n := len(x) &^ (sumLanes - 1)
		for i := 0; i < n; i += sumLanes {
			v := (*[sumLanes]T)(x[i:])
			for l := range s {
				d := v[l] - mean
				s[l] += d * d
			}
		}
		for l, v := range x[n:] {
			s[l] += (v - mean) * (v - mean)
		}
		sums = append(sums, foldLanes(&s))
	}
	v := foldPairs(sums) / n
	return mean, T(1 / math.Sqrt(float64(v)+eps))
}

// Standardize gives (x − mean)·rstd over dim; x·rstd without center.
func Standardize(c *Call) error {
	o := rmsStandardizeRows
	if c.Attrs.Bool("center") {
		o = standardizeRows
	}
	return o.compute(c, reducedAxes(c.Attrs, len(c.In[0].Dims)))
}

// StandardizeBackward gives r·(dy − mean(dy) − x̂·mean(dy·x̂)) over dim, x̂ the
// standardized x and r its 1/√(variance+eps). Inputs dy, x.
func StandardizeBackward(c *Call) error {
	o := rmsStandardizeBackRows
	if c.Attrs.Bool("center") {
		o = standardizeBackRows
	}
	return o.compute(c, reducedAxes(c.Attrs, len(c.In[0].Dims)))
}

// optional gives the elements of an optional operand, nil when absent.
func optional[T accum](c *Call, i int) []T {
	if i >= len(c.In) || !c.In[i].Valid() {
		return nil
	}
	return load[T](c.In[i])
}

// LayerNorm standardizes over the last axes, then scales and shifts by
// element. Inputs x, weight, bias.
func LayerNorm(c *Call) error {
	return layerNormRows.compute(c, lastN(len(c.In[0].Dims), len(c.Attrs.Ints("normalized_shape"))))
}

// RMSNorm divides by the root of the mean square over the last axes, then
// scales by element. Inputs x, weight. Without eps it takes the machine
// epsilon of the type.
func RMSNorm(c *Call) error {
	return rmsNormRows.compute(c, lastN(len(c.In[0].Dims), len(c.Attrs.Ints("normalized_shape"))))
}

// RMSEpsilon is the attribute eps, or the distance from 1 to the next number of the type that x computes in.
func RMSEpsilon(x shape.Spec, a Attrs) float64 {
	if a.Float("eps") >= 0 {
		return a.Float("eps")
	}
	m := 23
	if computeType(x.DType) == typeOf[float64]() {
		m = 52
	}
	return math.Ldexp(1, -m)
}

// lastN gives the last k axes of a rank.
func lastN(rank, k int) []int {
	axes := make([]int, k)
	for i := range axes {
		axes[i] = rank - k + i
	}
	return axes
}

// GroupNorm standardizes each group of channels of each batch element, then
// scales and shifts by channel. Inputs x [n, c, …], weight, bias.
func GroupNorm(c *Call) error {
	g := c.Attrs.Int("num_groups")
	return byType(c.Out[0].DType, func() { groupNorm[float32](c, g, 1, 2) }, func() { groupNorm[float64](c, g, 1, 2) }, nil)
}

// InstanceNorm standardizes each channel of each batch element; without
// use_input_stats it takes the running statistics. Inputs x [n, c, …],
// running mean, running variance, weight, bias.
func InstanceNorm(c *Call) error {
	if !c.Attrs.Bool("use_input_stats") {
		return byType(c.Out[0].DType, func() { normByStats[float32](c, 1, 2) }, func() { normByStats[float64](c, 1, 2) }, nil)
	}
	g := c.In[0].Dims[1]
	return byType(c.Out[0].DType, func() { groupNorm[float32](c, g, 3, 4) }, func() { groupNorm[float64](c, g, 3, 4) }, nil)
}

func groupNorm[T float32 | float64](c *Call, groups, w, b int) {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return
	}
	weight, bias := optional[T](c, w), optional[T](c, b)
	eps := c.Attrs.Float("eps")
	n, channels := x.Dims[0], x.Dims[1]
	size := shape.Size(x.Dims[2:])
	per := channels / groups * size
	xs, dst := load[T](x), dest[T](out)
	Parallel(n*groups, rowGrain(per), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := xs[i*per:(i+1)*per], dst[i*per:(i+1)*per]
			m, r := spreadOf(x, eps)
			ch := i % groups * (channels / groups)
			for k := 0; k < per; k += size {
				scale, shift := r, T(0)
				if weight != nil {
					scale *= weight[ch+k/size]
				}
				if bias != nil {
					shift = bias[ch+k/size]
				}
				for j := k; j < k+size; j++ {
					y[j] = (x[j]-m)*scale + shift
				}
			}
		}
	})
	settle(out, dst)
}

// normByStats gives (x − mean)/√(variance+eps)·weight + bias by channel, with
// the statistics in inputs mean and mean+1, weight and bias in the two after.
func normByStats[T float32 | float64](c *Call, mean, variance int) {
	x, out := c.In[0], c.Out[0]
	eps := c.Attrs.Float("eps")
	rm, rv := optional[T](c, mean), optional[T](c, variance)
	weight, bias := optional[T](c, 3), optional[T](c, 4)
	channels := x.Dims[1]
	size := shape.Size(x.Dims[2:])
	xs, dst := load[T](x), dest[T](out)
	for i := 0; i < len(xs); i += size {
		ch := i / size % channels
		scale := T(1 / math.Sqrt(float64(rv[ch])+eps))
		shift := T(0)
		if weight != nil {
			scale *= weight[ch]
		}
		if bias != nil {
			shift = bias[ch]
		}
		for j := i; j < i+size; j++ {
			dst[j] = (xs[j]-rm[ch])*scale + shift
		}
	}
	settle(out, dst)
}

// BatchNorm standardizes each channel over the batch (training) or by the
// running statistics, then scales and shifts by channel. Inputs x [n, c, …],
// running mean, running variance, weight, bias; results the value and the
// running statistics after this batch: (1−momentum)·running + momentum·batch,
// the variance unbiased. Where none run, they are those of the batch.
func BatchNorm(c *Call) error {
	if !c.Attrs.Bool("training") {
		for i := range 2 {
			if c.In[1+i].Valid() {
				Convert(c.Out[1+i], c.In[1+i])
			}
		}
		return byType(c.Out[0].DType, func() { normByStats[float32](c, 1, 2) }, func() { normByStats[float64](c, 1, 2) }, nil)
	}
	return byType(c.Out[0].DType, func() { batchNorm[float32](c) }, func() { batchNorm[float64](c) }, nil)
}

func batchNorm[T float32 | float64](c *Call) {
	x, out := c.In[0], c.Out[0]
	weight, bias := optional[T](c, 3), optional[T](c, 4)
	eps, momentum := c.Attrs.Float("eps"), c.Attrs.Float("momentum")
	channels := x.Dims[1]
	axes := []int{0}
	for i := 2; i < len(x.Dims); i++ {
		axes = append(axes, i)
	}
	data, done := writeRows[T](out, axes)
	stats := [2][]float64{make([]float64, channels), make([]float64, channels)}
	var old [2][]float64
	for i := range old {
		old[i] = optional[float64](c, 1+i)
	}
	rows(x, axes, func(ch int, row []T) {
		n := len(row)
		m, r := spreadOf(row, eps)
		scale, shift := r, T(0)
		if weight != nil {
			scale *= weight[ch]
		}
		if bias != nil {
			shift = bias[ch]
		}
		y := data[ch*n : (ch+1)*n]
		for i, v := range row {
			y[i] = (v-m)*scale + shift
		}
		variance := sumPower(row, float64(m), 2) / float64(n-1)
		for i, v := range [2]float64{float64(m), variance} {
			if old[i] != nil {
				v = (1-momentum)*old[i][ch] + momentum*v
			}
			stats[i][ch] = v
		}
	})
	done()
	for i := range stats {
		Convert(c.Out[1+i], denseOf(stats[i], c.Out[1+i].Dims))
	}
}
