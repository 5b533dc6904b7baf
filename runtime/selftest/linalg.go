package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/tpu"
)

// factors are the recorded operations that are made of factorizations, some of
// them so that the choice of a sign does not matter.
var factors = map[string]func(tensors, *conformance.Record) ([]*tpu.Tensor, bool){
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
	"eigvalsh": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).EigValsH()) },
	"svdvals":  func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).SVDVals()) },
	"pinv":     func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).PInv()) },
	"matrix_power": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).MatrixPower(rest(r)[0]))
	},
	"matrix_rank": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).MatrixRank()) },
	"cholesky_solve": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		upper, _ := r.Attrs["upper"].(bool)
		return one_(first(ts, r).CholeskySolve(second(ts, r), upper))
	},
}
