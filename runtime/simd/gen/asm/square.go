package asm

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Square transposes in registers: v holds as many rows of elements of size bytes
// as a register has lanes. It gives the columns.
func Square(s ISA, size int, v []reg.VecVirtual) []reg.VecVirtual {
	switch size {
	case 2:
		return square2(s, v)
	case 8:
		return square8(s, v)
	}
	return square4(s, v)
}

type binary func(ops ...operand.Op)

// pairs makes of each two registers, d apart, two others.
func pairs(s ISA, v []reg.VecVirtual, d int, lo, hi binary) []reg.VecVirtual {
	out := make([]reg.VecVirtual, len(v))
	for i := range v {
		if i&d == 0 {
			out[i], out[i+d] = s.New(), s.New()
			lo(v[i+d], v[i], out[i])
			hi(v[i+d], v[i], out[i+d])
		}
	}
	return out
}

// square2 is for registers of 16 bytes. After each step, a register holds longer
// pieces of columns: of 2, 4 and 8 rows.
func square2(s ISA, v []reg.VecVirtual) []reg.VecVirtual {
	v = pairs(s, v, 1, VPUNPCKLWD, VPUNPCKHWD)
	v = pairs(s, v, 2, VPUNPCKLDQ, VPUNPCKHDQ)
	v = pairs(s, v, 4, VPUNPCKLQDQ, VPUNPCKHQDQ)
	// Columns 4, 2 and 1 were decided by the first, second and third step.
	out := make([]reg.VecVirtual, len(v))
	for i := range v {
		out[i&1<<2|i&2|i>>2] = v[i]
	}
	return out
}

func square4(s ISA, v []reg.VecVirtual) []reg.VecVirtual {
	// Afterwards lane group g of register i holds, of the 4×4 blocks, what the
	// two steps over whole 128-bit groups put in place.
	v = pairs(s, v, 1, VUNPCKLPS, VUNPCKHPS)
	// v[i]: pairs (row i, row i+1) of columns 0,1 of each group, v[i+1]: columns 2,3.
	w := make([]reg.VecVirtual, len(v))
	for i := 0; i < len(v); i += 4 {
		for h := range 2 {
			a, b := v[i+h], v[i+2+h]
			w[i+2*h], w[i+2*h+1] = s.New(), s.New()
			VUNPCKLPD(b, a, w[i+2*h])
			VUNPCKHPD(b, a, w[i+2*h+1])
		}
	}
	// w[4r+c] group g: column 4g+c of rows 4r..4r+3.
	return groups(s, w, 4)
}

// square8 leaves column 2g+c of rows 2r and 2r+1 in group g of register 2r+c.
func square8(s ISA, v []reg.VecVirtual) []reg.VecVirtual {
	return groups(s, pairs(s, v, 1, VUNPCKLPD, VUNPCKHPD), 2)
}

// groups turns the 128-bit groups of registers k apart: group g of v[k·r+c]
// becomes group r of the result k·g+c.
func groups(s ISA, v []reg.VecVirtual, k int) []reg.VecVirtual {
	if s.Bytes == 32 {
		return pairs(s, v, k,
			func(ops ...operand.Op) { VPERM2F128(operand.Imm(0x20), ops[0], ops[1], ops[2]) },
			func(ops ...operand.Op) { VPERM2F128(operand.Imm(0x31), ops[0], ops[1], ops[2]) })
	}
	out := make([]reg.VecVirtual, len(v))
	for c := range k {
		a, b, d, e := v[c], v[k+c], v[2*k+c], v[3*k+c]
		p, q, t, u := s.New(), s.New(), s.New(), s.New()
		VSHUFF32X4(operand.Imm(0x88), b, a, p) // groups 0,2 of a and b
		VSHUFF32X4(operand.Imm(0xDD), b, a, q) // groups 1,3
		VSHUFF32X4(operand.Imm(0x88), e, d, t)
		VSHUFF32X4(operand.Imm(0xDD), e, d, u)
		for g, pair := range [][2]reg.VecVirtual{{p, t}, {q, u}} {
			out[k*g+c], out[k*(g+2)+c] = s.New(), s.New()
			VSHUFF32X4(operand.Imm(0x88), pair[1], pair[0], out[k*g+c])
			VSHUFF32X4(operand.Imm(0xDD), pair[1], pair[0], out[k*(g+2)+c])
		}
	}
	return out
}
