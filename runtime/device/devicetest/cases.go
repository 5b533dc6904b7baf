package devicetest

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A testCase is a graph whose results are compared.
type testCase struct {
	name  string
	build func(b *Builder) *graph.Graph
}

func f32(dims ...int) shape.Spec { return shape.Of(dtype.F32, dims...) }

func attrs(pairs ...any) op.Attrs {
	var a op.Attrs
	for i := 0; i < len(pairs); i += 2 {
		a = append(a, op.Attr{Name: pairs[i].(string), Value: pairs[i+1]})
	}
	return a
}

var cases = []testCase{
	{"one operation", func(b *Builder) *graph.Graph {
		x, y := b.In(f32(3, 5)), b.In(f32(3, 5))
		return b.Out(b.Do("add", nil, x, y))
	}},
	{"a chain with broadcasts", func(b *Builder) *graph.Graph {
		x, y, z := b.In(f32(4, 1, 6)), b.In(f32(5, 1)), b.In(f32())
		v := b.Do("mul", nil, x, y)
		v = b.Do("exp", nil, b.Do("sub", nil, v, z))
		return b.Out(b.Do("add", nil, v, x))
	}},
	{"a layer", func(b *Builder) *graph.Graph {
		x, w, c := b.In(f32(7, 16)), b.In(f32(16, 9)), b.In(f32(9))
		return b.Out(b.Do("relu", nil, b.Do("add", nil, b.Do("matmul", nil, x, w), c)))
	}},
	{"two layers", func(b *Builder) *graph.Graph {
		x, w, v := b.In(f32(7, 16)), b.In(f32(16, 9)), b.In(f32(9, 3))
		h := b.Do("tanh", nil, b.Do("matmul", nil, x, w))
		return b.Out(b.Do("matmul", nil, h, v), h)
	}},
	{"softmax by hand", func(b *Builder) *graph.Graph {
		x := b.In(f32(6, 10))
		m := b.Do("amax", attrs("dim", []int{1}, "keepdim", true), x)
		e := b.Do("exp", nil, b.Do("sub", nil, x, m))
		s := b.Do("sum", attrs("dim", []int{1}, "keepdim", true), e)
		return b.Out(b.Do("div", nil, e, s))
	}},
	{"a diamond, outputs in another order and twice", func(b *Builder) *graph.Graph {
		x := b.In(f32(8))
		p := b.Do("exp", nil, x)
		q, r := b.Do("neg", nil, p), b.Do("mul", nil, p, p)
		s := b.Do("add", nil, q, r)
		return b.Out(s, p, s, r)
	}},
	{"views read in place", func(b *Builder) *graph.Graph {
		x := b.In(f32(4, 6))
		t := b.Do("transpose", attrs("dim0", 0, "dim1", 1), x)
		f := b.Do("reshape", attrs("shape", []int{24}), t)
		s := b.Do("as_strided", attrs("size", []int{3, 2}, "stride", []int{5, 0}, "storage_offset", 4), x)
		return b.Out(b.Do("neg", nil, t), b.Do("neg", nil, f), b.Do("neg", nil, s))
	}},
	{"strides count in the dense value of an intermediate", func(b *Builder) *graph.Graph {
		x := b.In(f32(4, 6))
		t := b.Do("transpose", attrs("dim0", 0, "dim1", 1), x)
		s := b.Do("as_strided", attrs("size", []int{3, 2}, "stride", []int{5, 1}, "storage_offset", 4), t)
		return b.Out(b.Do("neg", nil, s), s, t)
	}},
	{"large constants and what is seen of them", func(b *Builder) *graph.Graph {
		x := b.In(f32(1, 300))
		c := b.Do("full", attrs("size", []int{200, 300}, "fill_value", 2.5))
		t := b.Do("transpose", attrs("dim0", 0, "dim1", 1), c)
		s := b.Do("as_strided", attrs("size", []int{10, 3}, "stride", []int{5, 1}, "storage_offset", 4), c)
		return b.Out(b.Do("add", nil, x, c), c, b.Do("neg", nil, t), s, b.Do("neg", nil, s), t, c)
	}},
	{"views as outputs", func(b *Builder) *graph.Graph {
		x := b.In(f32(4, 6))
		e := b.Do("exp", nil, x)
		return b.Out(b.Do("transpose", attrs("dim0", 0, "dim1", 1), x), b.Do("reshape", attrs("shape", []int{3, 8}), e), x)
	}},
	{"a product of a transposed operand", func(b *Builder) *graph.Graph {
		x, y := b.In(f32(5, 4)), b.In(f32(5, 3))
		return b.Out(b.Do("matmul", nil, b.Do("transpose", attrs("dim0", 0, "dim1", 1), x), y))
	}},
	{"numbers that promote weakly", func(b *Builder) *graph.Graph {
		x := b.In(shape.Of(dtype.BF16, 6))
		two := b.In(shape.Spec{DType: dtype.F64, Weak: true})
		return b.Out(b.Do("mul", nil, x, two))
	}},
	{"integers and booleans", func(b *Builder) *graph.Graph {
		x, y := b.In(shape.Of(dtype.I32, 9)), b.In(shape.Of(dtype.I64, 9))
		lt := b.Do("lt", nil, x, y)
		return b.Out(lt, b.Do("where", nil, lt, x, y), b.Do("mul", nil, x, y))
	}},
	{"gather between elementwise operations", func(b *Builder) *graph.Graph {
		x, i := b.In(f32(4, 6)), b.In(shape.Of(dtype.I64, 4, 3))
		g := b.Do("gather", attrs("dim", 1), b.Do("exp", nil, x), i)
		return b.Out(b.Do("neg", nil, g))
	}},
	{"concatenation", func(b *Builder) *graph.Graph {
		x, y := b.In(f32(2, 3)), b.In(f32(4, 3))
		return b.Out(b.Do("neg", nil, b.Do("cat", attrs("dim", 0), b.Do("exp", nil, x), y)))
	}},
	{"several results", func(b *Builder) *graph.Graph {
		x := b.In(f32(3, 8))
		s := b.Do("sort", attrs("dim", 1), x)
		return b.Out(s, graph.Ref{Node: s.Node, Out: 1})
	}},
	{"no elements", func(b *Builder) *graph.Graph {
		x, y := b.In(f32(0, 5)), b.In(f32(5, 2))
		return b.Out(b.Do("exp", nil, x), b.Do("matmul", nil, x, y), b.Do("sum", nil, x))
	}},
	{"constants", func(b *Builder) *graph.Graph {
		x := b.In(f32(3))
		c := b.Do("full", attrs("size", []int{3}, "fill_value", 2.5), []graph.Ref{}...)
		return b.Out(b.Do("add", nil, x, c), c)
	}},
}
