package sim

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// pool makes random graphs of rows that can be fused and some that cannot.
type pool struct {
	builder
	r    *rand.Rand
	vals []graph.Ref
}

// pick gives a value with the dimensions, in a float type unless any.
func (p *pool) pick(dims []int, any bool) (graph.Ref, bool) {
	for range 40 {
		v := p.vals[p.r.IntN(len(p.vals))]
		if shape.EqualDims(v.Spec().Dims, dims) && (any || v.Spec().DType.IsFloat()) {
			return v, true
		}
	}
	return graph.Ref{}, false
}

// add applies a row, when its inference accepts the operands.
func (p *pool) add(name op.Name, a op.Attrs, in ...graph.Ref) {
	d := op.Must(name)
	a, err := d.Complete(a)
	if err != nil {
		panic(err)
	}
	ss := make([]shape.Spec, len(d.Inputs()))
	for len(in) < len(ss) {
		in = append(in, graph.Ref{})
	}
	for i, r := range in {
		ss[i] = r.Spec()
	}
	out, err := d.Specs(ss, a)
	if err != nil {
		return
	}
	p.vals = append(p.vals, graph.Ref{Node: p.all(d, a, out, in...)})
}

var (
	unaries  = []op.Name{op.Neg, op.Abs, op.Exp, op.Tanh, op.Sigmoid, op.ReLU, op.Square, op.Sqrt, op.Log1p, op.GELU, op.SiLU, op.Erf, op.Floor, op.Sign}
	binaries = []op.Name{op.Add, op.Sub, op.Mul, op.Div, op.Maximum, op.Minimum, op.Lt, op.Eq, op.Ge}
)

// step adds one or two random nodes.
func (p *pool) step(space []int) {
	n := len(space)
	last := op.Attrs{{Name: "dim", Value: -1}}
	kept := append(append([]int{}, space[:n-1]...), 1)
	dims := [][]int{space, space, space, kept}[p.r.IntN(4)]
	x, ok := p.pick(dims, false)
	if !ok {
		return
	}
	switch p.r.IntN(12) {
	case 0, 1, 2:
		p.add(unaries[p.r.IntN(len(unaries))], nil, x)
	case 3, 4, 5, 6:
		other := [][]int{space, kept, {space[n-1]}, {}, dims}[p.r.IntN(5)]
		y, ok := p.pick(other, true)
		if !ok {
			return
		}
		name := binaries[p.r.IntN(len(binaries))]
		var a op.Attrs
		if (name == op.Add || name == op.Sub) && p.r.IntN(3) == 0 {
			a = op.Attrs{{Name: "alpha", Value: 0.5}}
		}
		if p.r.IntN(2) == 0 && a == nil {
			x, y = y, x
		}
		p.add(name, a, x, y)
	case 7:
		p.add([]op.Name{op.Sum, op.Mean, op.Amax}[p.r.IntN(3)], op.Attrs{{Name: "dim", Value: []int{-1}}, {Name: "keepdim", Value: p.r.IntN(3) > 0}}, x)
	case 8:
		p.add([]op.Name{op.Softmax, op.LogSoftmax}[p.r.IntN(2)], last, x)
	case 9:
		p.add("to", op.Attrs{{Name: "dtype", Value: []dtype.DType{dtype.BF16, dtype.F32, dtype.F16, dtype.I32}[p.r.IntN(4)]}}, x)
	case 10:
		if m, ok := p.pick(dims, true); ok {
			y, _ := p.pick(dims, false)
			p.add(op.Where, nil, m, x, y)
		}
	case 11:
		p.add(op.Cumsum, last, x) // stands alone
	}
}

// alone computes the graph node by node with the kernels of the rows.
func alone(t *testing.T, g *graph.Graph, in []kernel.Array) []kernel.Array {
	made := map[graph.Ref]kernel.Array{}
	for i, n := range g.Inputs {
		made[graph.Ref{Node: n}] = in[i]
	}
	for _, n := range g.Nodes {
		c := kernel.Call{Attrs: n.Attrs, Out: []kernel.Array{kernel.New(n.Outs[0])}}
		for _, r := range n.In {
			a := made[r]
			a.Weak = r.Spec().Weak
			c.In = append(c.In, a)
		}
		if err := n.Def.Run(&c); err != nil {
			t.Fatal(err)
		}
		made[graph.Ref{Node: n}] = c.Out[0]
	}
	var out []kernel.Array
	for _, r := range g.Outputs {
		out = append(out, made[r])
	}
	return out
}

// TestGroupsGiveTheBitsOfTheirNodes runs random graphs fused and node by node.
func TestGroupsGiveTheBitsOfTheirNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	fusedSteps := 0
	for round := range 150 {
		p := &pool{r: r}
		space := [][]int{{3, 5}, {40}, {2, 3, 33}, {70, 100}}[r.IntN(4)]
		var in []kernel.Array
		input := func(d dtype.DType, dims []int, weak bool) {
			s := shape.Spec{DType: d, Dims: dims, Weak: weak}
			src := kernel.New(shape.Of(dtype.F64, dims...))
			for i := range kernel.As[float64](src.Buf) {
				x := r.NormFloat64()
				if r.IntN(40) == 0 {
					x = []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), 1e30}[r.IntN(5)]
				}
				kernel.As[float64](src.Buf)[i] = x
			}
			in = append(in, kernel.Cast(src, d))
			p.vals = append(p.vals, p.input(s))
		}
		for _, d := range []dtype.DType{dtype.F32, dtype.F32, dtype.BF16} {
			input(d, space, false)
		}
		input(dtype.F32, space[len(space)-1:], false)
		input(dtype.F32, append(append([]int{}, space[:len(space)-1]...), 1), false)
		input(dtype.F64, []int{}, true)
		for range 5 + r.IntN(60) {
			p.step(space)
		}
		if len(p.g.Nodes) < 2 {
			continue
		}
		outs := []graph.Ref{p.vals[len(p.vals)-1]}
		for _, v := range p.vals {
			if v.Node.Def != nil && r.IntN(8) == 0 && v != outs[0] {
				outs = append(outs, v)
			}
		}
		g := p.graph(outs...)
		want := alone(t, g, in)
		d := open(t, Options{})
		x := compile(t, d, g, device.FastRun)
		l := &device.Launch{}
		for i, a := range in {
			b, err := d.Upload(p.g.Inputs[i].Outs[0], a.Buf, device.Owner{})
			if err != nil {
				t.Fatal(err)
			}
			l.In = append(l.In, b)
		}
		for range 2 {
			l.Out = nil
			if err := x.Run(l); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			for i, b := range l.Out {
				if got := b.Host(); !bytes.Equal(got.Buf[:len(want[i].Buf)], want[i].Buf) {
					t.Fatalf("round %d, output %d, %v of %v: fused and alone differ", round, i, outs[i].Node.Def.Name, outs[i].Spec())
				}
			}
		}
		for _, s := range x.(*executable).steps {
			if s.how == fused {
				fusedSteps++
			}
		}
	}
	if fusedSteps < 200 {
		t.Errorf("only %d groups in all", fusedSteps)
	}
}
