package asm

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Square transposes in registers: v holds as many rows of 4-byte elements as a
// register has lanes. It gives the columns.
func Square(s ISA, v []reg.VecVirtual) []reg.VecVirtual {
	step := func(v []reg.VecVirtual, d int, lo, hi func(a, b, r operand.Op)) []reg.VecVirtual {
		out := make([]reg.VecVirtual, len(v))
		for i := range v {
			if i&d == 0 {
				out[i], out[i+d] = s.New(), s.New()
				lo(v[i], v[i+d], out[i])
				hi(v[i], v[i+d], out[i+d])
			}
		}
		return out
	}
	// Afterwards lane group g of register i holds, of the 4×4 blocks, what the
	// two steps over whole 128-bit groups put in place.
	v = step(v, 1,
		func(a, b, r operand.Op) { VUNPCKLPS(b, a, r) },
		func(a, b, r operand.Op) { VUNPCKHPS(b, a, r) })
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
	if s.Bytes == 32 {
		return step(w, 4,
			func(a, b, r operand.Op) { VPERM2F128(operand.Imm(0x20), b, a, r) },
			func(a, b, r operand.Op) { VPERM2F128(operand.Imm(0x31), b, a, r) })
	}
	out := make([]reg.VecVirtual, 16)
	for c := range 4 {
		a, b, d, e := w[c], w[4+c], w[8+c], w[12+c]
		p, q, t, u := s.New(), s.New(), s.New(), s.New()
		VSHUFF32X4(operand.Imm(0x88), b, a, p) // groups 0,2 of a and b
		VSHUFF32X4(operand.Imm(0xDD), b, a, q) // groups 1,3
		VSHUFF32X4(operand.Imm(0x88), e, d, t)
		VSHUFF32X4(operand.Imm(0xDD), e, d, u)
		for g, pair := range [][2]reg.VecVirtual{{p, t}, {q, u}} {
			out[4*g+c], out[4*(g+2)+c] = s.New(), s.New()
			VSHUFF32X4(operand.Imm(0x88), pair[1], pair[0], out[4*g+c])
			VSHUFF32X4(operand.Imm(0xDD), pair[1], pair[0], out[4*(g+2)+c])
		}
	}
	return out
}
