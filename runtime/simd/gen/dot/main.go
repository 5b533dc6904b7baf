// Command dot writes the kernels of matrix products that multiply pairs of bf16.
//
// Both read operands in strips: 16 rows of the left one or 16 columns of the
// right one, in steps of 32 terms. A step is 1 KiB. On the left it is 16 rows of
// 16 pairs, on the right 16 rows of one pair of each column.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tpush/tpush/runtime/simd/gen/asm"
)

const (
	stepBytes = 1024
	// aheadBytes is how far ahead the strips of a are asked for; they come from
	// the second-level cache.
	aheadBytes = 1 * stepBytes
)

// a and b are sa and sb bytes from strip to strip, c is rc from row to row.
const arguments = "steps int, a *byte, sa uintptr, b *byte, sb uintptr, c *byte, rc uintptr, rows int, accumulate uint64"

// tiles writes the kernel that multiplies strips of a by two strips of b with
// tile instructions, 2×2 tiles of c at a time:
//
//	c[i,j] = (c[i,j] +) Σ a[i,p]·b[p,j]    i < rows rounded up to 16, j < 32
func tiles(name string, dot func(c, a, b int)) {
	TEXT(name, NOSPLIT, "func("+arguments+", config *byte)")
	Pragma("noescape")
	a, c, rc := reg.RAX, reg.RDI, reg.RSI
	rows, strip, line, n := reg.R9, reg.RDX, reg.R8, reg.RCX
	a1, b0, b1, c1, t := reg.R10, reg.R11, reg.R12, reg.R13, reg.R14
	Load(Param("config"), t)
	asm.TileConfig(t)
	Load(Param("sa"), strip)
	Load(Param("a"), a)
	Load(Param("c"), c)
	Load(Param("rc"), rc)
	Load(Param("rows"), rows)
	MOVQ(U32(64), line)

	begin := func(high bool) {
		MOVQ(c, c1)
		if high {
			MOVQ(rc, t)
			SHLQ(U8(4), t)
			ADDQ(t, c1)
		}
		Load(Param("b"), b0)
		Load(Param("sb"), b1)
		ADDQ(b0, b1)
		Load(Param("steps"), n)
	}
	each := func(high bool, f func(t int, base reg.Physical, disp int, stride reg.Physical)) {
		f(0, c, 0, rc)
		f(1, c, 64, rc)
		if high {
			f(2, c1, 0, rc)
			f(3, c1, 64, rc)
		}
	}
	body := func(tag string, high bool) {
		begin(high)
		Load(Param("accumulate"), t)
		TESTQ(t, t)
		JZ(LabelRef("zero" + tag))
		each(high, asm.TileLoad)
		JMP(LabelRef("loop" + tag))
		Label("zero" + tag)
		for t := range 4 {
			asm.TileZero(t)
		}
		Label("loop" + tag)
		ahead := func(base reg.Register, lo, hi int) {
			for l := lo; l < hi; l++ {
				PREFETCHT0(Mem{Base: base, Disp: aheadBytes + 64*l})
			}
		}
		asm.TileLoad(4, a, 0, line)
		ahead(a, 0, 8)
		asm.TileLoad(6, b0, 0, line)
		dot(0, 4, 6)
		ahead(a, 8, 16)
		asm.TileLoad(7, b1, 0, line)
		dot(1, 4, 7)
		ADDQ(U32(stepBytes), a)
		ADDQ(U32(stepBytes), b0)
		ADDQ(U32(stepBytes), b1)
		if high {
			asm.TileLoad(5, a1, 0, line)
			ahead(a1, 0, 8)
			dot(2, 5, 6)
			ahead(a1, 8, 16)
			dot(3, 5, 7)
			ADDQ(U32(stepBytes), a1)
		}
		DECQ(n)
		JNZ(LabelRef("loop" + tag))
		each(high, asm.TileStore)
	}

	Label("pairs")
	CMPQ(rows, Imm(16))
	JLE(LabelRef("single"))
	LEAQ(Mem{Base: a, Index: strip, Scale: 1}, a1)
	body("Pair", true)
	Load(Param("steps"), t)
	SHLQ(U8(10), t)
	MOVQ(a1, a)
	ADDQ(strip, a)
	SUBQ(t, a)
	MOVQ(rc, t)
	SHLQ(U8(5), t)
	ADDQ(t, c)
	SUBQ(Imm(32), rows)
	JG(LabelRef("pairs"))
	JMP(LabelRef("done"))
	Label("single")
	body("Single", false)
	Label("done")
	asm.TileRelease()
	RET()
}

