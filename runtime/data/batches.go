package data

import (
	"iter"

	"github.com/tpush/tpush/runtime/tpu"
)

// A Batch is some rows of inputs and targets.
type Batch struct{ X, Y *tpu.Tensor }

// Batches cuts x and y into batches of n rows, in order, as views; the last one may be smaller.
func Batches(x, y *tpu.Tensor, n int) []Batch {
	var out []Batch
	for i := 0; i < x.Dim(0); i += n {
		end := min(i+n, x.Dim(0))
		out = append(out, Batch{x.Slice(0, i, end), y.Slice(0, i, end)})
	}
	return out
}

// Shuffled is Batches of the rows in a random order, which tpu.Seed decides.
func Shuffled(x, y *tpu.Tensor, n int) []Batch {
	p := tpu.I64.RandPerm(x.Dim(0))
	return Batches(x.IndexSelect(0, p), y.IndexSelect(0, p), n)
}

// Each loops over Batches.
func Each(x, y *tpu.Tensor, n int) iter.Seq2[*tpu.Tensor, *tpu.Tensor] {
	return func(yield func(x, y *tpu.Tensor) bool) {
		for _, b := range Batches(x, y, n) {
			if !yield(b.X, b.Y) {
				return
			}
		}
	}
}
