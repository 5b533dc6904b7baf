//go:build !amd64 || purego

package simd

func hasPairs() bool { return false }

func hasTiles() bool { return false }

func dotFuncs(Unit) (product, productInt8 productFunc, packs *stripFuncs) { return nil, nil, nil }
