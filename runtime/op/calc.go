package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// calc writes formulas for gradient rules: operands are Values or Go numbers.
type calc struct{ Builder }

// val makes an operand of a Value, a float64 or an int.
func (k calc) val(x any) Value {
	switch x := x.(type) {
	case Value:
		return x
	case float64:
		return k.Scalar(x)
	case int:
		return k.Scalar(float64(x))
	}
	return nil
}

// do applies a row without attributes.
func (k calc) do(n Name, in ...any) Value {
	vs := make([]Value, len(in))
	for i, x := range in {
		vs[i] = k.val(x)
	}
	return k.Do(n, nil, vs...)
}

func (k calc) add(x, y any) Value      { return k.do("add", x, y) }
func (k calc) sub(x, y any) Value      { return k.do("sub", x, y) }
func (k calc) mul(x, y any) Value      { return k.do("mul", x, y) }
func (k calc) div(x, y any) Value      { return k.do("div", x, y) }
func (k calc) neg(x any) Value         { return k.do("neg", x) }
func (k calc) exp(x any) Value         { return k.do("exp", x) }
func (k calc) log(x any) Value         { return k.do("log", x) }
func (k calc) sqrt(x any) Value        { return k.do("sqrt", x) }
func (k calc) abs(x any) Value         { return k.do("abs", x) }
func (k calc) sign(x any) Value        { return k.do("sign", x) }
func (k calc) pow(x any, p any) Value  { return k.do("pow", x, p) }
func (k calc) eq(x, y any) Value       { return k.do("eq", x, y) }
func (k calc) ne(x, y any) Value       { return k.do("ne", x, y) }
func (k calc) gt(x, y any) Value       { return k.do("gt", x, y) }
func (k calc) lt(x, y any) Value       { return k.do("lt", x, y) }
func (k calc) le(x, y any) Value       { return k.do("le", x, y) }
func (k calc) where(c, x, y any) Value { return k.do("where", c, x, y) }

// at makes attributes of name and value pairs.
func at(kv ...any) Attrs {
	a := make(Attrs, 0, len(kv)/2)
	for i := 0; i+1 < len(kv); i += 2 {
		a = append(a, Attr{Name: kv[i].(string), Value: kv[i+1]})
	}
	return a
}

// to changes the element type, when it differs.
func (k calc) to(x Value, t dtype.DType) Value {
	if x.Spec().DType == t {
		return x
	}
	return k.Do("to", at("dtype", t), x)
}

// reshape changes the dimensions, when they differ.
func (k calc) reshape(x Value, dims []int) Value {
	if shape.EqualDims(x.Spec().Dims, dims) {
		return x
	}
	return k.Do("reshape", at("shape", dims), x)
}

// expand stretches x to dims.
func (k calc) expand(x Value, dims []int) Value {
	if shape.EqualDims(x.Spec().Dims, dims) {
		return x
	}
	return k.Do("expand", at("sizes", dims), x)
}

// sum adds over axes and keeps them as size 1.
func (k calc) sum(x Value, axes ...int) Value {
	return k.Do(Sum, at("dim", axes, "keepdim", true), x)
}

// mean is the mean over axes, which stay as size 1.
func (k calc) mean(x Value, axes ...int) Value {
	return k.Do(Mean, at("dim", axes, "keepdim", true), x)
}

// keep puts the reduced axes of x back into dy as size 1.
func (k calc) keep(dy Value, x shape.Spec, axes []int) Value {
	return k.reshape(dy, keptDims(x.Dims, axes, true))
}

// fit reduces g, which was computed at a broadcast shape, to the type and dimensions of like.
func (k calc) fit(g Value, like shape.Spec) Value {
	d, to := g.Spec().Dims, like.Dims
	if !shape.EqualDims(d, to) {
		lead := len(d) - len(to)
		var axes []int
		for i := range d {
			if i < lead || to[i-lead] == 1 && d[i] != 1 {
				axes = append(axes, i)
			}
		}
		if len(axes) > 0 {
			g = k.sum(g, axes...)
		}
		if size := shape.Size(g.Spec().Dims); size != shape.Size(to) {
			g = k.expand(g, to)
		}
		g = k.reshape(g, to)
	}
	return k.to(g, like.DType)
}

// keptDims gives dims with the axes as size 1, or without them.
func keptDims(dims, axes []int, keep bool) []int {
	out := make([]int, 0, len(dims))
	for i, d := range dims {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// like is the spec of x as an ordinary tensor.
func like(x Value) shape.Spec { return shape.Spec{DType: x.Spec().DType, Dims: x.Spec().Dims} }

// zeros is a constant of the type and dimensions of x.
func (k calc) zeros(x Value) Value { return k.Full(like(x), 0) }
