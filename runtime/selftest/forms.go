package selftest

import (
	"strings"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// formed runs a record whose operation is a form of another one: of lists,
// with the operands swapped, with a copy of a view. ok is false when it is none.
func (ts tensors) formed(r *conformance.Record) (out []*tpu.Tensor, ok bool) {
	name := r.Op
	for _, p := range []string{"nn.functional.", "torch.ops.aten.", "linalg.", "special."} {
		name = strings.TrimPrefix(name, p)
	}
	name = strings.TrimSuffix(name, ".default")
	if base, is := strings.CutPrefix(name, "_foreach_"); is {
		return ts.foreach(r, base), true
	}
	if base, is := strings.CutPrefix(name, "__"); is && strings.HasSuffix(base, "__") {
		base = strings.TrimSuffix(base, "__")
		c := *r
		if swap, is := strings.CutPrefix(base, "r"); is && base != "rshift" {
			c.Inputs = []conformance.Operand{r.Inputs[1], r.Inputs[0]}
			base = swap
		}
		if full, is := dunders[base]; is {
			base = full
		}
		c.Op = base
		return ts.apply(&c), true
	}
	if t, is := conversions[name]; is && len(r.Inputs) == 1 {
		return one_(first(ts, r).To(t))
	}
	for _, n := range []string{r.Op, name} {
		if f := form(n); f != nil {
			return f(&composite{ts, r}), true
		}
	}
	if strings.Contains(name, "_polynomial_") && len(r.Inputs) == 2 {
		return one_(tpu.Polynomial(name, first(ts, r), ts.value(r.Inputs[1])))
	}
	if base, is := aliases[name]; is && !hasRow(r.Op) {
		c := *r
		c.Op = base
		return ts.apply(&c), true
	}
	if base, is := strings.CutSuffix(name, "_copy"); is && base != "" && !hasRow(name) {
		c := *r
		c.Op = base
		for _, t := range ts.apply(&c) {
			out = append(out, t.Clone())
		}
		return out, true
	}
	if name != r.Op && !hasRow(r.Op) && !strings.HasPrefix(r.Op, "special.") {
		c := *r
		c.Op = name
		return ts.apply(&c), true
	}
	return nil, false
}

// aliases are second names of operations.
var aliases = map[string]string{"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
	"arctanh": "atanh", "moveaxis": "movedim", "multiply": "mul", "subtract": "sub", "divide": "div", "not_equal": "ne", "greater": "gt", "greater_equal": "ge",
	"less": "lt", "less_equal": "le", "swapdims": "swapaxes", "fix": "trunc", "negative": "neg", "absolute": "abs", "clip": "clamp",
	"concat": "cat", "concatenate": "cat", "row_stack": "vstack", "ger": "outer"}

// hasRow says whether a recorded name is a row.
func hasRow(name string) bool {
	for _, n := range conformance.Rows(name) {
		if op.Lookup(n) != nil {
			return true
		}
	}
	return false
}

// dunders are Python's names of operators.
var dunders = map[string]string{"truediv": "div", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "mod": "remainder",
	"floordiv": "floor_divide", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "invert": "bitwise_not"}

// conversions are the methods that change the element type.
var conversions = map[string]tpu.DType{"bfloat16": tpu.BF16, "float": tpu.F32, "double": tpu.F64, "half": tpu.F16, "int": tpu.I32,
	"long": tpu.I64, "short": tpu.I16, "char": tpu.I8, "byte": tpu.U8, "bool": tpu.Bool}

// foreach applies an operation to every element of its lists.
func (ts tensors) foreach(r *conformance.Record, base string) []*tpu.Tensor {
	if base == "copy" {
		base = "copy_"
	}
	if base == "zero" {
		base = "zero_"
	}
	if base == "norm" {
		base = "linalg.vector_norm"
	}
	var out []*tpu.Tensor
	for i := range r.Inputs[0].Items {
		c := &conformance.Record{Op: base, Attrs: map[string]any{}}
		for k, v := range r.Attrs {
			if l, ok := v.([]any); ok && i < len(l) {
				v = l[i]
			}
			c.Attrs[k] = v
		}
		for _, o := range r.Inputs {
			switch {
			case o.Kind == conformance.List && i < len(o.Items):
				o = o.Items[i]
			case o.Kind == conformance.Tensor && len(o.Array.Dims) == 1 && i < o.Array.Size() && (base == "addcmul" || base == "addcdiv"):
				continue // a tensor of scalars
			}
			c.Inputs = append(c.Inputs, o)
		}
		if strings.HasSuffix(base, "_") {
			x := c.Inputs[0].Array
			ts[key(x)] = ts.upload(x).Clone()
		}
		out = append(out, ts.apply(c)[0])
	}
	return out
}

// dropped gives what a dropout does when nothing is random about it.
func dropped(c *composite, byDefault float64) []*tpu.Tensor {
	p := byDefault
	if v, ok := c.r.Attrs["p"]; ok {
		p = float(v)
	}
	training := true
	if v, ok := c.r.Attrs["training"].(bool); ok {
		training = v
	}
	x := c.t(0)
	switch {
	case !training || p == 0 || x.Size() == 0:
		return list1(x)
	case p == 1:
		return list1(x.Mul(0))
	}
	panic(skip("random"))
}

// num is positional argument i as a number, or a default.
func (c *composite) num(i int, name string, or any) any {
	if v, ok := c.r.Attrs[name]; ok && v != nil {
		return v
	}
	if i >= 0 && i < len(c.r.Inputs) && c.r.Inputs[i].Kind == conformance.Scalar {
		return c.r.Inputs[i].Number
	}
	return or
}

// sizes is positional argument i as a list of integers, an integer alone standing for n equal ones.
func (c *composite) sizes(i int, name string, n, or int) []int {
	if l, ok := c.r.Attrs[name].([]any); ok {
		return ints(l)
	}
	if i >= 0 && i < len(c.r.Inputs) && c.r.Inputs[i].Kind == conformance.List {
		var out []int
		for _, x := range c.r.Inputs[i].Items {
			out = append(out, whole(x.Number))
		}
		return out
	}
	v := whole(c.num(i, name, or))
	out := make([]int, n)
	for k := range out {
		out[k] = v
	}
	return out
}

// tensor is positional argument i or a keyword that names an input; nil when absent.
func (c *composite) tensor(i int, name string) *tpu.Tensor {
	if m, ok := c.r.Attrs[name].(map[string]any); ok {
		if k, ok := m["input"].(int); ok {
			return c.t(k)
		}
	}
	if i >= 0 {
		return c.t(i)
	}
	return nil
}

// tensorsOf lists tensors given as one list or one by one.
func (c *composite) tensorsOf() []*tpu.Tensor {
	if len(c.r.Inputs) == 1 && c.r.Inputs[0].Kind == conformance.List {
		return c.list(0)
	}
	var out []*tpu.Tensor
	for i := range c.r.Inputs {
		out = append(out, c.t(i))
	}
	return out
}

func (c *composite) dim(i int, or int) int { return whole(c.num(i, "dim", or)) }

func full(like *tpu.Tensor, v float64, dims []int, attrs map[string]any) *tpu.Tensor {
	t := like.DType()
	if s, ok := attrs["dtype"].(string); ok {
		if d, ok := dtype.Parse(s); ok {
			t = tpu.DType(d)
		}
	}
	return t.Full(v, dims...)
}

// form finds how Go programs write an operation that is no row.
func form(name string) func(c *composite) []*tpu.Tensor {
	for _, table := range []func() map[string]func(c *composite) []*tpu.Tensor{tableOfForms, linalgForms, moreForms} {
		if f := table()[name]; f != nil {
			return f
		}
	}
	return nil
}

func self(c *composite) []*tpu.Tensor { return list1(c.t(0)) }

func transposed(c *composite) []*tpu.Tensor { return list1(c.t(0).T()) }

func pieces(c *composite) []*tpu.Tensor {
	x, dim := c.t(0), c.dim(2, 0)
	if c.r.Inputs[1].Kind == conformance.List {
		return x.SplitSizes(c.sizes(1, "", 0, 0), dim)
	}
	return x.Split(whole(c.num(1, "split_size", 1)), dim)
}

func copied(ts []*tpu.Tensor) []*tpu.Tensor {
	out := make([]*tpu.Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.Clone()
	}
	return out
}

func upsample(mode string, align bool) func(c *composite) []*tpu.Tensor {
	return func(c *composite) []*tpu.Tensor {
		r := *c.r
		r.Op, r.Attrs = "interpolate", map[string]any{"mode": mode}
		for k, v := range c.r.Attrs {
			r.Attrs[k] = v
		}
		if align {
			r.Attrs["align_corners"] = true
		}
		return c.ts.row(&r)
	}
}

// unpool puts values back where a pooling found them.
func unpool(n int) func(c *composite) []*tpu.Tensor {
	return func(c *composite) []*tpu.Tensor {
		x, at := c.t(0), c.t(1)
		k := c.sizes(2, "kernel_size", n, 1)
		st, pad := k, c.sizes(4, "padding", n, 0)
		if c.r.Attrs["stride"] != nil || len(c.r.Inputs) > 3 && c.r.Inputs[3].Kind != conformance.None {
			st = c.sizes(3, "stride", n, 1)
		}
		lead := x.Dims()[:x.Rank()-n]
		var space []int
		if l, ok := c.r.Attrs["output_size"].([]any); ok {
			space = ints(l)
			space = space[len(space)-n:]
		} else {
			for i := range n {
				space = append(space, (x.Dim(x.Rank()-n+i)-1)*st[i]-2*pad[i]+k[i])
			}
		}
		flat := append(append([]int{}, lead...), shape.Size(space))
		one := append(append([]int{}, lead...), shape.Size(x.Dims()[x.Rank()-n:]))
		out := x.DType().Zeros(flat...).Scatter(len(lead), at.Reshape(one...), x.Reshape(one...))
		return list1(out.Reshape(append(append([]int{}, lead...), space...)...))
	}
}
