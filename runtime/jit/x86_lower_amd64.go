package jit

// A vr is a virtual register; 0 is none.
type vr int32

// vinfo is what is known of a virtual register.
type vinfo struct {
	k    bool // a mask register of AVX-512
	home *mem // where its value can be read at any time: a constant or a row's value
	ref  *ref // the same, of an element
	pin  bool // keeps one register through a loop (accumulators)
}

// form says where the operands of an instruction go.
type form uint8

const (
	fRVM    form = iota // dst = a op rm
	fRM                 // dst = op rm
	fMR                 // rm = op reg, both registers: dst, b
	fStore              // memory = op b
	fShift              // dst = rm shifted; ext is the digit
	fFMA                // dst = ±a·b + c
	fBlendV             // dst = mask c ? b : a, on AVX2
	fMerge              // dst = c op rm where the mask is set, else a; on AVX-512
	fPseudo             // do emits it
)

// ins is one machine instruction on virtual registers.
type ins struct {
	form    form
	kop     bool // on mask registers
	zero    bool // masked lanes become 0
	e       enc
	l       byte // length
	ext     byte
	dst     vr
	a, b, c vr
	k       vr   // runs under this mask
	fixed   int  // or under this register
	m       *mem // the rm operand, instead of b
	ref     *ref // the same, in an operand
	imm     []byte
	do      func(x *emitter, dst, src int)
}

// ref is memory of an operand at the current element.
type ref struct {
	operand int   // of the frame's pointers, as a place
	disp    int32 // bytes
	size    int   // of an element
}

// lower turns values into instructions; one is used for one section of code.
type lower struct {
	*x86
	list    []ins
	info    []vinfo
	memo    []parts        // of values, of masks in their 32-bit form
	memo64  []parts        // of masks in their 64-bit form
	shared  map[home]vr    // registers with a home
	uniform bool           // one value a row: all lanes are equal
	recall  map[Value]bool // loaded from the scratch row
	group   int            // which group of the unrolled body
	atRow   int            // which of the rows side by side
	upper   bool           // maskUpper is used
	tail    bool
	loads   map[int]int // places loaded from and stored to, and the size of their elements
	stores  map[int]int
}

// parts are the registers of one value, as far as they are made.
type parts struct {
	begun bool
	r     [4]vr
}

func (x *x86) newLower() *lower {
	return &lower{x86: x, info: make([]vinfo, 1), shared: map[home]vr{}, loads: map[int]int{}, stores: map[int]int{}}
}

// begin forgets the values of the last group.
func (l *lower) begin(group int, tail bool) {
	l.memo, l.memo64 = make([]parts, len(l.nodes)), make([]parts, len(l.nodes))
	l.group, l.tail = group, tail
}

func (l *lower) fresh(k bool) vr {
	l.info = append(l.info, vinfo{k: k})
	return vr(len(l.info) - 1)
}

// at is the register whose value lies at m.
func (l *lower) at(m mem, k bool) vr {
	if v, ok := l.shared[home{m, k}]; ok {
		return v
	}
	v := l.fresh(k)
	l.info[v].home = &m
	l.shared[home{m, k}] = v
	return v
}

// home is where a value lies, and the class of register it is read into.
type home struct {
	mem
	k bool
}

func (l *lower) emit(i ins) vr {
	l.list = append(l.list, i)
	return i.dst
}

func (l *lower) rvmL(e enc, n byte, a, b vr, imm ...byte) vr {
	return l.emit(ins{form: fRVM, e: e, l: n, dst: l.fresh(false), a: a, b: b, imm: imm})
}

func (l *lower) rvm(e enc, a, b vr, imm ...byte) vr { return l.rvmL(e, l.full, a, b, imm...) }

func (l *lower) rmL(e enc, n byte, b vr, imm ...byte) vr {
	return l.emit(ins{form: fRM, e: e, l: n, dst: l.fresh(false), b: b, imm: imm})
}

func (l *lower) rm(e enc, b vr, imm ...byte) vr { return l.rmL(e, l.full, b, imm...) }

