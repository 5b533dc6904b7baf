package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// CovOptions are the options of Cov and CorrCoef.
type CovOptions struct {
	Correction any     // what is taken from the count before it divides; 1 when not set
	FWeights   *Tensor // how often each observation counts, integers
	AWeights   *Tensor // how much it counts
}

// Cov is the covariance of the rows of a matrix, whose columns are observations: [k,n] → [k,k].
func (t *Tensor) Cov(opts ...CovOptions) *Tensor {
	t.engine()
	o := firstOption(opts)
	x := t
	if len(x.view.Dims) < 2 {
		x = x.Reshape(1, x.Size())
	}
	if !x.dt.IsFloat() {
		x = x.to(dtype.F32)
	}
	correction := 1.0
	if o.Correction != nil {
		correction = asFloat(o.Correction)
	}
	w := DType(x.dt).Ones(x.Dim(1))
	if o.FWeights != nil {
		w = w.Mul(o.FWeights)
	}
	if o.AWeights != nil {
		w = w.Mul(o.AWeights)
	}
	total := w.Sum()
	d := x.Sub(x.Mul(w).SumKeep(1).Div(total))
	norm := total.Sub(correction)
	if o.AWeights != nil {
		norm = total.Sub(w.Mul(o.AWeights).Sum().Div(total).Mul(correction))
	}
	return d.Mul(w).MatMul(d.T()).Div(norm.ClampMin(0)).Squeeze()
}

// CorrCoef is the correlation of the rows of a matrix, whose columns are observations: [k,n] → [k,k].
func (t *Tensor) CorrCoef() *Tensor {
	v := t.Cov()
	if len(v.view.Dims) == 0 {
		return v.Div(v)
	}
	d := v.Diagonal().Sqrt()
	return v.Div(d.Unsqueeze(1)).Div(d.Unsqueeze(0)).Clamp(ClampOptions{Min: -1, Max: 1})
}

// PDist gives the p-norms of the differences of each pair of rows, in the order
// (0,1), (0,2), …: [n,k] → [n(n-1)/2].
func (t *Tensor) PDist(p float64) *Tensor {
	n := t.Dim(0)
	at := TriuIndices(n, n, TriuIndicesOptions{Offset: 1})
	d := t.IndexSelect(0, at.Select(0, 0)).Sub(t.IndexSelect(0, at.Select(0, 1)))
	return d.NormWith(NormOptions{Dim: []int{1}, P: p})
}

// HistogramOptions are the options of Histogram and HistogramDD.
type HistogramOptions struct {
	Range   []float64 // first and last edge of each axis; the extremes of the elements when not set
	Weight  *Tensor   // how much each element counts
	Density bool      // divide by the sum and the sizes of the bins
}

// edgesOf gives the edges of bins, a number or the edges themselves.
func (o HistogramOptions) edgesOf(x *Tensor, bins any, axis int) *Tensor {
	if t, ok := bins.(*Tensor); ok {
		return t
	}
	n, ok := bins.(int)
	if !ok || n < 1 {
		x.s.e.fail("histogram", &shape.ArgumentError{Op: "histogram", Arg: "bins", Value: bins, Why: "a positive number or a tensor of edges is wanted"})
	}
	lo, hi := 0.0, 1.0
	switch {
	case len(o.Range) >= 2*axis+2:
		lo, hi = o.Range[2*axis], o.Range[2*axis+1]
	case x.Size() > 0:
		lo, hi = x.Min().Item(), x.Max().Item()
	}
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	return x.DType().Linspace(lo, hi, n+1)
}

// inBins says which elements of a vector lie in which bin; the last one has its upper edge too: [n] → Bool [n,bins].
func inBins(x, edges *Tensor) *Tensor {
	n := edges.Size() - 1
	x = x.Unsqueeze(1)
	in := x.Ge(edges.narrow(0, 0, n)).LogicalAnd(x.Lt(edges.narrow(0, 1, n)))
	last := I64.Arange(n).Eq(n - 1).LogicalAnd(x.Eq(edges.narrow(0, n, 1)))
	return in.LogicalOr(last)
}

// Histogram counts elements in bins: as many equal ones, or between given edges.
func (t *Tensor) Histogram(bins any, opts ...HistogramOptions) (counts, edges *Tensor) {
	t.engine()
	o := firstOption(opts)
	edges = o.edgesOf(t, bins, 0)
	in := inBins(t.Reshape(-1), edges).to(t.dt)
	if o.Weight != nil {
		in = in.Mul(o.Weight.Reshape(-1, 1))
	}
	counts = in.Sum(0)
	if o.Density {
		n := edges.Size() - 1
		counts = counts.Div(counts.Sum()).Div(edges.narrow(0, 1, n).Sub(edges.narrow(0, 0, n)))
	}
	return counts, edges
}

