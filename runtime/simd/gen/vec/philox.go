package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tpush/tpush/runtime/simd/gen/asm"
)

// philox writes the kernel of n blocks, a multiple of 8, of Philox4x32 with ten
// rounds. The counters are ctr, ctr+1, … in their first word, which does not
// overflow; words holds the other three and the key.
func philox() {
	TEXT("philoxAVX2", NOSPLIT, "func(n int, ctr uint32, words *[5]uint32, dst *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	words := Load(Param("words"), GP64())
	dst := Load(Param("dst"), GP64())
	lane := GLOBL("philoxLanes", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(uint32(i)))
	}
	spread := func(m Mem) reg.VecVirtual {
		y := YMM()
		VPBROADCASTD(m, y)
		return y
	}
	first, step, x := YMM(), all(asm.AVX2, 8), XMM()
	VMOVD(Load(Param("ctr"), GP32()), x)
	VPBROADCASTD(x, first)
	VPADDD(lane, first, first)
	m0, m1 := all(asm.AVX2, 0xd2511f53), all(asm.AVX2, 0xcd9e8d57)
	w0, w1 := all(asm.AVX2, 0x9e3779b9), all(asm.AVX2, 0xbb67ae85)
	Label("block")
	c := [4]reg.VecVirtual{YMM(), spread(Mem{Base: words}), spread(Mem{Base: words, Disp: 4}), spread(Mem{Base: words, Disp: 8})}
	VMOVDQA(first, c[0])
	VPADDD(step, first, first)
	k0, k1 := spread(Mem{Base: words, Disp: 12}), spread(Mem{Base: words, Disp: 16})
	// product gives the upper and the lower words of x·m.
	product := func(x, m reg.VecVirtual) (high, low reg.VecVirtual) {
		even, odd := YMM(), YMM()
		high, low = YMM(), YMM()
		VPSRLQ(Imm(32), x, odd)
		VPMULUDQ(m, x, even)
		VPMULUDQ(m, odd, odd)
		VPSRLQ(Imm(32), even, high)
		VPBLENDD(Imm(0xAA), odd, high, high)
		VPSLLQ(Imm(32), odd, low)
		VPBLENDD(Imm(0xAA), low, even, low)
		return high, low
	}
	for round := range 10 {
		if round > 0 {
			VPADDD(w0, k0, k0)
			VPADDD(w1, k1, k1)
		}
		h0, l0 := product(c[0], m0)
		h1, l1 := product(c[2], m1)
		VPXOR(c[1], h1, h1)
		VPXOR(k0, h1, h1)
		VPXOR(c[3], h0, h0)
		VPXOR(k1, h0, h0)
		c = [4]reg.VecVirtual{h1, l1, h0, l0}
	}
	// Word j of block i goes to place 4i + j.
	a, b, d, e := YMM(), YMM(), YMM(), YMM()
	VPUNPCKLDQ(c[1], c[0], a)
	VPUNPCKHDQ(c[1], c[0], b)
	VPUNPCKLDQ(c[3], c[2], d)
	VPUNPCKHDQ(c[3], c[2], e)
	for i, pair := range [][2]reg.VecVirtual{{a, d}, {b, e}} {
		lo, hi := YMM(), YMM()
		VPUNPCKLQDQ(pair[1], pair[0], lo)
		VPUNPCKHQDQ(pair[1], pair[0], hi)
		for k, r := range []reg.VecVirtual{lo, hi} {
			at := 16 * (2*i + k)
			VMOVDQU(r.AsX(), Mem{Base: dst, Disp: at})
			VEXTRACTI128(Imm(1), r, Mem{Base: dst, Disp: 64 + at})
		}
	}
	ADDQ(Imm(128), dst)
	SUBQ(Imm(8), n)
	JG(LabelRef("block"))
	VZEROUPPER()
	RET()
}
