// Package dtype is the table of element types: bits, kind, names, promotion
// and rounding.
//
// It knows no shapes and no tensors, and imports nothing of this module.
// Invariant: a DType is an index into the table; every row is complete.
package dtype

// DType is an element type. The zero value is Invalid.
type DType uint8

// The element types, in the order of the table.
const (
	Invalid DType = iota
	Bool
	U4
	U8
	U16
	U32
	U64
	I4
	I8
	I16
	I32
	I64
	F4E2M1
	F8E4M3
	F8E5M2
	F8E4M3FNUZ
	F8E5M2FNUZ
	F8E8M0
	BF16
	F16
	F32
	F64
	C64
	C128
	numDTypes
)

// Kind groups element types for promotion and for the choice of a kernel.
type Kind uint8

// The kinds, in order of promotion.
const (
	KindBool Kind = iota
	KindUint
	KindInt
	KindFloat
	KindComplex
)
