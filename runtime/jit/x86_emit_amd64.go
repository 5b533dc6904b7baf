package jit

import "math/bits"

// emitter writes the instructions of one section with registers for their
// operands: each straight piece of code is gone through once, and when no
// register is free the value wanted again last gives up its own.
type emitter struct {
	*asm
	*x86
	info  []vinfo
	where []int     // register of a virtual register, or -1
	slot  []int     // its place in the frame, or 0
	uses  [][]int32 // where each virtual register is read, from the current instruction on
	held  [2][]vr   // by class: what a register holds
	fixed [2][]bool
	lock  [2]uint64
	bases map[int]int // general registers that hold operand pointers
	temps map[int]int // operands that are read and written in the frame (tails of AVX2)
}

func (x *x86) newEmitter(a *asm) *emitter {
	e := &emitter{asm: a, x86: x}
	e.held[0], e.fixed[0] = make([]vr, x.nreg), make([]bool, x.nreg)
	e.held[1], e.fixed[1] = make([]vr, maskUpper), make([]bool, maskUpper) // K6 and K7 are the masks of tails
	e.fixed[1][0] = true                                                   // K0 means no mask
	return e
}

// maskUpper is the mask register of the upper halves of 32-bit lanes, in loops that load into them.
const maskUpper = 5

func class(k bool) int {
	if k {
		return 1
	}
	return 0
}

// begin takes note of the registers of l.
func (e *emitter) begin(l *lower) {
	e.info = l.info
	for len(e.where) < len(e.info) {
		e.where = append(e.where, -1)
		e.slot = append(e.slot, 0)
	}
}

// sources calls f for each register that i reads.
func (i *ins) sources(f func(v *vr)) {
	if i.a != 0 {
		f(&i.a)
	}
	if i.b != 0 {
		f(&i.b)
	}
	if i.c != 0 {
		f(&i.c)
	}
	if i.k != 0 {
		f(&i.k)
	}
}

// run emits one straight piece of code.
func (e *emitter) run(l *lower, list []ins) {
	e.begin(l)
	e.uses = make([][]int32, len(e.info))
	for i := range list {
		list[i].sources(func(v *vr) { e.uses[*v] = append(e.uses[*v], int32(i)) })
	}
	for i := range list {
		e.one(&list[i], int32(i))
		list[i].sources(func(v *vr) { // what was used is forgotten
			for u := e.uses[*v]; len(u) > 0 && u[0] <= int32(i); u = u[1:] {
				e.uses[*v] = u[1:]
			}
		})
	}
	for c := range e.held {
		for r, v := range e.held[c] {
			if v != 0 && !e.fixed[c][r] {
				e.drop(v)
			}
		}
	}
}

// next is when v is used after i; never: a large number.
func (e *emitter) next(v vr, i int32) int32 {
	for _, u := range e.uses[v] {
		if u > i {
			return u
		}
	}
	return 1 << 30
}

func (e *emitter) drop(v vr) {
	c := class(e.info[v].k)
	if r := e.where[v]; r >= 0 && !e.fixed[c][r] {
		e.held[c][r] = 0
		e.where[v] = -1
	}
}

// take finds a register for v, in instruction i.
func (e *emitter) take(v vr, i int32) int {
	c := class(e.info[v].k)
	best, far := -1, int32(-1)
	for r, h := range e.held[c] {
		if e.fixed[c][r] || e.lock[c]>>r&1 == 1 {
			continue
		}
		if h == 0 {
			best = r
			break
		}
		if n := e.next(h, i-1); n > far {
			best, far = r, n
		}
	}
	if best < 0 {
		panic("jit: an instruction with more operands than registers")
	}
	if h := e.held[c][best]; h != 0 {
		if e.info[h].home == nil && e.info[h].ref == nil && e.slot[h] == 0 && e.next(h, i-1) < 1<<30 {
			e.slot[h] = e.newSlot()
			m := field(e.slot[h])
			e.save(c, m, best)
		}
		e.where[h] = -1
	}
	e.held[c][best] = v
	e.where[v] = best
	e.lock[c] |= 1 << best
	return best
}

