package jit

import "slices"

// acc is where the lanes of a reduction are while a block is walked.
type acc struct {
	v    Value
	row  int
	regs []vr  // registers kept for it
	at   []int // or slots of the frame
}

// walker emits one pass over some rows side by side.
type walker struct {
	*x86
	rows int
	a    *asm
	l    *lower
	e    *emitter
	q    *pass
	nth  int // of the passes
	accs []acc
}

// walks emits pass i over columns lo … hi of the frame, of so many rows.
func (x *x86) walks(a *asm, i, rows int) {
	x.section(a)
	p := &walker{x86: x, rows: rows, a: a, l: x.newLower(), e: x.newEmitter(a), q: &x.passes[i], nth: i}
	p.l.recall = map[Value]bool{}
	for j, v := range p.q.body {
		p.l.recall[v] = p.q.recall[j]
	}
	p.placeAccs()
	one := p.groups(1, false, true)
	main, unroll := one, 1
	arranged := !x.evex && rows == 1 && len(one) <= maxArranged
	for n := maxUnroll; n > 1; n /= 2 {
		always, most := n == 2 && arranged, maxWoven
		if always {
			most = maxArranged
		}
		if n*len(one) > most {
			continue
		}
		if woven := p.groups(n, false, !always); always || pressure(p.l, woven) <= x.nreg-spareRegs {
			main, unroll = woven, n
			break
		}
	}
	if arranged {
		main = p.l.arrange(main, x.nreg-loose-p.pinned())
	}
	tail := p.groups(1, true, true)
	end := p.ends()
	p.pointers()
	if p.l.upper {
		a.code = append(a.code, 0xBE, 0xAA, 0xAA, 0xAA, 0xAA) // mov esi
		a.kop(enc{1, 3, 0x92, 0}, 0, maskUpper, 0, rm{reg: rsi})
	}
	p.hoist(main)
	p.code(main, one, tail, end, unroll)
	a.ret()
}

// pinned is how many registers reductions keep.
func (p *walker) pinned() (n int) {
	for i := range p.accs {
		n += len(p.accs[i].regs)
	}
	return n
}

// placeAccs gives the reductions registers while they last.
func (p *walker) placeAccs() {
	budget := p.nreg / 2
	for row := range p.rows {
		for _, v := range p.q.folds {
			n := p.parts(p.nodes[v].typ)
			ac := acc{v: v, row: row}
			for range n {
				if budget >= n {
					r := p.l.fresh(false)
					p.l.info[r].pin = true
					ac.regs = append(ac.regs, r)
				} else {
					ac.at = append(ac.at, p.newSlot())
				}
			}
			if ac.regs != nil {
				budget -= n
			}
			p.accs = append(p.accs, ac)
		}
	}
}

// A group's chain of operations is longer than what a processor looks ahead, so
// that several of them are written side by side.
const (
	maxUnroll = 4
	maxWoven  = 400 // instructions
	spareRegs = 6   // for constants

	maxArranged = 640 // instructions
	loose       = 3   // registers that arrange leaves for constants
)

// groups lowers n groups of 16 elements, and weaves them unless they are to be arranged.
// Those of rows side by side wait for each other in their sums alone.
func (p *walker) groups(n int, tail, weave bool) []ins {
	mix := p.l.weave
	if !weave {
		mix = func(strands [][]ins) []ins { return slices.Concat(strands...) }
	}
	var list, late []ins
	var strands [][]ins
	for g := range n {
		for row := range p.rows {
			s, stores := p.group(g, row, tail)
			strands, late = append(strands, s...), append(late, stores...)
		}
		if p.rows > 1 {
			list, strands = append(list, mix(strands)...), nil
		}
	}
	return append(append(list, mix(strands)...), late...)
}

