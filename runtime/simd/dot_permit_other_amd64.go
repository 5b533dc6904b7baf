//go:build amd64 && !linux && !purego

package simd

// permitTiles: other systems are not asked.
func permitTiles() bool { return false }