func (e *emitter) save(c int, m mem, r int) {
	if c == 1 {
		e.kop(enc{1, 0, 0x91, 0}, 0, r, 0, rm{mem: &m})
	} else {
		e.vec(enc{1, 0, 0x11, 0}, e.full, r, 0, rm{mem: &m}, masking{})
	}
}

func (e *emitter) fetch(c int, r int, m mem) {
	if c == 1 {
		e.kop(enc{1, 0, 0x90, 0}, 0, r, 0, rm{mem: &m})
	} else {
		e.vec(enc{1, 0, 0x10, 0}, e.full, r, 0, rm{mem: &m}, masking{})
	}
}

// memory is where v lies in memory, if it does.
func (e *emitter) memory(v vr) (mem, bool) {
	if h := e.info[v].home; h != nil {
		return *h, true
	}
	if r := e.info[v].ref; r != nil {
		return e.operand(r), true
	}
	return field(e.slot[v]), e.slot[v] != 0
}

// reg brings v into a register and keeps it there for this instruction.
func (e *emitter) reg(v vr, i int32) int {
	c := class(e.info[v].k)
	if r := e.where[v]; r >= 0 {
		e.lock[c] |= 1 << r
		return r
	}
	m, ok := e.memory(v)
	if !ok {
		panic("jit: a value is used before it is made")
	}
	r := e.take(v, i)
	e.fetch(c, r, m)
	return r
}

// any is v in a register or in memory.
func (e *emitter) any(v vr, i int32) rm {
	if e.where[v] < 0 && !e.info[v].k {
		if m, ok := e.memory(v); ok && (e.lies(v) || e.next(v, i) == 1<<30) {
			return rm{mem: &m}
		}
	}
	return rm{reg: e.reg(v, i)}
}

// ends releases what i uses last.
func (e *emitter) ends(in *ins, i int32) {
	in.sources(func(v *vr) {
		if e.next(*v, i) == 1<<30 {
			e.drop(*v)
		}
	})
	e.lock = [2]uint64{}
}

// dst is the register of the result.
func (e *emitter) dst(v vr, i int32) int {
	c := class(e.info[v].k)
	if r := e.where[v]; r >= 0 && e.fixed[c][r] {
		return r
	}
	return e.take(v, i+1)
}

// operand is the memory of the current element of an operand.
func (e *emitter) operand(r *ref) mem {
	if t, ok := e.temps[r.operand]; ok {
		return mem{base: rdi, index: -1, disp: int32(t) + r.disp}
	}
	base, ok := e.bases[r.operand]
	if !ok {
		base = rax
		e.load(rax, field(e.ptrAt+8*r.operand))
	}
	return mem{base: base, index: rcx, scale: log2(r.size), disp: r.disp}
}

func log2(size int) byte { return byte(bits.TrailingZeros(uint(size))) }

// one emits an instruction.
func (e *emitter) one(in *ins, i int32) {
	e.lock = [2]uint64{}
	k := masking{k: in.fixed}
	if in.k != 0 {
		k.k = e.reg(in.k, i)
	}
	k.zero = in.zero && k.k != 0
	switch in.form {
	case fFMA:
		e.fused(in, i)
		return
	case fMerge:
		e.merge(in, i, k)
		return
	}
	var a, c int
	if in.a != 0 {
		a = e.reg(in.a, i)
	}
	if in.c != 0 {
		c = e.reg(in.c, i)
	}
	var b rm
	switch {
	case in.ref != nil:
		m := e.operand(in.ref)
		b.mem = &m
	case in.m != nil:
		b.mem = in.m
	}
	src := 0
	if in.b != 0 {
		needs := in.kop || in.form == fMR || in.form == fStore || in.form == fPseudo || in.form == fShift && !e.asm.evex
		switch {
		case needs && b.mem == nil:
			b.reg = e.reg(in.b, i)
			src = b.reg
		case needs:
			src = e.reg(in.b, i)
		default:
			b = e.any(in.b, i)
		}
	}
	e.ends(in, i)
	d := 0
	if in.dst != 0 {
		d = e.dst(in.dst, i)
	}
	emit := func(reg, vvvv int, o rm, imm ...byte) {
		if in.kop {
			e.kop(in.e, in.l, reg, vvvv, o, imm...)
		} else {
			e.vec(in.e, in.l, reg, vvvv, o, k, imm...)
		}
	}
	switch in.form {
	case fRVM:
		emit(d, a, b, in.imm...)
	case fRM:
		emit(d, 0, b, in.imm...)
	case fMR:
		emit(src, 0, rm{reg: d}, in.imm...)
	case fStore:
		emit(src, 0, b, in.imm...)
	case fShift:
		emit(int(in.ext), d, b, in.imm...)
	case fBlendV:
		emit(d, a, b, byte(c)<<4)
	case fPseudo:
		in.do(e, d, src)
	}
}

