package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// classLoss is what the class-index losses share: scores x [n, c, …] (or [c])
// seen as n×c×s, targets of n×s positions, optional weight of each class.
type classLoss struct {
	n, c, s   int
	targets   []int64
	weight    []float64
	ignore    int64
	smoothing float64
	reduction string
}

// newClassLoss reads a call: x gives the shape of the scores, t and w the
// positions of target and weight among the inputs.
func newClassLoss(call *Call, dims []int, t, w int) *classLoss {
	l := &classLoss{n: 1, c: 1, s: 1, reduction: call.Attrs.Str("reduction"), smoothing: call.Attrs.Float("label_smoothing")}
	switch len(dims) {
	case 0:
	case 1:
		l.c = dims[0]
	default:
		l.n, l.c, l.s = dims[0], dims[1], shape.Size(dims[2:])
	}
	l.ignore = int64(call.Attrs.Int("ignore_index"))
	if t >= 0 {
		l.targets = Int64s(call.In[t])
	}
	l.weight = optional[float64](call, w)
	return l
}

// class gives the class of position p (in n×s order) and its weight; ok is false when it is ignored.
func (l *classLoss) class(p int) (y int, w float64, ok bool) {
	t := l.targets[p]
	if t == l.ignore {
		return 0, 0, false
	}
	y, w = int(clampIndex(t, l.c)), 1
	if l.weight != nil {
		w = l.weight[y]
	}
	return y, w, true
}

// total is what a mean divides by: the used weights.
func (l *classLoss) total() float64 {
	s := 0.0
	for p := range l.targets {
		if _, w, ok := l.class(p); ok {
			s += w
		}
	}
	return s
}

// each gives the loss of position p from its log-probabilities lp, stride s apart:
// −(1−ε)·w[y]·lp[y] − ε/c·Σ w[k]·lp[k].
func (l *classLoss) each(p int, lp func(k int) float64) float64 {
	y, w, ok := l.class(p)
	if !ok {
		return 0
	}
	v := -w * lp(y)
	if l.smoothing > 0 {
		s := 0.0
		for k := range l.c {
			if l.weight != nil {
				s -= l.weight[k] * lp(k)
			} else {
				s -= lp(k)
			}
		}
		v = (1-l.smoothing)*v + l.smoothing/float64(l.c)*s
	}
	return v
}

// store reduces the losses.
func (l *classLoss) store(c *Call, each []float64) {
	out := c.Out[0]
	dst := dest[float64](out)
	switch l.reduction {
	case "none":
		copy(dst, each)
	case "sum":
		dst[0] = sumRow(each)
	default:
		dst[0] = sumRow(each) / l.total()
	}
	settle(out, dst)
}

// NLLLoss is −w[y]·lp[y] for log-probabilities lp; with label_smoothing ε the
// target is mixed with the uniform distribution. It is linear in lp. A mean
// divides by the sum of the used weights. Inputs lp [n, c, …], y [n, …], weight.
func NLLLoss(c *Call) error {
	l := newClassLoss(c, c.In[0].Dims, 1, 2)
	lp := Float64s(c.In[0])
	each := make([]float64, len(l.targets))
	for p := range each {
		base := p/l.s*l.c*l.s + p%l.s
		each[p] = l.each(p, func(k int) float64 { return lp[base+k*l.s] })
	}
	l.store(c, each)
	return nil
}

// slope calls f with the factor of lp[k] in the loss of position p, for each k it depends on.
func (l *classLoss) slope(p int, f func(k int, v float64)) {
	y, w, ok := l.class(p)
	if !ok {
		return
	}
	if l.smoothing > 0 {
		for k := range l.c {
			v := -l.smoothing / float64(l.c)
			if l.weight != nil {
				v *= l.weight[k]
			}
			if k == y {
				v -= (1 - l.smoothing) * w
			}
			f(k, v)
		}
		return
	}
	f(y, -w)
}

// upstream gives the factor of each position in the gradient: dy, or dy over the divisor of a mean.
func (l *classLoss) upstream(dy []float64) func(p int) float64 {
	switch l.reduction {
	case "none":
		return func(p int) float64 { return dy[p] }
	case "sum":
		return func(int) float64 { return dy[0] }
	}
	g := dy[0] / l.total()
	return func(int) float64 { return g }
}

