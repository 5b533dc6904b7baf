package kernel

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
	"github.com/tpush/tpush/runtime/shape"
)

// A Fusion runs several operations as one program: nothing that only they
// need is ever stored, and the bits are those of running them one by one.
//
// Its space is the dimensions that all of them work over. An operation gives an
// element for each point of the space, or one for each row of its last
// dimension (a reduction, or arithmetic on reductions).
type Fusion struct {
	space   []int
	in      []shape.Spec
	nodes   []fused
	outs    []int // values that are stored
	program *fusedProgram
	call    jit.Call
	strides [][]int // of the inputs, scratch
	params  []Params
	prep    Call
}

// A FusedNode is one operation of a fusion. A value is a number: first come the
// inputs of the fusion, then the results of its nodes.
type FusedNode struct {
	Row   string // name of the row in the table of operations
	Attrs Attrs
	In    []int // values; -1 for an absent operand
	Out   shape.Spec
}

type fused struct {
	FusedNode
	op      fusible
	chooses bool // by its attributes
	row     bool // one element a row
}

// A fusible is an operation that has a recipe.
type fusible interface {
	// emit gives the recipe, the type operands are converted to, and the one
	// that 0-d operands are rounded to first.
	emit(c *Call) (r recipe, as, round dtype.DType)
	prepare() func(*Call, *Params)
	// knows says whether the recipe can compute in t.
	knows(t jit.Type) bool
	// along says whether the operation works along the last of dims: it must
	// then see whole rows. With folds the result is one element a row.
	along() (rows, folds bool)
}

func (o *elementwise) emit(c *Call) (recipe, dtype.DType, dtype.DType) {
	as, round := o.types(c)
	return o.recipe, as, round
}

func (o *predicate) emit(c *Call) (recipe, dtype.DType, dtype.DType) {
	as, round := o.types(c)
	return o.recipe, as, round
}

func (o *elementwise) prepare() func(*Call, *Params) { return o.prep }
func (o *predicate) prepare() func(*Call, *Params)   { return o.prep }
func (o *elementwise) along() (rows, folds bool)     { return false, false }
func (o *predicate) along() (rows, folds bool)       { return false, false }
func (o *elementwise) knows(t jit.Type) bool         { return o.points.knows(o.recipe, t) }
func (o *predicate) knows(t jit.Type) bool           { return o.points.knows(o.recipe, t) }

// knows tries a recipe once for each type.
func (p *points) knows(r recipe, t jit.Type) bool {
	if r == nil || t == jit.NoType {
		return false
	}
	if k := p.known[t].Load(); k != 0 {
		return k == 1
	}
	b := jit.NewBuilder()
	e := &expr{Builder: b, t: t, as: dtype.F32, n: 3}
	switch t {
	case jit.F64:
		e.as = dtype.F64
	case jit.I32:
		e.as = dtype.I32
	case jit.I64:
		e.as = dtype.I64
	}
	in := func(t jit.Type) jit.Value { return inAs(b, e.as, b.In(e.as), t) }
	e.from = func(int) dtype.DType { return e.as }
	e.fetch = func(_ int, t jit.Type) jit.Value { return in(t) }
	e.attr = func(_ int, t jit.Type, _ bool) jit.Value { return b.Param(t) }
	e.length = func(t jit.Type) jit.Value { return b.Param(t) }
	k := int32(2)
	if r(e) != 0 {
		k = 1
	}
	p.known[t].Store(k)
	return k == 1
}

// specCall is a call of which only types and dimensions count.
func specCall(in []shape.Spec, out shape.Spec, a Attrs) *Call {
	c := &Call{Attrs: a, In: make([]Array, len(in)), Out: []Array{{DType: out.DType, View: shape.View{Dims: out.Dims}}}}
	for i, s := range in {
		c.In[i] = Array{DType: s.DType, View: shape.View{Dims: s.Dims}, Weak: s.Weak}
	}
	return c
}

// Fuses says whether an operation can be part of a fusion over a space, and
// which: the dimensions of the result for elementwise operations, those of the
// operand for the ones that work along its last axis. An absent operand has the
// zero Spec.
func Fuses(row string, a Attrs, in []shape.Spec, out shape.Spec) (space []int, ok bool) {
	f := fusibleOf(row, a)
	if f == nil || len(in) > 3 || out.DType.IsComplex() {
		return nil, false
	}
	for _, s := range in {
		if s.DType.IsComplex() {
			return nil, false
		}
	}
	_, as, _ := f.emit(specCall(in, out, a))
	if !f.knows(jit.Natural(as)) {
		return nil, false
	}
	rows, _ := f.along()
	if !rows {
		return out.Dims, len(out.Dims) <= maxRank
	}
	x := in[0].Dims
	return x, len(x) > 0 && len(x) <= maxRank && x[len(x)-1] > 1 && lastAxis(row, a, len(x), x, out.Dims)
}

