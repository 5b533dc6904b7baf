package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A PoolAxis is the geometry of a pooling window along one axis.
type PoolAxis struct {
	In, Out, Kernel, Stride, Padding, Dilation int
}

// PoolAxes reads kernel_size, stride (the kernel by default), padding, dilation
// and ceil_mode for the spatial sizes in. With ceil_mode the last window may
// hang over, but must begin inside the input or its left padding.
func PoolAxes(a Attrs, in []int) []PoolAxis {
	out := make([]PoolAxis, len(in))
	for i, n := range in {
		k := axisAttr(a.Ints("kernel_size"), i, 1)
		p := PoolAxis{In: n, Kernel: k, Stride: axisAttr(a.Ints("stride"), i, k),
			Padding: axisAttr(a.Ints("padding"), i, 0), Dilation: axisAttr(a.Ints("dilation"), i, 1)}
		room := n + 2*p.Padding - p.Dilation*(k-1) - 1
		if a.Bool("ceil_mode") {
			room += p.Stride - 1
		}
		if room >= 0 {
			p.Out = room/p.Stride + 1
			if a.Bool("ceil_mode") && (p.Out-1)*p.Stride >= n+p.Padding {
				p.Out--
			}
		}
		out[i] = p
	}
	return out
}

// AdaptiveRange gives the window of output position o when in positions are
// shared out among out.
func AdaptiveRange(o, in, out int) (lo, hi int) { return o * in / out, ((o+1)*in + out - 1) / out }

// A window lists the input positions of one output position: lo, lo+step, … n of them.
type window struct{ lo, n, step int }

// windowsOf gives the windows of one axis, cut to the input.
func (p PoolAxis) windowsOf() []window {
	ws := make([]window, p.Out)
	for o := range ws {
		lo := o*p.Stride - p.Padding
		n := p.Kernel
		if lo < 0 {
			skip := (-lo + p.Dilation - 1) / p.Dilation
			lo, n = lo+skip*p.Dilation, n-skip
		}
		if lo < p.In {
			n = min(n, (p.In-1-lo)/p.Dilation+1)
		} else {
			n = 0
		}
		ws[o] = window{lo, max(n, 0), p.Dilation}
	}
	return ws
}

func adaptiveWindows(in, out int) []window {
	ws := make([]window, out)
	for o := range ws {
		lo, hi := AdaptiveRange(o, in, out)
		ws[o] = window{lo, hi - lo, 1}
	}
	return ws
}

// MaxPool takes the largest element of every window, NaN being largest. A
// second output gets its position in the flattened plane, the first one among
// equals.
func MaxPool(spatial int) Func {
	return func(c *Call) error {
		x := c.In[0]
		in := x.Dims[len(x.Dims)-spatial:]
		var ws [3][]window
		for i := range 3 {
			ws[i] = []window{{0, 1, 1}}
		}
		for i, p := range PoolAxes(c.Attrs, in) {
			ws[3-spatial+i] = p.windowsOf()
		}
		maxPool(c, in, ws)
		return nil
	}
}

// AdaptiveMaxPool is MaxPool over windows that share the input out evenly.
func AdaptiveMaxPool(spatial int) Func {
	return func(c *Call) error {
		x, out := c.In[0], c.Out[0]
		in := x.Dims[len(x.Dims)-spatial:]
		var ws [3][]window
		for i := range 3 {
			ws[i] = []window{{0, 1, 1}}
		}
		for i := range spatial {
			ws[3-spatial+i] = adaptiveWindows(in[i], out.Dims[len(out.Dims)-spatial+i])
		}
		maxPool(c, in, ws)
		return nil
	}
}

func maxPool(c *Call, in []int, ws [3][]window) {
	var d [3]int
	for i := range 3 {
		d[i] = 1
		if j := i - (3 - len(in)); j >= 0 {
			d[i] = in[j]
		}
	}
	switch wideType(c.Out[0].DType) {
	case dtype.F32:
		maxPoolAs[float32](c, d, ws)
	case dtype.F64:
		maxPoolAs[float64](c, d, ws)
	default:
		maxPoolAs[int64](c, d, ws)
	}
}

