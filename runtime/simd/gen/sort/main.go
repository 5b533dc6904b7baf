// Command sort writes the kernels that sort numbers: one parts a run by a
// pivot, others sort a few registers by a bitonic network.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A word is an element type with its instructions.
type word struct {
	name                           string
	size                           int
	fill                           uint32 // bits of the largest, 0: all of them
	min, max, compare, load, store func(...Op)
	compress, masked               func(x, k, y Op)
	not                            func(x, y Op)
	// swap exchanges neighbours that are d lanes apart; mirror reverses blocks of n lanes.
	swap   func(d int, x, y Op)
	mirror func(n int, x, y Op)
}

var u32 = word{
	name: "U32", size: 4, min: VPMINUD, max: VPMAXUD, compare: VPCMPUD, load: VMOVDQU32, store: VMOVDQU32,
	compress: VPCOMPRESSD_Z, masked: VMOVDQU32_Z, not: KNOTW,
	swap: func(d int, x, y Op) {
		switch d {
		case 1:
			VPSHUFD(Imm(0xB1), x, y)
		case 2:
			VPSHUFD(Imm(0x4E), x, y)
		case 4:
			VSHUFI32X4(Imm(0xB1), x, x, y)
		case 8:
			VSHUFI32X4(Imm(0x4E), x, x, y)
		}
	},
	mirror: func(n int, x, y Op) {
		switch n {
		case 2:
			VPSHUFD(Imm(0xB1), x, y)
		case 4:
			VPSHUFD(Imm(0x1B), x, y)
		case 8:
			VPSHUFD(Imm(0x1B), x, y)
			VSHUFI32X4(Imm(0xB1), y, y, y)
		case 16:
			VPSHUFD(Imm(0x1B), x, y)
			VSHUFI32X4(Imm(0x1B), y, y, y)
		}
	},
}

// f32 has neither NaN, which has no place, nor negative zeros, which have two.
var f32 = word{
	name: "F32", size: 4, fill: 0x7f800000, min: VMINPS, max: VMAXPS, compare: VCMPPS, load: VMOVUPS, store: VMOVUPS,
	compress: VCOMPRESSPS_Z, masked: VMOVUPS_Z, not: KNOTW, swap: u32.swap, mirror: u32.mirror,
}

var u64 = word{
	name: "U64", size: 8, min: VPMINUQ, max: VPMAXUQ, compare: VPCMPUQ, load: VMOVDQU64, store: VMOVDQU64,
	compress: VPCOMPRESSQ_Z, masked: VMOVDQU64_Z, not: KNOTB,
	swap: func(d int, x, y Op) {
		switch d {
		case 1:
			VPSHUFD(Imm(0x4E), x, y)
		case 2:
			VSHUFI64X2(Imm(0xB1), x, x, y)
		case 4:
			VSHUFI64X2(Imm(0x4E), x, x, y)
		}
	},
	mirror: func(n int, x, y Op) {
		switch n {
		case 2:
			VPSHUFD(Imm(0x4E), x, y)
		case 4:
			VPERMQ(Imm(0x1B), x, y)
		case 8:
			VPSHUFD(Imm(0x4E), x, y)
			VSHUFI64X2(Imm(0x1B), y, y, y)
		}
	},
}

func (w word) lanes() int { return 64 / w.size }

// least makes a mask of the low n lanes; n may be negative or too large.
func least(w word, n reg.GPVirtual, k reg.Register) {
	bound, bits := GP64(), GP32()
	XORL(bound.As32(), bound.As32())
	TESTQ(n, n)
	CMOVQLT(bound, n)
	MOVQ(U32(uint32(w.lanes())), bound)
	CMPQ(n, bound)
	CMOVQGT(bound, n)
	MOVL(U32(1<<w.lanes()-1), bits)
	BZHIL(n.As32(), bits, bits)
	KMOVW(bits, k)
}

