// Command rows writes the kernels that pick and add whole rows.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tpush/tpush/runtime/simd/gen/asm"
)

const (
	// vecs registers of a row are added at a time.
	vecs = 4
	// ahead is how many rows later those are that a copy asks for.
	ahead = 2
)

// addRows writes the kernel that adds count rows of from to a row x of n
// elements, a multiple of vecs registers: out[j] = x[j] + from[at[0]+j] + …, in
// order. The two rows that follow in at are asked for. With past, the sum passes
// the caches: out is aligned to 64 bytes then.
func addRows(s asm.ISA, e asm.Elem, past bool) {
	name := "addRows" + e.Name + s.Name
	if past {
		name = "addRowsPast" + e.Name + s.Name
	}
	TEXT(name, NOSPLIT, "func(n int, x, from *byte, at *int, count int, out *byte)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	from := Load(Param("from"), GP64())
	at := Load(Param("at"), GP64())
	count := Load(Param("count"), GP64())
	out := Load(Param("out"), GP64())
	next := [ahead]reg.GPVirtual{GP64(), GP64()}
	for i, p := range next {
		MOVQ(Mem{Base: at, Index: count, Scale: 8, Disp: 8 * i}, p)
		LEAQ(Mem{Base: from, Index: p, Scale: uint8(e.Size)}, p)
	}
	acc := [vecs]reg.VecVirtual{s.New(), s.New(), s.New(), s.New()}
	i, p := GP64(), GP64()
	Label("loop")
	for v, r := range acc {
		e.Move(Mem{Base: x, Disp: v * s.Bytes}, r)
	}
	for _, p := range next {
		for l := 0; l < vecs*s.Bytes; l += 64 {
			PREFETCHT0(Mem{Base: p, Disp: l})
		}
		ADDQ(U32(vecs*s.Bytes), p)
	}
	XORQ(i, i)
	CMPQ(i, count)
	JGE(LabelRef("store"))
	Label("add")
	MOVQ(Mem{Base: at, Index: i, Scale: 8}, p)
	LEAQ(Mem{Base: from, Index: p, Scale: uint8(e.Size)}, p)
	for v, r := range acc {
		e.Add(Mem{Base: p, Disp: v * s.Bytes}, r, r)
	}
	INCQ(i)
	CMPQ(i, count)
	JL(LabelRef("add"))
	Label("store")
	for v, r := range acc {
		if past {
			VMOVNTPS(r, Mem{Base: out, Disp: v * s.Bytes})
		} else {
			e.Move(r, Mem{Base: out, Disp: v * s.Bytes})
		}
	}
	ADDQ(U32(vecs*s.Bytes), x)
	ADDQ(U32(vecs*s.Bytes), from)
	ADDQ(U32(vecs*s.Bytes), out)
	SUBQ(U32(uint32(vecs*s.Bytes/e.Size)), n)
	JG(LabelRef("loop"))
	if past {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// pickRows writes the kernel that copies count rows of size bytes, a multiple of
// 64, from src+at[i] behind each other. It asks for the row ahead rows later, whose
// place must be in at too. With past, the copy passes the caches: dst is aligned to 64 bytes then.
func pickRows(s asm.ISA, past bool) {
	name := "pickRows" + s.Name
	if past {
		name = "pickRowsPast" + s.Name
	}
	TEXT(name, NOSPLIT, "func(count, size int, src *byte, at *int, dst *byte)")
	Pragma("noescape")
	count := Load(Param("count"), GP64())
	size := Load(Param("size"), GP64())
	src := Load(Param("src"), GP64())
	at := Load(Param("at"), GP64())
	dst := Load(Param("dst"), GP64())
	p, q, j := GP64(), GP64(), GP64()
	Label("row")
	MOVQ(Mem{Base: at}, p)
	ADDQ(src, p)
	MOVQ(Mem{Base: at, Disp: 8 * ahead}, q)
	ADDQ(src, q)
	MOVQ(size, j)
	Label("line")
	PREFETCHT0(Mem{Base: q})
	for d := 0; d < 64; d += s.Bytes {
		v := s.New()
		VMOVUPS(Mem{Base: p, Disp: d}, v)
		if past {
			VMOVNTPS(v, Mem{Base: dst, Disp: d})
		} else {
			VMOVUPS(v, Mem{Base: dst, Disp: d})
		}
	}
	ADDQ(Imm(64), p)
	ADDQ(Imm(64), q)
	ADDQ(Imm(64), dst)
	SUBQ(Imm(64), j)
	JG(LabelRef("line"))
	ADDQ(Imm(8), at)
	DECQ(count)
	JNZ(LabelRef("row"))
	if past {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("!purego")
	for _, s := range asm.Levels {
		for _, past := range []bool{false, true} {
			addRows(s, asm.F32, past)
			addRows(s, asm.F64, past)
			pickRows(s, past)
		}
	}
	Generate()
}