// group lowers one group of a row: its reductions, outputs and kept values. It gives a
// strand for each part of a value, and what is to be stored after all is loaded.
func (p *walker) group(g, row int, tail bool) (strands [][]ins, late []ins) {
	l := p.l
	l.begin(g, tail)
	l.atRow = row
	each := func(t Type, sub int, f func(part int)) {
		n := p.parts(t) / p.parts(F32)
		for k := range n {
			f(sub*n + k)
		}
	}
	for sub := range p.parts(F32) {
		from := len(l.list)
		for _, v := range p.q.keep {
			t := p.nodes[v].typ
			each(t, sub, func(part int) { l.emit(l.storeElement(v, p.keptOperand(v), t.bits()/8, part)) })
		}
		for i := range p.accs {
			if ac := &p.accs[i]; ac.row == row {
				each(p.nodes[ac.v].typ, sub, func(part int) { p.fold(ac, part) })
			}
		}
		for _, o := range p.q.outs {
			out := p.outs[o]
			each(p.nodes[out.value].typ, sub, func(part int) {
				if l.pair && part == 0 { // is stored with the other part
					l.val(out.value, 0)
					return
				}
				st := l.storeElement(out.value, len(p.ins)+o, out.size, part)
				if p.alias { // what is stored may be what is still to be loaded
					late = append(late, st)
				} else {
					l.emit(st)
				}
			})
		}
		strands = append(strands, append([]ins(nil), l.list[from:]...))
	}
	if !tail && (p.rows > 1 || p.nth == 1) {
		strands[0] = append(p.fetches(g, row), strands[0]...)
	}
	return strands, late
}

// ahead is how far before rows side by side, in bytes, memory is asked for: the
// processor looks ahead along a row, but not into the page of the next ones.
const ahead = 7168

// fetches asks for the cache lines that a group will load some rows later; where a row
// takes several passes, the second asks for what the first will read of the next row.
func (p *walker) fetches(g, row int) (list []ins) {
	for _, o := range sortedKeys(p.l.loads) {
		size := p.l.loads[o]
		operand, r := operandOf(o)
		if r != row || operand >= len(p.ins) || g*size*lanes%64 != 0 {
			continue
		}
		at := &ref{operand: o, disp: int32(g * size * lanes), size: size}
		if p.rows > 1 {
			at.disp += ahead
		}
		list = append(list, ins{form: fPseudo, do: func(e *emitter, _, _ int) {
			m := e.operand(at)
			if p.rows == 1 {
				e.load(rsi, field(p.stepAt+8*operand))
				e.gpr(true, []byte{0x01}, m.base, rm{reg: rsi}) // add rsi, base
				m.base = rsi
			}
			e.gpr(false, []byte{0x0F, 0x18}, 1, rm{mem: &m}) // prefetcht0
		}})
	}
	return list
}

// weave merges strands, an instruction of each in turn. A strand waits for what
// an earlier one makes for it, and to add to what an earlier one adds to.
func (l *lower) weave(strands [][]ins) []ins {
	var list []ins
	maker := make([]int, len(l.info)) // strand that still has to make a register, from 1
	for s := len(strands) - 1; s >= 0; s-- {
		for i := range strands[s] {
			maker[strands[s][i].dst] = s + 1
		}
	}
	maker[0] = 0
	ready := func(in *ins, s int) bool {
		ok := maker[in.dst] == s+1 || in.dst == 0
		in.sources(func(v *vr) { ok = ok && (maker[*v] == 0 || maker[*v] == s+1) })
		return ok
	}
	for left := true; left; {
		left = false
		for s := range strands {
			if len(strands[s]) == 0 {
				continue
			}
			left = true
			in := strands[s][0]
			if !ready(&in, s) {
				continue
			}
			list, strands[s] = append(list, in), strands[s][1:]
			if in.dst != 0 {
				maker[in.dst] = next(strands, s, in.dst)
			}
		}
	}
	return list
}

// next is the first strand from s on that still makes v, from 1; 0: none.
func next(strands [][]ins, s int, v vr) int {
	for t := s; t < len(strands); t++ {
		for i := range strands[t] {
			if strands[t][i].dst == v {
				return t + 1
			}
		}
	}
	return 0
}

// turned says whether lanes hold the least of the negated elements: a maximum keeps
// NaN and the sign of zeros with fewer instructions, and a shorter wait, as a minimum.
func (n *node) turned() bool { return n.op == OpReduceMax && n.typ.float() }

