package jit

import (
	"encoding/binary"
	"sort"
	"unsafe"
)

// x86 is a plan as machine code for AVX2 or AVX-512. The code is a set of
// sections: what comes before the passes of a row, each pass, what comes after
// it; and a loop over rows that calls them. A section takes one argument, a
// frame in memory, in RDI; values of the row pass from section to section in it.
type x86 struct {
	*plan
	evex bool
	full byte // length of a whole register
	nreg int
	pair bool // the even elements of a group are one part of a value, the odd ones the other
	layout

	// The frame, in bytes.
	ptrAt, stepAt, paramAt, partsAt, temp int
	twins                                 int   // rows that are folded side by side
	slots                                 []int // of each value of the row
	slotsAt, slotsEnd                     int
	size                                  int

	consts  [][8]uint64
	numbers map[[8]uint64]int

	page    []byte
	entries []int // of the sections, the loop over rows, and gates to sections
	loopAt  int   // its entry
}

// The head of a frame.
const (
	offRows  = 0
	offCols  = 8
	offLo    = 16
	offHi    = 24
	offCol   = 32
	offRem   = 40
	offBlock = 48
	offTemp  = 64
	offPtr   = 128
)

// newX86 makes machine code of a plan; nil when it cannot be made executable.
func newX86(pl *plan, evex bool, lay layout) *x86 {
	x := &x86{plan: pl, evex: evex, full: 1, nreg: 16, layout: lay, numbers: map[[8]uint64]int{}}
	if x.pair = pl.pairs(); x.pair && evex {
		// Sixteen lanes of a sum are two of the shorter registers, which need no permutation.
		x.evex = len(pl.rowOut) < len(pl.outs)
		x.pair = !x.evex
	}
	if x.evex {
		x.full, x.nreg = 2, 32
	}
	x.layOut()
	a := &asm{evex: x.evex}
	x.begins(a)
	for i := range pl.passes {
		x.walks(a, i, 1)
		x.finishes(a, i)
	}
	if x.twins > 1 {
		x.walks(a, 0, x.twins)
	}
	x.loop(a)
	x.gates(a)
	if x.page = executable(x.link(a)); x.page == nil {
		return nil
	}
	return x
}

// layOut places the parts of the frame.
func (x *x86) layOut() {
	ops := len(x.ins) + len(x.outs)
	x.temp = offTemp
	x.ptrAt = offPtr
	x.stepAt = x.ptrAt + 8*(ops+len(x.kept))
	x.paramAt = x.stepAt + 8*ops
	x.partsAt = x.paramAt + 8*len(x.params)
	x.twins = x.sideBySide()
	x.slotsAt = (x.partsOf(0, maxTwins+1) + 63) &^ 63
	x.size = x.slotsAt
	x.slots = make([]int, len(x.nodes))
	for v := 1; v < len(x.nodes); v++ {
		if x.row[v] && x.nodes[v].op != OpConst {
			x.slots[v] = x.newSlot()
		}
	}
	x.slotsEnd = x.size
}

// newSlot is a place for a register in the frame.
func (x *x86) newSlot() int {
	x.size += 64
	return x.size - 64
}

// sideBySide is how many rows one pass may take: where nothing but folds depends
// on the row and registers suffice. More than two of wide elements read no faster.
func (x *x86) sideBySide() int {
	if len(x.passes) != 1 || len(x.passes[0].outs)+len(x.passes[0].keep) > 0 {
		return 1
	}
	loads, accs, most := 0, 0, maxTwins
	for v := 1; v < len(x.nodes); v++ {
		switch n := &x.nodes[v]; {
		case n.op == OpRowIn:
			return 1
		case n.op == OpIn:
			loads++
			if x.ins[n.imm].size > 2 {
				most = min(most, maxTwins/2)
			}
		case sigs[n.op].reduce:
			accs += x.parts(n.typ)
		}
	}
	n := most
	for n > 1 && (n*loads > len(pointerRegs) || n*accs > x.nreg/2 || n*len(x.passes[0].body) > maxTwinOps) {
		n /= 2
	}
	return n
}

// maxTwinOps is from how many operations on a processor has enough to do with fewer rows.
const maxTwinOps = 64

// partsOf is the field that points to the results of blocks of a reduction: first
// those of a row alone, then those of rows side by side.
func (x *x86) partsOf(fold, row int) int { return x.partsAt + 8*(row*x.folds+fold) }

func (x *x86) keptOperand(v Value) int { return len(x.ins) + len(x.outs) + x.scratchRow(v) }

// constant numbers a constant of the pool.
func (x *x86) constant(c [8]uint64) int {
	i, ok := x.numbers[c]
	if !ok {
		i = len(x.consts)
		x.consts = append(x.consts, c)
		x.numbers[c] = i
	}
	return i
}

// constant64 is the constant with c in each quadword.
func (x *x86) constant64(c uint64) int { return x.constant([8]uint64{c, c, c, c, c, c, c, c}) }

// Sections, by number.
func passSection(i int) int   { return 1 + 2*i }
func finishSection(i int) int { return 2 + 2*i }

func (x *x86) section(a *asm) { x.entries = append(x.entries, len(a.code)) }

// begins emits what comes before the first pass.
func (x *x86) begins(a *asm) {
	x.section(a)
	x.rowValues(a, x.start)
	a.ret()
}

// rowValues emits the computation of values of the row.
func (x *x86) rowValues(a *asm, vs []Value) {
	l := x.newLower()
	l.uniform = true
	l.begin(0, false)
	for _, v := range vs {
		l.rowValue(v)
	}
	x.newEmitter(a).run(l, l.list)
}

