package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/tpu"
)

// composed are recorded operations that the tensor layer makes of others; some
// factorizations are put together again so that the choice of a sign does not matter.
var composed = map[string]func(tensors, *conformance.Record) ([]*tpu.Tensor, bool){
	"qr": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		// The signs that make the diagonal of R positive.
		q, t := first(ts, r).QR()
		s := t.Diagonal(tpu.DiagonalOptions{Dim1: -2, Dim2: -1}).Detach().Sign()
		return []*tpu.Tensor{q.Mul(s.Unsqueeze(-2)), t.Mul(s.Unsqueeze(-1))}, true
	},
	"qr_rebuild": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		q, t := first(ts, r).QR()
		return []*tpu.Tensor{q.MatMul(t), q.T().MatMul(q)}, true
	},
	"eigh_values_and_rebuild": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		w, v := first(ts, r).EigH()
		return []*tpu.Tensor{w, v.Mul(w.Unsqueeze(-2)).MatMul(v.T())}, true
	},
	"svd_rebuild": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		u, s, v := first(ts, r).SVD()
		return []*tpu.Tensor{s, u.Mul(s.Unsqueeze(-2)).MatMul(v)}, true
	},
	"affine_grid": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		var size []int
		for _, x := range r.Inputs[1].Items {
			n, _ := x.Number.(int)
			size = append(size, n)
		}
		return one_(tpu.AffineGrid(first(ts, r), size, gridOptions(r)))
	},
	"grid_sample": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(tpu.GridSample(first(ts, r), second(ts, r), gridOptions(r)))
	},
	"nn.functional.grid_sample": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(tpu.GridSample(first(ts, r), second(ts, r), gridOptions(r)))
	},
	"lp_pool1d": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		p, _ := r.Inputs[1].Number.(float64)
		k, _ := r.Inputs[2].Number.(int)
		return one_(tpu.LPPool1D(first(ts, r), p, []int{k}))
	},
	"lp_pool2d": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		p, _ := r.Inputs[1].Number.(float64)
		k, _ := r.Inputs[2].Number.(int)
		return one_(tpu.LPPool2D(first(ts, r), p, []int{k}))
	},
}

func gridOptions(r *conformance.Record) (o tpu.GridSampleOptions) {
	o.Mode, _ = r.Attrs["mode"].(string)
	o.PaddingMode, _ = r.Attrs["padding_mode"].(string)
	o.AlignCorners, _ = r.Attrs["align_corners"].(bool)
	return o
}