// pairs writes the kernel of the same strips with VDPBF16PS, eight rows at a time.
func pairs() {
	TEXT("dotPairsBF16", NOSPLIT, "func("+arguments+")")
	Pragma("noescape")
	const high = 8
	a, c, rc := reg.RAX, reg.RDI, reg.RSI
	rows, strip, n, inner := reg.R9, reg.RDX, reg.RCX, reg.R8
	at, b0, b1, half, t := reg.R10, reg.R11, reg.R12, reg.R13, reg.R14
	zb := [2]int{0, 1}
	acc := func(i, j int) int { return 31 - 2*i - j }
	Load(Param("sa"), strip)
	Load(Param("a"), a)
	Load(Param("c"), c)
	Load(Param("rc"), rc)
	Load(Param("rows"), rows)
	XORQ(half, half)
	Label("eight")
	Load(Param("b"), b0)
	Load(Param("sb"), b1)
	ADDQ(b0, b1)
	Load(Param("steps"), n)
	MOVQ(a, at)
	for i := range high {
		for j := range 2 {
			r := asm.AVX512.Reg(acc(i, j))
			VPXORD(r, r, r)
		}
	}
	Load(Param("accumulate"), t)
	TESTQ(t, t)
	JZ(LabelRef("step"))
	MOVQ(c, t)
	for i := range high {
		for j := range 2 {
			VMOVUPS(Mem{Base: t, Disp: 64 * j}, asm.AVX512.Reg(acc(i, j)))
		}
		ADDQ(rc, t)
	}
	Label("step")
	const unroll = 4
	MOVQ(U32(16/unroll), inner)
	Label("pair")
	for u := range unroll {
		VMOVUPS(Mem{Base: b0, Disp: 64 * u}, asm.AVX512.Reg(zb[0]))
		VMOVUPS(Mem{Base: b1, Disp: 64 * u}, asm.AVX512.Reg(zb[1]))
		for i := range high {
			for j := range 2 {
				asm.DotBF16(acc(i, j), zb[j], at, 64*i+4*u)
			}
		}
	}
	ADDQ(Imm(4*unroll), at)
	ADDQ(U32(64*unroll), b0)
	ADDQ(U32(64*unroll), b1)
	DECQ(inner)
	JNZ(LabelRef("pair"))
	ADDQ(U32(stepBytes-64), at)
	DECQ(n)
	JNZ(LabelRef("step"))
	for i := range high {
		for j := range 2 {
			VMOVUPS(asm.AVX512.Reg(acc(i, j)), Mem{Base: c, Disp: 64 * j})
		}
		ADDQ(rc, c)
	}
	// The second half of a strip begins 8 lines on; then comes the next strip.
	SUBQ(Imm(high), rows)
	JLE(LabelRef("done"))
	ADDQ(U32(64*high), a)
	XORQ(Imm(1), half)
	JNZ(LabelRef("eight"))
	LEAQ(Mem{Base: a, Index: strip, Scale: 1, Disp: -2 * 64 * high}, a)
	JMP(LabelRef("eight"))
	Label("done")
	VZEROUPPER()
	RET()
}