// FusedRows says how a value of dims can be seen in space: an element a point,
// an element a row, or not at all.
func FusedRows(dims, space []int) (row, ok bool) {
	n := len(space)
	switch {
	case shape.EqualDims(dims, space):
		return false, true
	case n == 0:
		return false, false
	case len(dims) == n && dims[n-1] == 1 && shape.EqualDims(dims[:n-1], space[:n-1]):
		return true, true
	}
	return len(dims) == n-1 && shape.EqualDims(dims, space[:n-1]), len(dims) == n-1 && shape.EqualDims(dims, space[:n-1])
}

// Spans says whether dims are those of the space.
func (f *Fusion) Spans(dims []int) bool { return shape.EqualDims(f.space, dims) }

// NewFusion makes a fusion of nodes in order over space. outs are the values
// that are stored, all of them results of nodes. Fuses must have accepted every node.
func NewFusion(space []int, in []shape.Spec, nodes []FusedNode, outs []int) *Fusion {
	f := &Fusion{space: space, in: in, outs: outs, strides: make([][]int, len(in)), params: make([]Params, len(nodes))}
	for _, n := range nodes {
		row, _ := FusedRows(n.Out.Dims, space)
		f.nodes = append(f.nodes, fused{FusedNode: n, op: fusibleOf(n.Row, n.Attrs), chooses: hasVariants[n.Row], row: row})
	}
	f.program = f.find()
	f.call.Dims = space
	f.call.In = make([]jit.Operand, len(f.program.ins))
	f.call.Out = make([]jit.Operand, len(outs))
	f.call.Params = make([]uint64, len(f.program.params))
	return f
}

// spec gives the type of a value.
func (f *Fusion) spec(v int) shape.Spec {
	if v < len(f.in) {
		return f.in[v]
	}
	return f.nodes[v-len(f.in)].Out
}

// A fusedProgram is what fusions of one structure share.
type fusedProgram struct {
	kernel *jit.Kernel
	ins    []fusedInput
	params []fusedParam
}

// A fusedInput is one input of the program: an input of the fusion, seen as an
// element a point or an element a row.
type fusedInput struct {
	input int
	row   bool
	dims  int // rank at which the operand is stretched: of the result that it takes part in
}

// A fusedParam is one parameter: an input of one element, a slot of the
// attributes of a node, or the length of a row.
type fusedParam struct {
	paramSource     // operand counts inputs of the fusion
	node        int // of an attribute
}

// fusions remembers programs by structure, so that a long chain that repeats
// itself, and the fusions of a list of parameters, are built once.
var fusions struct {
	sync.Mutex
	made map[string]*fusedProgram
}

// find gives the program for the structure of f.
func (f *Fusion) find() *fusedProgram {
	k := f.signature()
	fusions.Lock()
	defer fusions.Unlock()
	p := fusions.made[string(k)]
	if p == nil {
		if fusions.made == nil {
			fusions.made = map[string]*fusedProgram{}
		}
		p = f.build()
		fusions.made[string(k)] = p
	}
	return p
}

// signature is equal for fusions that have the same program.
func (f *Fusion) signature() []byte {
	k := make([]byte, 0, 24*(len(f.nodes)+len(f.in)))
	k = binary.AppendUvarint(k, uint64(len(f.in)))
	for _, s := range f.in {
		k = append(k, byte(s.DType), byte(len(s.Dims)), bit(s.Weak), bit(shape.Size(s.Dims) == 1))
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		k = binary.LittleEndian.AppendUint64(k, uint64(uintptr((*[2]unsafe.Pointer)(unsafe.Pointer(&n.op))[1])))
		k = append(k, byte(n.Out.DType), bit(n.row), byte(len(n.Out.Dims)), byte(len(n.In)))
		for _, v := range n.In {
			k = binary.AppendVarint(k, int64(v))
		}
	}
	k = append(k, bit(shape.Size(f.space) == 1), byte(len(f.space)))
	for _, v := range f.outs {
		k = binary.AppendVarint(k, int64(v))
	}
	return k
}