// small writes the network that sorts n elements: more than full registers
// of them, at most vecs.
// Registers up to the next power of two are taken for filled with the largest
// number: nil here, and nothing is done with them.
func small(w word, full, vecs int) {
	TEXT(fmt.Sprintf("sortSmall%s_%d", w.name, vecs), NOSPLIT, "func(n int, src, dst *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64())
	dst := Load(Param("dst"), GP64())
	l := w.lanes()
	// tops[d] marks the lanes whose number has bit d: they take the larger element.
	tops := map[int]reg.Register{}
	for d := 1; d < l; d *= 2 {
		var m uint32
		for i := range l {
			if i&d != 0 {
				m |= 1 << i
			}
		}
		g, k := GP32(), K()
		MOVL(U32(m), g)
		KMOVW(g, k)
		tops[d] = k
	}
	padded := 1
	for padded < vecs {
		padded *= 2
	}
	v := make([]reg.Register, padded)
	largest := ZMM()
	if full < vecs {
		if w.fill == 0 {
			VPTERNLOGD(Imm(0xFF), largest, largest, largest)
		} else {
			g := GP32()
			MOVL(U32(w.fill), g)
			VPBROADCASTD(g, largest)
		}
	}
	// full registers are filled; of the others lanes are.
	filled := func(i int) reg.Register {
		rest, k := GP64(), K()
		LEAQ(Mem{Base: n, Disp: -i * l}, rest)
		least(w, rest, k)
		return k
	}
	for i := range vecs {
		v[i] = ZMM()
		if i < full {
			w.load(Mem{Base: src, Disp: 64 * i}, v[i])
			continue
		}
		VMOVAPS(largest, v[i])
		w.load(Mem{Base: src, Disp: 64 * i}, filled(i), v[i])
	}
	network(v, l, ZMM, w, func(x, y, r Op, d int) {
		w.min(y, x, r)
		w.max(y, x, tops[d], r)
	})
	for i := range vecs {
		if i < full {
			w.store(v[i], Mem{Base: dst, Disp: 64 * i})
		} else {
			w.store(v[i], filled(i), Mem{Base: dst, Disp: 64 * i})
		}
	}
	VZEROUPPER()
	RET()
}

// network sorts the elements of registers of l lanes; nil stands for one that is
// filled with the largest number. exchange gives in r the smaller of the lanes of
// x and y, and in the lanes whose number has bit d the larger.
func network(v []reg.Register, l int, fresh func() reg.VecVirtual, w word, exchange func(x, y, r Op, d int)) {
	moved := func(i int, move func(x, y Op), d int) {
		if v[i] == nil {
			return
		}
		y, r := fresh(), fresh()
		move(v[i], y)
		exchange(v[i], y, r, d)
		v[i] = r
	}
	// ordered gives the smaller and the larger elements of two registers.
	ordered := func(x, y reg.Register) (lo, hi reg.Register) {
		switch {
		case y == nil:
			return x, nil
		case x == nil:
			return y, nil
		}
		lo, hi = fresh(), fresh()
		w.min(x, y, lo)
		w.max(x, y, hi)
		return lo, hi
	}
	for size := 2; size <= l; size *= 2 {
		for i := range v {
			moved(i, func(x, y Op) { w.mirror(size, x, y) }, size/2)
		}
		for d := size / 4; d > 0; d /= 2 {
			for i := range v {
				moved(i, func(x, y Op) { w.swap(d, x, y) }, d)
			}
		}
	}
	for width := 2; width <= len(v); width *= 2 {
		for base := 0; base < len(v); base += width {
			b := v[base : base+width]
			half := width / 2
			lo, hi := make([]reg.Register, half), make([]reg.Register, half)
			for i := range half {
				var y reg.Register
				if x := b[width-1-i]; x != nil {
					y = fresh()
					w.mirror(l, x, y)
				}
				lo[i], hi[i] = ordered(b[i], y)
			}
			copy(b, lo)
			copy(b[half:], hi) // in reverse, which a bitonic run may be
			for d := half / 2; d > 0; d /= 2 {
				for i := range b {
					if i&d == 0 {
						b[i], b[i+d] = ordered(b[i], b[i+d])
					}
				}
			}
		}
		for i := range v {
			for d := l / 2; d > 0; d /= 2 {
				moved(i, func(x, y Op) { w.swap(d, x, y) }, d)
			}
		}
	}
}

// part writes the kernel that brings n elements of src to dst: those below a
// pivot to the front, the others to the end. It gives the number of the former.
func part(w word) {
	TEXT("sortPart"+w.name, NOSPLIT, "func(n int, src, dst *byte, pivot uint64) (below int)")
	Pragma("noescape")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64())
	low := Load(Param("dst"), GP64())
	g := Load(Param("pivot"), GP64()).(reg.GPVirtual)
	pivot := ZMM()
	if w.size == 4 {
		VPBROADCASTD(g.As32(), pivot)
	} else {
		VPBROADCASTQ(g, pivot)
	}
	l := w.lanes()
	scale := uint8(w.size)
	high := GP64()
	LEAQ(Mem{Base: low, Index: n, Scale: scale}, high)
	// split stores what is not below, in front of high, and gives what is, with its number.
	split := func(v reg.VecVirtual, k, others reg.Register, whole bool, put func(below reg.VecVirtual, count reg.GPVirtual)) {
		a, b, count, up, bits, only := ZMM(), ZMM(), GP64(), GP64(), GP32(), K()
		KMOVW(k, count.As32())
		POPCNTL(count.As32(), count.As32())
		if whole {
			MOVL(U32(l), up.As32())
			SUBL(count.As32(), up.As32())
		} else {
			KMOVW(others, up.As32())
			POPCNTL(up.As32(), up.As32())
		}
		w.compress(v, k, a)
		w.compress(v, others, b)
		MOVL(U32(1<<l-1), bits)
		BZHIL(up.As32(), bits, bits)
		KMOVW(bits, only)
		put(a, count)
		LEAQ(Mem{Base: low, Index: count, Scale: scale}, low)
		NEGQ(up)
		LEAQ(Mem{Base: high, Index: up, Scale: scale}, high)
		w.store(b, only, Mem{Base: high})
	}
	SUBQ(Imm(uint64(l)), n)
	JL(LabelRef("tail"))
	Label("loop")
	v, k, others := ZMM(), K(), K()
	w.load(Mem{Base: src}, v)
	w.compare(Imm(1), pivot, v, k)
	w.not(k, others)
	split(v, k, others, true, func(below reg.VecVirtual, _ reg.GPVirtual) {
		w.store(below, Mem{Base: low}) // there is room for a register, which the others then take
	})
	ADDQ(Imm(64), src)
	SUBQ(Imm(uint64(l)), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(uint64(l)), n)
	JZ(LabelRef("out"))
	valid := K()
	least(w, n, valid)
	v, k, others = ZMM(), K(), K()
	w.masked(Mem{Base: src}, valid, v)
	w.compare(Imm(1), pivot, v, valid, k)
	w.compare(Imm(5), pivot, v, valid, others)
	split(v, k, others, false, func(below reg.VecVirtual, count reg.GPVirtual) {
		only, c := K(), GP64()
		MOVQ(count, c)
		least(w, c, only)
		w.store(below, only, Mem{Base: low})
	})
	Label("out")
	begin := Load(Param("dst"), GP64())
	SUBQ(begin, low)
	SHRQ(Imm(uint64(map[int]int{4: 2, 8: 3}[w.size])), low)
	Store(low, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// odd writes the kernel that says whether one of n f32, a multiple of 16, is
// NaN or a negative zero.
func odd() {
	TEXT("oddF32", NOSPLIT, "func(n int, src *byte) (odd uint64)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	g, sign := GP32(), ZMM()
	MOVL(U32(1<<31), g)
	VPBROADCASTD(g, sign)
	found, k := GP64(), GP64()
	XORQ(found, found)
	Label("loop")
	v, nan, zero := ZMM(), K(), K()
	VMOVUPS(Mem{Base: src}, v)
	PREFETCHT0(Mem{Base: src, Disp: 2048})
	VCMPPS(Imm(3), v, v, nan)
	VPCMPEQD(sign, v, zero)
	KORW(nan, zero, nan)
	KMOVW(nan, k.As32())
	ORQ(k, found)
	ADDQ(Imm(64), src)
	SUBQ(Imm(16), n)
	JG(LabelRef("loop"))
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("!purego")
	avx2()
	for _, w := range []word{u32, f32, u64} {
		before := 0
		for _, vecs := range []int{1, 2, 3, 4, 6, 8, 12, 16} {
			small(w, before, vecs)
			before = vecs
		}
		part(w)
	}
	odd()
	Generate()
}