func maxPoolAs[T float32 | float64 | int64](c *Call, in [3]int, ws [3][]window) {
	x := wideElems[T](c.In[0])
	res := wideResult[T](c.Out[0])
	var at []int64
	if len(c.Out) > 1 {
		at = As[int64](c.Out[1].Buf)
	}
	plane, outs := volume(in), len(ws[0])*len(ws[1])*len(ws[2])
	if outs == 0 {
		return
	}
	Parallel(len(res)/outs, max(1, 1<<13/outs), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			img := x[p*plane : (p+1)*plane]
			k := p * outs
			for _, a := range ws[0] {
				for _, b := range ws[1] {
					for _, e := range ws[2] {
						best, first := T(0), -1
						for i, z := 0, a.lo; i < a.n; i, z = i+1, z+a.step {
							for j, y := 0, b.lo; j < b.n; j, y = j+1, y+b.step {
								q := (z*in[1]+y)*in[2] + e.lo
								for range e.n {
									if v := img[q]; first < 0 || v > best || v != v && best == best {
										best, first = v, q
									}
									q += e.step
								}
							}
						}
						res[k] = best
						if at != nil {
							at[k] = int64(max(first, 0))
						}
						k++
					}
				}
			}
		}
	})
	storeWide(c.Out[0], res)
}

// Taps say how one axis is resampled: output o is Σ weight[o][i]·input[at[o][i]].
type Taps struct {
	In int
	At [][]int
	W  [][]float64
}

// Resample computes one resampling after the other, one for each of the last axes.
// Transposed, it computes the gradient of that for the input.
func Resample(taps func(c *Call, in []int) []Taps, transposed bool) Func {
	return func(c *Call) error {
		big := c.In[0]
		if transposed {
			big = c.Out[0]
		}
		ts := taps(c, big.Dims)
		switch wideType(c.Out[0].DType) {
		case dtype.F32:
			resample[float32](c, ts, transposed)
		case dtype.F64:
			resample[float64](c, ts, transposed)
		case dtype.C64:
			resample[complex64](c, ts, transposed)
		case dtype.C128:
			resample[complex128](c, ts, transposed)
		default:
			resample[int64](c, ts, transposed)
		}
		return nil
	}
}

func resample[T factor](c *Call, ts []Taps, transposed bool) {
	x, out := c.In[0], c.Out[0]
	cur := wideElems[T](x)
	dims := append([]int{}, x.Dims...)
	lead := len(dims) - len(ts)
	for i, t := range ts {
		d := lead + i
		outer, inner := shape.Size(dims[:d]), shape.Size(dims[d+1:])
		to := len(t.At)
		if transposed {
			to = t.In
		}
		next := make([]T, outer*to*inner)
		from := dims[d]
		Parallel(outer, max(1, 1<<13/max(1, to*inner)), func(lo, hi int) {
			for o := lo; o < hi; o++ {
				src, dst := cur[o*from*inner:(o+1)*from*inner], next[o*to*inner:(o+1)*to*inner]
				for p, at := range t.At {
					for k, q := range at {
						w := scalarOf[T](t.W[p][k])
						a, b := q, p
						if transposed {
							a, b = p, q
						}
						s, r := src[a*inner:(a+1)*inner], dst[b*inner:(b+1)*inner]
						for j, v := range s {
							r[j] += T(w * v)
						}
					}
				}
			}
		})
		cur = next
		dims[d] = to
	}
	res := wideResult[T](out)
	copy(res, cur)
	storeWide(out, res)
}

// AvgTaps are the resampling of average pooling. The size of a window counts
// its padding unless count_include_pad is false; divisor_override takes its place.
func AvgTaps(spatial int) func(c *Call, in []int) []Taps {
	return func(c *Call, in []int) []Taps {
		ts := make([]Taps, spatial)
		for i, p := range PoolAxes(c.Attrs, in[len(in)-spatial:]) {
			t := Taps{In: p.In}
			for o, w := range p.windowsOf() {
				size := float64(w.n)
				lo := o*p.Stride - p.Padding
				if c.Attrs.Bool("count_include_pad") {
					size = float64(min(lo+p.Kernel, p.In+p.Padding) - lo)
				}
				if d := c.Attrs.Int("divisor_override"); d != 0 {
					size = 1
					if i == 0 {
						size = float64(d)
					}
				}
				t.add(w, 1/size)
			}
			ts[i] = t
		}
		return ts
	}
}

// add appends one output position whose taps all have the weight w.
func (t *Taps) add(win window, w float64) {
	at, ws := make([]int, win.n), make([]float64, win.n)
	for k := range at {
		at[k], ws[k] = win.lo+k*win.step, w
	}
	t.At, t.W = append(t.At, at), append(t.W, ws)
}

