package jit

import "encoding/binary"

// General registers. R14 and RBP belong to Go; RSP to the call.
const (
	rax, rcx, rdx, rbx, rsi, rdi = 0, 1, 2, 3, 6, 7
	r8, r9, r10, r11, r12, r13   = 8, 9, 10, 11, 12, 13
	r15                          = 15
)

// enc is the encoding of a vector instruction: opcode map (1 0F, 2 0F38, 3
// 0F3A), prefix (0 none, 1 66, 2 F3, 3 F2), opcode and the W bit.
type enc struct{ mm, pp, op, w byte }

// A mem is a memory operand: base + index·2^scale + disp, or a constant of the
// pool when base is negative.
type mem struct {
	base, index int // index 0 (RAX): none is -1
	scale       byte
	disp        int32
}

// pool is a constant, numbered.
func pool(i int) mem { return mem{base: -1, index: -1, disp: int32(i)} }

// fix is a place where the distance to a constant is to be written.
type fix struct{ at, end, constant int }

// asm collects machine code.
type asm struct {
	code  []byte
	evex  bool
	fixes []fix
	calls []fix // constant: number of the section
}

// rm is a register or a memory operand.
type rm struct {
	reg int
	mem *mem
}

// mask says under which mask register (0: none) an instruction runs, and whether it zeroes.
type masking struct {
	k    int
	zero bool
}

func bit(x, n int) byte { return byte(x>>n) & 1 }

// vec emits one vector instruction of length l (0: 128 bits, 1: 256, 2: 512).
func (a *asm) vec(e enc, l byte, reg, vvvv int, o rm, m masking, imm ...byte) {
	var x, b byte
	if o.mem == nil {
		b, x = bit(o.reg, 3), bit(o.reg, 4)
	} else {
		if o.mem.base >= 0 {
			b = bit(o.mem.base, 3)
		}
		if o.mem.index >= 0 {
			x = bit(o.mem.index, 3)
		}
	}
	if a.evex {
		p0 := (^bit(reg, 3)&1)<<7 | (^x&1)<<6 | (^b&1)<<5 | (^bit(reg, 4)&1)<<4 | e.mm
		p1 := e.w<<7 | (^byte(vvvv)&15)<<3 | 1<<2 | e.pp
		p2 := l<<5 | (^bit(vvvv, 4)&1)<<3 | byte(m.k)
		if m.zero {
			p2 |= 1 << 7
		}
		a.code = append(a.code, 0x62, p0, p1, p2, e.op)
	} else {
		a.vex(e, l, reg, vvvv, x, b)
	}
	a.modrm(reg, o, len(imm))
	a.code = append(a.code, imm...)
}

// vex emits a three-byte VEX prefix and the opcode.
func (a *asm) vex(e enc, l byte, reg, vvvv int, x, b byte) {
	a.code = append(a.code, 0xC4, (^bit(reg, 3)&1)<<7|(^x&1)<<6|(^b&1)<<5|e.mm,
		e.w<<7|(^byte(vvvv)&15)<<3|l<<2|e.pp, e.op)
}

// kop emits an instruction of mask registers, which have VEX encodings.
func (a *asm) kop(e enc, l byte, reg, vvvv int, o rm, imm ...byte) {
	var b byte
	if o.mem != nil && o.mem.base >= 0 {
		b = bit(o.mem.base, 3)
	} else if o.mem == nil {
		b = bit(o.reg, 3)
	}
	var x byte
	if o.mem != nil && o.mem.index >= 0 {
		x = bit(o.mem.index, 3)
	}
	a.vex(e, l, reg, vvvv, x, b)
	a.modrm(reg, o, len(imm))
	a.code = append(a.code, imm...)
}

