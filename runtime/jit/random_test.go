package jit

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

// A maker builds random programs that keep the rules: bits are looked at only
// after Canon, Scale is given what it allows.
type maker struct {
	*Builder
	r    *rand.Rand
	pool [numTypes][]Value
}

func (m *maker) add(v Value) Value {
	t := m.Type(v)
	m.pool[t] = append(m.pool[t], v)
	return v
}

// pick gives a value of type t, more often a late one.
func (m *maker) pick(t Type) Value {
	p := m.pool[t]
	if len(p) == 0 {
		return m.add(m.Const(t, float64(m.r.IntN(9)-4)))
	}
	if m.r.IntN(2) == 0 {
		return p[len(p)-1-m.r.IntN(min(3, len(p)))]
	}
	return p[m.r.IntN(len(p))]
}

func (m *maker) number() Type { return []Type{F32, F32, F32, F64, I32, I64}[m.r.IntN(6)] }

// step adds one random operation.
func (m *maker) step(reduces bool) {
	t := m.number()
	x, y, z := m.pick(t), m.pick(t), m.pick(t)
	ops := 24
	if reduces {
		ops = 26
	}
	switch m.r.IntN(ops) {
	case 0, 1:
		m.add(m.Add(x, y))
	case 2:
		m.add(m.Sub(x, y))
	case 3:
		m.add(m.Mul(x, y))
	case 4:
		if t.float() {
			m.add(m.Div(x, y))
		} else {
			m.add(m.Mul(x, y))
		}
	case 5:
		if t.float() {
			m.add(m.Sqrt(m.Abs(x)))
		} else {
			m.add(m.Abs(x))
		}
	case 6, 7:
		if t.float() {
			m.add(m.FMA(x, y, z))
		} else {
			m.add(m.Neg(x))
		}
	case 8:
		if t.float() {
			m.add(m.FNMA(x, y, z))
		} else {
			m.add(m.Not(x))
		}
	case 9:
		m.add(m.Min(x, y))
	case 10:
		m.add(m.Max(x, y))
	case 11:
		if t.float() {
			m.add([]func(Value) Value{m.Floor, m.Ceil, m.Trunc, m.RoundEven}[m.r.IntN(4)](x))
		}
	case 12:
		m.add(m.Neg(x))
	case 13:
		x, y = m.Canon(x), m.Canon(y)
		m.add([]func(x, y Value) Value{m.And, m.Or, m.Xor, m.AndNot}[m.r.IntN(4)](x, y))
	case 14:
		if t.float() {
			m.add(m.CopySign(x, m.Canon(y)))
		} else {
			k := m.r.IntN(t.bits())
			m.add([]func(Value, int) Value{m.Shl, m.Shr, m.Sar}[m.r.IntN(3)](x, k))
		}
	case 15:
		if !t.float() {
			k := m.And(y, m.Const(t, 127))
			m.add([]func(x, y Value) Value{m.ShlV, m.ShrV, m.SarV}[m.r.IntN(3)](x, k))
		}
	case 16, 17:
		if t.float() || m.r.IntN(2) == 0 {
			m.add([]func(x, y Value) Value{m.Eq, m.Ne, m.Lt, m.Le}[m.r.IntN(4)](x, y))
		} else {
			m.add(m.LtU(x, y))
		}
	case 18, 19:
		m.add(m.Select(m.pick(Mask), x, y))
	case 20:
		a, b := m.pick(Mask), m.pick(Mask)
		m.add([]func(x, y Value) Value{m.And, m.Or, m.Xor, m.AndNot}[m.r.IntN(4)](a, b))
		m.add(m.MaskBits(a, []Type{I32, I64}[m.r.IntN(2)]))
	case 21:
		to := []Type{F32, F64, I32, I64, Mask}[m.r.IntN(5)]
		if m.r.IntN(3) == 0 {
			m.add(m.ConvertU(x, to))
		} else {
			m.add(m.Convert(x, to))
		}
	case 22:
		switch t {
		case F32, F64:
			one := m.Const(t, 1)
			mantissa := m.constant(t, map[Type]uint64{F32: 1<<23 - 1, F64: 1<<52 - 1}[t])
			frac := m.Or(m.And(m.Canon(x), mantissa), one)
			k := m.RoundEven(y)
			frac = m.Select(m.IsNaN(y), y, frac)
			m.add(m.Scale(frac, k))
			m.add(m.ScaleNear(frac, m.Min(m.Max(k, m.Const(t, -250)), m.Const(t, 250))))
			m.add(m.Bits(m.Canon(x), t.integer()))
		case I32:
			m.add(m.Convert(x, I64))
			m.add(m.op(OpZext, I64, 0, x))
			m.add(m.Bits(x, F32))
		default:
			m.add(m.Bits(x, F64))
		}
	case 23:
		floats := []dtype.DType{dtype.BF16, dtype.F16, dtype.F8E4M3, dtype.F8E5M2, dtype.F32, dtype.F8E4M3FNUZ, dtype.F4E2M1, dtype.F8E8M0}
		if t.float() {
			m.add(m.RoundTo(floats[m.r.IntN(len(floats))], x))
		} else {
			ints := []dtype.DType{dtype.I8, dtype.U8, dtype.I16, dtype.U16, dtype.I4, dtype.U4}
			m.add(m.RoundTo(ints[m.r.IntN(len(ints))], x))
		}
	case 24:
		m.add(m.Sum(x))
	case 25:
		m.add([]func(Value) Value{m.ReduceMax, m.ReduceMin}[m.r.IntN(2)](x))
	}
}

