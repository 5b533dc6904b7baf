package op

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// ev is a computed value that remembers how it came about.
type ev struct {
	spec shape.Spec
	arr  kernel.Array
	from *node
	nth  int
}

// Spec gives the type of the value.
func (e *ev) Spec() shape.Spec { return e.spec }

// MissingRowError says that a gradient names a row that the table does not have.
type MissingRowError struct{ Name Name }

func (e *MissingRowError) Error() string { return fmt.Sprintf("no row named %s", e.Name) }

// node is one application on the tape.
type node struct {
	def *Def
	c   Call
}

// evaluator is a Builder that runs kernels at once and keeps a tape.
type evaluator struct{}

// value makes an input.
func value(a kernel.Array) *ev { return &ev{spec: a.Spec(), arr: a} }

func (evaluator) Do(n Name, a Attrs, in ...Value) Value { return evaluator{}.All(n, a, in...)[0] }

func (evaluator) All(n Name, a Attrs, in ...Value) []Value {
	d := Lookup(n)
	if d == nil {
		panic(&MissingRowError{n})
	}
	a, err := d.Complete(a)
	if err != nil {
		panic(err)
	}
	for len(in) < len(d.Inputs()) {
		in = append(in, nil)
	}
	specs := make([]shape.Spec, len(in))
	arrs := make([]kernel.Array, len(in))
	for i, v := range in {
		if v != nil {
			specs[i], arrs[i] = v.Spec(), v.(*ev).arr
		}
	}
	if d.Host != nil {
		if a, err = d.Host(arrs, a); err != nil {
			panic(err)
		}
	}
	out, err := d.Specs(specs, a)
	if err != nil {
		panic(fmt.Errorf("%s%v: %w", n, specs, err))
	}
	kc := &kernel.Call{In: arrs, Attrs: a}
	nd := &node{def: d, c: Call{Attrs: a, In: in}}
	for i, s := range out {
		r := &ev{spec: s, arr: kernel.New(s), from: nd, nth: i}
		for j := range r.arr.Buf {
			r.arr.Buf[j] = 0xA5 // outputs hold unspecified bytes
		}
		kc.Out = append(kc.Out, r.arr)
		nd.c.Out = append(nd.c.Out, r)
	}
	if err := d.Kernel(kc); err != nil {
		panic(fmt.Errorf("%s%v: %w", n, specs, err))
	}
	return nd.c.Out
}

func (evaluator) Scalar(x float64) Value {
	v := value(fill(shape.Of(dtype.F64), x))
	v.spec.Weak = true
	return v
}

func (evaluator) Full(s shape.Spec, x float64) Value {
	s.Weak = false
	return value(fill(s, x))
}

// fill makes an array of equal elements.
func fill(s shape.Spec, x float64) kernel.Array {
	a := kernel.New(s)
	for i := range s.Size() {
		put(a, i, x)
	}
	return a
}

// put stores element i of a dense array of one of the types tests use.
func put(a kernel.Array, i int, x float64) {
	switch a.DType {
	case dtype.F64:
		kernel.As[float64](a.Buf)[i] = x
	case dtype.F32:
		kernel.As[float32](a.Buf)[i] = float32(x)
	case dtype.I64:
		kernel.As[int64](a.Buf)[i] = int64(x)
	case dtype.I32:
		kernel.As[int32](a.Buf)[i] = int32(x)
	case dtype.Bool:
		a.Buf[i] = 0
		if x != 0 {
			a.Buf[i] = 1
		}
	default:
		one := kernel.Array{DType: dtype.F64, View: shape.Dense(nil), Buf: kernel.New(shape.Of(dtype.F64)).Buf}
		kernel.As[float64](one.Buf)[0] = x
		n := a.DType.HostBytes()
		kernel.Convert(kernel.Array{DType: a.DType, View: shape.Dense(nil), Buf: a.Buf[i*n : (i+1)*n]}, one)
	}
}

// elem is the inverse of put.
func elem(a kernel.Array, i int) float64 {
	switch a.DType {
	case dtype.F64:
		return kernel.As[float64](a.Buf)[i]
	case dtype.F32:
		return float64(kernel.As[float32](a.Buf)[i])
	case dtype.I64:
		return float64(kernel.As[int64](a.Buf)[i])
	case dtype.I32:
		return float64(kernel.As[int32](a.Buf)[i])
	case dtype.Bool:
		return float64(a.Buf[i])
	}
	panic("elem: " + a.DType.String())
}

// backward gives the gradient of sum(out·dy) for each of xs, nil when none
// reaches it, by walking the tape; the gradients are on the tape themselves.
func backward(out, dy []Value, xs []Value) []Value {
	b := evaluator{}
	needs := map[*ev]bool{}
	var need func(v Value) bool
	for _, x := range xs {
		needs[x.(*ev)] = true
	}
	var order []*node
	seen := map[*node]bool{}
	need = func(v Value) bool {
		e := v.(*ev)
		if n, ok := needs[e]; ok {
			return n
		}
		n := false
		if e.from != nil {
			for _, in := range e.from.c.In {
				if in != nil && need(in) {
					n = true
				}
			}
			if n && !seen[e.from] {
				seen[e.from] = true
				order = append(order, e.from)
			}
		}
		needs[e] = n
		return n
	}
	grads := map[*ev]Value{}
	add := func(v, g Value) {
		e := v.(*ev)
		if old := grads[e]; old != nil {
			g = b.Do("add", nil, old, g)
		}
		grads[e] = g
	}
	for i, o := range out {
		if dy[i] != nil && need(o) {
			add(o, dy[i])
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		ds := make([]Value, len(n.c.Out))
		any := false
		for j, o := range n.c.Out {
			if g := grads[o.(*ev)]; g != nil {
				ds[j], any = g, true
			}
		}
		if !any || n.def.Grad == nil {
			continue
		}
		c := n.c
		c.Needs = make([]bool, len(c.In))
		for j, in := range c.In {
			c.Needs[j] = in != nil && needs[in.(*ev)] && in.Spec().DType.IsFloat()
		}
		for j, g := range n.def.Grad(b, &c, ds) {
			if g == nil || c.In[j] == nil || !c.Needs[j] {
				continue
			}
			if want := c.In[j].Spec().Dims; !shape.EqualDims(g.Spec().Dims, want) {
				g = b.Do("sum_to_size", attrs("size", want), g) // as the tape does for a stretched operand
			}
			if !g.Spec().Equal(shape.Spec{DType: c.In[j].Spec().DType, Dims: c.In[j].Spec().Dims}) {
				panic(fmt.Errorf("%s: gradient %d is %v, input is %v", n.def.Name, j, g.Spec(), c.In[j].Spec()))
			}
			add(c.In[j], g)
		}
	}
	res := make([]Value, len(xs))
	for i, x := range xs {
		res[i] = grads[x.(*ev)]
	}
	return res
}