func (l *lower) mr(e enc, n byte, b vr, imm ...byte) vr {
	return l.emit(ins{form: fMR, e: e, l: n, dst: l.fresh(false), b: b, imm: imm})
}

func (l *lower) shift(op, ext, w byte, b vr, k int) vr {
	return l.emit(ins{form: fShift, e: enc{1, 1, op, w}, l: l.full, ext: ext, dst: l.fresh(false), b: b, imm: []byte{byte(k)}})
}

func (l *lower) fma(op, w byte, a, b, c vr) vr {
	return l.emit(ins{form: fFMA, e: enc{2, 1, op, w}, l: l.full, dst: l.fresh(false), a: a, b: b, c: c})
}

// mask operations of AVX-512.
func (l *lower) kk(e enc, n byte, a, b vr, imm ...byte) vr {
	f := fRVM
	if a == 0 {
		f = fRM
	}
	return l.emit(ins{form: f, kop: true, e: e, l: n, dst: l.fresh(true), a: a, b: b, imm: imm})
}

// float is the encoding of an operation of map 0F on floats of type t.
func float(t Type, op byte) enc {
	if t == F32 {
		return enc{1, 0, op, 0}
	}
	return enc{1, 1, op, 1}
}

// w is the W bit of type t.
func w(t Type) byte {
	if t.wide() {
		return 1
	}
	return 0
}

// parts is how many registers a group of 16 values of type t takes.
func (x *x86) parts(t Type) int {
	n := 1
	if t.wide() {
		n = 2
	}
	if !x.evex {
		n *= 2
	}
	return n
}

// konst is the register of a constant with x in every lane.
func (l *lower) konst(t Type, x uint64) vr {
	if t.wide() {
		return l.at(pool(l.constant64(x)), false)
	}
	return l.at(pool(l.constant64(x<<32|x&0xffffffff)), false)
}

// val is part of a value; of masks, in the 32-bit form.
func (l *lower) val(v Value, part int) vr {
	n := &l.nodes[v]
	if l.row[v] {
		if n.op == OpConst {
			return l.constMask(n)
		}
		part = 0
		if !l.uniform || !l.memo[v].begun {
			return l.at(field(l.slots[v]), n.typ == Mask && l.evex)
		}
	}
	ps := &l.memo[v]
	ps.begun = true
	if ps.r[part] == 0 {
		ps.r[part] = l.compute(v, n, part)
	}
	return ps.r[part]
}

// constMask is a constant; of a mask, all ones or zeros.
func (l *lower) constMask(n *node) vr {
	if n.typ != Mask {
		return l.konst(n.typ, n.imm)
	}
	x := uint64(0)
	if n.imm != 0 {
		x = ^x
	}
	return l.at(pool(l.constant64(x)), l.evex)
}

// rowValue computes a value of the row and leaves it in its slot.
func (l *lower) rowValue(v Value) {
	n := &l.nodes[v]
	if n.op == OpConst {
		return
	}
	l.memo[v].begun = true
	r := l.compute(v, n, 0)
	l.memo[v].r[0] = r
	l.saveSlot(r, l.slots[v])
}

// saveSlot stores a register to a slot of the frame.
func (l *lower) saveSlot(r vr, slot int) {
	m := field(slot)
	if l.info[r].k {
		l.emit(ins{form: fStore, kop: true, e: enc{1, 0, 0x91, 0}, b: r, m: &m})
		return
	}
	l.emit(ins{form: fStore, e: enc{1, 0, 0x11, 0}, l: l.full, b: r, m: &m})
}

