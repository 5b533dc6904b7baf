package kernel

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// A recipe writes one element of an operation as operations of a program. It
// gives 0 for compute types that it does not know; they keep their Go loop.
type recipe func(e *expr) jit.Value

// An expr is what a recipe sees: a builder, operands and attributes.
type expr struct {
	*jit.Builder
	t     jit.Type                // what is computed in
	as    dtype.DType             // the element type that stands for: of the result, or what the operands promote to
	n     int                     // operands, absent ones included
	from  func(i int) dtype.DType // element type of operand i
	fetch func(i int, t jit.Type) jit.Value
	attr  func(i int, t jit.Type, saturated bool) jit.Value
	// length is the number of elements of a row.
	length func(t jit.Type) jit.Value
}

// x is operand i in the compute type; 0 when absent.
func (e *expr) x(i int) jit.Value {
	if i >= e.n {
		return 0
	}
	return e.fetch(i, e.t)
}

// truth says whether operand i is not 0.
func (e *expr) truth(i int) jit.Value { return e.fetch(i, jit.Mask) }

// param is slot i of the attributes in the compute type; integers wrap to it.
func (e *expr) param(i int) jit.Value { return e.attr(i, e.t, false) }

// bound is param for a limit: saturated instead of wrapped.
func (e *expr) bound(i int) jit.Value { return e.attr(i, e.t, true) }

// num is a constant of the compute type.
func (e *expr) num(x float64) jit.Value { return e.Const(e.t, x) }

// float says whether the compute type is one.
func (e *expr) float() bool { return e.t == jit.F32 || e.t == jit.F64 }

// unsigned says that integers compare without sign. The narrower unsigned
// types fit the signed type they are computed in.
func (e *expr) unsigned() bool { return e.as == dtype.U64 }

// programs is where all programs of this package are compiled: equal ones
// once. What it holds is a function of the programs alone.
var programs = jit.NewEngine(jit.Level(simd.Chosen())) // the two count levels alike

// How an operand of a point program is read.
const (
	operandAbsent = iota
	operandSplat  // one element: a parameter
	operandDense  // an input
)

// pointKey tells the programs of one operation apart: element type, mode and
// promotion category of each operand, and the type of the result.
type pointKey struct {
	in  [3]dtype.DType
	how [3]uint8
	cat [3]dtype.Category
	out dtype.DType
}

// points remembers the programs of one operation. They are few.
type points struct {
	mu    sync.Mutex
	list  atomic.Pointer[[]*point]
	known [8]atomic.Int32 // by compute type: 1 when the recipe knows it, 2 when not, 0 before it was asked
}

// A point is one compiled program.
type point struct {
	key    pointKey
	kernel *jit.Kernel // nil: the recipe does not know the type
	ins    []uint8     // operand of each input
	params []paramSource
}

// A paramSource says where a parameter comes from.
type paramSource struct {
	operand   int // -1: slot of the attributes
	slot      int
	t         jit.Type
	round     dtype.DType // the operand is rounded to it first; Invalid: it is not
	saturated bool
	length    bool // the number of elements of a row
}