// quads writes the kernel of strips of bytes with VPDPBUSD, eight rows at a time.
// The instruction takes one factor without sign: that is b + 128, and 128 times
// the sum of a row of a is taken away in the end, modulo 2³² as everything.
func quads() {
	TEXT("dotQuadsI8", NOSPLIT, "func("+arguments+")")
	Pragma("noescape")
	const high, unroll = 8, 4
	a, c, rc := reg.RAX, reg.RDI, reg.RSI
	rows, strip, n, inner := reg.R9, reg.RDX, reg.RCX, reg.R8
	at, b0, b1, half, t := reg.R10, reg.R11, reg.R12, reg.R13, reg.R14
	z := asm.AVX512.Reg
	acc := func(i, j int) int { return 31 - 2*i - j }
	sum := func(i int) int { return 3 + i }
	bias := z(2) // 128 in each byte
	MOVL(U32(0x80808080), t.As32())
	VPBROADCASTD(t.As32(), bias)
	Load(Param("sa"), strip)
	Load(Param("a"), a)
	Load(Param("c"), c)
	Load(Param("rc"), rc)
	Load(Param("rows"), rows)
	XORQ(half, half)
	Label("eight")
	Load(Param("b"), b0)
	Load(Param("sb"), b1)
	ADDQ(b0, b1)
	Load(Param("steps"), n)
	MOVQ(a, at)
	for i := range high {
		VPXORD(z(sum(i)), z(sum(i)), z(sum(i)))
		for j := range 2 {
			VPXORD(z(acc(i, j)), z(acc(i, j)), z(acc(i, j)))
		}
	}
	Load(Param("accumulate"), t)
	TESTQ(t, t)
	JZ(LabelRef("step"))
	MOVQ(c, t)
	for i := range high {
		for j := range 2 {
			VMOVDQU32(Mem{Base: t, Disp: 64 * j}, z(acc(i, j)))
		}
		ADDQ(rc, t)
	}
	Label("step")
	for i := range high {
		VPDPBUSD(Mem{Base: at, Disp: 64 * i}, bias, z(sum(i)))
	}
	MOVQ(U32(16/unroll), inner)
	Label("quad")
	for u := range unroll {
		VPXORD(Mem{Base: b0, Disp: 64 * u}, bias, z(0))
		VPXORD(Mem{Base: b1, Disp: 64 * u}, bias, z(1))
		for i := range high {
			for j := range 2 {
				VPDPBUSD_BCST(Mem{Base: at, Disp: 64*i + 4*u}, z(j), z(acc(i, j)))
			}
		}
	}
	ADDQ(Imm(4*unroll), at)
	ADDQ(U32(64*unroll), b0)
	ADDQ(U32(64*unroll), b1)
	DECQ(inner)
	JNZ(LabelRef("quad"))
	ADDQ(U32(stepBytes-64), at)
	DECQ(n)
	JNZ(LabelRef("step"))
	for i := range high {
		for _, halves := range []func(){
			func() { VSHUFI32X4(Imm(0x4E), z(sum(i)), z(sum(i)), z(0)) },
			func() { VSHUFI32X4(Imm(0xB1), z(sum(i)), z(sum(i)), z(0)) },
			func() { VPSHUFD(Imm(0x4E), z(sum(i)), z(0)) },
			func() { VPSHUFD(Imm(0xB1), z(sum(i)), z(0)) },
		} {
			halves()
			VPADDD(z(0), z(sum(i)), z(sum(i)))
		}
		for j := range 2 {
			VPSUBD(z(sum(i)), z(acc(i, j)), z(acc(i, j)))
			VMOVDQU32(z(acc(i, j)), Mem{Base: c, Disp: 64 * j})
		}
		ADDQ(rc, c)
	}
	// The second half of a strip begins 8 lines on; then comes the next strip.
	SUBQ(Imm(high), rows)
	JLE(LabelRef("done"))
	ADDQ(U32(64*high), a)
	XORQ(Imm(1), half)
	JNZ(LabelRef("eight"))
	LEAQ(Mem{Base: a, Index: strip, Scale: 1, Disp: -2 * 64 * high}, a)
	JMP(LabelRef("eight"))
	Label("done")
	VZEROUPPER()
	RET()
}