// compute emits what gives part of v.
func (l *lower) compute(v Value, n *node, part int) vr {
	if l.recall[v] {
		return l.recalled(v, n.typ, part)
	}
	a, b, c := n.args[0], n.args[1], n.args[2]
	t := l.nodes[a].typ
	switch n.op {
	case OpIn:
		return l.loadElement(n, part)
	case OpRowIn, OpParam:
		return l.loadRow(n)
	case OpColumn:
		return l.column(n.typ, part)
	case OpBits:
		return l.val(a, part)
	case OpAdd, OpSub, OpMul, OpDiv:
		return l.arith(n, l.val(a, part), l.val(b, part))
	case OpSqrt:
		return l.rm(float(t, 0x51), l.val(a, part))
	case OpFMA:
		return l.fma(0xB8, w(t), l.val(a, part), l.val(b, part), l.val(c, part))
	case OpFNMA:
		return l.fma(0xBC, w(t), l.val(a, part), l.val(b, part), l.val(c, part))
	case OpMin, OpMax:
		return l.minMax(n, t, part)
	case OpFloor, OpCeil, OpTrunc, OpRoundEven:
		mode := [numOps]byte{OpRoundEven: 8, OpFloor: 9, OpCeil: 10, OpTrunc: 11}[n.op]
		return l.rm(enc{3, 1, 8 + w(t), w(t)}, l.val(a, part), mode)
	case OpRound16:
		return l.round16(l.val(a, part))
	case OpScale:
		return l.scale(t, l.val(a, part), l.val(b, part), n.imm == scaleNear)
	case OpAnd, OpOr, OpXor, OpAndNot:
		return l.logic(n, part)
	case OpShl:
		switch {
		case n.imm != 16 || !l.halves(a):
		case l.evex:
			return l.loadUpper(&l.nodes[a], part)
		case l.pair:
			return l.loadPair(a, part)
		}
		return l.shift(0x72+w(t), 6, w(t), l.val(a, part), int(n.imm))
	case OpShr:
		return l.shift(0x72+w(t), 2, w(t), l.val(a, part), int(n.imm))
	case OpSar:
		return l.sar(t, l.val(a, part), int(n.imm))
	case OpShlV:
		return l.rvm(enc{2, 1, 0x47, w(t)}, l.val(a, part), l.val(b, part))
	case OpShrV:
		return l.rvm(enc{2, 1, 0x45, w(t)}, l.val(a, part), l.val(b, part))
	case OpSarV:
		return l.sarV(t, l.val(a, part), l.val(b, part))
	case OpEq, OpNe, OpLt, OpLe, OpLtU:
		return l.mask32(v, part)
	case OpSelect:
		return l.choose(l.maskFor(a, n.typ, part), l.val(b, part), l.val(c, part), n.typ)
	case OpMaskBits:
		m := l.maskFor(a, n.typ, part)
		if !l.evex {
			return m
		}
		return l.emit(ins{form: fRM, e: enc{2, 2, 0x38, w(n.typ)}, l: l.full, dst: l.fresh(false), b: m})
	}
	return l.convert(n, part)
}

// arith is one of the four operations.
func (l *lower) arith(n *node, a, b vr) vr {
	t := n.typ
	if sigs[n.op].commute {
		a, b = l.order(a, b)
	}
	if t.float() {
		return l.rvm(float(t, [numOps]byte{OpAdd: 0x58, OpSub: 0x5C, OpMul: 0x59, OpDiv: 0x5E}[n.op]), a, b)
	}
	switch n.op {
	case OpAdd:
		return l.rvm(enc{1, 1, 0xFE - 0x2A*w(t), w(t)}, a, b)
	case OpSub:
		return l.rvm(enc{1, 1, 0xFA + w(t), w(t)}, a, b)
	}
	if t == I32 || l.evex {
		return l.rvm(enc{2, 1, 0x40, w(t)}, a, b)
	}
	// The low words, and the cross products in the upper half.
	mul := enc{1, 1, 0xF4, 1}
	cross := l.rvm(enc{1, 1, 0xD4, 1}, l.rvm(mul, l.shift(0x73, 2, 1, a, 32), b), l.rvm(mul, l.shift(0x73, 2, 1, b, 32), a))
	return l.rvm(enc{1, 1, 0xD4, 1}, l.shift(0x73, 6, 1, cross, 32), l.rvm(mul, a, b))
}

// order puts what lies in memory second.
func (l *lower) order(a, b vr) (vr, vr) {
	if l.info[a].home != nil {
		return b, a
	}
	return a, b
}

