// Command vec writes the kernels over runs of elements: conversions, extremes,
// running sums.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tpush/tpush/runtime/simd/gen/asm"
)

// step is how many elements a conversion takes at a time.
const step = 16

// all fills a register with a 32-bit pattern.
func all(s asm.ISA, bits uint32) reg.VecVirtual {
	g := GP32()
	MOVL(U32(bits), g)
	x := XMM()
	VMOVD(g, x)
	v := s.New()
	VPBROADCASTD(x, v)
	return v
}

// convert writes a kernel that turns n elements, a multiple of step; in and out
// are element sizes, body does one step.
func convert(name string, in, out int, prepare func() []reg.VecVirtual, body func(src, dst Mem, c []reg.VecVirtual)) {
	TEXT(name, NOSPLIT, "func(n int, src *byte, dst *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	dst := Load(Param("dst"), GP64())
	c := prepare()
	Label("loop")
	body(Mem{Base: src}, Mem{Base: dst}, c)
	ADDQ(Imm(uint64(step*in)), src)
	ADDQ(Imm(uint64(step*out)), dst)
	SUBQ(Imm(step), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// parts calls f for each register of a step.
func parts(s asm.ISA, f func(lane int)) {
	for lane := 0; lane < step; lane += s.Bytes / 4 {
		f(lane)
	}
}

func conversions(s asm.ISA) {
	none := func() []reg.VecVirtual { return nil }
	wide := s.Bytes == 64
	convert("widenBF16"+s.Name, 2, 4, none, func(src, dst Mem, _ []reg.VecVirtual) {
		parts(s, func(lane int) {
			v := s.New()
			VPMOVZXWD(src.Offset(2*lane), v)
			VPSLLD(Imm(16), v, v)
			VMOVUPS(v, dst.Offset(4*lane))
		})
	})
	convert("widenF16"+s.Name, 2, 4, none, func(src, dst Mem, _ []reg.VecVirtual) {
		parts(s, func(lane int) {
			v := s.New()
			VCVTPH2PS(src.Offset(2*lane), v)
			VMOVUPS(v, dst.Offset(4*lane))
		})
	})
	// quiet replaces every NaN in v by one pattern.
	quiet := func(v reg.VecVirtual, nan reg.VecVirtual) {
		if wide {
			k := K()
			VCMPPS(Imm(3), v, v, k)
			VMOVDQA32(nan, k, v)
			return
		}
		m := s.New()
		VCMPPS(Imm(3), v, v, m)
		VBLENDVPS(m, nan, v, v)
	}
	// To nearest even: half a unit, less one when the unit is even, is added below
	// the bits that stay. The NaN that replaces others is not changed by that.
	convert("narrowBF16"+s.Name, 4, 2, func() []reg.VecVirtual {
		return []reg.VecVirtual{all(s, 0x7fff), all(s, 1), all(s, 0x7fc00000)}
	}, func(src, dst Mem, c []reg.VecVirtual) {
		var out []reg.VecVirtual
		parts(s, func(lane int) {
			v, t := s.New(), s.New()
			VMOVUPS(src.Offset(4*lane), v)
			quiet(v, c[2])
			VPSRLD(Imm(16), v, t)
			if wide {
				VPANDD(c[1], t, t)
			} else {
				VPAND(c[1], t, t)
			}
			VPADDD(c[0], t, t)
			VPADDD(v, t, t)
			VPSRLD(Imm(16), t, t)
			out = append(out, t)
		})
		if wide {
			VPMOVDW(out[0], dst)
			return
		}
		p := s.New()
		VPACKUSDW(out[1], out[0], p)
		VPERMQ(Imm(0xD8), p, p)
		VMOVUPS(p, dst)
	})
	convert("narrowF16"+s.Name, 4, 2, func() []reg.VecVirtual {
		return []reg.VecVirtual{all(s, 0x7fc00000)}
	}, func(src, dst Mem, c []reg.VecVirtual) {
		parts(s, func(lane int) {
			v := s.New()
			VMOVUPS(src.Offset(4*lane), v)
			quiet(v, c[0])
			VCVTPS2PH(Imm(0), v, dst.Offset(2*lane))
		})
	})
}

// extreme writes the kernel that finds the first of the largest (smallest) of n
// elements, a multiple of the lanes below 2^31, and says whether one is NaN.
// Each lane of four registers remembers its best and where that was.
func extreme(s asm.ISA, name string, start uint32, pick func(...Op), better uint64) {
	TEXT(name+"F32"+s.Name, NOSPLIT, "func(n int, src *byte) (index int, best float32, nan uint64)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	lanes := s.Bytes / 4
	var m, at [4]reg.VecVirtual
	for i := range m {
		m[i], at[i] = all(s, start), s.New()
		s.Zero(at[i])
	}
	now, block, one := s.New(), all(s, uint32(4*lanes)), all(s, uint32(lanes))
	s.Zero(now)
	wide := s.Bytes == 64
	nan, k := GP64(), GP64()
	XORQ(nan, nan)
	// unordered marks lanes in which v or w is NaN.
	unordered := func(v, w reg.VecVirtual) {
		if wide {
			u := K()
			VCMPPS(Imm(3), v, w, u)
			KMOVW(u, k.As32())
		} else {
			u := s.New()
			VCMPPS(Imm(3), v, w, u)
			VMOVMSKPS(u, k.As32())
		}
		ORQ(k, nan)
	}
	take := func(v reg.VecVirtual, i int) {
		if wide {
			u := K()
			VCMPPS(Imm(better), m[i], v, u)
			VMOVDQA32(now, u, at[i])
		} else {
			u := s.New()
			VCMPPS(Imm(better), m[i], v, u)
			VBLENDVPS(u, now, at[i], at[i])
		}
		pick(v, m[i], m[i])
	}
	SUBQ(Imm(uint64(4*lanes)), n)
	JL(LabelRef("rest"))
	Label("four")
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = s.New()
		VMOVUPS(Mem{Base: src, Disp: i * s.Bytes}, v[i])
		take(v[i], i)
		if i%2 == 1 {
			unordered(v[i-1], v[i])
		}
	}
	VPADDD(block, now, now)
	for l := 0; l < 4*s.Bytes; l += 64 {
		PREFETCHT0(Mem{Base: src, Disp: 2048 + l}) // hardware stops at the end of a page
	}
	ADDQ(U32(uint32(4*s.Bytes)), src)
	SUBQ(Imm(uint64(4*lanes)), n)
	JGE(LabelRef("four"))
	Label("rest")
	ADDQ(Imm(uint64(4*lanes)), n)
	JZ(LabelRef("fold"))
	Label("one")
	w := s.New()
	VMOVUPS(Mem{Base: src}, w)
	take(w, 0)
	unordered(w, w)
	VPADDD(one, now, now)
	ADDQ(Imm(uint64(s.Bytes)), src)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef("one"))
	Label("fold")
	best, p := s.New(), s.New()
	pick(m[1], m[0], best)
	pick(m[3], m[2], p)
	pick(p, best, best)
	fold(s, best, pick)
	VBROADCASTSS(best.AsX(), best)
	// The least place among those of the lanes that hold it.
	least, place := all(s, 1<<31-1), GLOBL("lanes"+name+s.Name, RODATA|NOPTR)
	for i := range 4 * lanes {
		DATA(4*i, U32(uint32(i)))
	}
	for i := range m {
		VPADDD(place.Offset(i*s.Bytes), at[i], at[i])
		if wide {
			u := K()
			VCMPPS(Imm(0), best, m[i], u)
			VPMINSD(at[i], least, u, least)
		} else {
			u := s.New()
			VCMPPS(Imm(0), best, m[i], u)
			VBLENDVPS(u, at[i], least, at[i])
			VPMINSD(at[i], least, least)
		}
	}
	fold(s, least, VPMINSD)
	VMOVD(least.AsX(), k.As32())
	Store(k, Return("index"))
	Store(nan, Return("nan"))
	result, err := Return("best").Resolve()
	if err != nil {
		panic(err)
	}
	VMOVSS(best.AsX(), result.Addr) // a legacy move beside dirty upper halves costs 170 ns
	VZEROUPPER()
	RET()
}

// fold brings what pick chooses of all lanes to the lowest one.
func fold(s asm.ISA, v reg.VecVirtual, pick func(...Op)) {
	y := v.AsY()
	if s.Bytes == 64 {
		t := YMM()
		VEXTRACTF64X4(Imm(1), v, t)
		pick(t, y, y)
	}
	x, u := v.AsX(), XMM()
	VEXTRACTF128(Imm(1), y, u)
	pick(u, x, x)
	for _, order := range []uint64{0x4E, 0xB1} {
		VPERMILPS(Imm(order), x, u)
		pick(u, x, x)
	}
}

// sums writes the kernel of running sums: as many rows as a register has lanes,
// ld apart, n columns (a multiple of the lanes); carry holds the sums so far.
// Squares are turned so that the rows lie side by side, summed, and turned back.
func sums(s asm.ISA) {
	lanes := s.Bytes / 4
	TEXT("sumsF32"+s.Name, NOSPLIT, "func(n int, src *byte, ld uintptr, dst *byte, dd uintptr, carry *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	dd := Load(Param("dd"), GP64())
	carry := Load(Param("carry"), GP64())
	Label("loop")
	v := make([]reg.VecVirtual, lanes)
	p := GP64()
	MOVQ(src, p)
	for i := range v {
		v[i] = s.New()
		VMOVUPS(Mem{Base: p}, v[i])
		if i+1 < lanes {
			ADDQ(ld, p)
		}
	}
	v = asm.Square(s, 4, v)
	VADDPS(Mem{Base: carry}, v[0], v[0])
	for i := 1; i < lanes; i++ {
		VADDPS(v[i-1], v[i], v[i])
	}
	VMOVUPS(v[lanes-1], Mem{Base: carry})
	MOVQ(dst, p)
	for i, r := range asm.Square(s, 4, v) {
		VMOVUPS(r, Mem{Base: p})
		if i+1 < lanes {
			ADDQ(dd, p)
		}
	}
	ADDQ(Imm(uint64(s.Bytes)), src)
	ADDQ(Imm(uint64(s.Bytes)), dst)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// split writes the kernel that parts n pairs of 4-byte elements, a multiple of
// the lanes, into their first and their second elements; merge puts them together.
func split(s asm.ISA) {
	TEXT("split32"+s.Name, NOSPLIT, "func(n int, src *byte, even, odd *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	even := Load(Param("even"), GP64())
	odd := Load(Param("odd"), GP64())
	var first, second reg.VecVirtual
	if s.Bytes == 64 {
		first, second = places(func(i uint32) uint32 { return 2 * i }), places(func(i uint32) uint32 { return 2*i + 1 })
	}
	Label("loop")
	a, b := s.New(), s.New()
	VMOVUPS(Mem{Base: src}, a)
	VMOVUPS(Mem{Base: src, Disp: s.Bytes}, b)
	for i, dst := range []reg.Register{even, odd} {
		r := s.New()
		if s.Bytes == 64 {
			VMOVUPS([]reg.VecVirtual{first, second}[i], r)
			VPERMI2PS(b, a, r)
		} else {
			VSHUFPS(Imm(uint64([]int{0x88, 0xDD}[i])), b, a, r)
			VPERMPD(Imm(0xD8), r, r)
		}
		VMOVUPS(r, Mem{Base: dst})
		ADDQ(Imm(uint64(s.Bytes)), dst)
	}
	ADDQ(Imm(uint64(2*s.Bytes)), src)
	SUBQ(Imm(uint64(s.Bytes/4)), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func merge(s asm.ISA) {
	TEXT("merge32"+s.Name, NOSPLIT, "func(n int, even, odd *byte, dst *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	even := Load(Param("even"), GP64())
	odd := Load(Param("odd"), GP64())
	dst := Load(Param("dst"), GP64())
	var low, high reg.VecVirtual
	if s.Bytes == 64 {
		low, high = places(func(i uint32) uint32 { return i/2 + 16*(i%2) }), places(func(i uint32) uint32 { return 8 + i/2 + 16*(i%2) })
	}
	Label("loop")
	a, b := s.New(), s.New()
	VMOVUPS(Mem{Base: even}, a)
	VMOVUPS(Mem{Base: odd}, b)
	p, q := s.New(), s.New()
	if s.Bytes == 64 {
		VMOVUPS(low, p)
		VPERMI2PS(b, a, p)
		VMOVUPS(high, q)
		VPERMI2PS(b, a, q)
	} else {
		lo, hi := s.New(), s.New()
		VUNPCKLPS(b, a, lo)
		VUNPCKHPS(b, a, hi)
		VPERM2F128(Imm(0x20), hi, lo, p)
		VPERM2F128(Imm(0x31), hi, lo, q)
	}
	VMOVUPS(p, Mem{Base: dst})
	VMOVUPS(q, Mem{Base: dst, Disp: s.Bytes})
	ADDQ(Imm(uint64(s.Bytes)), even)
	ADDQ(Imm(uint64(s.Bytes)), odd)
	ADDQ(Imm(uint64(2*s.Bytes)), dst)
	SUBQ(Imm(uint64(s.Bytes/4)), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// moveRows copies n rows, ld and dd bytes apart, that are at least one register
// long: registers from the begin up to byte last, which the last one takes in.
func moveRows(s asm.ISA) {
	TEXT("moveRows"+s.Name, NOSPLIT, "func(n int, last uintptr, src *byte, ld uintptr, dst *byte, dd uintptr)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	last := Load(Param("last"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	dd := Load(Param("dd"), GP64())
	at, v := GP64(), s.New()
	Label("row")
	XORQ(at, at)
	Label("loop")
	CMPQ(at, last)
	JAE(LabelRef("end"))
	VMOVUPS(Mem{Base: src, Index: at, Scale: 1}, v)
	VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 1})
	ADDQ(Imm(uint64(s.Bytes)), at)
	JMP(LabelRef("loop"))
	Label("end")
	VMOVUPS(Mem{Base: src, Index: last, Scale: 1}, v)
	VMOVUPS(v, Mem{Base: dst, Index: last, Scale: 1})
	ADDQ(ld, src)
	ADDQ(dd, dst)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// places is a register of lane numbers for a permutation of two AVX-512 registers.
func places(f func(lane uint32) uint32) reg.VecVirtual {
	stack := AllocLocal(64)
	for i := range uint32(16) {
		MOVL(U32(f(i)), stack.Offset(int(4*i)))
	}
	r := ZMM()
	VMOVUPS(stack, r)
	return r
}

func main() {
	ConstraintExpr("!purego")
	for _, s := range asm.Levels {
		conversions(s)
		extreme(s, "max", 0xff800000, VMAXPS, 0x1E)
		extreme(s, "min", 0x7f800000, VMINPS, 0x11)
		sums(s)
		split(s)
		merge(s)
		moveRows(s)
	}
	philox()
	Generate()
}