// words writes the kernel of strips of bytes with VPMADDWD, two rows of 16
// columns at a time: bytes become words, whose products of pairs are exact. A
// register of sums holds two for each of four columns.
func words() {
	TEXT("dotWordsI8", NOSPLIT, "func("+arguments+")")
	Pragma("noescape")
	const unroll = 2
	a, c, rc := reg.RAX, reg.RDI, reg.RSI
	rows, strip, n, inner := reg.R9, reg.RDX, reg.RCX, reg.R8
	at, b, line, column, t := reg.R10, reg.R11, reg.R12, reg.R13, reg.R14
	y := asm.AVX2.Reg
	acc := func(i, j int) int { return 8 + 4*i + j }
	Load(Param("sa"), strip)
	Load(Param("a"), a)
	Load(Param("c"), c)
	Load(Param("rc"), rc)
	Load(Param("rows"), rows)
	XORQ(line, line) // of the strip, in bytes
	Label("two")
	XORQ(column, column)
	Label("columns")
	Load(Param("b"), b)
	Load(Param("sb"), t)
	TESTQ(column, column)
	JZ(LabelRef("first"))
	ADDQ(t, b)
	Label("first")
	Load(Param("steps"), n)
	LEAQ(Mem{Base: a, Index: line, Scale: 1}, at)
	for i := range 8 {
		VPXOR(y(8+i), y(8+i), y(8+i))
	}
	Label("step")
	MOVQ(U32(16/unroll), inner)
	Label("quad")
	for u := range unroll {
		for j := range 4 {
			VPMOVSXBW(Mem{Base: b, Disp: 64*u + 16*j}, y(j))
		}
		for i := range 2 {
			VPBROADCASTD(Mem{Base: at, Disp: 64*i + 4*u}, asm.Half(4))
			VPMOVSXBW(asm.Half(4), y(4))
			for j := range 4 {
				VPMADDWD(y(4), y(j), y(5+j%2))
				VPADDD(y(5+j%2), y(acc(i, j)), y(acc(i, j)))
			}
		}
	}
	ADDQ(Imm(4*unroll), at)
	ADDQ(U32(64*unroll), b)
	DECQ(inner)
	JNZ(LabelRef("quad"))
	ADDQ(U32(stepBytes-64), at)
	DECQ(n)
	JNZ(LabelRef("step"))
	Load(Param("accumulate"), n)
	LEAQ(Mem{Base: c, Index: column, Scale: 1}, t)
	for i := range 2 {
		for j := range 2 {
			VPHADDD(y(acc(i, 2*j+1)), y(acc(i, 2*j)), y(i*2+j))
			VPERMQ(Imm(0xD8), y(i*2+j), y(i*2+j))
		}
	}
	TESTQ(n, n)
	JZ(LabelRef("store"))
	for j := range 2 {
		VPADDD(Mem{Base: t, Disp: 32 * j}, y(j), y(j))
		VPADDD(Mem{Base: t, Index: rc, Scale: 1, Disp: 32 * j}, y(2+j), y(2+j))
	}
	Label("store")
	for j := range 2 {
		VMOVDQU(y(j), Mem{Base: t, Disp: 32 * j})
		VMOVDQU(y(2+j), Mem{Base: t, Index: rc, Scale: 1, Disp: 32 * j})
	}
	XORQ(Imm(64), column)
	JNZ(LabelRef("columns"))
	LEAQ(Mem{Base: c, Index: rc, Scale: 2}, c)
	SUBQ(Imm(2), rows)
	JLE(LabelRef("done"))
	ADDQ(U32(128), line)
	CMPQ(line, U32(stepBytes))
	JNE(LabelRef("two"))
	XORQ(line, line)
	ADDQ(strip, a)
	JMP(LabelRef("two"))
	Label("done")
	VZEROUPPER()
	RET()
}

