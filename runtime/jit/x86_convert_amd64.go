package jit

import "math"

func float64bits(x float64) uint64 { return math.Float64bits(x) }

// half is the lower or upper half of a register.
func (l *lower) half(x vr, i int) vr {
	if i == 0 {
		return x
	}
	if l.evex {
		return l.mr(enc{3, 1, 0x1B, 1}, 2, x, 1)
	}
	return l.mr(enc{3, 1, 0x19, 0}, 1, x, 1)
}

// join puts two halves into one register.
func (l *lower) join(lo, hi vr) vr {
	if l.evex {
		return l.rvm(enc{3, 1, 0x1A, 1}, lo, hi, 1)
	}
	return l.rvm(enc{3, 1, 0x18, 0}, lo, hi, 1)
}

// convert changes the type of a value.
func (l *lower) convert(n *node, part int) vr {
	a := n.args[0]
	// widen gives the half of a 32-bit value that makes this part.
	widen := func(e enc) vr { return l.rm(e, l.half(l.val(a, part/2), part%2)) }
	// narrow makes a part from two of a 64-bit value.
	narrow := func(f func(x vr) vr) vr { return l.join(f(l.val(a, 2*part)), f(l.val(a, 2*part+1))) }
	to := func(e enc) func(vr) vr { return func(x vr) vr { return l.rm(e, x) } }
	switch n.op {
	case OpF32ToF64:
		return widen(enc{1, 0, 0x5A, 0})
	case OpI32ToF64:
		return widen(enc{1, 2, 0xE6, 0})
	case OpSext:
		return widen(enc{2, 1, 0x25, 0})
	case OpZext:
		return widen(enc{2, 1, 0x35, 0})
	case OpF64ToF32:
		return narrow(to(enc{1, 1, 0x5A, 1}))
	case OpTruncI32:
		if l.nodes[a].typ == F32 {
			return l.rm(enc{1, 2, 0x5B, 0}, l.val(a, part))
		}
		return narrow(to(enc{1, 1, 0xE6, 1}))
	case OpNearI32:
		return l.rm(enc{1, 1, 0x5B, 0}, l.val(a, part))
	case OpI32ToF32:
		return l.rm(enc{1, 0, 0x5B, 0}, l.val(a, part))
	case OpWrap:
		if !l.evex {
			return l.narrowPair(l.val(a, 2*part), l.val(a, 2*part+1))
		}
		return narrow(func(x vr) vr { return l.mr(enc{2, 2, 0x35, 0}, l.full, x) })
	case OpI64ToF64:
		if l.evex {
			return l.rm(enc{1, 2, 0xE6, 1}, l.val(a, part))
		}
		return l.i64ToF64(l.val(a, part))
	case OpI64ToF32:
		if l.evex {
			return narrow(to(enc{1, 0, 0x5B, 1}))
		}
		return narrow(l.i64ToF32)
	case OpTruncI64:
		if l.evex {
			return l.rm(enc{1, 1, 0x7A, 1}, l.val(a, part))
		}
		return l.emit(ins{form: fPseudo, dst: l.fresh(false), b: l.val(a, part), do: truncScalar})
	case OpF16Dec:
		if in := &l.nodes[a]; in.op == OpIn && storageOf(l.ins[in.imm].dtype) == stU16 && !l.recall[a] {
			l.loads[place(int(in.imm), l.atRow)] = 2
			return l.emit(ins{form: fRM, e: enc{2, 1, 0x13, 0}, l: l.full, dst: l.fresh(false), ref: l.ref(int(in.imm), 2, F32, part), fixed: l.tailMask(false, part), zero: true})
		}
		return l.rm(enc{2, 1, 0x13, 0}, l.low16(l.val(a, part)))
	case OpF16Enc:
		h := l.mr(enc{3, 1, 0x1D, 0}, l.full, l.val(a, part), 0)
		return l.rm(enc{2, 1, 0x33, 0}, h)
	}
	panic(&TypeError{Op: n.op})
}

// low16 packs the lower halves of 32-bit lanes into half a register.
func (l *lower) low16(x vr) vr {
	if l.evex {
		return l.mr(enc{2, 2, 0x33, 0}, l.full, x)
	}
	s := l.rvm(enc{2, 1, 0x00, 0}, x, l.bytes(0x0d0c090805040100, ^uint64(0)))
	return l.rm(enc{3, 1, 0x00, 1}, s, 0x08)
}

// bytes is a constant of two quadwords, repeated.
func (l *lower) bytes(lo, hi uint64) vr {
	var c [8]uint64
	for i := range c {
		c[i] = lo
		if i%2 == 1 {
			c[i] = hi
		}
	}
	return l.at(pool(l.constant(c)), false)
}