// real lists the element types programs take.
func real() []dtype.DType {
	var ds []dtype.DType
	for _, d := range dtype.All() {
		if Natural(d) != NoType {
			ds = append(ds, d)
		}
	}
	return ds
}

// randomProgram makes a program of some steps.
func randomProgram(r *rand.Rand, steps int, reduces bool) *Program {
	m := &maker{Builder: NewBuilder(), r: r}
	ds := real()
	pickD := func() dtype.DType {
		if r.IntN(2) == 0 {
			return []dtype.DType{dtype.F32, dtype.F32, dtype.BF16, dtype.I32, dtype.F64, dtype.I64}[r.IntN(6)]
		}
		return ds[r.IntN(len(ds))]
	}
	for range 1 + r.IntN(4) {
		d := pickD()
		if r.IntN(5) == 0 {
			m.add(m.RowIn(d))
		} else {
			m.add(m.In(d))
		}
	}
	for range r.IntN(3) {
		m.add(m.Param(m.number()))
	}
	if r.IntN(4) == 0 {
		m.add(m.Column([]Type{I32, I64}[r.IntN(2)]))
	}
	for range steps {
		m.step(reduces)
	}
	for range 1 + r.IntN(3) {
		v := m.pick([]Type{F32, F32, F64, I32, I64, Mask}[r.IntN(6)])
		d := pickD()
		if d.IsInt() && m.Type(v).float() && d != dtype.I64 && d != dtype.U64 && r.IntN(2) == 0 {
			d = dtype.F32
		}
		if m.Type(v) != Mask && r.IntN(8) == 0 {
			m.ColOut(d, v)
		} else if m.IsRow(v) && r.IntN(2) == 0 {
			m.RowOut(d, v)
		} else {
			m.Out(d, v)
		}
	}
	return m.Program()
}

// specials are bit patterns that make trouble.
var specials32 = []uint64{0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0x7f800000,
	0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4b7fffff, 0x3effffff, 0x3f000000, 0x7fffffff, 0xffffffff}

var specials64 = []uint64{0, 1 << 63, 1, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
	0x43e0000000000000, 0x43dfffffffffffff, 0xc3e0000000000000, 0x43f0000000000000, 0x7fffffffffffffff, 0xffffffffffffffff, 0x000fffffffffffff, 0x41dfffffffc00000, 0x47efffffefffffff, 0x36a0000000000000}

func randomCode(r *rand.Rand, d dtype.DType) uint64 {
	if d == dtype.Bool {
		return uint64(r.IntN(2))
	}
	switch r.IntN(8) {
	case 0, 1:
		if d.HostBytes() == 8 {
			return specials64[r.IntN(len(specials64))]
		}
		return specials32[r.IntN(len(specials32))] >> max(0, 32-8*d.HostBytes())
	case 2:
		return r.Uint64()
	case 3:
		return uint64(r.IntN(17) - 8)
	}
	return d.Encode((r.Float64() - 0.5) * float64(int(1)<<r.IntN(12)))
}

