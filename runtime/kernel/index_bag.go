package kernel

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/dtype"
)

// Bags gives for every index of an embedding_bag call the bag it belongs to:
// the rows of indices with two axes, else the stretches that begin at offsets.
func Bags(indices, offsets Array) []int {
	n := indices.Size()
	bag := make([]int, n)
	if len(indices.Dims) == 2 {
		for i := range bag {
			bag[i] = i / max(indices.Dims[1], 1)
		}
		return bag
	}
	starts := Int64s(offsets)
	k := 0
	for i := range bag {
		for k+1 < len(starts) && int64(i) >= starts[k+1] {
			k++
		}
		bag[i] = k
	}
	return bag
}

// EmbeddingBag reduces rows of a table bag by bag: indices, weight [v,d],
// offsets, weights of the samples → [bags,d]. "mode" is sum, mean or max; the
// row padding_idx does not count; an empty bag gives zeros.
func EmbeddingBag(c *Call) error {
	w, out := c.In[1], c.Out[0]
	var offsets, factors Array
	if len(c.In) > 2 {
		offsets = c.In[2]
	}
	if len(c.In) > 3 {
		factors = c.In[3]
	}
	if len(c.In[0].Dims) == 1 && !offsets.Valid() {
		return fmt.Errorf("embedding_bag: indices with one axis need offsets")
	}
	idx, bag := Int64s(c.In[0]), Bags(c.In[0], offsets)
	v, d := w.Dims[0], w.Dims[1]
	if v == 0 && len(idx) > 0 {
		return &EmptyReadError{0, w.Dims}
	}
	table := Float64s(w)
	var f []float64
	if factors.Valid() {
		f = Float64s(factors)
	}
	mode, padding := c.Attrs.Str("mode"), c.Attrs.Int("padding_idx")
	if padding != FlatDim && padding < 0 {
		padding += v
	}
	res := make([]float64, out.Size())
	count := make([]int, out.Dims[0])
	for i, id := range idx {
		k := nearIndex(id, v)
		if k == padding {
			continue
		}
		b := bag[i]
		row, to := table[k*d:(k+1)*d], res[b*d:(b+1)*d]
		for j, x := range row {
			switch {
			case mode == "max" && count[b] == 0:
				to[j] = x
			case mode == "max":
				to[j] = math.Max(to[j], x)
			case f != nil:
				to[j] += x * f[i]
			default:
				to[j] += x
			}
		}
		count[b]++
	}
	if mode == "mean" {
		for b, n := range count {
			for j := range d {
				res[b*d+j] /= float64(max(n, 1))
			}
		}
	}
	Convert(out, Array{DType: dtype.F64, View: out.View, Buf: bytesOf(res)})
	return nil
}

// BagOf writes Bags: the bag of every index.
func BagOf(c *Call) error {
	var offsets Array
	if len(c.In) > 1 {
		offsets = c.In[1]
	}
	dst := As[int64](c.Out[0].Buf)
	for i, b := range Bags(c.In[0], offsets) {
		dst[i] = int64(b)
	}
	return nil
}