// strip writes a kernel that makes steps of a strip from rows ld apart.
//
//	paired: two rows of 16 elements become one of 16 pairs, 32 rows a step;
//	else 16 rows of 32 elements, seen as pairs, are a step, which goes on behind them.
//	turned: the 16×16 pairs of a step are transposed.
func strip(paired, turned bool) {
	name := map[bool]string{false: "Lines", true: "Pairs"}[paired]
	if turned {
		name += "Turned"
	}
	s := asm.AVX512
	TEXT("strip"+name, NOSPLIT, "func(steps int, src *byte, ld uintptr, dst *byte)")
	Pragma("noescape")
	n := Load(Param("steps"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	ld3, ld4 := GP64(), GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, ld3)
	MOVQ(ld, ld4)
	SHLQ(U8(2), ld4)
	p := GP64()
	Label("loop")
	MOVQ(src, p)
	row := func(i int) Mem { return asm.Row(i, p, ld, ld3) }
	v := make([]reg.VecVirtual, 16)
	put := func(i int) {
		if !turned {
			VMOVUPS(v[i], Mem{Base: dst, Disp: 64 * i})
		}
	}
	for i := range v {
		v[i] = s.New()
		if !paired {
			VMOVUPS(row(i), v[i])
			put(i)
			if i%4 == 3 && i < 15 {
				ADDQ(ld4, p)
			}
			continue
		}
		high := s.New()
		VPMOVZXWD(row(2*i%4), v[i])
		VPMOVZXWD(row(2*i%4+1), high)
		VPSLLD(Imm(16), high, high)
		VPORD(high, v[i], v[i])
		put(i)
		if i%2 == 1 {
			ADDQ(ld4, p)
		}
	}
	if turned {
		for i, r := range asm.Square(s, 4, v) {
			VMOVUPS(r, Mem{Base: dst, Disp: 64 * i})
		}
	}
	if paired {
		MOVQ(p, src)
	} else {
		ADDQ(Imm(64), src)
	}
	ADDQ(U32(stepBytes), dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// wide writes the kernel that makes one step of eight strips, which are pd
// apart, from rows of 128 elements: rows are read in long pieces.
func wide() {
	s := asm.AVX512
	TEXT("stripPairsWide", NOSPLIT, "func(steps int, src *byte, ld uintptr, dst *byte, pd uintptr)")
	Pragma("noescape")
	n := Load(Param("steps"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	pd := Load(Param("pd"), GP64())
	pd3, pd5, pd7 := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: pd, Index: pd, Scale: 2}, pd3)
	LEAQ(Mem{Base: pd, Index: pd, Scale: 4}, pd5)
	LEAQ(Mem{Base: pd3, Index: pd, Scale: 4}, pd7)
	ahead := GP64()
	MOVQ(ld, ahead)
	SHLQ(U8(2), ahead)
	SHLQ(Imm(4), n)
	next := GP64()
	Label("loop")
	LEAQ(Mem{Base: src, Index: ld, Scale: 1}, next)
	to := []Mem{{Base: dst}, {Base: dst, Index: pd, Scale: 1}, {Base: dst, Index: pd, Scale: 2}, {Base: dst, Index: pd3, Scale: 1},
		{Base: dst, Index: pd, Scale: 4}, {Base: dst, Index: pd5, Scale: 1}, {Base: dst, Index: pd3, Scale: 2}, {Base: dst, Index: pd7, Scale: 1}}
	for j, m := range to {
		v, high := s.New(), s.New()
		VPMOVZXWD(Mem{Base: src, Disp: 32 * j}, v)
		VPMOVZXWD(Mem{Base: next, Disp: 32 * j}, high)
		VPSLLD(Imm(16), high, high)
		VPORD(high, v, v)
		VMOVUPS(v, m)
		if j%2 == 0 {
			PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 2, Disp: 32 * j})
		} else {
			PREFETCHT0(Mem{Base: next, Index: ahead, Scale: 2, Disp: 32*j - 32})
		}
	}
	LEAQ(Mem{Base: src, Index: ld, Scale: 2}, src)
	ADDQ(Imm(64), dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// xcr0 writes the function that reads which states the system saves.
func xcr0() {
	TEXT("xcr0", NOSPLIT, "func() (low uint32)")
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	Store(reg.EAX, ReturnIndex(0))
	RET()
}

func main() {
	ConstraintExpr("!purego")
	xcr0()
	tiles("dotTilesBF16", asm.TileDotBF16)
	tiles("dotTilesI8", asm.TileDotI8)
	pairs()
	quads()
	words()
	for _, paired := range []bool{false, true} {
		strip(paired, false)
		strip(paired, true)
	}
	wide()
	Generate()
}