// turn negates, when lanes do.
func (l *lower) turn(n *node, x vr) vr {
	if !n.turned() {
		return x
	}
	return l.rvm(enc{1, 1, 0xEF, w(n.typ)}, x, l.konst(n.typ, 1<<(n.typ.bits()-1)))
}

// foldLanes combines lanes as reduction n does.
func (l *lower) foldLanes(n *node, x, y vr) vr {
	if n.turned() {
		return l.minMaxOf(OpMin, n.typ, x, y)
	}
	return l.foldInto(n, x, y)
}

// fold adds a part of a value to its lanes.
func (p *walker) fold(ac *acc, part int) {
	l := p.l
	n := &p.nodes[ac.v]
	x := l.val(n.args[0], part)
	if l.tail {
		x = p.present(n, x, part)
	}
	x = l.turn(n, x)
	if ac.regs != nil {
		l.foldLanes(n, ac.regs[part], x)
		l.list[len(l.list)-1].dst = ac.regs[part]
		return
	}
	m := field(ac.at[part])
	old := l.emit(ins{form: fRM, e: enc{1, 0, 0x10, 0}, l: l.full, dst: l.fresh(false), m: &m})
	l.emit(ins{form: fStore, e: enc{1, 0, 0x11, 0}, l: l.full, b: l.foldLanes(n, old, x), m: &m})
}

// foldInto combines two values as reduction n does.
func (l *lower) foldInto(n *node, x, y vr) vr {
	if op := foldOp(n.op); op != OpAdd {
		return l.minMaxOf(op, n.typ, x, y)
	}
	if n.typ.float() {
		return l.rvm(float(n.typ, 0x58), x, y)
	}
	return l.rvm(enc{1, 1, 0xFE - 0x2A*w(n.typ), w(n.typ)}, x, y)
}

// present replaces the lanes beyond the row by the identity.
func (p *walker) present(n *node, x vr, part int) vr {
	l := p.l
	none := l.konst(n.typ, identity(n))
	if l.evex {
		return l.emit(ins{form: fRVM, e: enc{2, 1, 0x65, w(n.typ)}, l: l.full, dst: l.fresh(false), a: none, b: x, fixed: l.tailMask(n.typ.wide(), part)})
	}
	t := n.typ.integer()
	rem := field(offRem)
	greater := enc{1, 1, 0x66, 0}
	if t.wide() {
		greater = enc{2, 1, 0x37, 0}
	}
	in := l.rvm(greater, l.broadcast(t, &rem), l.places(t, part))
	return l.blendV(in, x, none)
}

// ends lowers the folding of the lanes in halves, and the store of the result.
func (p *walker) ends() []ins {
	l := p.l
	l.begin(0, false)
	from := len(l.list)
	for i := range p.accs {
		ac := &p.accs[i]
		n := &p.nodes[ac.v]
		var rs []vr
		for k := range p.parts(n.typ) {
			if ac.regs != nil {
				rs = append(rs, ac.regs[k])
				continue
			}
			m := field(ac.at[k])
			rs = append(rs, l.emit(ins{form: fRM, e: enc{1, 0, 0x10, 0}, l: l.full, dst: l.fresh(false), m: &m}))
		}
		var x vr
		if l.pair { // neighbouring lanes lie in different registers
			x = l.foldLanes(n, l.foldAcross(n, rs[0]), l.foldAcross(n, rs[1]))
		} else {
			for h := len(rs) / 2; h > 0; h /= 2 {
				for k := range h {
					rs[k] = l.foldLanes(n, rs[k], rs[k+h])
				}
			}
			x = l.foldAcross(n, rs[0])
		}
		x = l.turn(n, x)
		at := p.partsOf(p.part[ac.v], 0)
		if p.rows > 1 {
			at = p.partsOf(p.part[ac.v], ac.row+1)
		}
		l.emit(ins{form: fPseudo, b: x, do: func(e *emitter, _, src int) {
			e.load(rsi, field(at))
			e.load(rax, field(offBlock))
			e.shr(rax, 11)
			e.scalar(0x11, n.typ, src, mem{base: rsi, index: rax})
		}})
	}
	return append([]ins(nil), l.list[from:]...)
}

