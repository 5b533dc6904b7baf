//go:build !amd64 || purego

package simd

func hasPairs() bool { return false }

func hasTiles() bool { return false }

func dotFuncs(Unit) (product productFunc, packs *stripFuncs) { return nil, nil }

func fastInt8(Level) []*Int8 { return nil }