// NLLLossBackward is the gradient of NLLLoss for lp. Inputs dy, lp (only its shape matters), y, weight.
func NLLLossBackward(c *Call) error {
	l := newClassLoss(c, c.In[1].Dims, 2, 3)
	g := l.upstream(Float64s(c.In[0]))
	dst := dest[float64](c.Out[0])
	clear(dst)
	for p := range l.targets {
		base, gp := p/l.s*l.c*l.s+p%l.s, g(p)
		l.slope(p, func(k int, v float64) { dst[base+k*l.s] = v * gp })
	}
	settle(c.Out[0], dst)
	return nil
}

// CrossEntropy is NLLLoss of the log-softmax of x [n, c, …]. A floating-point
// target holds the probabilities of the classes instead: −Σ t·w·log-softmax,
// whose mean divides by the batch. Inputs x, target, weight.
func CrossEntropy(c *Call) error {
	x := c.In[0]
	probabilities := c.In[1].DType.IsFloat()
	t := 1
	if probabilities {
		t = -1
	}
	l := newClassLoss(c, x.Dims, t, 2)
	each := make([]float64, l.n*l.s)
	if computeType(x.DType) == dtype.F64 {
		crossEntropyRows(c, l, each, load[float64](x), probabilities)
	} else {
		crossEntropyRows(c, l, each, load[float32](x), probabilities)
	}
	if !probabilities {
		l.store(c, each)
		return nil
	}
	out := c.Out[0]
	dst := dest[float64](out)
	switch l.reduction {
	case "none":
		copy(dst, each)
	case "sum":
		dst[0] = sumRow(each)
	default:
		dst[0] = sumRow(each) / float64(l.n*l.s)
	}
	settle(out, dst)
	return nil
}

func crossEntropyRows[T float32 | float64](c *Call, l *classLoss, each []float64, x []T, probabilities bool) {
	var target []float64
	if probabilities {
		target = Float64s(c.In[1])
	}
	Parallel(len(each), rowGrain(4*l.c), func(lo, hi int) {
		row, e := make([]T, l.c), make([]T, l.c)
		for p := lo; p < hi; p++ {
			base := p/l.s*l.c*l.s + p%l.s
			if l.s == 1 {
				copy(row, x[base:])
			} else {
				for k := range row {
					row[k] = x[base+k*l.s]
				}
			}
			m, s := shiftedExp(row, e)
			lse := float64(m) + math.Log(float64(s))
			if !probabilities {
				each[p] = l.each(p, func(k int) float64 { return float64(row[k]) - lse })
				continue
			}
			for k := range row {
				q := (1-l.smoothing)*target[base+k*l.s] + l.smoothing/float64(l.c)
				if l.weight != nil {
					q *= l.weight[k]
				}
				if q != 0 {
					each[p] -= q * (float64(row[k]) - lse)
				}
			}
		}
	})
}

// CrossEntropyBackward is the gradient of CrossEntropy with class targets for
// x. Inputs dy, x, y, weight.
func CrossEntropyBackward(c *Call) error {
	return byType(c.Out[0].DType, func() { crossEntropyBackward[float32](c) }, func() { crossEntropyBackward[float64](c) }, nil)
}

func crossEntropyBackward[T float32 | float64](c *Call) {
	x := c.In[1]
	l := newClassLoss(c, x.Dims, 2, 3)
	g := l.upstream(Float64s(c.In[0]))
	xs := load[T](x)
	dst := dest[T](c.Out[0])
	Parallel(len(l.targets), rowGrain(4*l.c), func(lo, hi int) {
		row, e := make([]T, l.c), make([]T, l.c)
		for p := lo; p < hi; p++ {
			base := p/l.s*l.c*l.s + p%l.s
			gp := g(p)
			if _, _, ok := l.class(p); !ok {
				for k := range row {
					dst[base+k*l.s] = 0
				}
				continue
			}
			for k := range row {
				row[k] = xs[base+k*l.s]
			}
			_, s := shiftedExp(row, e)
			clear(row)
			total := 0.0
			l.slope(p, func(k int, v float64) { row[k] = T(v * gp); total += v })
			f := T(total*gp) / s
			for k := range row {
				dst[base+k*l.s] = row[k] - e[k]*f
			}
		}
	})
	settle(c.Out[0], dst)
}
