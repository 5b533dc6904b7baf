package kernel

import "math"

// Statistics are computed in float64 for every type and rounded once.

// sumOf adds f of each element in the fixed order of a sum.
func sumOf(row []float64, f func(float64) float64) float64 {
	var part []float64
	total := 0.0
	for k := 0; k < len(row); k += sumBlock {
		var s [sumLanes]float64
		for i, v := range row[k:min(k+sumBlock, len(row))] {
			s[i%sumLanes] += f(v)
		}
		total = foldLanes(&s)
		if len(row) > sumBlock {
			part = append(part, total)
		}
	}
	if part != nil {
		return foldPairs(part)
	}
	return total
}

// sumPower adds v−m (power 1) or its square (power 2) of each element, in
// float64 and in the fixed order of a sum.
func sumPower[T float32 | float64](row []T, m float64, power int) float64 {
	var part []float64
	total := 0.0
	for k := 0; k < len(row); k += sumBlock {
		var s [sumLanes]float64
		x := row[k:min(k+sumBlock, len(row))]
		n := len(x) &^ (sumLanes - 1)
		for i := 0; i < n; i += sumLanes {
			v := (*[sumLanes]T)(x[i:])
			if power == 1 {
				for l := range s {
					s[l] += float64(v[l]) - m
				}
			} else {
				for l := range s {
					d := float64(v[l]) - m
					s[l] += d * d
				}
			}
		}
		for l, v := range x[n:] {
			d := float64(v) - m
			if power == 2 {
				d *= d
			}
			s[l] += d
		}
		total = foldLanes(&s)
		if len(row) > sumBlock {
			part = append(part, total)
		}
	}
	if part != nil {
		return foldPairs(part)
	}
	return total
}

// meanVar gives the mean, and the squared deviations' sum over max(0, n−correction), in two passes.
func meanVar[T float32 | float64](row []T, correction float64) (mean, variance float64) {
	n := float64(len(row))
	mean = sumPower(row, 0, 1) / n
	return mean, sumPower(row, mean, 2) / max(0, n-correction)
}

func moments(c *Call, root, mean bool) error {
	return byType(c.Out[0].DType, func() { momentRows[float32](c, root, mean) }, func() { momentRows[float64](c, root, mean) }, nil)
}

func momentRows[T float32 | float64](c *Call, root, mean bool) {
	x := c.In[0]
	correction := c.Attrs.Float("correction")
	dst := dest[float64](c.Out[0])
	var means []float64
	if mean {
		means = dest[float64](c.Out[1])
	}
	rows(x, reducedAxes(c.Attrs, len(x.Dims)), func(i int, row []T) {
		m, v := meanVar(row, correction)
		if root {
			v = math.Sqrt(v)
		}
		dst[i] = v
		if mean {
			means[i] = m
		}
	})
	settle(c.Out[0], dst)
	if mean {
		settle(c.Out[1], means)
	}
}

// Var is the variance over dim, divided by max(0, n−correction).
func Var(c *Call) error { return moments(c, false, false) }

// Std is the square root of the variance.
func Std(c *Call) error { return moments(c, true, false) }

// VarMean gives variance and mean.
func VarMean(c *Call) error { return moments(c, false, true) }

// StdMean gives standard deviation and mean.
func StdMean(c *Call) error { return moments(c, true, true) }

// Logsumexp is log Σ e^x over dim, shifted by the largest element.
func Logsumexp(c *Call) error {
	reduceRows(c.In[0], c.Out[0], reducedAxes(c.Attrs, len(c.In[0].Dims)), logSumExpRow)
	return nil
}

func logSumExpRow(row []float64) float64 {
	if len(row) == 0 {
		return math.Inf(-1)
	}
	m := maxRow(row)
	if math.IsInf(m, 0) {
		m = 0
	}
	return m + math.Log(sumOf(row, func(v float64) float64 { return math.Exp(v - m) }))
}

// Norm is (Σ |x|^p)^(1/p) over dim; p is the attribute named ord or p: 0 counts
// what is not 0, ±∞ are the largest and the smallest magnitude, "fro" is 2, "nuc" the sum of
// singular values of the matrices in two axes.
func Norm(c *Call) error {
	if c.Attrs.Get("p") == "nuc" {
		return MatrixNorm(c)
	}
	p := NormOrder(c.Attrs)
	reduceRows(c.In[0], c.Out[0], reducedAxes(c.Attrs, len(c.In[0].Dims)), func(row []float64) float64 { return normRow(row, p) })
	return nil
}

// NormOrder reads the order of a norm from the attribute ord or p.
func NormOrder(a Attrs) float64 {
	v := a.Get("ord")
	if v == nil {
		v = a.Get("p")
	}
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return 2
}

func normRow(row []float64, p float64) float64 {
	if len(row) == 0 {
		return 0
	}
	switch p {
	case 0:
		return float64(nonzeros(row))
	case 1:
		return sumOf(row, math.Abs)
	case 2:
		m := 0.0
		for _, v := range row {
			m = max(m, math.Abs(v))
		}
		if m > 1e-140 && m < 1e140 || m == 0 || math.IsInf(m, 0) || m != m {
			return math.Sqrt(sumOf(row, func(v float64) float64 { return v * v }))
		}
		return m * math.Sqrt(sumOf(row, func(v float64) float64 { return v / m * (v / m) }))
	case math.Inf(1):
		m := 0.0
		for _, v := range row {
			m = max(m, math.Abs(v))
		}
		return m
	case math.Inf(-1):
		m := math.Inf(1)
		for _, v := range row {
			m = min(m, math.Abs(v))
		}
		return m
	}
	return math.Pow(sumOf(row, func(v float64) float64 { return math.Pow(math.Abs(v), p) }), 1/p)
}

// Dist is the p-norm of the difference of two arrays that broadcast.
func Dist(c *Call) error {
	x, y := broadcastPair(c.In[0], c.In[1])
	d := make([]float64, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
	}
	dst := dest[float64](c.Out[0])
	dst[0] = normRow(d, NormOrder(c.Attrs))
	settle(c.Out[0], dst)
	return nil
}

// Renorm scales every slice along dim whose p-norm is above maxnorm down to it.
func Renorm(c *Call) error {
	x := c.In[0]
	p, limit := c.Attrs.Float("p"), c.Attrs.Float("maxnorm")
	keep := oneAxis(c.Attrs, len(x.Dims))
	var axes []int
	for i := range x.Dims {
		if i != keep[0] {
			axes = append(axes, i)
		}
	}
	return alongAxes(x, c.Out[0], axes, func(row, out []float64) {
		scale := 1.0
		if n := normRow(row, p); n > limit {
			scale = limit / (n + 1e-7)
		}
		for i, v := range row {
			out[i] = v * scale
		}
	})
}
