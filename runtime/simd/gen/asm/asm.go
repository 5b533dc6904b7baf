// Package asm has what the generators of runtime/simd share: instruction sets
// and element types as values, so that each kernel is written once.
package asm

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An ISA is a level of vector registers.
type ISA struct {
	Name  string
	Bytes int // of a register
	Regs  int
}

// The two levels that have kernels, and the half registers of AVX2.
var (
	AVX    = ISA{"AVX2", 16, 16}
	AVX2   = ISA{"AVX2", 32, 16}
	AVX512 = ISA{"AVX512", 64, 32}
	Levels = []ISA{AVX2, AVX512}
)

// Reg is vector register i.
func (s ISA) Reg(i int) reg.VecPhysical {
	if s.Bytes == 64 {
		return zmm[i]
	}
	return ymm[i]
}

// Half is the lower half of AVX2's register i.
func Half(i int) reg.VecPhysical { return xmm[i] }

// New is a vector register that the generator chooses.
func (s ISA) New() reg.VecVirtual {
	switch s.Bytes {
	case 64:
		return build.ZMM()
	case 16:
		return build.XMM()
	}
	return build.YMM()
}

// Zero clears a register.
func (s ISA) Zero(r operand.Op) {
	if s.Bytes == 64 {
		build.VPXORD(r, r, r)
		return
	}
	build.VXORPS(r, r, r)
}

// Row is the place of row i, counted from the last multiple of 4, whose row is
// at base: rows are ld bytes apart, ld3 is three times ld.
func Row(i int, base, ld, ld3 reg.Register) operand.Mem {
	m := operand.Mem{Base: base}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = ld, 1
	case 2:
		m.Index, m.Scale = ld, 2
	case 3:
		m.Index, m.Scale = ld3, 1
	}
	return m
}

// An Elem is an element type with its instructions.
type Elem struct {
	Name      string
	Size      int
	Broadcast func(...operand.Op)
	FMA       func(...operand.Op) // FMA(x, y, z): z += x·y
	Add       func(...operand.Op)
	Move      func(...operand.Op)
}

// Element types of the kernels.
var (
	F32 = Elem{"F32", 4, build.VBROADCASTSS, build.VFMADD231PS, build.VADDPS, build.VMOVUPS}
	F64 = Elem{"F64", 8, build.VBROADCASTSD, build.VFMADD231PD, build.VADDPD, build.VMOVUPD}
)

var (
	zmm = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}
	xmm = []reg.VecPhysical{reg.X0, reg.X1, reg.X2, reg.X3, reg.X4}
	ymm = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}
)