// number gives a constant's bits.
func (l *lower) number(v Value) (bits uint64, ok bool) {
	n := &l.nodes[v]
	return n.imm, n.op == OpConst
}

func (l *lower) minMax(n *node, t Type, part int) vr {
	o, a, b := n.op, n.args[0], n.args[1]
	if bits, ok := l.number(a); n.imm != minMaxNumber && t.float() && ok && !isNaN(t, bits) {
		a, b = b, a
	}
	x, y := l.val(a, part), l.val(b, part)
	bits, ok := l.number(b)
	if !t.float() || n.imm != minMaxNumber && (!ok || isNaN(t, bits)) {
		return l.minMaxOf(o, t, x, y)
	}
	// With a number as its first operand the instruction keeps a NaN, and gives x when they are equal.
	positive, negative := ok && bits == 0, ok && bits == 1<<(t.bits()-1)
	switch {
	case o == OpMax && positive:
		return l.rvm(float(t, 0x58), l.rvm(float(t, 0x5F), y, x), y) // −0 + 0 is 0
	case o == OpMin && negative:
		return l.minMaxOf(o, t, x, y)
	case o == OpMax:
		return l.rvm(float(t, 0x5F), y, x)
	}
	return l.rvm(float(t, 0x5D), y, x)
}

// minMaxOf is Min or Max of registers.
func (l *lower) minMaxOf(o Op, t Type, x, y vr) vr {
	switch {
	case t == I32 || t == I64 && l.evex:
		op := byte(0x39)
		if o == OpMax {
			op = 0x3D
		}
		return l.rvm(enc{2, 1, op, w(t)}, x, y)
	case t == I64:
		if o == OpMin {
			x, y = y, x
			return l.blendV(l.rvm(enc{2, 1, 0x37, 0}, x, y), y, x)
		}
		return l.blendV(l.rvm(enc{2, 1, 0x37, 0}, x, y), x, y)
	case o == OpMin:
		// Both orders: a NaN is in one of them, and so is −0.
		return l.rvm(enc{1, 1, 0xEB, w(t)}, l.rvm(float(t, 0x5D), x, y), l.rvm(float(t, 0x5D), y, x))
	}
	// The difference of both orders holds a NaN's bits, or the sign of zeros.
	p, q := l.rvm(float(t, 0x5F), x, y), l.rvm(float(t, 0x5F), y, x)
	d := l.rvm(enc{1, 1, 0xEF, w(t)}, p, q)
	return l.rvm(float(t, 0x5C), l.rvm(enc{1, 1, 0xEB, w(t)}, p, d), d)
}

// blendV is x where the mask vector is set, else y.
func (l *lower) blendV(m, x, y vr) vr {
	return l.emit(ins{form: fBlendV, e: enc{3, 1, 0x4A, 0}, l: l.full, dst: l.fresh(false), a: y, b: x, c: m})
}

// choose is x where m is set, else y, for elements of type t.
func (l *lower) choose(m, x, y vr, t Type) vr {
	if !l.evex {
		return l.blendV(m, x, y)
	}
	return l.emit(ins{form: fRVM, e: enc{2, 1, 0x65, w(t)}, l: l.full, dst: l.fresh(false), a: y, b: x, k: m})
}

func (l *lower) logic(n *node, part int) vr {
	if n.typ == Mask {
		return l.maskLogic(n, part, false)
	}
	a, b := l.val(n.args[0], part), l.val(n.args[1], part)
	if n.op != OpAndNot {
		a, b = l.order(a, b)
	}
	op := [numOps]byte{OpAnd: 0xDB, OpOr: 0xEB, OpXor: 0xEF, OpAndNot: 0xDF}[n.op]
	return l.rvm(enc{1, 1, op, w(n.typ)}, a, b)
}

