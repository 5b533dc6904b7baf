package op

import (
	"maps"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// ints makes the type of an i64 input; its numbers do not matter to a lowering.
func ints(dims ...int) *kernel.Array { return i64s(dims, make([]int64, shape.Size(dims))...) }

// lowerSamples are the samples of every row: those of gradients, and one for
// each row that has none. Only their types and attributes matter.
func lowerSamples() map[Name][]sample {
	x, y, i, mask := d(2, 3), d(3), ints(2, 3), bools(d(2, 3))
	state := dense(dtype.U64, d(2), []uint64{1, 2})
	all := gradSamples()
	maps.Copy(all, map[Name][]sample{
		"hash_tensor": {{in: []any{x}}}, "heaviside": {{in: []any{x, y}}},
		"isclose": {{in: []any{x, y}}}, "allclose": {{in: []any{x, y}}}, "equal": {{in: []any{x, x}}},
		"bitcast":        {{in: []any{i}, attrs: attrs("dtype", dtype.F64)}},
		"full":           {{attrs: attrs("size", []int{2, 3}, "fill_value", 1.5)}},
		"arange":         {{attrs: attrs("start", 0.0, "end", 5.0)}},
		"linspace":       {{attrs: attrs("start", 0.0, "end", 1.0, "steps", 5)}},
		"logspace":       {{attrs: attrs("start", 0.0, "end", 1.0, "steps", 5)}},
		"eye":            {{attrs: attrs("n", 3)}},
		"tril_indices":   {{attrs: attrs("row", 3, "col", 3)}},
		"triu_indices":   {{attrs: attrs("row", 3, "col", 3)}},
		"random_bits":    {{in: []any{state}, attrs: attrs("size", []int{3})}},
		"uniform":        {{in: []any{state}, attrs: attrs("size", []int{3})}},
		"normal":         {{in: []any{state}, attrs: attrs("size", []int{3})}},
		"exponential":    {{in: []any{state}, attrs: attrs("size", []int{3})}},
		"randint":        {{in: []any{state}, attrs: attrs("size", []int{3}, "high", 10)}},
		"randperm":       {{in: []any{state}, attrs: attrs("n", 5)}},
		"bernoulli":      {{in: []any{state, y}}},
		"bernoulli.p":    {{in: []any{state}, attrs: attrs("size", []int{3}, "p", 0.5)}},
		"quantile_ranks": {{in: []any{x, 0.5}}},
		"unique":         {{in: []any{y}, attrs: attrs("count", 3)}}, "unique_consecutive": {{in: []any{y}, attrs: attrs("count", 3)}},
		"searchsorted": {{in: []any{y, d(2), nil}}}, "bucketize": {{in: []any{x, y}}},
		"bincount":                        {{in: []any{ints(3), nil}, attrs: attrs("bins", 4)}},
		"histc":                           {{in: []any{y}, attrs: attrs("bins", 4)}},
		"isin":                            {{in: []any{x, y}}},
		"masked.argmax":                   {{in: []any{x, mask}, attrs: attrs("dim", []int{1})}},
		"masked.argmin":                   {{in: []any{x, mask}, attrs: attrs("dim", []int{1})}},
		"ctc_loss_backward":               {{in: []any{d(), d(4, 1, 3), ints(1, 2), ints(1), ints(1)}}},
		"multilabel_margin_loss_backward": {{in: []any{d(), x, i}}},
		"cholesky":                        {{in: []any{f64s(d(3, 3), 2, 0.5, -1, 0.3, 1.5, 0.7, -0.4, 0.2, 3)}, pre: gram}}, "eigh": {{in: []any{d(3, 3)}}}, "ldl_factor_ex": {{in: []any{d(3, 3)}}},
		"ldl_solve": {{in: []any{d(3, 3), dense(dtype.I32, d(3), []int32{1, 2, 3}), d(3, 1)}}},
		"geqrf":     {{in: []any{d(3, 2)}}}, "detach": {{in: []any{x}}}, "bag_of": {{in: []any{i, nil}}},
		"one_hot":                {{in: []any{ints(3)}, attrs: attrs("num_classes", 4)}},
		"nonzero":                {{in: []any{y}, attrs: attrs("count", 2)}},
		"prod_others_backward":   {{in: []any{x, x}, attrs: attrs("dim", []int{1})}},
		"singular_norm_backward": {{in: []any{d(), d(2, 2)}, attrs: attrs("ord", "nuc")}},
		"cumprod_second":         {{in: []any{x, x, x}, attrs: attrs("dim", 1)}},
	})
	for _, n := range []Name{
		"logical_not", "signbit", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
		"spherical_bessel_j0", "airy_ai", "count_nonzero", "any", "all", "argmax", "argmin", "argsort",
	} {
		all[n] = []sample{{in: []any{x}}}
	}
	for _, n := range []Name{"eq", "ne", "lt", "le", "gt", "ge", "floor_divide", "logical_and", "logical_or", "logical_xor"} {
		all[n] = []sample{{in: []any{x, y}}}
	}
	all["bitwise_not"] = []sample{{in: []any{i}}}
	for _, n := range []Name{"gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"} {
		all[n] = []sample{{in: []any{i, ints(3)}}}
	}
	for _, n := range []Name{
		"hann", "hamming", "blackman", "nuttall", "general_hamming", "general_cosine", "bartlett", "cosine", "exponential", "gaussian", "kaiser",
	} {
		all[n+"_window"] = []sample{{attrs: attrs("window_length", 5)}}
	}
	return all
}
