package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
)

// lowerFirst and upperFirst give a row one triangle of input i alone.
func lowerFirst(i int) func(b Builder, in []Value) []Value {
	return func(b Builder, in []Value) []Value {
		in = slices.Clone(in)
		in[i] = lowerPart(b, in[i], 0)
		return in
	}
}

func upperFirst(i int) func(b Builder, in []Value) []Value {
	return func(b Builder, in []Value) []Value {
		in = slices.Clone(in)
		in[i] = upperPart(b, in[i], 0)
		return in
	}
}

// gram makes the first input symmetric and positive definite.
func gram(b Builder, in []Value) []Value {
	return append([]Value{mat(b, in[0], swapped(b, in[0]))}, in[1:]...)
}

func (samples) Linalg() map[Name][]sample {
	a := func() any { return f64s(d(3, 3), 2, 0.5, -1, 0.3, 1.5, 0.7, -0.4, 0.2, 3) }
	two := func() any { return f64s(d(2, 2, 2), 2, 0.5, -1, 1.5, 0.7, -0.4, 0.9, 3) }
	i32s := func(dims []int, xs ...int32) *kernel.Array { return dense(dtype.I32, dims, xs) }
	tau := func() any { return f64s(d(2), 1.2, 0.7) }
	return map[Name][]sample{
		"lu_factor_ex": {
			{in: []any{a()}, out: []int{0}}, {in: []any{f64s(d(2, 3), 1, 0.3, -0.5, 2, 0.7, 0.1)}, out: []int{0}},
			{in: []any{f64s(d(3, 2), 1, 0.3, -0.5, 2, 0.7, 0.1)}, out: []int{0}}, {in: []any{two()}, out: []int{0}},
		},
		"lu_unpack": {{in: []any{d(3, 2), i32s(d(2), 2, 3)}, out: []int{1, 2}}, {in: []any{d(2, 3), i32s(d(2), 2, 2)}, out: []int{2}}},
		"lu_solve": {
			{in: []any{a(), i32s(d(3), 3, 2, 3), d(3, 2)}}, {in: []any{a(), i32s(d(3), 3, 2, 3), d(3, 2)}, attrs: attrs("adjoint", true)},
			{in: []any{a(), i32s(d(3), 2, 3, 3), d(2, 3)}, attrs: attrs("left", false)},
			{in: []any{a(), i32s(d(3), 2, 3, 3), d(2, 2, 3)}, attrs: attrs("left", false, "adjoint", true)},
		},
		"cholesky_solve":   {{in: []any{d(3, 2), f64s(d(3, 3), 2, 0, 0, 0.3, 1.5, 0, -0.4, 0.2, 3)}, pre: lowerFirst(1)}, {in: []any{d(2, 1), two()}, attrs: attrs("upper", true), pre: upperFirst(1)}},
		"cholesky_inverse": {{in: []any{a()}, pre: lowerFirst(0)}, {in: []any{two()}, attrs: attrs("upper", true), pre: upperFirst(0)}},
		"ormqr": {
			{in: []any{d(3, 2), tau(), d(3, 2)}}, {in: []any{d(3, 2), tau(), d(3, 1)}, attrs: attrs("transpose", true)},
			{in: []any{d(3, 2), tau(), d(1, 3)}, attrs: attrs("left", false)}, {in: []any{d(2, 3, 2), f64s(d(2, 1), 0.6, 1.3), d(2, 2, 3)}, attrs: attrs("left", false, "transpose", true)},
		},
		"pinv": {
			{in: []any{f64s(d(3, 2), 1, 0.3, -0.5, 2, 0.7, 0.1), nil, nil}}, {in: []any{f64s(d(2, 3), 1, 0.3, -0.5, 2, 0.7, 0.1), nil, nil}},
			{in: []any{a(), fixed{*f64s(d(), 0.01)}, nil}, attrs: attrs("hermitian", true), pre: gram},
		},
		"matrix_exp":   {{in: []any{a()}}, {in: []any{two()}}},
		"matrix_sqrth": {{in: []any{a()}, pre: gram}},
		"solve_triangular": {
			{in: []any{a(), d(3, 2)}, attrs: attrs("upper", true)}, {in: []any{a(), d(3, 2)}, attrs: attrs("upper", false, "unitriangular", true)},
			{in: []any{a(), d(2, 3)}, attrs: attrs("upper", true, "left", false)}, {in: []any{two(), d(2, 1)}, attrs: attrs("upper", false)},
		},
		"solve":   {{in: []any{a(), d(3, 2)}}, {in: []any{a(), d(3)}}, {in: []any{two(), d(2, 2)}}, {in: []any{two(), d(1, 2, 3)}}},
		"inv":     {{in: []any{a()}}, {in: []any{two()}}},
		"det":     {{in: []any{a()}}, {in: []any{two()}}},
		"logdet":  {{in: []any{a()}}},
		"slogdet": {{in: []any{two()}, out: []int{1}}},
		"qr":      {{in: []any{f64s(d(4, 2), 1, 0.3, -0.5, 2, 0.7, 0.1, 1.2, -0.8)}}, {in: []any{a()}}, {in: []any{f64s(d(2, 3), 1, 0.3, -0.5, 0.2, 2, 0.7)}}},
		"svd":     {{in: []any{f64s(d(3, 2), 1, 0.3, -0.5, 2, 0.7, 0.1)}, out: []int{1}}, {in: []any{f64s(d(2, 3), 1, 0.3, -0.5, 2, 0.7, 0.1)}, first: true}, {in: []any{f64s(d(3, 2), 1, 0.3, -0.5, 2, 0.7, 0.1)}, first: true}},
	}
}
