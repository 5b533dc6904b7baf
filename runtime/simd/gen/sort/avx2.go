package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// AVX2 has no masks: lanes are chosen by immediates, memory by vectors of signs,
// and what AVX-512 compresses is permuted by a table.

// halves is f32 in registers of eight lanes.
var halves = word{
	name: "F32", size: 4, min: VMINPS, max: VMAXPS,
	swap: func(d int, x, y Op) {
		if d == 4 {
			VPERM2F128(Imm(1), x, x, y)
			return
		}
		u32.swap(d, x, y)
	},
	mirror: func(n int, x, y Op) {
		if n == 8 {
			VPSHUFD(Imm(0x1B), x, y)
			VPERM2F128(Imm(1), y, y, y)
			return
		}
		u32.mirror(n, x, y)
	},
}

const eight = 8 // lanes

// avx2 writes the kernels.
func avx2() {
	iota := GLOBL("sortPlaces", RODATA|NOPTR)
	for i := range eight {
		DATA(4*i, U32(uint32(i)))
	}
	// For each mask the lanes that it has, then the others, a byte each.
	order := GLOBL("sortOrder", RODATA|NOPTR)
	for m := range 1 << eight {
		at := 8 * m
		for _, want := range []int{1, 0} {
			for i := range eight {
				if m>>i&1 == want {
					DATA(at, U8(uint8(i)))
					at++
				}
			}
		}
	}
	before := 0
	for _, vecs := range []int{1, 2, 3, 4, 6, 8} {
		smallAVX2(iota, before, vecs)
		before = vecs
	}
	partAVX2(iota, order)
	oddAVX2()
}

// lowest marks the low n lanes; n may be negative or too large.
func lowest(iota Mem, n reg.Register) reg.VecVirtual {
	x, m := XMM(), YMM()
	VMOVD(n, x)
	VPBROADCASTD(x, m)
	VPCMPGTD(iota, m, m)
	return m
}

