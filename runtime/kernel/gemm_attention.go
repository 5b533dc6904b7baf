package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// AttentionScale is the factor of the scores: the attribute "scale", or one
// over the square root of the width when that is 0.
func AttentionScale(a Attrs, width int) float64 {
	if s := a.Float("scale"); s != 0 {
		return s
	}
	return 1 / math.Sqrt(float64(width))
}

// Attention computes softmax(q·kᵀ·scale + mask)·v over the last two axes:
// q [..,l,e], k [..,s,e], v [..,s,f] → [..,l,f]. A bool mask keeps where it is
// true, another one is added; "is_causal" lets row i see columns up to i. A row
// that sees nothing gives zeros. With fewer heads of k and v (axis -3), each
// serves as many neighbours of q. Scores are f32 (f64 for f64).
func Attention(c *Call) error {
	if c.Out[0].DType == dtype.F64 {
		return attention[float64](c)
	}
	return attention[float32](c)
}

func attention[T float32 | float64](c *Call) error {
	q, k, v, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	var mask Array
	if len(c.In) > 3 {
		mask = c.In[3]
	}
	r := len(out.Dims)
	l, s := q.Dims[len(q.Dims)-2], k.Dims[len(k.Dims)-2]
	batch := append([]int{}, out.Dims[:r-2]...)
	// All operands get the axes of the result, by strides of 0 where they have less.
	see := func(a Array, rows, cols int) (Array, error) {
		d := append(append([]int{}, batch...), rows, cols)
		if n := len(a.Dims); n == r && r > 2 && a.Dims[r-3] != 1 && a.Dims[r-3] != batch[r-3] {
			heads := a.Dims[r-3]
			w := shape.View{Offset: a.Offset}
			w.Dims = append(append(append(w.Dims, a.Dims[:r-2]...), batch[r-3]/heads), a.Dims[r-2:]...)
			w.Strides = append(append(append(w.Strides, a.Strides[:r-2]...), 0), a.Strides[r-2:]...)
			a.View = w
			a = Contiguous(a)
			v, err := a.View.Reshape(append(append(append([]int{}, a.Dims[:r-3]...), batch[r-3]), a.Dims[r-1:]...))
			if !err {
				return a, &shape.NotViewableError{Op: "scaled_dot_product_attention", View: a.View, Dims: d}
			}
			a.View = v
		}
		a.View = shape.View{Dims: d, Strides: stretch(a.Dims, a.Strides, r), Offset: a.Offset}
		return a, nil
	}
	var err error
	if q, err = see(q, l, q.Dims[len(q.Dims)-1]); err != nil {
		return err
	}
	if k, err = see(k, s, k.Dims[len(k.Dims)-1]); err != nil {
		return err
	}
	if v, err = see(v, s, v.Dims[len(v.Dims)-1]); err != nil {
		return err
	}
	n := shape.Size(batch)
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	scores := take[T](mem, n*l*s)
	e := q.Dims[r-1]
	x := wideOperand[T](q, batch, []int{l}, []int{e}, q.Strides[:r-2], q.Strides[r-2:r-1], q.Strides[r-1:])
	y := wideOperand[T](k, batch, []int{e}, []int{s}, k.Strides[:r-2], k.Strides[r-1:], k.Strides[r-2:r-1])
	contract(scores, batch, l, s, e, x, y)
	scale := AttentionScale(c.Attrs, e)
	if narrow, ok := any(scores).([]float32); ok && len(scores) > 0 && !mask.DType.IsComplex() {
		if err := attentionRows32(narrow, mask, c.Attrs.Bool("is_causal"), batch, l, s, float32(scale)); err != nil {
			return err
		}
	} else if s > 0 {
		attentionRows(c, scores, mask, batch, l, s, T(scale))
	}
	f := out.Dims[r-1]
	res := wideResult[T](out)
	p := stack[T]{matrix[T]{scores, s, 1}, shape.RowMajor(append(append([]int{}, batch...), l*s))[:len(batch)]}
	z := wideOperand[T](v, batch, []int{s}, []int{f}, v.Strides[:r-2], v.Strides[r-2:r-1], v.Strides[r-1:])
	contract(res, batch, l, f, s, p, z)
	storeWide(out, res)
	return nil
}

// attentionRows turns scores into weights, row by row.
func attentionRows[T float32 | float64](c *Call, scores []T, mask Array, batch []int, l, s int, scale T) {
	causal := c.Attrs.Bool("is_causal")
	var keep []uint8
	var add []T
	if mask.Valid() {
		d := append(append([]int{}, batch...), l, s)
		m := expanded(mask, d)
		if mask.DType == dtype.Bool {
			keep = Bools(m)
		} else {
			add = wideElems[T](m)
		}
	}
	none := T(math.Inf(-1))
	Parallel(len(scores)/s, max(1, 1<<12/s), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			w := scores[row*s : (row+1)*s]
			seen := s
			if causal {
				seen = min(row%l+1, s)
			}
			top := none
			for j := range w[:seen] {
				v := w[j] * scale
				if add != nil {
					v += add[row*s+j]
				}
				if keep != nil && keep[row*s+j] == 0 {
					v = none
				}
				w[j] = v
				if v > top || v != v {
					top = v
				}
			}
			clear(w[seen:])
			if top == none {
				clear(w)
				continue
			}
			softmaxRow(w[:seen], w[:seen])
		}
	})
}