// modrm emits the operand bytes; after counts the bytes of the instruction that follow.
func (a *asm) modrm(reg int, o rm, after int) {
	r := byte(reg&7) << 3
	if o.mem == nil {
		a.code = append(a.code, 0xC0|r|byte(o.reg&7))
		return
	}
	m := o.mem
	if m.base < 0 {
		a.code = append(a.code, r|5, 0, 0, 0, 0)
		a.fixes = append(a.fixes, fix{len(a.code) - 4, len(a.code) + after, int(m.disp)})
		return
	}
	mod := byte(0x80)
	if m.disp == 0 && m.base&7 != 5 {
		mod = 0
	}
	switch {
	case m.index >= 0:
		a.code = append(a.code, mod|r|4, m.scale<<6|byte(m.index&7)<<3|byte(m.base&7))
	case m.base&7 == 4:
		a.code = append(a.code, mod|r|4, 0x24)
	default:
		a.code = append(a.code, mod|r|byte(m.base&7))
	}
	if mod != 0 {
		a.code = binary.LittleEndian.AppendUint32(a.code, uint32(m.disp))
	}
}

// gpr emits an instruction of general registers with a REX prefix.
func (a *asm) gpr(wide bool, op []byte, reg int, o rm, imm ...byte) {
	rex := byte(0x40) | bit(reg, 3)<<2
	if wide {
		rex |= 8
	}
	if o.mem == nil {
		rex |= bit(o.reg, 3)
	} else {
		if o.mem.base >= 0 {
			rex |= bit(o.mem.base, 3)
		}
		if o.mem.index >= 0 {
			rex |= bit(o.mem.index, 3) << 1
		}
	}
	if op[0] == 0x66 {
		a.code = append(a.code, 0x66)
		op = op[1:]
	}
	a.code = append(a.code, rex)
	a.code = append(a.code, op...)
	a.modrm(reg, o, len(imm))
	a.code = append(a.code, imm...)
}

// field is a 64-bit word of the frame.
func field(disp int) mem { return mem{base: rdi, index: -1, disp: int32(disp)} }

func (a *asm) load(reg int, m mem)     { a.gpr(true, []byte{0x8B}, reg, rm{mem: &m}) }
func (a *asm) store(m mem, reg int)    { a.gpr(true, []byte{0x89}, reg, rm{mem: &m}) }
func (a *asm) lea(reg int, m mem)      { a.gpr(true, []byte{0x8D}, reg, rm{mem: &m}) }
func (a *asm) move(d, s int)           { a.gpr(true, []byte{0x89}, s, rm{reg: d}) }
func (a *asm) cmp(x, y int)            { a.gpr(true, []byte{0x39}, y, rm{reg: x}) }
func (a *asm) cmpMem(x int, m mem)     { a.gpr(true, []byte{0x3B}, x, rm{mem: &m}) }
func (a *asm) addImm(reg int, x int32) { a.gpr(true, []byte{0x81}, 0, rm{reg: reg}, le(x)...) }
func (a *asm) zero(reg int)            { a.gpr(false, []byte{0x31}, reg, rm{reg: reg}) }
func (a *asm) shr(reg int, k byte)     { a.gpr(true, []byte{0xC1}, 5, rm{reg: reg}, k) }
func (a *asm) ret()                    { a.code = append(a.code, 0xC3) }

func le(x int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(x)) }

// Conditions of a jump.
const (
	always  = 0
	below   = 0x8C // signed less
	atLeast = 0x8D
	atMost  = 0x8E
	above   = 0x8F
	equal   = 0x84
	nonzero = 0x85
)

// jump emits a jump and gives the place of its distance.
func (a *asm) jump(cond byte) int {
	if cond == always {
		a.code = append(a.code, 0xE9)
	} else {
		a.code = append(a.code, 0x0F, cond)
	}
	a.code = append(a.code, 0, 0, 0, 0)
	return len(a.code) - 4
}

// land sets the jump at to go here, back one at to go to a place before.
func (a *asm) land(at int) { a.target(at, len(a.code)) }

func (a *asm) target(at, to int) {
	binary.LittleEndian.PutUint32(a.code[at:], uint32(int32(to-(at+4))))
}

// call emits a call of a section that is placed later.
func (a *asm) call(section int) {
	a.code = append(a.code, 0xE8, 0, 0, 0, 0)
	a.calls = append(a.calls, fix{at: len(a.code) - 4, constant: section})
}

// sfence orders the stores past the cache before those that follow.
func (a *asm) sfence() { a.code = append(a.code, 0x0F, 0xAE, 0xF8) }

// vzeroupper leaves the vector registers as Go expects them.
func (a *asm) vzeroupper() { a.code = append(a.code, 0xC5, 0xF8, 0x77) }
