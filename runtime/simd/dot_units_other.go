//go:build !amd64 || purego

package simd

func hasPairs() bool { return false }

func hasTiles() bool { return false }

func dotFuncs(Unit) (product func(steps int, a *byte, sa uintptr, b *byte, sb uintptr, c *byte, rc uintptr, rows int, accumulate uint64), packs *stripFuncs) {
	return nil, nil
}
