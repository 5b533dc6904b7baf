package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A spot is where a value is: a placement for each axis of a mesh. nil: a copy
// everywhere.
type spot struct {
	mesh *shape.Mesh
	on   []shape.Placement
}

// whole says whether each device holds all of it.
func (s *spot) whole() bool {
	return s == nil || !slices.ContainsFunc(s.on, func(p shape.Placement) bool { return p != shape.Replicated })
}

func (s *spot) String() string {
	if s == nil {
		return "R"
	}
	return fmt.Sprint(s.mesh, s.on)
}

// A partition is a program as a partitioner would cut it over a mesh: where
// each value would be, and what the devices would tell each other. It follows
// the rules of XLA's: a product or a reduction over an axis that is cut leaves
// sums in parts, which are added at once; operands that are cut in different
// ways are brought to one; what it knows no rule for, every device computes
// from whole operands.
type partition struct {
	chip *device.Chip
	at   map[graph.Ref]*spot
	done map[string]bool // what was brought somewhere before
	list []device.Collective
	node *graph.Node
}

// partitioned cuts a graph whose inputs are where in says.
func partitioned(g *graph.Graph, in []*spot, chip *device.Chip) (outs []*spot, list []device.Collective, err error) {
	p := &partition{chip: chip, at: map[graph.Ref]*spot{}, done: map[string]bool{}}
	for i, n := range g.Inputs {
		p.at[graph.Ref{Node: n}] = in[i]
	}
	for _, n := range g.Nodes {
		p.node = n
		if err := p.cut(n); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range g.Outputs {
		outs = append(outs, p.at[r])
	}
	return outs, p.list, nil
}

// cut decides where the results of a node are.
func (p *partition) cut(n *graph.Node) error {
	if n.Def.Name == op.Distribute {
		return p.distribute(n)
	}
	mesh := p.meshOf(n)
	if mesh == nil {
		return nil
	}
	switch {
	case n.Def.Class == op.Elementwise:
		p.elementwise(n, mesh)
	case n.Def.Class == op.View && n.Def.View != nil && len(n.In) == 1:
		p.view(n)
	case multiplies[n.Def.Name] && len(n.In) >= 2:
		p.product(n, mesh)
	case strings.HasPrefix(string(n.Def.Name), "conv") && n.Def.Class == op.Contract:
		p.convolution(n, mesh)
	default:
		if axes, ok := n.Def.ReducedAxes(n.In[0].Spec(), n.Attrs); ok {
			p.reduce(n, axes)
			break
		}
		p.rows(n, mesh)
	}
	return nil
}

// meshOf is the mesh of the first operand that is cut; nil when none is.
func (p *partition) meshOf(n *graph.Node) *shape.Mesh {
	for _, r := range n.In {
		if s := p.at[r]; !s.whole() {
			return s.mesh
		}
	}
	return nil
}

// distribute brings a value where the program says.
func (p *partition) distribute(n *graph.Node) error {
	mesh, err := shape.ParseMesh(n.Attrs.Str("mesh"))
	if err != nil {
		return err
	}
	if mesh.Devices() > p.chip.PodDevices {
		return &shape.MeshError{Why: fmt.Sprintf("%d devices, and links connect %d of %s", mesh.Devices(), p.chip.PodDevices, p.chip.Name)}
	}
	on, err := shape.ParsePlacements(n.Attrs.Str("placements"))
	if err != nil {
		return err
	}
	to := &spot{&mesh, on}
	p.bring(n.In[0], to)
	p.at[graph.Ref{Node: n}] = to
	return nil
}

// bring exchanges what it takes to have an operand elsewhere.
func (p *partition) bring(r graph.Ref, to *spot) {
	from := p.at[r]
	if from.whole() { // each device drops what it need not have
		return
	}
	if key := fmt.Sprintf("%p %d %v", r.Node, r.Out, to); p.done[key] {
		return
	} else {
		p.done[key] = true
	}
	at := &spot{from.mesh, slices.Clone(from.on)}
	for a, f := range from.on {
		t := shape.Replicated
		if to != nil && to.mesh.String() == from.mesh.String() {
			t = to.on[a]
		}
		if f == t || f == shape.Replicated {
			continue
		}
		at.on[a] = t
		what := "all-to-all"
		if t == shape.Replicated {
			what = "all-gather"
		}
		p.tell(what, r.Spec(), at, a)
	}
}

// tell notes an exchange along axes of the mesh, with a result of the part of s
// that is at a device.
func (p *partition) tell(what string, s shape.Spec, at *spot, axes ...int) {
	n := 1
	names := make([]string, len(axes))
	for i, a := range axes {
		n *= at.mesh.Dims[a]
		names[i] = at.mesh.Names[a]
	}
	if n == 1 {
		return
	}
	s.Dims = at.part(s.Dims)
	p.list = append(p.list, device.Collective{
		Op: what, Name: string(p.node.Def.Name), Bytes: s.Bytes(), Predicted: true,
		Groups: fmt.Sprintf("%d of %v along %s", n, at.mesh, strings.Join(names, ",")),
		NS:     p.chip.ExchangeNS(what, s.Bytes(), n),
	})
}

// part gives the dimensions of what a device holds.
func (s *spot) part(dims []int) []int {
	if s == nil {
		return dims
	}
	if c, err := s.mesh.Place(dims, s.on); err == nil {
		return c.Part(dims)
	}
	return dims
}

// on gives the placements of an operand on a mesh; one that is on another mesh is gathered.
func (p *partition) on(r graph.Ref, mesh *shape.Mesh) []shape.Placement {
	s := p.at[r]
	if !s.whole() && s.mesh.String() == mesh.String() {
		return s.on
	}
	p.bring(r, nil)
	return slices.Repeat([]shape.Placement{shape.Replicated}, len(mesh.Dims))
}

func (p *partition) set(n *graph.Node, s *spot) {
	for i := range n.Outs {
		if len(n.Outs[i].Dims) == len(n.Outs[0].Dims) {
			p.at[graph.Ref{Node: n, Out: i}] = s
		}
	}
}

// elementwise: the result is cut as the largest operand is.
func (p *partition) elementwise(n *graph.Node, mesh *shape.Mesh) {
	dims := n.Outs[0].Dims
	to := &spot{mesh, slices.Repeat([]shape.Placement{shape.Replicated}, len(mesh.Dims))}
	for a := range mesh.Dims {
		var largest int64 = -1
		for _, r := range n.In {
			if r.Node == nil {
				continue
			}
			if q := p.on(r, mesh)[a]; q >= 0 {
				s := r.Spec()
				if d := int(q) + len(dims) - len(s.Dims); d >= 0 && s.Dims[q] == dims[d] && s.Bytes() > largest {
					to.on[a], largest = shape.Placement(d), s.Bytes()
				}
			}
		}
	}
	for _, r := range n.In {
		if r.Node != nil {
			p.bring(r, to.of(r.Spec().Dims, dims))
		}
	}
	p.set(n, to)
}

// of gives the spot of an operand that is broadcast to what is at s.
func (s *spot) of(dims, out []int) *spot {
	o := &spot{s.mesh, slices.Clone(s.on)}
	for a, q := range o.on {
		if q < 0 {
			continue
		}
		d := int(q) - len(out) + len(dims)
		if o.on[a] = shape.Replicated; d >= 0 && dims[d] == out[q] {
			o.on[a] = shape.Placement(d)
		}
	}
	return o
}

// view: an axis stays cut when an axis of the view steps through the same
// elements, or has the same parts: merged into a larger one, it is its first.
func (p *partition) view(n *graph.Node) {
	r := n.In[0]
	from := p.at[r]
	v := shape.Dense(r.Spec().Dims)
	w, err := n.Def.View(v, n.Attrs)
	to := &spot{from.mesh, slices.Clone(from.on)}
	for a, q := range from.on {
		if q < 0 {
			continue
		}
		to.on[a] = shape.Replicated
		for d := range w.Dims {
			if err == nil && w.Strides[d]*w.Dims[d] == v.Strides[q]*v.Dims[q] && (w.Strides[d] == v.Strides[q] || w.Dims[d]%from.mesh.Dims[a] == 0) {
				to.on[a] = shape.Placement(d)
				break
			}
		}
	}
	back := &spot{from.mesh, slices.Clone(from.on)}
	for a := range back.on {
		if to.on[a] == shape.Replicated {
			back.on[a] = shape.Replicated
		}
	}
	p.bring(r, back)
	p.set(n, to)
}

// reduce: sums over a cut axis are added up between the devices.
func (p *partition) reduce(n *graph.Node, axes []int) {
	from := p.at[n.In[0]]
	if from.whole() {
		p.rows(n, p.meshOf(n))
		return
	}
	to := &spot{from.mesh, slices.Clone(from.on)}
	var parts []int
	for a, q := range from.on {
		if q < 0 {
			continue
		}
		if slices.Contains(axes, int(q)) {
			to.on[a] = shape.Replicated
			parts = append(parts, a)
			continue
		}
		if len(n.Outs[0].Dims) < len(n.In[0].Spec().Dims) {
			for _, x := range axes {
				if x < int(q) {
					to.on[a]--
				}
			}
		}
	}
	if len(parts) > 0 {
		for _, o := range n.Outs {
			p.tell("all-reduce", o, to, parts...)
		}
	}
	p.set(n, to)
}

// multiplies are the rows that multiply matrices: rows × k with k × columns.
var multiplies = map[op.Name]bool{"matmul": true, "mm": true, "bmm": true, "mv": true, "dot": true, "linear": true}

// The labels of axes of a product that are no axis of the result.
const (
	none       = -1
	contracted = -2
)

// labels names each axis of the factors by the axis of the result it becomes.
func labels(n *graph.Node) (left, right []int) {
	l, r, out := len(n.In[0].Spec().Dims), len(n.In[1].Spec().Dims), len(n.Outs[0].Dims)
	left, right = make([]int, l), make([]int, r)
	rows, cols := out-1, none // where the rows of a matrix and its columns go
	if r > 1 {
		rows, cols = out-2, out-1
	}
	batch := func(x []int, n, out int) {
		for i := range n {
			x[i] = out - n + i
		}
	}
	if n.Def.Name == "linear" { // x[…, k] × w[n, k]
		batch(left, l-1, out-min(r-1, 1))
		left[l-1] = contracted
		right[r-1] = contracted
		if r > 1 {
			right[0] = out - 1
		}
		return left, right
	}
	left[l-1] = contracted
	if l > 1 {
		left[l-2] = rows
		batch(left, l-2, rows)
	} else {
		rows = cols // the result has no rows
	}
	right[max(r-2, 0)] = contracted
	if r > 1 {
		right[r-1] = cols
		batch(right, r-2, min(rows, cols))
	}
	return left, right
}

func (p *partition) product(n *graph.Node, mesh *shape.Mesh) {
	ll, lr := labels(n)
	label := func(q shape.Placement, of []int) int {
		if q < 0 || int(q) >= len(of) {
			return none
		}
		return of[q]
	}
	left, right := slices.Clone(p.on(n.In[0], mesh)), slices.Clone(p.on(n.In[1], mesh))
	to := &spot{mesh, slices.Repeat([]shape.Placement{shape.Replicated}, len(mesh.Dims))}
	var parts []int
	for a := range mesh.Dims {
		l, r := label(left[a], ll), label(right[a], lr)
		if l != none && r != none && l != r { // one of them is gathered
			if n.In[0].Spec().Bytes() < n.In[1].Spec().Bytes() {
				left[a], l = shape.Replicated, none
			} else {
				right[a], r = shape.Replicated, none
			}
		}
		switch k := max(l, r); {
		case l == contracted || r == contracted:
			parts = append(parts, a)
		case k != none:
			to.on[a] = shape.Placement(k)
		}
	}
	p.bring(n.In[0], &spot{mesh, left})
	p.bring(n.In[1], &spot{mesh, right})
	for _, r := range n.In[2:] {
		if r.Node != nil {
			p.bring(r, to.of(r.Spec().Dims, n.Outs[0].Dims))
		}
	}
	if len(parts) > 0 {
		p.tell("all-reduce", n.Outs[0], to, parts...)
	}
	p.set(n, to)
}

// convolution: images are cut by number; what is summed over them is added up.
func (p *partition) convolution(n *graph.Node, mesh *shape.Mesh) {
	if n.Def.Name != "conv_weight_grad" {
		p.rows(n, mesh)
		return
	}
	to := &spot{mesh, slices.Repeat([]shape.Placement{shape.Replicated}, len(mesh.Dims))}
	both := &spot{mesh, slices.Clone(to.on)}
	var parts []int
	for a, q := range p.on(n.In[0], mesh) {
		if q == 0 && p.on(n.In[1], mesh)[a] == 0 {
			both.on[a] = 0
			parts = append(parts, a)
		}
	}
	for _, r := range n.In {
		if r.Node != nil {
			p.bring(r, both)
		}
	}
	if len(parts) > 0 {
		p.tell("all-reduce", n.Outs[0], to, parts...)
	}
	p.set(n, to)
}

// byRow are the classes whose rows treat each entry of the first axis alone.
var byRow = map[op.Class]bool{op.Normalize: true, op.Contract: true, op.Loss: true}

// rows is the rule of what has none: each device takes the entries of the first
// axis that it has, where the class treats them alone, and all of the rest. A
// loss over all of them is added up.
func (p *partition) rows(n *graph.Node, mesh *shape.Mesh) {
	to := &spot{mesh, slices.Repeat([]shape.Placement{shape.Replicated}, len(mesh.Dims))}
	first := n.In[0].Spec().Dims
	var parts []int
	if s := p.at[n.In[0]]; byRow[n.Def.Class] && len(first) > 1 && !s.whole() && s.mesh.String() == mesh.String() {
		for a, q := range s.on {
			switch out := n.Outs[0].Dims; {
			case q != 0:
			case len(out) > 0 && out[0] == first[0]:
				to.on[a] = 0
			case len(out) == 0 && n.Def.Class == op.Loss:
				parts = append(parts, a)
			}
		}
	}
	for _, r := range n.In {
		if r.Node == nil {
			continue
		}
		want := &spot{mesh, slices.Repeat([]shape.Placement{shape.Replicated}, len(mesh.Dims))}
		if d := r.Spec().Dims; len(d) > 0 && len(first) > 0 && d[0] == first[0] {
			for a := range want.on {
				if to.on[a] == 0 || slices.Contains(parts, a) {
					want.on[a] = 0
				}
			}
		}
		p.bring(r, want)
	}
	if len(parts) > 0 {
		p.tell("all-reduce", n.Outs[0], to, parts...)
	}
	p.set(n, to)
}