// randomCall makes operands for p over dims: dense, broadcast, strided and backward ones.
func randomCall(r *rand.Rand, p *Program, dims []int) *Call {
	c := &Call{Dims: dims}
	operand := func(s slot, out bool) Operand {
		layout := r.IntN(6)
		if out && layout == 1 {
			layout = 0
		}
		strides := make([]int, len(dims))
		offset := r.IntN(5)
		n := 1
		step := 1
		if layout == 2 {
			step = 2 + r.IntN(3)
		}
		for i := len(dims) - 1; i >= 0; i-- {
			if s.row && i == len(dims)-1 {
				continue
			}
			if layout == 1 && r.IntN(2) == 0 {
				continue // broadcast
			}
			strides[i] = n * step
			n *= max(dims[i], 1)
			if layout == 3 && i == len(dims)-1 {
				n += r.IntN(7) // rows with a gap
			}
		}
		size := offset + n*step + 1
		if layout == 4 && len(dims) > 1 && !s.row { // transposed
			n = 1
			for i := range dims {
				strides[i] = n
				n *= max(dims[i], 1)
			}
		}
		if layout == 5 && len(dims) > 0 && dims[len(dims)-1] > 0 && !s.row { // backward
			i := len(dims) - 1
			offset += strides[i] * (dims[i] - 1)
			strides[i] = -strides[i]
		}
		codes := make([]uint64, size)
		for i := range codes {
			codes[i] = randomCode(r, s.dtype)
		}
		return Operand{Buf: aligned(store(s.dtype, codes)), Offset: offset, Strides: strides}
	}
	for _, s := range p.ins {
		c.In = append(c.In, operand(s, false))
	}
	for _, s := range p.outs {
		c.Out = append(c.Out, operand(s, true))
	}
	for i, s := range p.ins { // in place
		if o := &c.Out[0]; r.IntN(3) == 0 && s.dtype == p.outs[0].dtype && s.row == p.outs[0].row && !p.outs[0].col {
			c.In[i] = *o
		}
	}
	for _, t := range p.params {
		d := [...]dtype.DType{F32: dtype.F32, F64: dtype.F64, I32: dtype.I32, I64: dtype.I64}[t]
		c.Params = append(c.Params, randomCode(r, d))
	}
	return c
}

// aligned is a copy of b at an address that is a multiple of 64.
func aligned(b []byte) []byte {
	buf := aligned64(len(b))
	copy(buf, b)
	return buf
}

// copyCall is c with outputs of its own, and inputs that are outputs with them.
func copyCall(c *Call) *Call {
	d := *c
	d.In, d.Out = append([]Operand(nil), c.In...), append([]Operand(nil), c.Out...)
	for i := range d.Out {
		d.Out[i].Buf = aligned(c.Out[i].Buf)
		for j := range d.In {
			if &d.In[j].Buf[0] == &c.Out[i].Buf[0] {
				d.In[j].Buf = d.Out[i].Buf
			}
		}
	}
	return &d
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// agree runs p by the definition and by every machine.
func agree(t *testing.T, p *Program, c *Call) {
	t.Helper()
	want := copyCall(c)
	if err := p.Interpret(want); err != nil {
		t.Fatal(err)
	}
	for _, e := range machines() {
		for _, par := range []func(n, grain int, f func(lo, hi int)){nil, backward} {
			got := copyCall(c)
			got.Parallel = par
			if err := e.engine.Kernel(p).Run(got); err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			for i := range got.Out {
				if !bytes.Equal(got.Out[i].Buf, want.Out[i].Buf) {
					at := firstDifference(got.Out[i].Buf, want.Out[i].Buf) / p.outs[i].dtype.HostBytes()
					t.Errorf("%s: dims %v, output %d (%v, offset %d, strides %v) differs at element %d: %#x, want %#x\n%v", e.name, c.Dims, i, p.outs[i].dtype,
						c.Out[i].Offset, c.Out[i].Strides, at, peek(got.Out[i].Buf, p.outs[i].dtype, at), peek(want.Out[i].Buf, p.outs[i].dtype, at), p)
					return
				}
			}
		}
	}
}

// backward covers the range in small pieces from its end.
func backward(n, grain int, f func(lo, hi int)) {
	for hi := n; hi > 0; {
		lo := max(0, hi-max(1, min(grain, n/3)))
		f(lo, hi)
		hi = lo
	}
}

func dimsFor(r *rand.Rand) []int {
	n := r.IntN(131)
	switch r.IntN(9) {
	case 0:
		return []int{n}
	case 1:
		return []int{1 + r.IntN(4), n}
	case 2:
		return []int{1 + r.IntN(3), 1 + r.IntN(3), 1 + n/4}
	case 6:
		return []int{1 + r.IntN(40), 1 + r.IntN(2), 1 + r.IntN(5)*r.IntN(90)}
	case 7:
		return []int{1 + r.IntN(2)*(1900+r.IntN(4000)), 1 + r.IntN(3)}
	case 3:
		return []int{2000 + r.IntN(5000)}
	case 4:
		return nil
	case 5:
		return []int{2, 1, 1 + r.IntN(3), r.IntN(40)}
	}
	return []int{1 + r.IntN(5), 1 + r.IntN(80)}
}

func testPrograms(t *testing.T, seed uint64, count int) {
	r := rand.New(rand.NewPCG(seed, 99))
	for i := range count {
		reduces := r.IntN(2) == 0
		p := randomProgram(r, 1+r.IntN(40), reduces)
		c := randomCall(r, p, dimsFor(r))
		agree(t, p, c)
		if t.Failed() {
			t.Fatalf("seed %d, program %d", seed, i)
		}
	}
}

func TestRandomPrograms(t *testing.T) { testPrograms(t, 1, 250) }

func FuzzPrograms(f *testing.F) {
	for s := range uint64(4) {
		f.Add(s, uint16(20), false)
		f.Add(s, uint16(60), true)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16, reduces bool) {
		r := rand.New(rand.NewPCG(seed, uint64(steps)))
		p := randomProgram(r, int(steps)%200+1, reduces)
		agree(t, p, randomCall(r, p, dimsFor(r)))
	})
}