// i64ToF64 puts both words into the mantissas of large powers of two, whose
// difference is exact but for one rounding.
func (l *lower) i64ToF64(x vr) vr {
	and, or, xor := enc{1, 1, 0xDB, 1}, enc{1, 1, 0xEB, 1}, enc{1, 1, 0xEF, 1}
	lo := l.rvm(or, l.rvm(and, x, l.konst(I64, 0xffffffff)), l.konst(I64, 0x4330000000000000))
	hi := l.rvm(xor, l.shift(0x73, 2, 1, x, 32), l.konst(I64, 0x4530000080000000))
	return l.rvm(float(F64, 0x58), l.rvm(float(F64, 0x5C), hi, l.konst(I64, 0x4530000080100000)), lo)
}

// i64ToF32 rounds once: numbers that F64 does not hold lose eleven bits to a sticky one.
func (l *lower) i64ToF32(x vr) vr {
	and, or, add, greater := enc{1, 1, 0xDB, 1}, enc{1, 1, 0xEB, 1}, enc{1, 1, 0xD4, 1}, enc{2, 1, 0x37, 0}
	low := l.konst(I64, 0x7ff)
	sticky := l.rvm(and, l.rvm(add, l.rvm(and, x, low), low), l.konst(I64, 0x800))
	cut := l.rvm(or, l.rvm(enc{1, 1, 0xDF, 1}, low, x), sticky)
	large := l.rvm(or, l.rvm(greater, x, l.konst(I64, 1<<53-1)), l.rvm(greater, l.konst(I64, -1<<53&(1<<64-1)), x))
	return l.rm(enc{1, 1, 0x5A, 1}, l.i64ToF64(l.blendV(large, cut, x)))
}

// truncScalar truncates four F64 in a general register.
func truncScalar(x *emitter, dst, src int) {
	t := field(x.temp)
	x.vec(enc{1, 0, 0x11, 0}, x.full, src, 0, rm{mem: &t}, masking{})
	for i := range 4 {
		m := field(x.temp + 8*i)
		// cvttsd2si rax, [m]
		x.code = append(x.code, 0xF2)
		x.gpr(true, []byte{0x0F, 0x2C}, rax, rm{mem: &m})
		x.store(m, rax)
	}
	x.vec(enc{1, 0, 0x10, 0}, x.full, dst, 0, rm{mem: &t}, masking{})
}

// tailMask is the mask register of a tail for a part of 32-bit or 64-bit elements.
func (l *lower) tailMask(wide bool, part int) int {
	switch {
	case !l.tail || !l.evex:
		return 0
	case wide && part == 1:
		return 6
	}
	return 7
}

// ref is part of an operand whose elements have size bytes in memory and are of type t.
func (l *lower) ref(operand, size int, t Type, part int) *ref {
	per := lanes / l.parts(t)
	return &ref{operand: place(operand, l.atRow), size: size, disp: int32(size * (l.group*lanes + part*per))}
}

// loadElement loads part of an input.
func (l *lower) loadElement(n *node, part int) vr {
	s := storageOf(l.ins[n.imm].dtype)
	l.loads[place(int(n.imm), l.atRow)] = s.bytes()
	return l.loadAs(int(n.imm), s, n.typ, part)
}

func (l *lower) loadAs(operand int, s storage, t Type, part int) vr {
	e := [...]enc{stU8: {2, 1, 0x31, 0}, stI8: {2, 1, 0x21, 0}, stU16: {2, 1, 0x33, 0}, stI16: {2, 1, 0x23, 0}, stW32: {1, 0, 0x10, 0},
		stU32: {2, 1, 0x35, 0}, stW64: {1, 1, 0x10, 1}}[s]
	if l.rereads() && (s == stW32 || s == stW64) {
		v := l.fresh(false)
		l.info[v].ref = l.ref(operand, s.bytes(), t, part)
		return v
	}
	return l.emit(ins{form: fRM, e: e, l: l.full, dst: l.fresh(false), ref: l.ref(operand, s.bytes(), t, part), fixed: l.tailMask(t.wide(), part), zero: true})
}

// rereads says whether elements are operands in memory, for which there are too few
// registers: read by each instruction that uses them.
func (l *lower) rereads() bool {
	return !l.evex && !l.tail && !l.alias && len(l.ins)+len(l.outs)+len(l.kept) <= len(pointerRegs)
}

// halves says whether v is a 16-bit element that is loaded.
func (l *lower) halves(v Value) bool {
	n := &l.nodes[v]
	return n.op == OpIn && storageOf(l.ins[n.imm].dtype) == stU16 && !l.recall[v] && !l.row[v]
}