// build writes the program.
func (f *Fusion) build() *fusedProgram {
	b := jit.NewBuilder()
	p := &fusedProgram{}
	vals := make([]jit.Value, len(f.nodes)) // in the natural type, or masks
	loaded := map[fusedInput]jit.Value{}
	params := map[fusedParam]jit.Value{}
	param := func(s fusedParam) jit.Value {
		if v, ok := params[s]; ok {
			return v
		}
		p.params = append(p.params, s)
		v := declare(b, s.t)
		params[s] = v
		return v
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		in := make([]shape.Spec, len(n.In))
		for j, v := range n.In {
			if v >= 0 {
				in[j] = f.spec(v)
			}
		}
		r, as, round := n.op.emit(specCall(in, n.Out, n.Attrs))
		e := &expr{Builder: b, t: jit.Natural(as), as: as, n: len(n.In)}
		rows, _ := n.op.along()
		e.from = func(j int) dtype.DType { return in[j].DType }
		e.fetch = func(j int, t jit.Type) jit.Value {
			v := n.In[j]
			if v < 0 {
				return 0
			}
			s := in[j]
			one := shape.Size(s.Dims) == 1
			if v < len(f.in) {
				if one {
					return param(fusedParam{paramSource: paramSource{operand: v, t: t, round: round}})
				}
				at := fusedInput{input: v, row: n.row && !rows, dims: len(n.Out.Dims)}
				if rows {
					at.dims = len(f.space)
				}
				x, ok := loaded[at]
				if !ok {
					p.ins = append(p.ins, at)
					if at.row {
						x = b.RowIn(s.DType)
					} else {
						x = b.In(s.DType)
					}
					loaded[at] = x
				}
				return inAs(b, s.DType, x, t)
			}
			x := vals[v-len(f.in)]
			if one && round != dtype.Invalid && round != s.DType && s.DType != dtype.Bool {
				x = b.RoundTo(round, inAs(b, s.DType, x, t))
			}
			return inAs(b, s.DType, x, t)
		}
		e.attr = func(slot int, t jit.Type, saturated bool) jit.Value {
			return param(fusedParam{paramSource: paramSource{operand: -1, slot: slot, t: t, saturated: saturated}, node: i})
		}
		e.length = func(t jit.Type) jit.Value {
			return param(fusedParam{paramSource: paramSource{operand: -1, t: t, length: true}})
		}
		y := r(e)
		if n.Out.DType != dtype.F32 && n.Out.DType != dtype.F64 && b.Type(y) != jit.Mask {
			y = b.RoundTo(n.Out.DType, y)
		}
		if b.Type(y) != jit.Mask {
			y = b.Convert(y, jit.Natural(n.Out.DType))
		}
		vals[i] = y
	}
	for _, v := range f.outs {
		n := &f.nodes[v-len(f.in)]
		if n.row {
			b.RowOut(n.Out.DType, vals[v-len(f.in)])
		} else {
			b.Out(n.Out.DType, vals[v-len(f.in)])
		}
	}
	p.kernel = programs.Kernel(b.Program())
	return p
}

// Run computes the stored values into out, dense arrays, from in. attrs gives
// the attributes of a node in this run.
func (f *Fusion) Run(in, out []Array, attrs func(node int) Attrs) error {
	changed := false
	for i := range f.nodes {
		n := &f.nodes[i]
		prep := n.op.prepare()
		if prep == nil && !n.chooses {
			continue
		}
		a := attrs(i)
		if n.chooses {
			if op := fusibleOf(n.Row, a); op != n.op {
				n.op, changed = op, true
				prep = op.prepare()
			}
		}
		if prep != nil {
			f.prep.Attrs = a
			f.prep.Out = append(f.prep.Out[:0], Array{DType: n.Out.DType, View: shape.View{Dims: n.Out.Dims}})
			f.params[i] = Params{}
			prep(&f.prep, &f.params[i])
		}
	}
	if changed {
		f.program = f.find()
		f.call.In = make([]jit.Operand, len(f.program.ins))
		f.call.Params = make([]uint64, len(f.program.params))
	}
	for k := range f.program.params {
		s := &f.program.params[k]
		switch {
		case s.length:
			f.call.Params[k] = numberBits(s.t, f.space[len(f.space)-1])
		case s.operand >= 0:
			f.call.Params[k] = scalarBits(&in[s.operand], s.t, s.round)
		default:
			f.call.Params[k] = s.bits(nil, &f.params[s.node])
		}
	}
	for k, s := range f.program.ins {
		a := &in[s.input]
		f.call.In[k] = jit.Operand{Buf: a.Buf, Offset: a.Offset, Strides: f.stretched(k, s, a)}
	}
	for k := range out {
		o := &out[k]
		st := o.Strides
		if len(o.Dims) < len(f.space) { // one element a row
			st = append(f.outStrides(k), o.Strides...)
			st = append(st, 0)
		}
		f.call.Out[k] = jit.Operand{Buf: o.Buf, Offset: o.Offset, Strides: st}
	}
	f.call.Parallel = nil
	if shape.Size(f.space) > heavyGrain {
		f.call.Parallel = Parallel
	}
	err := f.program.kernel.Run(&f.call)
	for k := range f.call.In {
		f.call.In[k].Buf = nil
	}
	for k := range f.call.Out {
		f.call.Out[k].Buf = nil
	}
	return err
}

func (f *Fusion) outStrides(k int) []int {
	for len(f.strides) < len(f.call.In)+len(f.call.Out) {
		f.strides = append(f.strides, nil)
	}
	return f.strides[len(f.call.In)+k][:0]
}

// stretched gives the strides of input k of the program in the space.
func (f *Fusion) stretched(k int, s fusedInput, a *Array) []int {
	if len(a.Dims) == len(f.space) && shape.EqualDims(a.Dims, f.space) {
		return a.Strides
	}
	for len(f.strides) <= k {
		f.strides = append(f.strides, nil)
	}
	st := f.strides[k][:0]
	for i := range f.space {
		x := 0
		// The operand is stretched against a result of rank s.dims, whose axes
		// are the first ones of the space.
		if j := i - s.dims + len(a.Dims); i < s.dims && j >= 0 && a.Dims[j] != 1 {
			x = a.Strides[j]
		}
		st = append(st, x)
	}
	f.strides[k] = st
	return st
}
