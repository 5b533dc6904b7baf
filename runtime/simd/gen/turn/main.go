// Command turn generates the transposing kernels of runtime/simd.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tpush/tpush/runtime/simd/gen/asm"
)

// turn transposes a strip: as many rows as a register has elements of size
// bytes, ld apart, of n columns (a multiple of that many) become n rows, dd apart.
func turn(s asm.ISA, size int) {
	lanes := s.Bytes / size
	TEXT(fmt.Sprintf("turn%d%s", 8*size, s.Name), NOSPLIT, "func(n int, src *byte, ld uintptr, dst *byte, dd uintptr)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	dd := Load(Param("dd"), GP64())
	ld3, ld4, p := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, ld3)
	MOVQ(ld, ld4)
	SHLQ(U8(2), ld4)
	Label("loop")
	v := make([]reg.VecVirtual, lanes)
	MOVQ(src, p)
	for i := range v {
		v[i] = s.New()
		VMOVUPS(asm.Row(i, p, ld, ld3), v[i])
		if i%4 == 3 && i+1 < lanes {
			ADDQ(ld4, p)
		}
	}
	for _, r := range asm.Square(s, size, v) {
		VMOVUPS(r, Mem{Base: dst})
		ADDQ(dd, dst)
	}
	ADDQ(Imm(uint64(s.Bytes)), src)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("!purego")
	turn(asm.AVX, 2)
	for _, s := range asm.Levels {
		turn(s, 4)
		turn(s, 8)
	}
	Generate()
}