// round16 adds just under half a unit of the upper half, and just half a unit
// where that half is odd, and clears the lower one.
func (l *lower) round16(x vr) vr {
	add, up := enc{1, 1, 0xFE, 0}, l.konst(I32, 0x7fff)
	y := l.rvm(add, x, up)
	if l.evex {
		odd := l.emit(ins{form: fRVM, e: enc{2, 1, 0x27, 0}, l: l.full, dst: l.fresh(true), a: x, b: l.konst(I32, 1<<16)})
		y = l.emit(ins{form: fMerge, e: add, l: l.full, dst: l.fresh(false), a: y, c: x, b: l.konst(I32, 1<<15), k: odd})
	} else {
		y = l.rvm(add, y, l.rvm(enc{1, 1, 0xDB, 0}, l.shift(0x72, 2, 0, x, 16), l.konst(I32, 1)))
	}
	return l.rvm(enc{1, 1, 0xDB, 0}, y, l.konst(I32, 0xffff0000))
}

func (l *lower) sar(t Type, x vr, k int) vr {
	if t == I32 || l.evex {
		return l.shift(0x72, 4, w(t), x, k)
	}
	sign := l.konst(I64, 1<<63>>k)
	s := l.rvm(enc{1, 1, 0xEF, 1}, l.shift(0x73, 2, 1, x, k), sign)
	return l.rvm(enc{1, 1, 0xFB, 1}, s, sign)
}

func (l *lower) sarV(t Type, x, k vr) vr {
	if t == I32 || l.evex {
		return l.rvm(enc{2, 1, 0x46, w(t)}, x, k)
	}
	// Counts beyond 63 become 63.
	small := l.rvm(enc{2, 1, 0x29, 0}, l.shift(0x73, 2, 1, k, 6), l.konst(I64, 0))
	k = l.blendV(small, k, l.konst(I64, 63))
	sign := l.rvm(enc{2, 1, 0x45, 1}, l.konst(I64, 1<<63), k)
	s := l.rvm(enc{1, 1, 0xEF, 1}, l.rvm(enc{2, 1, 0x45, 1}, x, k), sign)
	return l.rvm(enc{1, 1, 0xFB, 1}, s, sign)
}

// scale is x·2^k, on AVX2 in two steps of about half of k, of which only the
// last one can round.
func (l *lower) scale(t Type, x, k vr, near bool) vr {
	if l.evex {
		return l.rvm(enc{2, 1, 0x2C, w(t)}, x, k)
	}
	if t == F32 {
		f := func(v float32) vr { return l.konst(F32, bits32(v)) }
		if !near {
			k = l.rvm(float(t, 0x5F), f(-252), l.rvm(float(t, 0x5D), f(252), k))
		}
		n := l.rm(enc{1, 1, 0x5B, 0}, k)
		h := l.shift(0x72, 4, 0, n, 1)
		power := func(n vr) vr {
			return l.shift(0x72, 6, 0, l.rvm(enc{1, 1, 0xFE, 0}, n, l.konst(I32, 127)), 23)
		}
		if near { // x and x·2^h are normal: a power is a number added to the exponent
			x = l.rvm(enc{1, 1, 0xFE, 0}, x, l.shift(0x72, 6, 0, h, 23))
		} else {
			x = l.rvm(float(t, 0x59), x, power(h))
		}
		return l.rvm(float(t, 0x59), x, power(l.rvm(enc{1, 1, 0xFA, 0}, n, h)))
	}
	f := func(v float64) vr { return l.konst(F64, float64bits(v)) }
	k = l.rvm(float(t, 0x5F), f(-2044), l.rvm(float(t, 0x5D), f(2044), k))
	h := l.rm(enc{3, 1, 9, 1}, l.rvm(float(t, 0x59), k, f(0.5)), 9)
	power := func(n vr) vr { // the integer is in the low bits of n + 3·2^51
		return l.shift(0x73, 6, 1, l.rvm(enc{1, 1, 0xD4, 1}, l.rvm(float(t, 0x58), n, f(3<<51)), l.konst(I64, 1023)), 52)
	}
	return l.rvm(float(t, 0x59), l.rvm(float(t, 0x59), x, power(h)), power(l.rvm(float(t, 0x5C), k, h)))
}
