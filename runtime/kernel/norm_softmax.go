package kernel

import "math"

// floatRows runs f on each row along dim, in the type the result computes in.
func floatRows(c *Call, f32 func(x, y []float32), f64 func(x, y []float64)) error {
	if c.Out[0].Size() == 0 {
		return nil
	}
	return scan(c, f32, f64, nil)
}

// wideRows runs the recipe of o along dim, and f on each row for types that it
// does not know.
func wideRows(c *Call, o *rowOp, f func(x, y []float64)) error {
	axes := oneAxis(c.Attrs, len(c.In[0].Dims))
	if done, err := o.run(c, axes); done || c.Out[0].Size() == 0 {
		return err
	}
	return alongAxes(c.In[0], c.Out[0], axes, f)
}

// wideRows2 is wideRows for two inputs of one shape.
func wideRows2(c *Call, o *rowOp, f func(x, v, y []float64)) error {
	axes := oneAxis(c.Attrs, len(c.In[0].Dims))
	if done, err := o.run(c, axes); done || c.Out[0].Size() == 0 {
		return err
	}
	return alongAxes2(c.In[0], c.In[1], c.Out[0], axes, f)
}

// Softmax gives e^x / Σ e^x along dim, shifted by the largest element.
func Softmax(c *Call) error { return wideRows(c, softmaxRows, softmaxRow[float64]) }

func softmaxRow[T float32 | float64](x, y []T) {
	_, s := shiftedExp(x, y)
	r := 1 / s
	for i := range y {
		y[i] *= r
	}
}

// Softmin is Softmax of −x.
func Softmin(c *Call) error { return wideRows(c, softminRows, softminRow) }

func softminRow(x, y []float64) {
	n := make([]float64, len(x))
	for i, v := range x {
		n[i] = -v
	}
	softmaxRow(n, y)
}

// LogSoftmax gives x − log Σ e^x along dim.
func LogSoftmax(c *Call) error { return wideRows(c, logSoftmaxRows, logSoftmaxRow) }

func logSoftmaxRow(x, y []float64) {
	m, s := shiftedExp(x, y)
	l := math.Log(s)
	for i, v := range x {
		y[i] = v - m - l
	}
}

// SoftmaxBackward gives y·(dy − Σ dy·y) along dim. Inputs dy, y.
func SoftmaxBackward(c *Call) error {
	return softmaxBackRows.compute(c, oneAxis(c.Attrs, len(c.In[0].Dims)))
}

// LogSoftmaxBackward gives dy − e^y·Σ dy along dim. Inputs dy, y.
func LogSoftmaxBackward(c *Call) error {
	return wideRows2(c, logSoftmaxBackRows, logSoftmaxBackwardRow)
}

func logSoftmaxBackwardRow(dy, y, out []float64) {
	s := sumRow(dy)
	for i, v := range y {
		out[i] = dy[i] - math.Exp(v)*s
	}
}