// AdaptiveTaps are the resampling of adaptive average pooling to the sizes that sizes gives.
func AdaptiveTaps(spatial int) func(c *Call, in []int) []Taps {
	return func(c *Call, in []int) []Taps {
		in = in[len(in)-spatial:]
		small := c.Out[0]
		if c.Attrs.Has("size") {
			small = c.In[0]
		}
		out := small.Dims[len(small.Dims)-spatial:]
		ts := make([]Taps, spatial)
		for i := range ts {
			ts[i] = areaTaps(in[i], out[i])
		}
		return ts
	}
}

func areaTaps(in, out int) Taps {
	t := Taps{In: in}
	for _, w := range adaptiveWindows(in, out) {
		t.add(w, 1/float64(w.n))
	}
	return t
}

// InterpolateTaps are the resampling of interpolate for the attributes mode,
// align_corners, antialias and scale_factor (0: from the sizes), with the
// sizes of in and out along each spatial axis.
func InterpolateTaps(c *Call, in []int) []Taps {
	spatial := len(in) - 2
	small := c.Out[0]
	if c.Attrs.Has("in_size") {
		small = c.In[0]
	}
	ts := make([]Taps, spatial)
	for i := range ts {
		factor := c.Attrs.Float("scale_factor")
		if own := []string{"scales_d", "scales_h", "scales_w"}[3-spatial+i]; c.Attrs.Has(own) && c.Attrs.Float(own) > 0 {
			factor = c.Attrs.Float(own)
		}
		ts[i] = resizeTaps(in[2+i], small.Dims[2+i], factor, c.Attrs)
	}
	return ts
}

func resizeTaps(in, out int, factor float64, a Attrs) Taps {
	mode, align := a.Str("mode"), a.Bool("align_corners")
	scale := float64(in) / float64(out)
	switch {
	case align && out > 1:
		scale = float64(in-1) / float64(out-1)
	case align:
		scale = 0
	case factor > 0 && !a.Bool("recompute_scale_factor"):
		scale = 1 / factor
	}
	t := Taps{In: in}
	switch mode {
	case "area":
		return areaTaps(in, out)
	case "nearest", "nearest-exact":
		// PyTorch computes these positions in f32.
		for o := range out {
			p := float32(o)
			if mode == "nearest-exact" {
				p += 0.5
			}
			at := min(int(math.Floor(float64(p*float32(scale)))), in-1)
			t.add(window{at, 1, 1}, 1)
		}
		return t
	}
	cubic := mode == "bicubic"
	if a.Bool("antialias") {
		return smoothTaps(in, out, scale, cubic)
	}
	for o := range out {
		src := (float64(o)+0.5)*scale - 0.5
		if align {
			src = float64(o) * scale
		}
		if !cubic {
			src = math.Max(src, 0)
			i := min(int(src), in-1)
			f := src - float64(i)
			if i+1 >= in {
				t.add(window{i, 1, 1}, 1)
				continue
			}
			t.At, t.W = append(t.At, []int{i, i + 1}), append(t.W, []float64{1 - f, f})
			continue
		}
		i := int(math.Floor(src))
		f := src - float64(i)
		at, w := make([]int, 4), make([]float64, 4)
		for k := range at {
			at[k] = min(max(i-1+k, 0), in-1)
			w[k] = cubicWeight(f-float64(k-1), -0.75)
		}
		t.At, t.W = append(t.At, at), append(t.W, w)
	}
	return t
}

// cubicWeight is the cubic convolution kernel at distance x.
func cubicWeight(x, a float64) float64 {
	x = math.Abs(x)
	switch {
	case x <= 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((a*x-5*a)*x+8*a)*x - 4*a
	}
	return 0
}

// smoothTaps widen the filter by the scale when the result is smaller, and
// normalize its weights.
func smoothTaps(in, out int, scale float64, cubic bool) Taps {
	reach, filter := 1.0, func(x float64) float64 { return math.Max(0, 1-math.Abs(x)) }
	if cubic {
		reach, filter = 2, func(x float64) float64 { return cubicWeight(x, -0.5) }
	}
	support, inverse := reach, 1.0
	if scale >= 1 {
		support, inverse = reach*scale, 1/scale
	}
	t := Taps{In: in}
	for o := range out {
		center := scale * (float64(o) + 0.5)
		lo := max(int(center-support+0.5), 0)
		n := max(min(int(center+support+0.5), in)-lo, 1)
		at, w := make([]int, n), make([]float64, n)
		sum := 0.0
		for k := range at {
			at[k] = min(lo+k, in-1)
			w[k] = filter((float64(lo+k) - center + 0.5) * inverse)
			sum += w[k]
		}
		for k := range w {
			if sum != 0 {
				w[k] /= sum
			}
		}
		t.At, t.W = append(t.At, at), append(t.W, w)
	}
	return t
}