// foldAcross folds the lanes of a register in halves.
func (l *lower) foldAcross(n *node, x vr) vr {
	if l.evex {
		x = l.foldLanes(n, x, l.mr(enc{3, 1, 0x1B, 1}, 2, x, 1))
	}
	x = l.foldLanes(n, x, l.mr(enc{3, 1, 0x19, 0}, 1, x, 1))
	x = l.foldLanes(n, x, l.rm(enc{1, 1, 0x70, 0}, x, 0x4E))
	if !n.typ.wide() {
		x = l.foldLanes(n, x, l.rm(enc{1, 1, 0x70, 0}, x, 0xB1))
	}
	return x
}

// scalar loads (0x10) or stores (0x11) the lowest lane; m's scale follows the type.
func (e *emitter) scalar(op byte, t Type, reg int, m mem) {
	en := enc{1, 2, op, 0}
	m.scale = 2
	if t.wide() {
		en, m.scale = enc{1, 3, op, 1}, 3
	}
	e.vec(en, 0, reg, 0, rm{mem: &m}, masking{})
}

// pointers gives operands general registers, and in tails of AVX2 room in the frame.
func (p *walker) pointers() {
	used := map[int]int{}
	for o, s := range p.l.loads {
		used[o] = s
	}
	for o, s := range p.l.stores {
		used[o] = s
	}
	p.e.bases = map[int]int{}
	for i, o := range sortedKeys(used) {
		if i < len(pointerRegs) {
			r := pointerRegs[i]
			p.e.bases[o] = r
			operand, row := operandOf(o)
			p.a.load(r, field(p.ptrAt+8*operand))
			for range row {
				m := field(p.stepAt + 8*operand)
				p.a.gpr(true, []byte{0x03}, r, rm{mem: &m}) // add
			}
		}
	}
}

// pointerRegs are the general registers that may hold where operands lie.
var pointerRegs = [...]int{r8, r9, r10, r11, r12, r13, r15}

// place numbers an operand in a row of those side by side; of the first one, it
// is the operand.
func place(operand, row int) int { return row<<16 | operand }

func operandOf(place int) (operand, row int) { return place & (1<<16 - 1), place >> 16 }

// hoist keeps constants and values of the row in registers that the loop leaves free.
func (p *walker) hoist(main []ins) {
	p.e.begin(p.l)
	next := 0
	for _, ac := range p.accs {
		for _, r := range ac.regs {
			p.e.pin(r, next)
			next++
		}
	}
	count := map[vr]int{}
	var order []vr
	for i := range main {
		in := &main[i]
		in.sources(func(v *vr) {
			if p.l.info[*v].home == nil || p.l.info[*v].k {
				return
			}
			if count[*v] == 0 {
				order = append(order, *v)
			}
			count[*v]++
			if *v != in.b && in.form != fFMA { // must be in a register
				count[*v] += 2
			}
		})
	}
	free := p.nreg - next - pressure(p.l, main) - 2
	for ; free > 0 && len(order) > 0; free-- {
		best := 0
		for i, v := range order {
			if count[v] > count[order[best]] {
				best = i
			}
		}
		v := order[best]
		order = append(order[:best], order[best+1:]...)
		p.e.pin(v, next)
		p.e.fetch(0, next, *p.l.info[v].home)
		next++
	}
}

// pin gives v register r for the rest of the section.
func (e *emitter) pin(v vr, r int) {
	e.where[v] = r
	e.held[0][r] = v
	e.fixed[0][r] = true
}