// dies says whether v is not wanted after i and its register may be overwritten.
func (e *emitter) dies(v vr, i int32) bool {
	return e.where[v] >= 0 && e.info[v].home == nil && !e.fixed[0][e.where[v]] && e.next(v, i) == 1<<30
}

// lies says whether v is in memory alone.
func (e *emitter) lies(v vr) bool {
	return (e.info[v].home != nil || e.info[v].ref != nil) && e.where[v] < 0
}

// become gives the register r of v to the result of in, which overwrites it.
func (e *emitter) become(in *ins, v vr, r int, i int32) {
	e.ends(in, i)
	e.drop(v)
	e.held[0][r] = in.dst
	e.where[in.dst] = r
}

// merge emits an instruction that leaves lanes of its destination as they are.
func (e *emitter) merge(in *ins, i int32, k masking) {
	dies := e.dies(in.a, i) && in.a != in.b && in.a != in.c
	ra, rc, ob := e.reg(in.a, i), e.reg(in.c, i), e.any(in.b, i)
	if dies {
		e.vec(in.e, in.l, ra, rc, ob, k)
		e.become(in, in.a, ra, i)
		return
	}
	d := e.take(in.dst, i)
	e.vec(enc{1, 0, 0x28, 0}, in.l, d, 0, rm{reg: ra}, masking{})
	e.vec(in.e, in.l, d, rc, ob, k)
	e.ends(in, i)
}

// fused emits a fused multiply-add in the form that destroys an operand which is not wanted again.
func (e *emitter) fused(in *ins, i int32) {
	dies := func(v vr) bool { return e.dies(v, i) }
	a, b, c := in.a, in.b, in.c
	if !dies(a) && dies(b) || e.lies(a) {
		a, b = b, a
	}
	e231, e213, e132 := in.e, in.e, in.e
	e213.op -= 0x10
	e132.op -= 0x20
	own := func(v vr, r int) { e.become(in, v, r, i) }
	switch {
	case dies(c):
		rc, ra := e.reg(c, i), e.reg(a, i)
		e.vec(e231, in.l, rc, ra, e.any(b, i), masking{})
		own(c, rc)
	case dies(a) && e.lies(b) && e.where[c] >= 0:
		ra, rc := e.reg(a, i), e.reg(c, i)
		e.vec(e132, in.l, ra, rc, e.any(b, i), masking{})
		own(a, ra)
	case dies(a):
		ra, rb := e.reg(a, i), e.reg(b, i)
		e.vec(e213, in.l, ra, rb, e.any(c, i), masking{})
		own(a, ra)
	default:
		ra := e.reg(a, i)
		ob := e.any(b, i)
		oc := e.any(c, i)
		d := e.take(in.dst, i)
		e.vec(enc{1, 0, 0x10, 0}, in.l, d, 0, oc, masking{})
		e.vec(e231, in.l, d, ra, ob, masking{})
		e.ends(in, i)
	}
}

// pressure is how many registers without a home hold values at once.
func pressure(l *lower, list []ins) int {
	last := make([]int, len(l.info))
	for i := range list {
		list[i].sources(func(v *vr) { last[*v] = i })
	}
	live, most := 0, 0
	count := func(v vr) bool {
		return !l.info[v].k && l.info[v].home == nil && l.info[v].ref == nil && !l.info[v].pin
	}
	for i := range list {
		in := &list[i]
		if in.dst != 0 && count(in.dst) && last[in.dst] > 0 {
			live++
			most = max(most, live)
		}
		in.sources(func(v *vr) {
			if count(*v) && last[*v] == i {
				last[*v] = -1
				live--
			}
		})
	}
	return most
}
