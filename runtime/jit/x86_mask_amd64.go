package jit

// Masks have two forms. With AVX-512 the 32-bit form is one register of 16
// bits and the 64-bit form two registers of 8; with AVX2 they are vectors of all
// ones and zeros in lanes of that size. Each form is made where it is wanted.

// maskFor is a mask in the form that elements of type t need.
func (l *lower) maskFor(v Value, t Type, part int) vr {
	if t.wide() {
		return l.mask64(v, part)
	}
	return l.mask32(v, part)
}

// wideMask says whether a mask is made in the 64-bit form.
func (l *lower) wideMask(v Value) bool {
	n := &l.nodes[v]
	switch n.op {
	case OpEq, OpNe, OpLt, OpLe, OpLtU:
		return l.nodes[n.args[0]].typ.wide()
	case OpAnd, OpOr, OpXor, OpAndNot:
		return !l.row[v] && l.wideMask(n.args[0]) && l.wideMask(n.args[1])
	}
	return false
}

// inMemory says whether a mask is read from a slot or a constant, where it is
// the same in every lane and fits both forms.
func (l *lower) inMemory(v Value) bool {
	return l.row[v] && (l.nodes[v].op == OpConst || !l.uniform || !l.memo[v].begun)
}

func (l *lower) mask32(v Value, part int) vr {
	if l.inMemory(v) {
		return l.val(v, part)
	}
	if l.row[v] {
		part = 0
	}
	ps := &l.memo[v]
	ps.begun = true
	if ps.r[part] != 0 {
		return ps.r[part]
	}
	n := &l.nodes[v]
	var r vr
	switch {
	case l.wideMask(v) && l.evex:
		r = l.kk(enc{1, 1, 0x4B, 0}, 1, l.mask64(v, 1), l.mask64(v, 0))
	case l.wideMask(v):
		r = l.narrowPair(l.mask64(v, 2*part), l.mask64(v, 2*part+1))
	case n.op == OpAnd || n.op == OpOr || n.op == OpXor || n.op == OpAndNot:
		r = l.maskLogic(n, part, false)
	default:
		r = l.compare(n, part)
	}
	ps.r[part] = r
	return r
}

// narrowPair takes the lower word of each quadword of two registers.
func (l *lower) narrowPair(lo, hi vr) vr {
	s := l.rvm(enc{1, 0, 0xC6, 0}, lo, hi, 0x88)
	return l.rm(enc{3, 1, 0x00, 1}, s, 0xD8)
}

func (l *lower) mask64(v Value, part int) vr {
	if l.inMemory(v) {
		return l.val(v, 0)
	}
	if l.row[v] {
		part = 0
	}
	ps := &l.memo64[v]
	ps.begun = true
	if ps.r[part] != 0 {
		return ps.r[part]
	}
	n := &l.nodes[v]
	var r vr
	switch {
	case l.wideMask(v) && (n.op == OpAnd || n.op == OpOr || n.op == OpXor || n.op == OpAndNot):
		r = l.maskLogic(n, part, true)
	case l.wideMask(v):
		r = l.compare(n, part)
	case l.row[v]: // all lanes are equal
		r = l.mask32(v, 0)
	case l.evex && part == 0:
		r = l.mask32(v, 0)
	case l.evex:
		r = l.kk(enc{3, 1, 0x30, 1}, 0, 0, l.mask32(v, 0), 8)
	default:
		r = l.rm(enc{2, 1, 0x25, 0}, l.half(l.mask32(v, part/2), part%2))
	}
	ps.r[part] = r
	return r
}

func (l *lower) maskLogic(n *node, part int, wide bool) vr {
	get := l.mask32
	if wide {
		get = l.mask64
	}
	a, b := get(n.args[0], part), get(n.args[1], part)
	if l.evex {
		op := [numOps]byte{OpAnd: 0x41, OpOr: 0x45, OpXor: 0x47, OpAndNot: 0x42}[n.op]
		return l.kk(enc{1, 0, op, 0}, 1, a, b)
	}
	op := [numOps]byte{OpAnd: 0xDB, OpOr: 0xEB, OpXor: 0xEF, OpAndNot: 0xDF}[n.op]
	return l.rvm(enc{1, 1, op, 0}, a, b)
}

// compare makes a mask of the width of its operands.
func (l *lower) compare(n *node, part int) vr {
	t := l.nodes[n.args[0]].typ
	x, y := l.val(n.args[0], part), l.val(n.args[1], part)
	if t.float() {
		imm := [numOps]byte{OpEq: 0, OpNe: 4, OpLt: 0x11, OpLe: 0x12}[n.op]
		return l.emit(ins{form: fRVM, e: float(t, 0xC2), l: l.full, dst: l.fresh(l.evex), a: x, b: y, imm: []byte{imm}})
	}
	if l.evex {
		op, imm := byte(0x1F), [numOps]byte{OpEq: 0, OpLt: 1, OpLe: 2, OpNe: 4, OpLtU: 1}[n.op]
		if n.op == OpLtU {
			op = 0x1E
		}
		return l.emit(ins{form: fRVM, e: enc{3, 1, op, w(t)}, l: l.full, dst: l.fresh(true), a: x, b: y, imm: []byte{imm}})
	}
	equal, greater := enc{1, 1, 0x76, 0}, enc{1, 1, 0x66, 0}
	if t.wide() {
		equal, greater = enc{2, 1, 0x29, 0}, enc{2, 1, 0x37, 0}
	}
	flip := enc{1, 1, 0xEF, 0}
	ones := func() vr { return l.konst(I64, ^uint64(0)) }
	switch n.op {
	case OpEq:
		return l.rvm(equal, x, y)
	case OpNe:
		return l.rvm(flip, l.rvm(equal, x, y), ones())
	case OpLt:
		return l.rvm(greater, y, x)
	case OpLe:
		return l.rvm(flip, l.rvm(greater, x, y), ones())
	}
	sign := l.konst(t, 1<<(t.bits()-1))
	return l.rvm(greater, l.rvm(flip, y, sign), l.rvm(flip, x, sign))
}