// loop emits the loop over rows.
func (x *x86) loop(a *asm) {
	x.loopAt = len(x.entries)
	x.section(a)
	a.zero(rax)
	a.store(field(offLo), rax)
	a.load(rax, field(offCols))
	a.store(field(offHi), rax)
	none := -1
	if x.twins > 1 {
		a.call(0)
		x.loopTwins(a)
		a.load(rax, field(offRows))
		a.addImm(rax, 0)
		none = a.jump(equal)
	}
	top := len(a.code)
	a.call(0)
	for i := range x.passes {
		a.call(passSection(i))
		a.call(finishSection(i))
	}
	x.advance(a)
	m := field(offRows)
	a.gpr(true, []byte{0xFF}, 1, rm{mem: &m}) // dec
	a.target(a.jump(nonzero), top)
	if none >= 0 {
		a.land(none)
	}
	x.leave(a)
}

// loopTwins emits the loop over rows side by side; it leaves the last ones to the other loop.
func (x *x86) loopTwins(a *asm) {
	rows := field(offRows)
	top := len(a.code)
	a.load(rax, rows)
	a.addImm(rax, -int32(x.twins))
	few := a.jump(below)
	a.store(rows, rax)
	a.call(finishSection(len(x.passes)-1) + 1)
	for row := range x.twins {
		for f := range x.folds { // the last ones are as good for a row alone
			a.load(rax, field(x.partsOf(f, row+1)))
			a.store(field(x.partsOf(f, 0)), rax)
		}
		a.call(finishSection(0))
		x.advance(a)
	}
	a.target(a.jump(always), top)
	a.land(few)
}

// advance moves the operands on by a row.
func (x *x86) advance(a *asm) {
	for k := range len(x.ins) + len(x.outs) {
		a.load(rax, field(x.stepAt+8*k))
		m := field(x.ptrAt + 8*k)
		a.gpr(true, []byte{0x01}, rax, rm{mem: &m})
	}
}

// leave emits the return to Go.
func (x *x86) leave(a *asm) {
	if x.stream {
		a.sfence()
	}
	a.vzeroupper()
	a.ret()
}

// gates emits an entry for calls of each section from Go.
func (x *x86) gates(a *asm) {
	for i := range x.loopAt {
		x.section(a)
		a.call(i)
		x.leave(a)
	}
}

// link resolves calls and constants, and appends the constants.
func (x *x86) link(a *asm) []byte {
	for _, c := range a.calls {
		a.target(c.at, x.entries[c.constant])
	}
	at := (len(a.code) + 63) &^ 63
	code := make([]byte, at, at+64*len(x.consts))
	copy(code, a.code)
	for _, f := range a.fixes {
		binary.LittleEndian.PutUint32(code[f.at:], uint32(int32(at+64*f.constant-f.end)))
	}
	for _, c := range x.consts {
		for _, q := range c {
			code = binary.LittleEndian.AppendUint64(code, q)
		}
	}
	return code
}

// xFrame is the memory of one goroutine.
type xFrame struct {
	words []uint64 // aligned to 64 bytes
}

func (x *x86) frame() any {
	words := make([]uint64, x.size/8+16)
	skip := (64 - int(uintptr(unsafe.Pointer(&words[0]))%64)) % 64 / 8
	return &xFrame{words[skip : skip+x.size/8+8]}
}

// set writes what the sections need to know of w.
func (x *x86) set(w *work, cols int) *xFrame {
	f := w.frame.(*xFrame)
	f.words[offCols/8] = uint64(cols)
	f.words[offCol/8] = uint64(w.col)
	ops := len(x.ins) + len(x.outs)
	ptr := f.words[x.ptrAt/8:]
	for k, p := range w.ptr {
		ptr[k] = uint64(uintptr(p))
	}
	for k, p := range w.kept {
		ptr[ops+k] = uint64(uintptr(p))
	}
	for k, p := range w.parts {
		f.words[x.partsOf(k, 0)/8] = uint64(uintptr(unsafe.Pointer(&p[0])))
		for row := range maxTwins {
			f.words[x.partsOf(k, row+1)/8] = uint64(uintptr(unsafe.Pointer(&p[row*(len(p)/maxTwins)])))
		}
	}
	copy(f.words[x.paramAt/8:], w.params)
	return f
}

func (x *x86) enter(f *xFrame, entry int) {
	call(uintptr(unsafe.Pointer(&x.page[x.entries[entry]])), &f.words[0])
}

// gate is the entry of a section from Go.
func (x *x86) gate(section int) int { return x.loopAt + 1 + section }

func (x *x86) rows(w *work, rows, cols int) {
	f := x.set(w, cols)
	f.words[offRows/8] = uint64(rows)
	if rows > 1 {
		for k, s := range w.step {
			f.words[x.stepAt/8+k] = uint64(s)
		}
	}
	x.enter(f, x.loopAt)
}

func (x *x86) begin(w *work) { x.enter(x.set(w, 0), x.gate(0)) }

func (x *x86) pass(w *work, i, lo, hi int) {
	f := x.set(w, 0)
	f.words[offLo/8], f.words[offHi/8] = uint64(lo), uint64(hi)
	x.enter(f, x.gate(passSection(i)))
}

func (x *x86) finish(w *work, i, cols int) { x.enter(x.set(w, cols), x.gate(finishSection(i))) }

func (x *x86) share(to, from *work) {
	f, g := to.frame.(*xFrame), from.frame.(*xFrame)
	copy(f.words[x.slotsAt/8:x.slotsEnd/8], g.words[x.slotsAt/8:x.slotsEnd/8])
}

func sortedKeys(m map[int]int) []int {
	var ks []int
	for k := range m {
		ks = append(ks, k)
	}
	sort.Ints(ks)
	return ks
}
