//go:build amd64 && !purego

package simd

import (
	"sync"

	"golang.org/x/sys/cpu"
)

func hasPairs() bool { return Detected() == AVX512 && cpu.X86.HasAVX512BF16 }

// tileStates are the bits of XCR0 that say the system saves tiles: their
// shapes and their contents.
const tileStates = 1<<17 | 1<<18

// hasTiles asks the system once for leave to use tiles, which it gives to
// processes whose signal stacks are large enough.
var hasTiles = sync.OnceValue(func() bool {
	x := &cpu.X86
	return Detected() == AVX512 && x.HasAMXTile && x.HasAMXBF16 && x.HasOSXSAVE && xcr0()&tileStates == tileStates && permitTiles()
})

// tileConfig makes all eight tiles 16 rows of 64 bytes.
var tileConfig = [64]byte{
	0:  1, // palette
	16: 64, 18: 64, 20: 64, 22: 64, 24: 64, 26: 64, 28: 64, 30: 64,
	48: 16, 49: 16, 50: 16, 51: 16, 52: 16, 53: 16, 54: 16, 55: 16,
}

func dotFuncs(u Unit) (product productFunc, packs *stripFuncs) {
	packs = &stripFuncs{stripLines, stripLinesTurned, stripPairs, stripPairsTurned, stripPairsWide}
	if u == Pairs {
		return dotPairsBF16, packs
	}
	return inTiles(dotTilesBF16), packs
}

// inTiles gives the kernel its tiles.
func inTiles(f func(steps int, a *byte, sa uintptr, b *byte, sb uintptr, c *byte, rc uintptr, rows int, accumulate uint64, config *byte)) productFunc {
	return func(steps int, a *byte, sa uintptr, b *byte, sb uintptr, c *byte, rc uintptr, rows int, accumulate uint64) {
		f(steps, a, sa, b, sb, c, rc, rows, accumulate, &tileConfig[0])
	}
}

// fastInt8 lists the kernels of bytes of a level: VPMADDWD with AVX2, VPDPBUSD
// where AVX-512 has VNNI, TDPBSSD on tiles.
func fastInt8(l Level) (fast []*Int8) {
	if l >= AVX2 {
		fast = append(fast, &Int8{"words", dotWordsI8})
	}
	if l == AVX512 && cpu.X86.HasAVX512VNNI {
		fast = append(fast, &Int8{"quads", dotQuadsI8})
	}
	if l == AVX512 && hasTiles() && cpu.X86.HasAMXInt8 {
		fast = append(fast, &Int8{"tiles", inTiles(dotTilesI8)})
	}
	return fast
}