// code emits the loops.
func (p *walker) code(main, one, tail, end []ins, unroll int) {
	a, e, l := p.a, p.e, p.l
	a.load(rcx, field(offLo))
	a.load(rdx, field(offHi))
	blocks := len(a.code)
	if len(p.accs) > 0 {
		a.store(field(offBlock), rcx)
		a.load(rdx, field(offHi))
		a.lea(rax, mem{base: rcx, index: -1, disp: block})
		a.cmp(rax, rdx)
		whole := a.jump(atLeast)
		a.move(rdx, rax)
		a.land(whole)
		p.clear()
	}
	step := func(n int, cond byte) int {
		a.lea(rax, mem{base: rcx, index: -1, disp: int32(lanes * n)})
		a.cmp(rax, rdx)
		return a.jump(cond)
	}
	out := step(unroll, above)
	top := len(a.code)
	e.run(l, main)
	a.addImm(rcx, int32(lanes*unroll))
	a.target(step(unroll, atMost), top)
	a.land(out)
	if unroll > 1 {
		out := step(1, above)
		top := len(a.code)
		e.run(l, one)
		a.addImm(rcx, lanes)
		a.target(step(1, atMost), top)
		a.land(out)
	}
	a.cmp(rcx, rdx)
	done := a.jump(atLeast)
	a.move(rax, rdx)
	a.gpr(true, []byte{0x29}, rcx, rm{reg: rax}) // sub
	a.store(field(offRem), rax)
	p.partial(tail)
	a.move(rcx, rdx)
	a.land(done)
	if len(p.accs) > 0 {
		e.run(l, end)
		a.cmpMem(rcx, field(offHi))
		a.target(a.jump(below), blocks)
	}
}

// clear starts a block.
func (p *walker) clear() {
	for _, ac := range p.accs {
		n := &p.nodes[ac.v]
		none := identity(n)
		if n.turned() {
			none ^= 1 << (n.typ.bits() - 1)
		}
		c := pool(p.constantOf(n.typ, none))
		for _, r := range ac.regs {
			p.e.fetch(0, p.e.where[r], c)
		}
		for i, at := range ac.at {
			// A register that nothing has been put in yet: between pieces of code only pinned ones hold values.
			r := p.nreg - 1
			if i == 0 {
				p.e.fetch(0, r, c)
			}
			m := field(at)
			p.e.save(0, m, r)
		}
	}
}

// constantOf is the number of the constant with x in every lane.
func (x *x86) constantOf(t Type, v uint64) int {
	if t.wide() {
		return x.constant64(v)
	}
	return x.constant64(v<<32 | v&0xffffffff)
}

// partial emits the last elements of a row, of which RAX has the number.
func (p *walker) partial(tail []ins) {
	a := p.a
	if p.evex {
		a.code = append(a.code, 0xBE, 0xFF, 0xFF, 0xFF, 0xFF) // mov esi, -1
		a.vex(enc{2, 0, 0xF5, 0}, 0, rsi, rax, 0, 0)          // bzhi esi, esi, eax
		a.modrm(rsi, rm{reg: rsi}, 0)
		a.kop(enc{1, 0, 0x92, 0}, 0, 7, 0, rm{reg: rsi})
		a.kop(enc{3, 1, 0x30, 1}, 0, 6, 0, rm{reg: 7}, 8)
		p.e.run(p.l, tail)
		return
	}
	p.e.temps = map[int]int{}
	given := len(p.ins) + len(p.outs) // scratch rows have room for a whole group
	for _, m := range []map[int]int{p.l.loads, p.l.stores} {
		for _, o := range sortedKeys(m) {
			if _, ok := p.e.temps[o]; !ok && o < given {
				p.e.temps[o] = p.size
				p.size += 128
			}
		}
	}
	for _, o := range sortedKeys(p.l.loads) {
		if o < given {
			p.copies(o, p.l.loads[o], true)
		}
	}
	p.e.run(p.l, tail)
	for _, o := range sortedKeys(p.l.stores) {
		if o < given {
			p.copies(o, p.l.stores[o], false)
		}
	}
	p.e.temps = nil
}

// copies emits a loop over the elements left: from an operand to the frame, or back.
func (p *walker) copies(o, size int, in bool) {
	a := p.a
	base, ok := p.e.bases[o]
	if !ok {
		base = rbx
		a.load(rbx, field(p.ptrAt+8*o))
	}
	a.lea(rbx, mem{base: base, index: rcx, scale: log2(size)})
	a.zero(rsi)
	top := len(a.code)
	there := mem{base: rbx, index: rsi, scale: log2(size)}
	here := mem{base: rdi, index: rsi, scale: log2(size), disp: int32(p.e.temps[o])}
	from, to := there, here
	if !in {
		from, to = here, there
	}
	ld, st := map[int][]byte{1: {0x8A}, 2: {0x66, 0x8B}, 4: {0x8B}, 8: {0x8B}}[size], map[int][]byte{1: {0x88}, 2: {0x66, 0x89}, 4: {0x89}, 8: {0x89}}[size]
	a.gpr(size == 8, ld, rax, rm{mem: &from})
	a.gpr(size == 8, st, rax, rm{mem: &to})
	a.addImm(rsi, 1)
	a.cmpMem(rsi, field(offRem))
	a.target(a.jump(below), top)
}

