package asm

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Raw emits the bytes of an instruction that Go's assembler does not know.
func Raw(code ...byte) {
	for _, b := range code {
		build.Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(b)}})
	}
}

// A Prefix is the mandatory prefix of an opcode, as VEX and EVEX count them.
type Prefix byte

// The prefixes.
const (
	NP Prefix = iota
	P66
	PF3
	PF2
)

// vex38 emits a 128-bit VEX instruction of map 0F38 with W 0 up to its opcode;
// reg, index and base are register numbers of which only bit 3 counts here.
func vex38(p Prefix, op byte, reg, index, base, v int) {
	Raw(0xC4, byte(^reg>>3&1)<<7|byte(^index>>3&1)<<6|byte(^base>>3&1)<<5|2, byte(^v&15)<<3|byte(p), op)
}

// number is the number of a general register.
func number(r reg.Physical) int { return int(r.PhysicalIndex()) }

// Tile instructions. Tile registers are numbers from 0 to 7, memory is the
// row base plus a stride in bytes for each further row.

// TileConfig loads the shapes of the tiles from 64 bytes at base.
func TileConfig(base reg.Physical) {
	b := number(base)
	vex38(NP, 0x49, 0, 0, b, 0)
	Raw(byte(b & 7)) // mod 00; not for RSP, RBP, R12, R13
}

// TileRelease gives the tiles back.
func TileRelease() { vex38(NP, 0x49, 0, 0, 0, 0); Raw(0xC0) }

// TileZero clears a tile.
func TileZero(t int) { vex38(PF2, 0x49, t, 0, 0, 0); Raw(0xC0 | byte(t)<<3) }

// TileLoad reads a tile; disp is less than 128.
func TileLoad(t int, base reg.Physical, disp int, stride reg.Physical) {
	tileMove(PF2, t, base, disp, stride)
}

// TileStore writes a tile.
func TileStore(t int, base reg.Physical, disp int, stride reg.Physical) {
	tileMove(PF3, t, base, disp, stride)
}

func tileMove(p Prefix, t int, base reg.Physical, disp int, stride reg.Physical) {
	b, s := number(base), number(stride)
	vex38(p, 0x4B, t, s, b, 0)
	Raw(0x44|byte(t)<<3, byte(s&7)<<3|byte(b&7), byte(disp))
}

// TileDotBF16 adds the products of pairs of bf16: c += a·b.
func TileDotBF16(c, a, b int) { vex38(PF3, 0x5C, c, 0, a, b); Raw(0xC0 | byte(c)<<3 | byte(a)) }

// TileDotI8 adds the products of quadruples of signed bytes: c += a·b.
func TileDotI8(c, a, b int) { vex38(PF2, 0x5E, c, 0, a, b); Raw(0xC0 | byte(c)<<3 | byte(a)) }

// DotBF16 is VDPBF16PS: zmm c += the products of pairs of zmm b and of the pair
// at base+disp, which is broadcast.
func DotBF16(c, b int, base reg.Physical, disp int) {
	r := number(base)
	Raw(0x62,
		byte(^c>>3&1)<<7|1<<6|byte(^r>>3&1)<<5|byte(^c>>4&1)<<4|2,
		byte(^b&15)<<3|1<<2|byte(PF3),
		0x50|byte(^b>>4&1)<<3,
		0x52,
		0x80|byte(c&7)<<3|byte(r&7),
		byte(disp), byte(disp>>8), byte(disp>>16), byte(disp>>24))
}
