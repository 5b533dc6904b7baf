// Command gemm writes the micro-kernels of the matrix product.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tpush/tpush/runtime/simd/gen/asm"
)

// tile writes the kernel of rows×vecs registers:
//
//	c[i,j] = (c[i,j] +) Σ a[i*ra+p*ka] · b[p*kb+j], the sum from zero, p in order
//
// all strides in bytes. The tile stays in registers; each step loads one row of
// b and broadcasts one element of each row of a.
func tile(s asm.ISA, e asm.Elem, rows, vecs int) {
	TEXT(fmt.Sprintf("tile%s%s_%dx%d", e.Name, s.Name, rows, vecs*s.Bytes/e.Size), NOSPLIT,
		"func(k int, a *byte, ra, ka uintptr, b *byte, kb uintptr, c *byte, rc uintptr, accumulate uint64)")
	Pragma("noescape")
	k := Load(Param("k"), GP64())
	bases := []reg.Register{Load(Param("a"), GP64())}
	ra := Load(Param("ra"), GP64())
	ka := Load(Param("ka"), GP64())
	b := Load(Param("b"), GP64())
	kb := Load(Param("kb"), GP64())
	c := Load(Param("c"), GP64())
	rc := Load(Param("rc"), GP64())
	var ra3 reg.Register
	if rows > 3 {
		ra3 = GP64()
		LEAQ(Mem{Base: ra, Index: ra, Scale: 2}, ra3)
	}
	for i := 4; i < rows; i += 4 {
		p := GP64()
		LEAQ(Mem{Base: bases[len(bases)-1], Index: ra, Scale: 4}, p)
		bases = append(bases, p)
	}
	row := func(i int) Mem { return asm.Row(i, bases[i/4], ra, ra3) }
	acc := func(i, j int) int { return s.Regs - 1 - (i*vecs + j) }
	temps := min(s.Regs-rows*vecs-vecs, 4)
	for i := range rows {
		for j := range vecs {
			s.Zero(s.Reg(acc(i, j)))
		}
	}
	at := GP64()
	MOVQ(c, at)
	for i := range rows {
		for l := 0; l < vecs*s.Bytes; l += 64 {
			PREFETCHT0(Mem{Base: at, Disp: l})
		}
		if i+1 < rows {
			ADDQ(rc, at)
		}
	}
	Label("loop")
	for j := range vecs {
		VMOVUPS(Mem{Base: b, Disp: j * s.Bytes}, s.Reg(j))
	}
	for l := 0; l < vecs*s.Bytes; l += 64 {
		PREFETCHT0(Mem{Base: b, Disp: 8*vecs*s.Bytes + l})
	}
	for i := range rows {
		x := vecs + i%temps
		e.Broadcast(row(i), s.Reg(x))
		for j := range vecs {
			e.FMA(s.Reg(j), s.Reg(x), s.Reg(acc(i, j)))
		}
	}
	for _, p := range bases {
		ADDQ(ka, p)
	}
	ADDQ(kb, b)
	DECQ(k)
	JNZ(LabelRef("loop"))
	accumulate := Load(Param("accumulate"), GP64())
	finish(s, e, rows, vecs, c, rc, accumulate, acc)
}