// finishes emits what comes after pass i: the folding of the results of blocks,
// the values of the row that depend on them and, after the last, its outputs.
func (x *x86) finishes(a *asm, i int) {
	x.section(a)
	q := &x.passes[i]
	for _, v := range q.folds {
		x.foldBlocks(a, v)
	}
	x.rowValues(a, q.after)
	if i == len(x.passes)-1 {
		x.rowOuts(a)
	}
	a.ret()
}

// foldBlocks folds neighbouring pairs until one is left, and spreads it over a slot.
func (x *x86) foldBlocks(a *asm, v Value) {
	n := &x.nodes[v]
	a.load(rsi, field(x.partsAt+8*x.part[v]))
	a.load(rbx, field(offCols))
	a.addImm(rbx, block-1)
	a.shr(rbx, 11)
	top := len(a.code)
	a.gpr(true, []byte{0x81}, 7, rm{reg: rbx}, le(1)...) // cmp rbx, 1
	done := a.jump(atMost)
	a.zero(rcx)
	pair := len(a.code)
	a.lea(rax, mem{base: rcx, index: rcx, disp: 2})
	a.cmp(rax, rbx)
	odd := a.jump(above)
	l := x.newLower()
	l.begin(0, false)
	size := int32(n.typ.bits() / 8)
	get := func(d int32) vr {
		return l.emit(ins{form: fPseudo, dst: l.fresh(false), do: func(e *emitter, dst, _ int) {
			e.scalar(0x10, n.typ, dst, mem{base: rsi, index: rax, disp: d})
		}})
	}
	r := l.foldInto(n, get(-2*size), get(-size))
	l.emit(ins{form: fPseudo, b: r, do: func(e *emitter, _, src int) { e.scalar(0x11, n.typ, src, mem{base: rsi, index: rcx}) }})
	x.newEmitter(a).run(l, l.list)
	a.addImm(rcx, 1)
	a.target(a.jump(always), pair)
	a.land(odd)
	a.gpr(true, []byte{0xF7}, 0, rm{reg: rbx}, le(1)...) // test rbx, 1
	even := a.jump(equal)
	last := mem{base: rsi, index: rbx, scale: log2(int(size)), disp: -size}
	a.gpr(size == 8, []byte{0x8B}, rax, rm{mem: &last})
	to := mem{base: rsi, index: rcx, scale: log2(int(size))}
	a.gpr(size == 8, []byte{0x89}, rax, rm{mem: &to})
	a.addImm(rcx, 1)
	a.land(even)
	a.move(rbx, rcx)
	a.target(a.jump(always), top)
	a.land(done)
	e := x.newEmitter(a)
	m := mem{base: rsi, index: -1}
	a.vec(x.broadcastOf(n.typ.wide()), x.full, 0, 0, rm{mem: &m}, masking{})
	e.save(0, field(x.slots[v]), 0)
}

// rowOuts stores the outputs of one element a row.
func (x *x86) rowOuts(a *asm) {
	for _, o := range x.rowOut {
		out := x.outs[o]
		l := x.newLower()
		l.begin(0, false)
		v := l.val(out.value, 0)
		a.load(rsi, field(x.ptrAt+8*(len(x.ins)+o)))
		size := out.size
		l.emit(ins{form: fPseudo, b: v, do: func(e *emitter, _, src int) {
			t := field(e.temp)
			e.save(0, t, src)
			to := mem{base: rsi, index: -1}
			e.load(rax, t)
			st := map[int][]byte{1: {0x88}, 2: {0x66, 0x89}, 4: {0x89}, 8: {0x89}}[size]
			e.gpr(size == 8, st, rax, rm{mem: &to})
		}})
		x.newEmitter(a).run(l, l.list)
	}
}
