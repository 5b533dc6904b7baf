package kernel

import "math"

// floatRows runs f on each row along dim, in the type the result computes in.
func floatRows(c *Call, f32 func(x, y []float32), f64 func(x, y []float64)) error {
	if c.Out[0].Size() == 0 {
		return nil
	}
	return scan(c, f32, f64, nil)
}

// floatRows2 is floatRows for two inputs of one shape.
func floatRows2(c *Call, f32 func(x, v, y []float32), f64 func(x, v, y []float64)) error {
	x, v, out := c.In[0], c.In[1], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	axes := oneAxis(c.Attrs, len(x.Dims))
	return byType(out.DType,
		func() { mapRows2(x, v, out, axes, f32) },
		func() { mapRows2(x, v, out, axes, f64) },
		nil)
}

// Softmax gives e^x / Σ e^x along dim, shifted by the largest element.
func Softmax(c *Call) error { return floatRows(c, softmaxRow[float32], softmaxRow[float64]) }

func softmaxRow[T float32 | float64](x, y []T) {
	_, s := shiftedExp(x, y)
	r := 1 / s
	for i := range y {
		y[i] *= r
	}
}

// Softmin is Softmax of −x.
func Softmin(c *Call) error { return floatRows(c, softminRow[float32], softminRow[float64]) }

func softminRow[T float32 | float64](x, y []T) {
	n := make([]T, len(x))
	for i, v := range x {
		n[i] = -v
	}
	softmaxRow(n, y)
}

// LogSoftmax gives x − log Σ e^x along dim.
func LogSoftmax(c *Call) error {
	return floatRows(c, logSoftmaxRow[float32], logSoftmaxRow[float64])
}

func logSoftmaxRow[T float32 | float64](x, y []T) {
	m, s := shiftedExp(x, y)
	l := T(math.Log(float64(s)))
	for i, v := range x {
		y[i] = v - m - l
	}
}

// SoftmaxBackward gives y·(dy − Σ dy·y) along dim. Inputs dy, y.
func SoftmaxBackward(c *Call) error {
	return floatRows2(c, softmaxBackwardRow[float32], softmaxBackwardRow[float64])
}

func softmaxBackwardRow[T float32 | float64](dy, y, out []T) {
	for i, v := range y {
		out[i] = dy[i] * v
	}
	s := sumRow(out)
	for i, v := range y {
		out[i] = v * (dy[i] - s)
	}
}

// LogSoftmaxBackward gives dy − e^y·Σ dy along dim. Inputs dy, y.
func LogSoftmaxBackward(c *Call) error {
	return floatRows2(c, logSoftmaxBackwardRow[float32], logSoftmaxBackwardRow[float64])
}

func logSoftmaxBackwardRow[T float32 | float64](dy, y, out []T) {
	s := sumRow(dy)
	for i, v := range y {
		out[i] = dy[i] - expOf(v)*s
	}
}