// column writes the kernel of a number of tiles below each other, full ones of
// two registers a row: tile t is that of tile with a t*ta and c t*rows*rc
// further on. In every fourth step it fetches a row from ahead, ahead being as
// bytes further on each time: what the next column of tiles will read. With
// pack there is one tile, and the rows of b are stored behind each other at dst.
func column(s asm.ISA, e asm.Elem, rows int, pack bool) {
	const vecs = 2
	name, args := "column", "func(count, k int, a *byte, ra, ka, ta uintptr, b *byte, kb uintptr, c *byte, rc uintptr, accumulate uint64, ahead *byte, as uintptr)"
	if pack {
		name, args = "packColumn", "func(k int, a *byte, ra, ka uintptr, b *byte, kb uintptr, c *byte, rc uintptr, accumulate uint64, dst *byte)"
	}
	TEXT(fmt.Sprintf("%s%s%s_%dx%d", name, e.Name, s.Name, rows, vecs*s.Bytes/e.Size), NOSPLIT, args)
	Pragma("noescape")
	ra := Load(Param("ra"), GP64())
	ka := Load(Param("ka"), GP64())
	kb := Load(Param("kb"), GP64())
	rc := Load(Param("rc"), GP64())
	ra3 := GP64()
	LEAQ(Mem{Base: ra, Index: ra, Scale: 2}, ra3)
	var ahead, as, dst reg.Register
	if pack {
		dst = Load(Param("dst"), GP64())
	} else {
		ahead, as = Load(Param("ahead"), GP64()), Load(Param("as"), GP64())
	}
	acc := func(i, j int) int { return s.Regs - 1 - (i*vecs + j) }
	temps := min(s.Regs-rows*vecs-vecs, 4)
	Label("tile")
	c := Load(Param("c"), GP64())
	for i := range rows {
		for j := range vecs {
			s.Zero(s.Reg(acc(i, j)))
		}
		for l := 0; l < vecs*s.Bytes; l += 64 {
			PREFETCHT0(Mem{Base: c, Disp: l})
		}
		if i+1 < rows {
			ADDQ(rc, c)
		}
	}
	b := Load(Param("b"), GP64())
	bases := []reg.Register{Load(Param("a"), GP64())}
	for i := 4; i < rows; i += 4 {
		p := GP64()
		LEAQ(Mem{Base: bases[len(bases)-1], Index: ra, Scale: 4}, p)
		bases = append(bases, p)
	}
	step := func() {
		for j := range vecs {
			VMOVUPS(Mem{Base: b, Disp: j * s.Bytes}, s.Reg(j))
		}
		for l := 0; l < vecs*s.Bytes; l += 64 {
			PREFETCHT0(Mem{Base: b, Index: kb, Scale: 8, Disp: l})
		}
		for i := range rows {
			x := vecs + i%temps
			e.Broadcast(asm.Row(i, bases[i/4], ra, ra3), s.Reg(x))
			for j := range vecs {
				e.FMA(s.Reg(j), s.Reg(x), s.Reg(acc(i, j)))
			}
		}
		if pack {
			for j := range vecs {
				VMOVUPS(s.Reg(j), Mem{Base: dst, Disp: j * s.Bytes})
			}
			ADDQ(Imm(uint64(vecs*s.Bytes)), dst)
		}
		for _, p := range bases {
			ADDQ(ka, p)
		}
		ADDQ(kb, b)
	}
	left := Load(Param("k"), GP64())
	SUBQ(Imm(4), left)
	JL(LabelRef("rest"))
	Label("four")
	if !pack {
		for l := 0; l < vecs*s.Bytes; l += 64 {
			PREFETCHT0(Mem{Base: ahead, Disp: l})
		}
		ADDQ(as, ahead)
	}
	for range 4 {
		step()
	}
	SUBQ(Imm(4), left)
	JGE(LabelRef("four"))
	Label("rest")
	ADDQ(Imm(4), left)
	JZ(LabelRef("sums"))
	Label("one")
	step()
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("sums")
	at := Load(Param("c"), GP64())
	accumulate := Load(Param("accumulate"), GP64())
	TESTQ(accumulate, accumulate)
	JZ(LabelRef("store"))
	for i := range rows {
		for j := range vecs {
			e.Add(Mem{Base: at, Disp: j * s.Bytes}, s.Reg(acc(i, j)), s.Reg(acc(i, j)))
		}
		if i+1 < rows {
			ADDQ(rc, at)
		}
	}
	Load(Param("c"), at)
	Label("store")
	for i := range rows {
		for j := range vecs {
			e.Move(s.Reg(acc(i, j)), Mem{Base: at, Disp: j * s.Bytes})
		}
		ADDQ(rc, at)
	}
	if !pack {
		Store(at, Param("c"))
		Load(Param("a"), at)
		ta := Load(Param("ta"), GP64())
		ADDQ(ta, at)
		Store(at, Param("a"))
		Load(Param("count"), at)
		DECQ(at)
		Store(at, Param("count"))
		JNZ(LabelRef("tile"))
	}
	VZEROUPPER()
	RET()
}