// HistogramDD counts points, the vectors of the last axis, in bins of each
// coordinate; bins has a number or a tensor of edges for each.
func (t *Tensor) HistogramDD(bins []any, opts ...HistogramOptions) (counts *Tensor, edges []*Tensor) {
	t.engine()
	o := firstOption(opts)
	k := t.Dim(-1)
	if len(bins) != k {
		t.s.e.fail("histogramdd", &shape.ArgumentError{Op: "histogramdd", Arg: "bins", Value: len(bins), Why: "one for each coordinate is wanted"})
	}
	x := t.Reshape(-1, k)
	n := x.Dim(0)
	dims := make([]int, k)
	// The flat bin of every point, and whether it is in one.
	flat, inside := I64.Zeros(n), Bool.Ones(n)
	for i := range k {
		c := x.selectAt(1, i)
		edges = append(edges, o.edgesOf(c, bins[i], i))
		in := inBins(c, edges[i])
		dims[i] = edges[i].Size() - 1
		flat = flat.Mul(dims[i]).Add(in.to(dtype.I64).ArgMax(1))
		inside = inside.LogicalAnd(in.Any(1))
	}
	w := inside.to(t.dt)
	if o.Weight != nil {
		w = w.Mul(o.Weight.Reshape(-1))
	}
	counts = DType(t.dt).Zeros(shape.Size(dims)).IndexAdd(0, flat, w).Reshape(dims...)
	if o.Density {
		counts = counts.Div(counts.Sum())
		for i, e := range edges {
			one := make([]int, k)
			for j := range one {
				one[j] = 1
			}
			one[i] = dims[i]
			counts = counts.Div(e.narrow(0, 1, dims[i]).Sub(e.narrow(0, 0, dims[i])).Reshape(one...))
		}
	}
	return counts, edges
}

// UnravelIndex turns flat positions in a tensor of the given dimensions into
// one position for each axis.
func (t *Tensor) UnravelIndex(dims ...int) []*Tensor {
	t.engine()
	x := t.to(dtype.I64)
	out := make([]*Tensor, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		out[i] = x.Remainder(dims[i])
		x = x.FloorDivide(dims[i])
	}
	return out
}

// GradientOptions are the options of Gradient.
type GradientOptions struct {
	Spacing   []any // for each axis the distance of neighbours or a tensor of coordinates; 1 when not set
	Dims      []int // axes; all when not set
	EdgeOrder int   // 1 or 2: how exact the ends are; 1 when not set
}

// Gradient estimates the derivative along each axis from neighbours.
func (t *Tensor) Gradient(opts ...GradientOptions) []*Tensor {
	e := t.engine()
	o := firstOption(opts)
	dims := o.Dims
	if dims == nil {
		for i := range len(t.view.Dims) {
			dims = append(dims, i)
		}
	}
	x := t
	if !x.dt.IsFloat() {
		x = x.to(dtype.F32)
	}
	var out []*Tensor
	for i, d := range dims {
		d = x.axisOf("gradient", d)
		n := x.view.Dims[d]
		if n < max(2, o.EdgeOrder+1) {
			e.fail("gradient", &shape.ArgumentError{Op: "gradient", Arg: "input", Value: x.Spec(), Why: "an axis is too short for its ends"})
		}
		// h[j] is the distance of elements j and j+1, as a tensor that stretches to x.
		h := DType(x.dt).Ones(n - 1)
		var spacing any
		switch {
		case len(o.Spacing) == 1:
			spacing = o.Spacing[0]
		case i < len(o.Spacing):
			spacing = o.Spacing[i]
		}
		switch s := spacing.(type) {
		case nil:
		case *Tensor:
			h = s.narrow(0, 1, n-1).Sub(s.narrow(0, 0, n-1)).to(x.dt)
		default:
			h = h.Mul(s)
		}
		one := make([]int, len(x.view.Dims))
		for j := range one {
			one[j] = 1
		}
		one[d] = n - 1
		out = append(out, slope(x, h.Reshape(one...), d, o.EdgeOrder))
	}
	return out
}

// slope is the derivative of x along axis d, h the distances of neighbours.
func slope(x, h *Tensor, d, order int) *Tensor {
	n := x.view.Dims[d]
	at := func(t *Tensor, from, count int) *Tensor { return t.narrow(d, from, count) }
	rise := at(x, 1, n-1).Sub(at(x, 0, n-1)).Div(h) // of each gap
	first, last := at(rise, 0, 1), at(rise, n-2, 1)
	if order == 2 {
		end := func(near, far, a, b *Tensor) *Tensor { // extrapolates from the two gaps at an end
			return near.Mul(a.Mul(2).Add(b)).Sub(far.Mul(a)).Div(a.Add(b))
		}
		first, last = end(first, at(rise, 1, 1), at(h, 0, 1), at(h, 1, 1)), end(last, at(rise, n-3, 1), at(h, n-2, 1), at(h, n-3, 1))
	}
	if n == 2 {
		return Cat(d, first, last)
	}
	a, b := at(h, 0, n-2), at(h, 1, n-2)
	mid := at(rise, 0, n-2).Mul(b).Add(at(rise, 1, n-2).Mul(a)).Div(a.Add(b))
	return Cat(d, first, mid, last)
}