// TestRowsSideBySide folds rows, of which several are taken at once.
func TestRowsSideBySide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	folds := []func(*Builder, Value) Value{(*Builder).Sum, (*Builder).ReduceMax, (*Builder).ReduceMin}
	for _, d := range []dtype.DType{dtype.BF16, dtype.F16, dtype.F32, dtype.I8, dtype.U16, dtype.F8E4M3} {
		for rows := 1; rows < 11; rows++ {
			for _, cols := range []int{1, 15, 16, 33, 100, 2048, 2100} {
				b := NewBuilder()
				x := b.In(d)
				b.RowOut(dtype.F64, folds[rows%3](b, x))
				b.RowOut(d, b.Add(b.Sum(b.Mul(x, x)), folds[cols%3](b, x)))
				p := b.Program()
				agree(t, p, randomCall(r, p, []int{rows, cols}))
			}
		}
	}
}

// TestPairs runs programs whose elements are all of 16 bits.
func TestPairs(t *testing.T) {
	programs := map[string]func(b *Builder){
		"elementwise": func(b *Builder) {
			x, y := b.In(dtype.BF16), b.In(dtype.BF16)
			b.Out(dtype.BF16, b.Mul(b.RoundTo(dtype.BF16, b.Add(x, y)), b.Param(F32)))
			b.Out(dtype.BF16, b.Select(b.Lt(x, y), x, b.F32(2)))
		},
		"kept": func(b *Builder) {
			x := b.In(dtype.BF16)
			e := expOf(b, b.Sub(x, b.ReduceMax(x)))
			b.Out(dtype.BF16, b.Div(e, b.Sum(e)))
			b.RowOut(dtype.F32, b.Sum(e))
		},
		"same in every element": func(b *Builder) {
			x := b.In(dtype.BF16)
			b.Out(dtype.BF16, b.Add(b.RowIn(dtype.F32), b.F32(1)))
			b.Out(dtype.U16, b.ReduceMax(b.Bits(x, I32)))
			b.Out(dtype.BF16, b.ReduceMin(x))
		},
		"bits": func(b *Builder) {
			x := b.Shl(b.In(dtype.U16), 16)
			b.Out(dtype.U16, b.Add(b.Shr(x, 16), b.I32(0x7fff1)))
			b.Out(dtype.U16, b.Shr(x, 20))
			b.Out(dtype.I16, b.Sar(x, 16))
		},
		"position": func(b *Builder) { // is in no order of pairs
			b.Out(dtype.BF16, b.Add(b.In(dtype.BF16), b.Convert(b.Column(I32), F32)))
		},
	}
	r := rand.New(rand.NewPCG(5, 5))
	for name, build := range programs {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			build(b)
			p := b.Program()
			if pairs := p.plan().pairs(); pairs != (name != "position") {
				t.Errorf("pairs: %v", pairs)
			}
			for range 40 {
				agree(t, p, randomCall(r, p, dimsFor(r)))
			}
		})
	}
}