// slot is where a parameter is in memory.
func slot(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// taps writes tiles whose rows of b lie anywhere: row p of tile t begins at
// b+from[t]+offset[p], its result at c+to[t] (bytes). The tile's columns are segs
// segments, each seg bytes after the one before; two segments are a register
// each, four are half of one.
//
//	(c+to[t])[i,j] = ((c+to[t])[i,j] +) Σ a[i*ra+p*ka] · (b+from[t]+offset[p])[j]
func taps(s asm.ISA, e asm.Elem, rows, segs int) {
	TEXT(fmt.Sprintf("taps%s%s_%dx%d", e.Name, s.Name, rows, segs), NOSPLIT,
		"func(tiles, k int, a *byte, ra, ka uintptr, offset *int, b *byte, seg uintptr, from *int, c *byte, rc uintptr, to *int, accumulate uint64)")
	Pragma("noescape")
	const vecs = 2
	Label("tile")
	k := Load(Param("k"), GP64())
	bases := []reg.Register{Load(Param("a"), GP64())}
	ra := Load(Param("ra"), GP64())
	ka := Load(Param("ka"), GP64())
	offset := Load(Param("offset"), GP64())
	b := Load(Param("from"), GP64())
	MOVQ(Mem{Base: b}, b)
	ADDQ(slot("b"), b)
	seg := Load(Param("seg"), GP64())
	var ra3, seg3 reg.Register
	if rows > 3 {
		ra3 = GP64()
		LEAQ(Mem{Base: ra, Index: ra, Scale: 2}, ra3)
	}
	if segs == 4 {
		seg3 = GP64()
		LEAQ(Mem{Base: seg, Index: seg, Scale: 2}, seg3)
	}
	for i := 4; i < rows; i += 4 {
		p := GP64()
		LEAQ(Mem{Base: bases[len(bases)-1], Index: ra, Scale: 4}, p)
		bases = append(bases, p)
	}
	acc := func(i, j int) int { return s.Regs - 1 - (i*vecs + j) }
	temps := min(s.Regs-rows*vecs-vecs, 4)
	for i := range rows {
		for j := range vecs {
			s.Zero(s.Reg(acc(i, j)))
		}
	}
	at := GP64()
	Label("loop")
	MOVQ(Mem{Base: offset}, at)
	ADDQ(b, at)
	places := []Mem{{Base: at}, {Base: at, Index: seg, Scale: 1}, {Base: at, Index: seg, Scale: 2}, {Base: at, Index: seg3, Scale: 1}}
	for j := range vecs {
		switch {
		case segs == 2:
			VMOVUPS(places[j], s.Reg(j))
		case s.Bytes == 64:
			VMOVUPS(places[2*j], asm.AVX2.Reg(j))
			VINSERTF64X4(Imm(1), places[2*j+1], s.Reg(j), s.Reg(j))
		default:
			VMOVUPS(places[2*j], asm.Half(j))
			VINSERTF128(Imm(1), places[2*j+1], s.Reg(j), s.Reg(j))
		}
	}
	for i := range rows {
		x := vecs + i%temps
		e.Broadcast(asm.Row(i, bases[i/4], ra, ra3), s.Reg(x))
		for j := range vecs {
			e.FMA(s.Reg(j), s.Reg(x), s.Reg(acc(i, j)))
		}
	}
	for _, p := range bases {
		ADDQ(ka, p)
	}
	ADDQ(Imm(8), offset)
	DECQ(k)
	JNZ(LabelRef("loop"))
	c := Load(Param("to"), GP64())
	MOVQ(Mem{Base: c}, c)
	ADDQ(slot("c"), c)
	rc := Load(Param("rc"), GP64())
	accumulate := Load(Param("accumulate"), GP64())
	store(s, e, rows, vecs, c, rc, accumulate, acc)
	ADDQ(Imm(8), slot("from"))
	ADDQ(Imm(8), slot("to"))
	DECQ(slot("tiles"))
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// places writes tiles whose left operand lies anywhere: its row i begins at
// a+from[i], term p of it offset[p] behind that; row i of the result begins at
// c+to[i] (bytes). The rows of b are dense, as wide as a tile. A call computes
// tiles one after the other, for rows that lie one after the other in from and to.
//
//	(c+to[i])[j] = ((c+to[i])[j] +) Σ (a+from[i]+offset[p])[0] · b[p*vecs*lanes+j]
func places(s asm.ISA, e asm.Elem, rows, vecs int) {
	TEXT(fmt.Sprintf("places%s%s_%dx%d", e.Name, s.Name, rows, vecs*s.Bytes/e.Size), NOSPLIT,
		"func(tiles, k int, a *byte, from, offset *int, b *byte, c *byte, to *int, accumulate uint64)")
	Pragma("noescape")
	acc := func(i, j int) int { return s.Regs - 1 - (i*vecs + j) }
	temps := min(s.Regs-rows*vecs-vecs, 4)
	Label("tile")
	from := Load(Param("from"), GP64())
	row := make([]reg.GPVirtual, rows)
	for i := range row {
		row[i] = GP64()
		MOVQ(Mem{Base: from, Disp: 8 * i}, row[i])
	}
	a := Load(Param("a"), GP64())
	for i := range row {
		ADDQ(a, row[i])
	}
	k := Load(Param("k"), GP64())
	offset := Load(Param("offset"), GP64())
	b := Load(Param("b"), GP64())
	for i := range rows {
		for j := range vecs {
			s.Zero(s.Reg(acc(i, j)))
		}
	}
	at := GP64()
	Label("loop")
	MOVQ(Mem{Base: offset}, at)
	for j := range vecs {
		VMOVUPS(Mem{Base: b, Disp: j * s.Bytes}, s.Reg(j))
	}
	for l := 0; l < vecs*s.Bytes; l += 64 {
		PREFETCHT0(Mem{Base: b, Disp: 8*vecs*s.Bytes + l})
	}
	for i := range rows {
		x := vecs + i%temps
		e.Broadcast(Mem{Base: row[i], Index: at, Scale: 1}, s.Reg(x))
		for j := range vecs {
			e.FMA(s.Reg(j), s.Reg(x), s.Reg(acc(i, j)))
		}
	}
	ADDQ(Imm(uint64(vecs*s.Bytes)), b)
	ADDQ(Imm(8), offset)
	DECQ(k)
	JNZ(LabelRef("loop"))
	c := Load(Param("c"), GP64())
	to := Load(Param("to"), GP64())
	each := func(f func(v reg.VecPhysical, m Mem)) {
		for i := range rows {
			MOVQ(Mem{Base: to, Disp: 8 * i}, at)
			for j := range vecs {
				f(s.Reg(acc(i, j)), Mem{Base: c, Index: at, Scale: 1, Disp: j * s.Bytes})
			}
		}
	}
	CMPQ(slot("accumulate"), Imm(0))
	JEQ(LabelRef("store"))
	each(func(v reg.VecPhysical, m Mem) { e.Add(m, v, v) })
	Label("store")
	each(func(v reg.VecPhysical, m Mem) { e.Move(v, m) })
	ADDQ(Imm(uint64(8*rows)), slot("from"))
	ADDQ(Imm(uint64(8*rows)), slot("to"))
	DECQ(slot("tiles"))
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// finish is store at the end of a kernel.
func finish(s asm.ISA, e asm.Elem, rows, vecs int, c, rc, accumulate reg.Register, acc func(i, j int) int) {
	store(s, e, rows, vecs, c, rc, accumulate, acc)
	VZEROUPPER()
	RET()
}

// store adds the tile to c when accumulate is set, and stores it.
func store(s asm.ISA, e asm.Elem, rows, vecs int, c, rc, accumulate reg.Register, acc func(i, j int) int) {
	at := GP64()
	TESTQ(accumulate, accumulate)
	JZ(LabelRef("store"))
	MOVQ(c, at)
	for i := range rows {
		for j := range vecs {
			e.Add(Mem{Base: at, Disp: j * s.Bytes}, s.Reg(acc(i, j)), s.Reg(acc(i, j)))
		}
		if i+1 < rows {
			ADDQ(rc, at)
		}
	}
	Label("store")
	for i := range rows {
		for j := range vecs {
			e.Move(s.Reg(acc(i, j)), Mem{Base: c, Disp: j * s.Bytes})
		}
		if i+1 < rows {
			ADDQ(rc, c)
		}
	}
}

// packRows copies k rows of vecs registers, ld apart, behind each other with
// a stride of dd.
func packRows(s asm.ISA, vecs int) {
	TEXT(fmt.Sprintf("packRows%s_%d", s.Name, vecs*s.Bytes), NOSPLIT, "func(k int, src *byte, ld uintptr, dst *byte, dd uintptr)")
	Pragma("noescape")
	k := Load(Param("k"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	dd := Load(Param("dd"), GP64())
	ahead := GP64()
	MOVQ(ld, ahead)
	SHLQ(U8(3), ahead)
	Label("loop")
	for j := range vecs {
		v := s.New()
		VMOVUPS(Mem{Base: src, Disp: j * s.Bytes}, v)
		VMOVUPS(v, Mem{Base: dst, Disp: j * s.Bytes})
	}
	for l := 0; l < vecs*s.Bytes; l += 64 {
		PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 1, Disp: l})
	}
	ADDQ(ld, src)
	ADDQ(dd, dst)
	DECQ(k)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// stream writes the kernel that adds terms rows of b, each times an element of
// a, to n elements of c (from zero when first): one row of a product, b read once, in order.
// What the processor prefetches by itself is faster than with hints.
// n is a multiple of two registers. With half, b is of bf16 and widened as it is read.
func stream(s asm.ISA, e asm.Elem, terms int, half bool) {
	name, part := e.Name, 1
	if half {
		name, part = "BF16", 2
	}
	TEXT(fmt.Sprintf("stream%s%s_%d", name, s.Name, terms), NOSPLIT, "func(n int, a *byte, ka uintptr, b *byte, kb uintptr, c *byte, first uint64)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	a := Load(Param("a"), GP64())
	ka := Load(Param("ka"), GP64())
	bases := []reg.Register{Load(Param("b"), GP64())}
	kb := Load(Param("kb"), GP64())
	c := Load(Param("c"), GP64())
	first := Load(Param("first"), GP64())
	x := make([]reg.VecVirtual, terms)
	for i := range x {
		x[i] = s.New()
		e.Broadcast(Mem{Base: a}, x[i])
		ADDQ(ka, a)
	}
	kb3 := GP64()
	LEAQ(Mem{Base: kb, Index: kb, Scale: 2}, kb3)
	for i := 4; i < terms; i += 4 {
		p := GP64()
		LEAQ(Mem{Base: bases[len(bases)-1], Index: kb, Scale: 4}, p)
		bases = append(bases, p)
	}
	acc := [2]reg.VecVirtual{s.New(), s.New()}
	Label("loop")
	for u, r := range acc {
		s.Zero(r)
		_ = u
	}
	TESTQ(first, first)
	JNZ(LabelRef("terms"))
	for u, r := range acc {
		e.Move(Mem{Base: c, Disp: u * s.Bytes}, r)
	}
	Label("terms")
	for i := range x {
		for u, r := range acc {
			m := Mem{Base: bases[i/4], Disp: u * s.Bytes / part}
			switch i % 4 {
			case 1:
				m.Index, m.Scale = kb, 1
			case 2:
				m.Index, m.Scale = kb, 2
			case 3:
				m.Index, m.Scale = kb3, 1
			}
			if half {
				v := s.New()
				VPMOVZXWD(m, v)
				VPSLLD(Imm(16), v, v)
				e.FMA(v, x[i], r)
			} else {
				e.FMA(m, x[i], r)
			}
		}
	}
	for u, r := range acc {
		e.Move(r, Mem{Base: c, Disp: u * s.Bytes})
	}
	for _, p := range bases {
		ADDQ(Imm(uint64(2*s.Bytes/part)), p)
	}
	ADDQ(Imm(uint64(2*s.Bytes)), c)
	SUBQ(Imm(uint64(2*s.Bytes/e.Size)), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// sweep writes the kernel that adds k terms to n columns of a few rows, which
// continue what is in c (with first, from zero):
//
//	c[i*rc+j] += Σ a[p*rows+i] · b[p*kb+j]
//
// It reads k rows of b side by side, from end to end: the processor sees the
// streams, but does not run ahead far enough of the sums of many rows. n is a
// multiple of two registers.
func sweep(s asm.ISA, e asm.Elem, rows int) {
	const vecs, ahead = 2, 512
	TEXT(fmt.Sprintf("sweep%s%s_%d", e.Name, s.Name, rows), NOSPLIT,
		"func(n, k int, a *byte, b *byte, kb uintptr, c *byte, rc uintptr, first uint64)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	kb := Load(Param("kb"), GP64())
	c := Load(Param("c"), GP64())
	rc := Load(Param("rc"), GP64())
	first := Load(Param("first"), GP64())
	acc := func(i, j int) int { return s.Regs - 1 - (i*vecs + j) }
	temps := min(s.Regs-rows*vecs-vecs, 4)
	each := func(f func(i, j int, m Mem)) {
		at := GP64()
		MOVQ(c, at)
		for i := range rows {
			for j := range vecs {
				f(i, j, Mem{Base: at, Disp: j * s.Bytes})
			}
			if i+1 < rows {
				ADDQ(rc, at)
			}
		}
	}
	Label("columns")
	TESTQ(first, first)
	JZ(LabelRef("continue"))
	for i := range rows {
		for j := range vecs {
			s.Zero(s.Reg(acc(i, j)))
		}
	}
	JMP(LabelRef("begin"))
	Label("continue")
	each(func(i, j int, m Mem) { e.Move(m, s.Reg(acc(i, j))) })
	Label("begin")
	x, y, left := GP64(), GP64(), GP64()
	MOVQ(a, x)
	MOVQ(b, y)
	MOVQ(k, left)
	Label("terms")
	for j := range vecs {
		VMOVUPS(Mem{Base: y, Disp: j * s.Bytes}, s.Reg(j))
	}
	for l := 0; rows > 6 && l < vecs*s.Bytes; l += 64 {
		PREFETCHT0(Mem{Base: y, Disp: ahead + l})
	}
	for i := range rows {
		f := vecs + i%temps
		e.Broadcast(Mem{Base: x, Disp: i * e.Size}, s.Reg(f))
		for j := range vecs {
			e.FMA(s.Reg(j), s.Reg(f), s.Reg(acc(i, j)))
		}
	}
	ADDQ(Imm(uint64(rows*e.Size)), x)
	ADDQ(kb, y)
	DECQ(left)
	JNZ(LabelRef("terms"))
	each(func(i, j int, m Mem) { e.Move(s.Reg(acc(i, j)), m) })
	ADDQ(Imm(uint64(vecs*s.Bytes)), b)
	ADDQ(Imm(uint64(vecs*s.Bytes)), c)
	SUBQ(Imm(uint64(vecs*s.Bytes/e.Size)), n)
	JG(LabelRef("columns"))
	VZEROUPPER()
	RET()
}

// dots multiplies as many rows as a register has lanes, ra apart, by one
// vector: c[i] = (c[i] +) Σ a[i,p]·x[p], p in order, by turning squares of a in
// registers. k is a multiple of the lanes.
func dots(s asm.ISA) {
	lanes := s.Bytes / 4
	TEXT("dotsF32"+s.Name, NOSPLIT, "func(k int, a *byte, ra uintptr, x *byte, c *byte, accumulate uint64)")
	Pragma("noescape")
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	ra := Load(Param("ra"), GP64())
	x := Load(Param("x"), GP64())
	ra3 := GP64()
	LEAQ(Mem{Base: ra, Index: ra, Scale: 2}, ra3)
	ra4 := GP64()
	MOVQ(ra, ra4)
	SHLQ(U8(2), ra4)
	acc := s.New()
	s.Zero(acc)
	Label("loop")
	v := make([]reg.VecVirtual, lanes)
	p := GP64()
	MOVQ(a, p)
	for i := range v {
		v[i] = s.New()
		m := asm.Row(i, p, ra, ra3)
		VMOVUPS(m, v[i])
		if s.Bytes == 64 || i%2 == 0 {
			m.Disp = 256
			PREFETCHT0(m)
		}
		if i%4 == 3 && i+1 < lanes {
			ADDQ(ra4, p)
		}
	}
	for i, r := range asm.Square(s, 4, v) {
		if s.Bytes == 64 {
			VFMADD231PS_BCST(Mem{Base: x, Disp: 4 * i}, r, acc)
			continue
		}
		t := s.New()
		VBROADCASTSS(Mem{Base: x, Disp: 4 * i}, t)
		VFMADD231PS(t, r, acc)
	}
	ADDQ(Imm(uint64(s.Bytes)), a)
	ADDQ(Imm(uint64(s.Bytes)), x)
	SUBQ(Imm(uint64(lanes)), k)
	JG(LabelRef("loop"))
	c := Load(Param("c"), GP64())
	accumulate := Load(Param("accumulate"), GP64())
	TESTQ(accumulate, accumulate)
	JZ(LabelRef("store"))
	VADDPS(Mem{Base: c}, acc, acc)
	Label("store")
	VMOVUPS(acc, Mem{Base: c})
	VZEROUPPER()
	RET()
}

// widenRows is packRows of rows of bf16 that become f32, 2 registers a row in
// each of a number of panels, which are pd apart.
func widenRows(s asm.ISA, panels int) {
	TEXT(fmt.Sprintf("widenRowsBF16%s_%d", s.Name, panels), NOSPLIT, "func(k int, src *byte, ld uintptr, dst *byte, dd, pd uintptr)")
	Pragma("noescape")
	k := Load(Param("k"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	dd := Load(Param("dd"), GP64())
	pd := Load(Param("pd"), GP64())
	ahead, pd3 := GP64(), GP64()
	MOVQ(ld, ahead)
	SHLQ(U8(2), ahead)
	LEAQ(Mem{Base: pd, Index: pd, Scale: 2}, pd3)
	Label("loop")
	for p, at := range []Mem{{Base: dst}, {Base: dst, Index: pd, Scale: 1}, {Base: dst, Index: pd, Scale: 2}, {Base: dst, Index: pd3, Scale: 1}}[:panels] {
		for j := range 2 {
			v := s.New()
			VPMOVZXWD(Mem{Base: src, Disp: (2*p + j) * s.Bytes / 2}, v)
			VPSLLD(Imm(16), v, v)
			VMOVUPS(v, at.Offset(j*s.Bytes))
		}
	}
	for l := 0; l < panels*s.Bytes; l += 64 {
		PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 1, Disp: l})
	}
	ADDQ(ld, src)
	ADDQ(dd, dst)
	DECQ(k)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("!purego")
	shapes := map[string]int{"AVX2": 6, "AVX512": 12}
	most := map[string]int{"AVX2": 6, "AVX512": 8} // places, each of which takes a register
	for _, s := range asm.Levels {
		for _, e := range []asm.Elem{asm.F32, asm.F64} {
			for rows := 1; rows <= shapes[s.Name]; rows++ {
				if rows < shapes[s.Name] {
					tile(s, e, rows, 2)
				}
				tile(s, e, rows, 1)
				sweep(s, e, rows)
			}
			column(s, e, shapes[s.Name], false)
			column(s, e, shapes[s.Name], true)
			if e.Name == "F32" {
				for rows := 1; rows <= shapes[s.Name]; rows++ {
					taps(s, e, rows, 2)
					taps(s, e, rows, 4)
				}
				for rows := 1; rows <= most[s.Name]; rows++ {
					places(s, e, rows, 2)
					places(s, e, rows, 1)
				}
			}
			stream(s, e, 8, false)
			stream(s, e, 1, false)
		}
		stream(s, asm.F32, 8, true)
		stream(s, asm.F32, 1, true)
		packRows(s, 1)
		packRows(s, 2)
		widenRows(s, 1)
		widenRows(s, 4)
		dots(s)
	}
	Generate()
}