// loadUpper loads 16-bit elements into the upper halves of lanes: one permutation
// instead of one and a shift, for which there are no other ports.
func (l *lower) loadUpper(n *node, part int) vr {
	operand := int(n.imm)
	l.loads[place(operand, l.atRow)] = 2
	x := l.emit(ins{form: fRM, e: enc{1, 3, 0x6F, 1}, l: 1, dst: l.fresh(false), ref: l.ref(operand, 2, I32, part), fixed: l.tailMask(false, part), zero: true})
	var c [8]uint64
	for i := range c {
		c[i] = uint64(2*i)<<16 | uint64(2*i+1)<<48
	}
	places := l.at(pool(l.constant(c)), false)
	l.upper = true
	return l.emit(ins{form: fRVM, e: enc{2, 1, 0x8D, 1}, l: 2, dst: l.fresh(false), a: places, b: x, fixed: maskUpper, zero: true})
}

// pairs says whether the parts of every value may be its even and its odd
// elements: then bf16 is widened and narrowed by shifts, without permutations.
func (pl *plan) pairs() bool {
	some := false
	for v := 1; v < len(pl.nodes); v++ {
		n := &pl.nodes[v]
		if n.op == OpColumn || n.typ.wide() && !pl.row[v] {
			return false
		}
		for _, a := range n.args[:sigs[n.op].args] {
			in := &pl.nodes[a]
			switch {
			case in.op != OpIn:
			case storageOf(pl.ins[in.imm].dtype) != stU16 || n.op != OpShl || n.imm != 16:
				return false
			default:
				some = true
			}
		}
		if sigs[n.op].reduce && n.typ.wide() {
			return false
		}
	}
	for _, o := range pl.outs {
		if n := &pl.nodes[o.value]; !o.row && (o.size != 2 || n.typ != I32 || n.op == OpF16Enc || n.op == OpIn) {
			return false
		}
	}
	return some
}

// loadPair gives the even or the odd ones of 16-bit elements in the upper halves of lanes.
func (l *lower) loadPair(v Value, part int) vr {
	x := &l.memo[v].r[0]
	if *x == 0 {
		operand := int(l.nodes[v].imm)
		l.loads[place(operand, l.atRow)] = 2
		*x = l.emit(ins{form: fRM, e: enc{1, 0, 0x10, 0}, l: l.full, dst: l.fresh(false), ref: l.ref(operand, 2, I32, 0)})
	}
	if part == 0 {
		return l.shift(0x72, 6, 0, *x, 16)
	}
	return l.rvm(enc{1, 1, 0xDB, 0}, *x, l.konst(I32, 0xffff0000))
}

// raised is part of v with its lower halves in the upper ones; what is in the lower ones is not said.
func (l *lower) raised(v Value, part int) vr {
	n := &l.nodes[v]
	switch {
	case l.row[v] || l.recall[v]:
	case n.op == OpSelect:
		return l.blendV(l.mask32(n.args[0], part), l.raised(n.args[1], part), l.raised(n.args[2], part))
	case n.op == OpShr && n.imm == 16:
		return l.val(n.args[0], part)
	}
	if n.op == OpConst {
		return l.konst(I32, n.imm<<16)
	}
	return l.shift(0x72, 6, 0, l.val(v, part), 16)
}

// recalled loads part of a kept value from its scratch row.
func (l *lower) recalled(v Value, t Type, part int) vr {
	s := stW32
	if t.wide() {
		s = stW64
	}
	o := l.keptOperand(v)
	l.loads[o] = s.bytes()
	return l.loadAs(o, s, t, part)
}

// loadRow spreads one element over all lanes.
func (l *lower) loadRow(n *node) vr {
	if n.op == OpParam {
		m := field(l.paramAt + 8*int(n.imm))
		return l.broadcast(n.typ, &m)
	}
	operand, s := int(n.imm), storageOf(l.ins[n.imm].dtype)
	wide := n.typ.wide()
	return l.emit(ins{form: fPseudo, dst: l.fresh(false), do: func(x *emitter, dst, _ int) {
		x.load(rsi, field(x.ptrAt+8*operand))
		m := mem{base: rsi, index: -1}
		switch s {
		case stU8:
			x.gpr(false, []byte{0x0F, 0xB6}, rax, rm{mem: &m})
		case stI8:
			x.gpr(false, []byte{0x0F, 0xBE}, rax, rm{mem: &m})
		case stU16:
			x.gpr(false, []byte{0x0F, 0xB7}, rax, rm{mem: &m})
		case stI16:
			x.gpr(false, []byte{0x0F, 0xBF}, rax, rm{mem: &m})
		case stW32, stU32:
			x.gpr(false, []byte{0x8B}, rax, rm{mem: &m})
		default:
			x.load(rax, m)
		}
		t := field(x.temp)
		x.store(t, rax)
		x.vec(x.broadcastOf(wide), x.full, dst, 0, rm{mem: &t}, masking{})
	}})
}

