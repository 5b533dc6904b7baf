package op

import (
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// TestHugeSizes infers rows at sizes beyond 2³¹ elements, beyond 2³¹ along one
// axis, and of no elements: nothing is allocated, every count is exact.
func TestHugeSizes(t *testing.T) {
	const big = 1<<31 + 8
	f := func(dims ...int) shape.Spec { return shape.Of(dtype.F32, dims...) }
	i := func(dims ...int) shape.Spec { return shape.Of(dtype.I64, dims...) }
	for _, c := range []struct {
		row   Name
		in    []shape.Spec
		attrs Attrs
		want  []int
	}{
		{"add", []shape.Spec{f(big), f(1)}, nil, []int{big}},
		{"add", []shape.Spec{f(1<<16, 1), f(1 << 16)}, nil, []int{1 << 16, 1 << 16}},
		{"sum", []shape.Spec{f(big, 2)}, attrs("dim", []int{0}), []int{2}},
		{"sum", []shape.Spec{f(big)}, nil, []int{}},
		{"mean", []shape.Spec{f(2, big)}, attrs("dim", []int{-1}, "keepdim", true), []int{2, 1}},
		{"argmax", []shape.Spec{f(big)}, nil, []int{}},
		{"cumsum", []shape.Spec{f(big)}, attrs("dim", 0), []int{big}},
		{"reshape", []shape.Spec{f(1<<16, 1<<16)}, attrs("shape", []int{-1}), []int{1 << 32}},
		{"reshape", []shape.Spec{f(1 << 32)}, attrs("shape", []int{1 << 20, -1}), []int{1 << 20, 1 << 12}},
		{"permute", []shape.Spec{f(3, big)}, attrs("dims", []int{1, 0}), []int{big, 3}},
		{"expand", []shape.Spec{f(1, 5)}, attrs("sizes", []int{1 << 33, -1}), []int{1 << 33, 5}},
		{"unsqueeze", []shape.Spec{f(big)}, attrs("dim", 0), []int{1, big}},
		{"slice", []shape.Spec{f(big)}, attrs("dim", 0, "start", 8, "end", big, "step", 2), []int{1 << 30}},
		{"slice", []shape.Spec{f(big)}, attrs("dim", 0, "start", -4, "end", big, "step", 1), []int{4}},
		{"select", []shape.Spec{f(2, big)}, attrs("dim", 1, "index", -1), []int{2}},
		{"unfold", []shape.Spec{f(big)}, attrs("dimension", 0, "size", 16, "step", 8), []int{1<<28 - 0, 16}},
		{"cat", []shape.Spec{f(big), f(big)}, attrs("dim", 0), []int{2 * big}},
		{"matmul", []shape.Spec{f(1<<17, 3), f(3, 1<<17)}, nil, []int{1 << 17, 1 << 17}},
		{"outer", []shape.Spec{f(1 << 17), f(1 << 17)}, nil, []int{1 << 17, 1 << 17}},
		{"index_select", []shape.Spec{f(3), i(big)}, attrs("dim", 0), []int{big}},
		{"repeat", []shape.Spec{f(2, 3)}, attrs("sizes", []int{1 << 31, 1}), []int{1 << 32, 3}},
		{"sum", []shape.Spec{f(0, big)}, attrs("dim", []int{0}), []int{big}},
		{"add", []shape.Spec{f(0), f(1)}, nil, []int{0}},
		{"cat", []shape.Spec{f(0, 2), f(big, 2)}, attrs("dim", 0), []int{big, 2}},
		{"triu_indices", nil, attrs("row", 1<<20, "col", 1<<20), []int{2, 1<<39 + 1<<19}},
		{"tril_indices", nil, attrs("row", 1<<20, "col", 3, "offset", -1<<40), []int{2, 0}},
	} {
		row := Lookup(c.row)
		if row == nil {
			t.Errorf("no row %s", c.row)
			continue
		}
		a, err := row.Complete(c.attrs)
		if err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		if out, err := row.Specs(c.in, a); err != nil || !shape.EqualDims(out[0].Dims, c.want) {
			t.Errorf("%s of %v %v: %v, %v; want %v", c.row, c.in, c.attrs, out, err, c.want)
		}
		if row.View != nil && len(c.in) > 0 {
			if v, err := row.View(shape.Dense(c.in[0].Dims), a); err != nil || !shape.EqualDims(v.Dims, c.want) {
				t.Errorf("%s: the view of %v is %v, %v; want %v", c.row, c.in, v, err, c.want)
			}
		}
	}
	for name, c := range map[Name][]shape.Spec{
		"outer": {f(1 << 40), f(1 << 40)}, "matmul": {f(1<<40, 1), f(1, 1<<40)}, "add": {f(1<<40, 1), f(1 << 40)},
	} {
		row := Lookup(name)
		a, _ := row.Complete(nil)
		if out, err := row.Specs(c, a); err == nil {
			t.Errorf("%s gives %v, more than 64 bits count", name, out)
		}
	}
}