// smallAVX2 is small.
func smallAVX2(iota Mem, full, vecs int) {
	TEXT(fmt.Sprintf("sortSmallF32AVX2_%d", vecs), NOSPLIT, "func(n int, src, dst *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64())
	dst := Load(Param("dst"), GP64())
	padded := 1
	for padded < vecs {
		padded *= 2
	}
	filled := func(i int) reg.VecVirtual {
		rest := GP32()
		LEAL(Mem{Base: n, Disp: -i * eight}, rest)
		return lowest(iota, rest)
	}
	largest := all(f32.fill)
	v := make([]reg.Register, padded)
	for i := range vecs {
		x := YMM()
		v[i] = x
		if i < full {
			VMOVUPS(Mem{Base: src, Disp: 32 * i}, x)
			continue
		}
		m := filled(i)
		VMASKMOVPS(Mem{Base: src, Disp: 32 * i}, m, x)
		VBLENDVPS(m, x, largest, x)
	}
	network(v, eight, YMM, halves, func(x, y, r Op, d int) {
		var tops uint64
		for i := range eight {
			if i&d != 0 {
				tops |= 1 << i
			}
		}
		top := YMM()
		VMINPS(y, x, r)
		VMAXPS(y, x, top)
		VBLENDPS(Imm(tops), top, r, r)
	})
	for i := range vecs {
		if i < full {
			VMOVUPS(v[i], Mem{Base: dst, Disp: 32 * i})
		} else {
			VMASKMOVPS(v[i], filled(i), Mem{Base: dst, Disp: 32 * i})
		}
	}
	VZEROUPPER()
	RET()
}

// all fills a register with a 32-bit pattern.
func all(bits uint32) reg.VecVirtual {
	g, x, y := GP32(), XMM(), YMM()
	MOVL(U32(bits), g)
	VMOVD(g, x)
	VPBROADCASTD(x, y)
	return y
}

// partAVX2 is part. While there is room for two registers the same permutation
// is stored at both ends; each store leaves elements that the next ones replace.
func partAVX2(iota, order Mem) {
	TEXT("sortPartF32AVX2", NOSPLIT, "func(n int, src, dst *byte, pivot uint64) (below int)")
	Pragma("noescape")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64())
	low := Load(Param("dst"), GP64())
	pivot, at, table := YMM(), XMM(), GP64()
	VMOVD(Load(Param("pivot"), GP64()).(reg.GPVirtual).As32(), at)
	VPBROADCASTD(at, pivot)
	LEAQ(order, table)
	high := GP64()
	LEAQ(Mem{Base: low, Index: n, Scale: 4}, high)
	// permuted gives v in the order of mask m.
	permuted := func(v reg.VecVirtual, m reg.GPVirtual) reg.VecVirtual {
		places, r := YMM(), YMM()
		VPMOVZXBD(Mem{Base: table, Index: m, Scale: 8}, places)
		VPERMPS(v, places, r)
		return r
	}
	// step parts some registers, loaded before any is stored.
	step := func(regs int) {
		v, m, count := make([]reg.VecVirtual, regs), make([]reg.GPVirtual, regs), make([]reg.GPVirtual, regs)
		for i := range regs {
			below := YMM()
			v[i], m[i], count[i] = YMM(), GP64(), GP64()
			VMOVUPS(Mem{Base: src, Disp: 4 * eight * i}, v[i])
			VCMPPS(Imm(1), pivot, v[i], below)
			VMOVMSKPS(below, m[i].As32())
		}
		for i := range regs {
			POPCNTL(m[i].As32(), count[i].As32())
			v[i] = permuted(v[i], m[i])
		}
		for i, r := range v {
			VMOVUPS(r, Mem{Base: low})
			VMOVUPS(r, Mem{Base: high, Disp: -4 * eight})
			LEAQ(Mem{Base: low, Index: count[i], Scale: 4}, low)
			LEAQ(Mem{Base: high, Index: count[i], Scale: 4, Disp: -4 * eight}, high)
		}
		ADDQ(Imm(uint64(4*eight*regs)), src)
		SUBQ(Imm(uint64(eight*regs)), n)
	}
	const many = 4
	SUBQ(Imm((many+1)*eight), n)
	JL(LabelRef("few"))
	Label("loop")
	step(many)
	JGE(LabelRef("loop"))
	Label("few")
	ADDQ(Imm((many-1)*eight), n)
	JL(LabelRef("rest"))
	Label("one")
	step(1)
	JGE(LabelRef("one"))
	Label("rest")
	ADDQ(Imm(2*eight), n)
	Label("tail")
	TESTQ(n, n)
	JLE(LabelRef("out"))
	valid, others := lowest(iota, n.As32()), YMM()
	v, below, m, count := YMM(), YMM(), GP64(), GP64()
	VMASKMOVPS(Mem{Base: src}, valid, v)
	VCMPPS(Imm(1), pivot, v, below)
	VANDPS(valid, below, below)
	VANDNPS(valid, below, others)
	VMOVMSKPS(below, m.As32())
	POPCNTL(m.As32(), count.As32())
	r := permuted(v, m)
	VMASKMOVPS(r, lowest(iota, count.As32()), Mem{Base: low})
	LEAQ(Mem{Base: low, Index: count, Scale: 4}, low)
	VMOVMSKPS(others, m.As32())
	POPCNTL(m.As32(), count.As32())
	r = permuted(v, m)
	only := lowest(iota, count.As32())
	NEGQ(count)
	LEAQ(Mem{Base: high, Index: count, Scale: 4}, high)
	VMASKMOVPS(r, only, Mem{Base: high})
	ADDQ(Imm(4*eight), src)
	SUBQ(Imm(eight), n)
	JMP(LabelRef("tail"))
	Label("out")
	begin := Load(Param("dst"), GP64())
	SUBQ(begin, low)
	SHRQ(Imm(2), low)
	Store(low, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// oddAVX2 is odd.
func oddAVX2() {
	TEXT("oddF32AVX2", NOSPLIT, "func(n int, src *byte) (odd uint64)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	sign, found := all(1<<31), YMM()
	VXORPS(found, found, found)
	Label("loop")
	PREFETCHT0(Mem{Base: src, Disp: 2048})
	for i := range 2 {
		v, nan, zero := YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, v)
		VCMPPS(Imm(3), v, v, nan)
		VPCMPEQD(sign, v, zero)
		VORPS(nan, found, found)
		VORPS(zero, found, found)
	}
	ADDQ(Imm(64), src)
	SUBQ(Imm(16), n)
	JG(LabelRef("loop"))
	odd := GP64()
	VMOVMSKPS(found, odd.As32())
	Store(odd, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