// broadcastOf is the encoding of a broadcast from memory.
func (x *x86) broadcastOf(wide bool) enc {
	switch {
	case !wide:
		return enc{2, 1, 0x58, 0}
	case x.evex:
		return enc{2, 1, 0x59, 1}
	}
	return enc{2, 1, 0x59, 0}
}

func (l *lower) broadcast(t Type, m *mem) vr {
	return l.emit(ins{form: fRM, e: l.broadcastOf(t.wide()), l: l.full, dst: l.fresh(false), m: m})
}

// column is the position in the row.
func (l *lower) column(t Type, part int) vr {
	per, group, temp := lanes/l.parts(t), l.group, l.temp
	start := l.emit(ins{form: fPseudo, dst: l.fresh(false), do: func(x *emitter, dst, _ int) {
		x.load(rax, field(offCol))
		x.gpr(true, []byte{0x01}, rcx, rm{reg: rax})
		m := field(temp)
		x.store(m, rax)
		x.vec(x.broadcastOf(t.wide()), x.full, dst, 0, rm{mem: &m}, masking{})
	}})
	return l.rvm(enc{1, 1, 0xFE - 0x2A*w(t), w(t)}, start, l.iota(t, group*lanes+part*per))
}

// places are the positions in a group of the elements of a part.
func (l *lower) places(t Type, part int) vr {
	if !l.pair {
		return l.iota(t, part*lanes/l.parts(t))
	}
	var c [8]uint64
	for i := range c {
		c[i] = uint64(4*i+part) | uint64(4*i+2+part)<<32
	}
	return l.at(pool(l.constant(c)), false)
}

// iota is the constant from, from+1, …
func (l *lower) iota(t Type, from int) vr {
	var c [8]uint64
	for i := range c {
		if t.wide() {
			c[i] = uint64(from + i)
		} else {
			c[i] = uint64(from+2*i) | uint64(from+2*i+1)<<32
		}
	}
	return l.at(pool(l.constant(c)), false)
}

// write is the opcode of a whole store to operand o.
func (l *lower) write(o int) byte {
	if l.stream && !l.tail && o < len(l.ins)+len(l.outs) {
		return 0x2B
	}
	return 0x11
}

// storeElement gives the store of part of v to operand o, of elements of size
// bytes; what it stores is emitted.
func (l *lower) storeElement(v Value, o, size, part int) ins {
	l.stores[o] = size
	n := &l.nodes[v]
	t := n.typ
	at := ins{form: fStore, l: l.full, ref: l.ref(o, size, t, part), fixed: l.tailMask(t.wide(), part)}
	half := n.op == OpF16Enc && size == 2 && !l.row[v] && !l.recall[v]
	// past stores a part of a register that holds its elements side by side.
	past := l.write(o) == 0x2B
	dense := func(x vr, length byte) ins {
		at.e, at.l, at.b = enc{1, 0, l.write(o), 0}, length, x
		return at
	}
	switch {
	case l.pair && o < len(l.ins)+len(l.outs):
		at.ref = l.ref(o, size, t, 0)
		return dense(l.rvm(enc{3, 1, 0x0E, 0}, l.val(v, 0), l.raised(v, 1), 0xAA), l.full)
	case half && past:
		return dense(l.mr(enc{3, 1, 0x1D, 0}, l.full, l.val(n.args[0], part), 0), l.full-1)
	case half:
		at.e, at.b, at.imm = enc{3, 1, 0x1D, 0}, l.val(n.args[0], part), []byte{0}
	case size == 8:
		at.e, at.b = enc{1, 1, l.write(o), 1}, l.val(v, part)
	case size == 4 && !t.wide():
		at.e, at.b = enc{1, 0, l.write(o), 0}, l.val(v, part)
	case l.evex:
		narrow := enc{2, 2, map[int]byte{1: 0x31, 2: 0x33, 4: 0x35}[size], 0}
		if past { // a half or a quarter of a register
			return dense(l.mr(narrow, l.full, l.val(v, part)), l.full-byte(t.bits()/size/16))
		}
		at.e, at.b = narrow, l.val(v, part)
	case size == 4:
		x := l.val(v, part)
		return dense(l.rm(enc{3, 1, 0x00, 1}, l.rvm(enc{1, 0, 0xC6, 0}, x, x, 0x88), 0x08), 0)
	case size == 2:
		return dense(l.low16(l.val(v, part)), 0)
	default:
		s := l.rvm(enc{2, 1, 0x00, 0}, l.val(v, part), l.bytes(0xffffffff0c080400, ^uint64(0)))
		s = l.rvmL(enc{1, 1, 0x62, 0}, 0, s, l.mr(enc{3, 1, 0x19, 0}, 1, s, 1))
		at.e, at.l, at.b = enc{1, 1, 0xD6, 0}, 0, s
	}
	return at
}