// find gives the program for a key.
func (p *points) find(k *pointKey, build func(k *pointKey) *point) *point {
	if l := p.list.Load(); l != nil {
		for _, q := range *l {
			if q.key == *k {
				return q
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*point
	if l := p.list.Load(); l != nil {
		list = *l
	}
	for _, q := range list {
		if q.key == *k {
			return q
		}
	}
	q := build(k)
	list = append(list[:len(list):len(list)], q)
	p.list.Store(&list)
	return q
}

// pointCall is the scratch of one run of a point program.
type pointCall struct {
	call    jit.Call
	key     pointKey
	in      [3]jit.Operand
	out     [1]jit.Operand
	params  [8]uint64
	p       Params
	size    [1]int
	unit    [1]int
	flat    bool     // all operands are dense, one dimension is enough
	strides [3][]int // of operands that are stretched
}

var pointCalls = sync.Pool{New: func() any { return &pointCall{unit: [1]int{1}} }}

// arrange fills in how the operands are read.
func (pc *pointCall) arrange(c *Call) {
	out := &c.Out[0]
	pc.flat = true
	for i := range pc.key.how {
		pc.key.in[i], pc.key.how[i], pc.key.cat[i] = dtype.Invalid, operandAbsent, 0
		if i >= len(c.In) || !c.In[i].Valid() {
			continue
		}
		a := &c.In[i]
		pc.key.in[i], pc.key.how[i], pc.key.cat[i] = a.DType, operandSplat, category(a)
		if a.Size() != 1 {
			pc.key.how[i] = operandDense
			pc.flat = pc.flat && shape.EqualDims(a.Dims, out.Dims) && a.Contiguous()
		}
	}
	pc.key.out = out.DType
}

// stretched gives the strides of operand i in the dimensions of the result.
func (pc *pointCall) stretched(i int, a *Array, dims []int) []int {
	if len(a.Dims) == len(dims) && shape.EqualDims(a.Dims, dims) {
		return a.Strides
	}
	s := pc.strides[i][:0]
	for k := range dims {
		st := 0
		if j := k - len(dims) + len(a.Dims); j >= 0 && a.Dims[j] != 1 {
			st = a.Strides[j]
		}
		s = append(s, st)
	}
	pc.strides[i] = s
	return s
}

// run computes c.Out[0] with program q.
func (pc *pointCall) run(c *Call, q *point, prep func(*Call, *Params), grain int) error {
	out := &c.Out[0]
	call := &pc.call
	call.In = pc.in[:len(q.ins)]
	pc.out[0] = jit.Operand{Buf: out.Buf, Offset: out.Offset}
	if pc.flat {
		pc.size[0] = out.Size()
		call.Dims, pc.out[0].Strides = pc.size[:], pc.unit[:]
	} else {
		call.Dims, pc.out[0].Strides = out.Dims, out.Strides
	}
	for k, i := range q.ins {
		a := &c.In[i]
		call.In[k] = jit.Operand{Buf: a.Buf, Offset: a.Offset, Strides: pc.unit[:]}
		if !pc.flat {
			call.In[k].Strides = pc.stretched(int(i), a, out.Dims)
		}
	}
	call.Out = pc.out[:]
	if prep != nil {
		pc.p = Params{}
		prep(c, &pc.p)
	}
	call.Params = pc.params[:len(q.params)]
	for k := range q.params {
		call.Params[k] = q.params[k].bits(c, &pc.p)
	}
	call.Parallel = nil
	if out.Size() > grain {
		call.Parallel = Parallel
	}
	var err error
	if pc.flat && call.Parallel == nil {
		err = q.kernel.RunFlat(pc.size[0], call)
	} else {
		err = q.kernel.Run(call)
	}
	for k := range call.In {
		call.In[k] = jit.Operand{}
	}
	call.Dims, pc.out[0] = nil, jit.Operand{}
	pointCalls.Put(pc)
	return err
}

// bits reads the parameter.
func (s *paramSource) bits(c *Call, p *Params) uint64 {
	if s.operand < 0 {
		switch {
		case s.t == jit.F32:
			return paramF32(float32(p.F[s.slot]))
		case s.t == jit.F64:
			return math.Float64bits(p.F[s.slot])
		case s.t == jit.I32 && s.saturated:
			return uint64(uint32(min(max(p.I[s.slot], math.MinInt32), math.MaxInt32)))
		}
		return uint64(p.I[s.slot])
	}
	return scalarBits(&c.In[s.operand], s.t, s.round)
}

// paramF32 is a parameter of type F32; a NaN becomes the canonical one.
func paramF32(f float32) uint64 {
	if f != f {
		return 0x7fc00000
	}
	return uint64(math.Float32bits(f))
}

// scalarBits gives the first element of a, rounded to another element type
// unless that is Invalid, as a parameter of type t.
func scalarBits(a *Array, t jit.Type, round dtype.DType) uint64 {
	rounds := round != dtype.Invalid && round != a.DType && a.DType != dtype.Bool
	switch t {
	case jit.F32:
		var f float32
		switch a.DType { // what the operands of programs mostly are, without an allocation
		case dtype.F64:
			f = float32(As[float64](a.Buf)[a.Offset])
		case dtype.F32:
			f = As[float32](a.Buf)[a.Offset]
		case dtype.I64:
			f = float32(As[int64](a.Buf)[a.Offset])
		default:
			var x [1]float32
			loadRun(x[:], a, a.Offset, 1)
			f = x[0]
		}
		if rounds {
			f = round.RoundF32(f)
		}
		return paramF32(f)
	case jit.F64:
		var x [1]float64
		loadRun(x[:], a, a.Offset, 1)
		return math.Float64bits(x[0])
	case jit.Mask:
		var x [1]float64
		loadRun(x[:], a, a.Offset, 1)
		if x[0] != 0 {
			return 1
		}
		return 0
	}
	if round == dtype.U64 {
		var x [1]uint64
		loadRun(x[:], a, a.Offset, 1)
		return x[0]
	}
	var x [1]int64
	loadRun(x[:], a, a.Offset, 1)
	if rounds {
		s := 64 - round.Bits()
		x[0] = x[0] << s >> s
	}
	return uint64(x[0])
}

// declare makes a parameter of a program. A mask is handed over as a number.
func declare(b *jit.Builder, t jit.Type) jit.Value {
	if t == jit.Mask {
		return b.Convert(b.Param(jit.I32), jit.Mask)
	}
	return b.Param(t)
}

// build makes the program of a recipe. The result is stored as key.out.
func (r recipe) build(k *pointKey, as, round dtype.DType, folds bool) *point {
	q := &point{key: *k}
	t := jit.Natural(as)
	if t == jit.NoType {
		return q
	}
	b := jit.NewBuilder()
	declared := map[paramSource]jit.Value{}
	param := func(s paramSource) jit.Value {
		if v := declared[s]; v != 0 {
			return v
		}
		q.params = append(q.params, s)
		v := declare(b, s.t)
		declared[s] = v
		return v
	}
	var made [3]struct {
		v jit.Value
		t jit.Type
	}
	e := &expr{Builder: b, t: t, as: as, n: 3}
	e.from = func(i int) dtype.DType { return k.in[i] }
	e.fetch = func(i int, t jit.Type) jit.Value {
		if m := made[i]; m.v != 0 && m.t == t {
			return m.v
		}
		var v jit.Value
		switch k.how[i] {
		case operandSplat:
			v = param(paramSource{operand: i, t: t, round: round})
		case operandDense:
			q.ins = append(q.ins, uint8(i))
			v = inAs(b, k.in[i], b.In(k.in[i]), t)
		}
		made[i].v, made[i].t = v, t
		return v
	}
	e.attr = func(i int, t jit.Type, saturated bool) jit.Value {
		return param(paramSource{operand: -1, slot: i, t: t, saturated: saturated})
	}
	e.length = func(t jit.Type) jit.Value { return param(paramSource{operand: -1, t: t, length: true}) }
	for _, d := range k.in {
		if d.IsComplex() {
			return q
		}
	}
	v := r(e)
	if v == 0 {
		return q
	}
	if folds {
		b.RowOut(k.out, v)
	} else {
		b.Out(k.out, v)
	}
	q.kernel = programs.Kernel(b.Program())
	return q
}

// inAs converts an element of type d, as loaded, to t.
func inAs(b *jit.Builder, d dtype.DType, v jit.Value, t jit.Type) jit.Value {
	if d == dtype.U64 && (t == jit.F32 || t == jit.F64) {
		return b.ConvertU(v, t)
	}
	return b.Convert(v, t)
}

// compute runs the program of r, when it knows the types of c; as is what
// operands are converted to, round what 0-d operands are rounded to first.
func (ps *points) compute(c *Call, r recipe, as func(c *Call) (as, round dtype.DType), prep func(*Call, *Params), heavy bool) (done bool, err error) {
	if c.Out[0].Size() == 0 {
		return true, nil
	}
	grain := lightGrain
	if heavy {
		grain = heavyGrain
	}
	pc := pointCalls.Get().(*pointCall)
	var q *point
	if m := c.Memo; m != nil && m.points == ps {
		q, pc.flat = m.point, m.flat
	} else {
		pc.arrange(c)
		q = ps.find(&pc.key, func(k *pointKey) *point {
			t, round := as(c)
			return r.build(k, t, round, false)
		})
		if m != nil {
			*m = Memo{points: ps, point: q, flat: pc.flat, grain: grain}
		}
	}
	if q.kernel == nil {
		pointCalls.Put(pc)
		return false, nil
	}
	return true, pc.run(c, q, prep, grain)
}

// category is how an operand takes part in promotion.
func category(a *Array) dtype.Category {
	switch {
	case a.Weak:
		return dtype.Number
	case len(a.Dims) == 0:
		return dtype.ZeroDim
	}
	return dtype.Dim
}
