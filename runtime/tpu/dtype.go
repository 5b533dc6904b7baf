package tpu

import "github.com/tpush/tpush/runtime/dtype"

// A DType is an element type. Its methods make tensors of it: tpu.BF16.Randn(2, 3).
type DType dtype.DType

// The element types.
const (
	Bool       = DType(dtype.Bool)
	U4         = DType(dtype.U4)
	U8         = DType(dtype.U8)
	U16        = DType(dtype.U16)
	U32        = DType(dtype.U32)
	U64        = DType(dtype.U64)
	I4         = DType(dtype.I4)
	I8         = DType(dtype.I8)
	I16        = DType(dtype.I16)
	I32        = DType(dtype.I32)
	I64        = DType(dtype.I64)
	F4E2M1     = DType(dtype.F4E2M1)
	F8E4M3     = DType(dtype.F8E4M3)
	F8E5M2     = DType(dtype.F8E5M2)
	F8E4M3FNUZ = DType(dtype.F8E4M3FNUZ)
	F8E5M2FNUZ = DType(dtype.F8E5M2FNUZ)
	F8E8M0     = DType(dtype.F8E8M0)
	BF16       = DType(dtype.BF16)
	F16        = DType(dtype.F16)
	F32        = DType(dtype.F32)
	F64        = DType(dtype.F64)
	C64        = DType(dtype.C64)
	C128       = DType(dtype.C128)
)

// String gives the name: f32.
func (t DType) String() string { return dtype.DType(t).String() }

// Bits is the size of one element in HBM.
func (t DType) Bits() int { return dtype.DType(t).Bits() }

// IsFloat says whether t is a real floating-point type.
func (t DType) IsFloat() bool { return dtype.DType(t).IsFloat() }

// IsInt says whether t is a signed or unsigned integer type.
func (t DType) IsInt() bool { return dtype.DType(t).IsInt() }

// Max is the largest finite value, Lowest the smallest, Eps the distance from
// 1 to the next larger value of a float.
func (t DType) Max() float64 { return dtype.DType(t).Max() }

// Lowest is the smallest finite value.
func (t DType) Lowest() float64 { return dtype.DType(t).Lowest() }

// Eps is the distance from 1 to the next larger value; 0 for integers.
func (t DType) Eps() float64 { return dtype.DType(t).Eps() }

func (t DType) d() dtype.DType { return dtype.DType(t) }

// orElse gives t, or u when t is the zero DType.
func (t DType) orElse(u dtype.DType) dtype.DType {
	if t == 0 {
		return u
	}
	return dtype.DType(t)
}

// attr gives t as an attribute: nil for the zero DType.
func (t DType) attr() any {
	if t == 0 {
		return nil
	}
	return dtype.DType(t)
}
