package sim

import (
	"errors"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// The tests use rows of their own, small enough to see that they are right.

// each calls f with the flat index of every element and the operands' elements.
func at(a kernel.Array, i int) float32 {
	off := a.Offset
	for d := len(a.Dims) - 1; d >= 0; d-- {
		off += i % a.Dims[d] * a.Strides[d]
		i /= a.Dims[d]
	}
	return kernel.As[float32](a.Buf)[off]
}

func elementwise(name op.Name, f func(x, y float32) float32) *op.Def {
	return &op.Def{Name: name, Class: op.Elementwise,
		Kernel: func(c *kernel.Call) error {
			out := kernel.As[float32](c.Out[0].Buf)
			for i := range out {
				x := at(c.In[0], i)
				y := x
				if len(c.In) > 1 && c.In[1].Valid() {
					y = at(c.In[1], i)
				}
				out[i] = f(x, y)
			}
			return nil
		},
		Cost: func(_, out []shape.Spec, _ op.Attrs) op.Cost {
			n := int64(out[0].Size())
			return op.Cost{FLOPs: n, VPUOps: n}
		},
	}
}

var (
	add  = elementwise("add", func(x, y float32) float32 { return x + y })
	mul  = elementwise("mul", func(x, y float32) float32 { return x * y })
	relu = elementwise("relu", func(x, _ float32) float32 { return max(x, 0) })
	// addK adds an attribute.
	addK = &op.Def{Name: "add_k", Class: op.Elementwise, Kernel: func(c *kernel.Call) error {
		out := kernel.As[float32](c.Out[0].Buf)
		for i := range out {
			out[i] = at(c.In[0], i) + float32(c.Attrs.Float("k"))
		}
		return nil
	}}
	// minMax has two results.
	minMax = &op.Def{Name: "aminmax", Class: op.Reduce, Kernel: func(c *kernel.Call) error {
		lo, hi := at(c.In[0], 0), at(c.In[0], 0)
		for i := range c.In[0].Size() {
			lo, hi = min(lo, at(c.In[0], i)), max(hi, at(c.In[0], i))
		}
		kernel.As[float32](c.Out[0].Buf)[0] = lo
		kernel.As[float32](c.Out[1].Buf)[0] = hi
		return nil
	}}
	sumAll = &op.Def{Name: "sum", Class: op.Reduce, Kernel: func(c *kernel.Call) error {
		var s float32
		for i := range c.In[0].Size() {
			s += at(c.In[0], i)
		}
		kernel.As[float32](c.Out[0].Buf)[0] = s
		return nil
	}}
	matmul = &op.Def{Name: "matmul", Class: op.Contract,
		Kernel: func(c *kernel.Call) error {
			m, k, n := c.In[0].Dims[0], c.In[0].Dims[1], c.In[1].Dims[1]
			out := kernel.As[float32](c.Out[0].Buf)
			for i := range m {
				for j := range n {
					var s float32
					for l := range k {
						s += at(c.In[0], i*k+l) * at(c.In[1], l*n+j)
					}
					out[i*n+j] = s
				}
			}
			return nil
		},
		Cost: func(in, _ []shape.Spec, _ op.Attrs) op.Cost {
			m, k, n := in[0].Dims[0], in[0].Dims[1], in[1].Dims[1]
			return op.Cost{FLOPs: 2 * int64(m) * int64(k) * int64(n), M: m, N: n, K: k, Unit: op.MXU}
		},
	}
	transpose = &op.Def{Name: "transpose", Class: op.View, Traits: op.MetadataOnly,
		View: func(v shape.View, _ op.Attrs) (shape.View, error) {
			return shape.View{Dims: []int{v.Dims[1], v.Dims[0]}, Strides: []int{v.Strides[1], v.Strides[0]}, Offset: v.Offset}, nil
		},
		Kernel: func(c *kernel.Call) error {
			out := kernel.As[float32](c.Out[0].Buf)
			r, k := c.Out[0].Dims[0], c.Out[0].Dims[1]
			for i := range r {
				for j := range k {
					out[i*k+j] = at(c.In[0], j*r+i)
				}
			}
			return nil
		},
	}
	// flatten is a view of dense arrays only.
	flatten = &op.Def{Name: "flatten", Class: op.View, Traits: op.MetadataOnly,
		View: func(v shape.View, _ op.Attrs) (shape.View, error) {
			if !v.Contiguous() {
				return shape.View{}, errors.New("not contiguous")
			}
			return shape.View{Dims: []int{shape.Size(v.Dims)}, Strides: []int{1}, Offset: v.Offset}, nil
		},
		Kernel: func(c *kernel.Call) error {
			out := kernel.As[float32](c.Out[0].Buf)
			for i := range out {
				out[i] = at(c.In[0], i)
			}
			return nil
		},
	}
	strided = &op.Def{Name: "as_strided", Class: op.View, Traits: op.MetadataOnly,
		View: func(_ shape.View, a op.Attrs) (shape.View, error) {
			return shape.View{Dims: a.Ints("size"), Strides: a.Ints("stride"), Offset: a.Int("offset")}, nil
		},
		Kernel: func(c *kernel.Call) error {
			out := kernel.As[float32](c.Out[0].Buf)
			dims, st := c.Attrs.Ints("size"), c.Attrs.Ints("stride")
			for i := range out {
				k, rest := c.Attrs.Int("offset"), i
				for d := len(dims) - 1; d >= 0; d-- {
					k += rest % dims[d] * st[d]
					rest /= dims[d]
				}
				out[i] = at(c.In[0], k)
			}
			return nil
		},
	}
	fails  = &op.Def{Name: "cholesky", Class: op.Contract, Kernel: func(*kernel.Call) error { return errSingular }}
	panics = &op.Def{Name: "bad", Kernel: func(c *kernel.Call) error { _ = c.In[9]; return nil }}

	errSingular = errors.New("not positive definite")
)

// A builder writes graphs.
type builder struct{ g graph.Graph }

func f32(dims ...int) shape.Spec { return shape.Of(dtype.F32, dims...) }

func (b *builder) input(s shape.Spec) graph.Ref {
	n := &graph.Node{Outs: []shape.Spec{s}, Index: len(b.g.Inputs)}
	b.g.Inputs = append(b.g.Inputs, n)
	return graph.Ref{Node: n}
}

func (b *builder) all(d *op.Def, a op.Attrs, outs []shape.Spec, in ...graph.Ref) *graph.Node {
	n := &graph.Node{Def: d, In: in, Attrs: a, Outs: outs, Index: len(b.g.Nodes)}
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

func (b *builder) do(d *op.Def, out shape.Spec, in ...graph.Ref) graph.Ref {
	return graph.Ref{Node: b.all(d, nil, []shape.Spec{out}, in...)}
}

func (b *builder) view(name op.Name, a op.Attrs, out shape.Spec, in graph.Ref) graph.Ref {
	return graph.Ref{Node: b.all(op.Must(name), a, []shape.Spec{out}, in)}
}

func (b *builder) graph(outs ...graph.Ref) *graph.Graph {
	b.g.Outputs = outs
	return &b.g
}
