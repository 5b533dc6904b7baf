package dtype

// A Row holds everything the runtime knows of one element type.
type Row struct {
	DType     DType
	Name      string // as users write it: f32
	Go        string // the identifier in package tpu: F32
	Torch     string // PyTorch's name: float32
	HLO       string // XLA's short name: f32, s32, pred
	StableHLO string // MLIR's name: f32, i32, i1, f8E4M3FN
	Bits      int    // bits of one element in HBM
	HostBytes int    // bytes of one element in a host array; 4-bit types take one
	Kind      Kind
	Exp, Mant int // exponent and explicit mantissa bits, floats only
	Doc       string
}

// table is indexed by DType.
var table = [numDTypes]Row{
	Bool:       {Bool, "bool", "Bool", "bool", "pred", "i1", 8, 1, KindBool, 0, 0, "true or false; one byte an element in HBM"},
	U4:         {U4, "u4", "U4", "uint4", "u4", "ui4", 4, 1, KindUint, 0, 0, "unsigned 4-bit integer, 0 to 15"},
	U8:         {U8, "u8", "U8", "uint8", "u8", "ui8", 8, 1, KindUint, 0, 0, "unsigned 8-bit integer"},
	U16:        {U16, "u16", "U16", "uint16", "u16", "ui16", 16, 2, KindUint, 0, 0, "unsigned 16-bit integer"},
	U32:        {U32, "u32", "U32", "uint32", "u32", "ui32", 32, 4, KindUint, 0, 0, "unsigned 32-bit integer"},
	U64:        {U64, "u64", "U64", "uint64", "u64", "ui64", 64, 8, KindUint, 0, 0, "unsigned 64-bit integer; a pair of 32-bit words on the TPU"},
	I4:         {I4, "i4", "I4", "int4", "s4", "i4", 4, 1, KindInt, 0, 0, "signed 4-bit integer, -8 to 7"},
	I8:         {I8, "i8", "I8", "int8", "s8", "i8", 8, 1, KindInt, 0, 0, "signed 8-bit integer"},
	I16:        {I16, "i16", "I16", "int16", "s16", "i16", 16, 2, KindInt, 0, 0, "signed 16-bit integer"},
	I32:        {I32, "i32", "I32", "int32", "s32", "i32", 32, 4, KindInt, 0, 0, "signed 32-bit integer"},
	I64:        {I64, "i64", "I64", "int64", "s64", "i64", 64, 8, KindInt, 0, 0, "signed 64-bit integer; a pair of 32-bit words on the TPU"},
	F4E2M1:     {F4E2M1, "f4e2m1", "F4E2M1", "float4_e2m1fn_x2", "f4e2m1fn", "f4E2M1FN", 4, 1, KindFloat, 2, 1, "4-bit float: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives"},
	F8E4M3:     {F8E4M3, "f8e4m3", "F8E4M3", "float8_e4m3fn", "f8e4m3fn", "f8E4M3FN", 8, 1, KindFloat, 4, 3, "8-bit float without infinities, largest 448"},
	F8E5M2:     {F8E5M2, "f8e5m2", "F8E5M2", "float8_e5m2", "f8e5m2", "f8E5M2", 8, 1, KindFloat, 5, 2, "8-bit float with infinities, largest 57344"},
	F8E4M3FNUZ: {F8E4M3FNUZ, "f8e4m3fnuz", "F8E4M3FNUZ", "float8_e4m3fnuz", "f8e4m3fnuz", "f8E4M3FNUZ", 8, 1, KindFloat, 4, 3, "8-bit float with one zero and one NaN, largest 240"},
	F8E5M2FNUZ: {F8E5M2FNUZ, "f8e5m2fnuz", "F8E5M2FNUZ", "float8_e5m2fnuz", "f8e5m2fnuz", "f8E5M2FNUZ", 8, 1, KindFloat, 5, 2, "8-bit float with one zero and one NaN, largest 57344"},
	F8E8M0:     {F8E8M0, "f8e8m0", "F8E8M0", "float8_e8m0fnu", "f8e8m0fnu", "f8E8M0FNU", 8, 1, KindFloat, 8, 0, "a power of two, the block scale of the MX formats"},
	BF16:       {BF16, "bf16", "BF16", "bfloat16", "bf16", "bf16", 16, 2, KindFloat, 8, 7, "bfloat16: the range of f32 with 8 significant bits"},
	F16:        {F16, "f16", "F16", "float16", "f16", "f16", 16, 2, KindFloat, 5, 10, "IEEE half precision"},
	F32:        {F32, "f32", "F32", "float32", "f32", "f32", 32, 4, KindFloat, 8, 23, "IEEE single precision, the default"},
	F64:        {F64, "f64", "F64", "float64", "f64", "f64", 64, 8, KindFloat, 11, 52, "IEEE double precision; a pair of 32-bit words on the TPU"},
	C64:        {C64, "c64", "C64", "complex64", "c64", "complex<f32>", 64, 8, KindComplex, 8, 23, "a pair of f32: real, imaginary"},
	C128:       {C128, "c128", "C128", "complex128", "c128", "complex<f64>", 128, 16, KindComplex, 11, 52, "a pair of f64: real, imaginary; four 32-bit words on the TPU"},
}

// All lists the element types in the order of the table.
func All() []DType {
	all := make([]DType, 0, numDTypes-1)
	for d := Invalid + 1; d < numDTypes; d++ {
		all = append(all, d)
	}
	return all
}

// Row gives the table row of d.
func (d DType) Row() *Row { return &table[d] }

// String gives the name users write: f32.
func (d DType) String() string {
	if d == Invalid || d >= numDTypes {
		return "invalid"
	}
	return table[d].Name
}

// Bits is the size of one element in HBM, in bits.
func (d DType) Bits() int { return table[d].Bits }

// HostBytes is the size of one element in a host array, in bytes.
func (d DType) HostBytes() int { return table[d].HostBytes }

// Kind gives the kind of d.
func (d DType) Kind() Kind { return table[d].Kind }

// IsFloat says whether d is a real floating-point type.
func (d DType) IsFloat() bool { return table[d].Kind == KindFloat }

// IsComplex says whether d is a complex type.
func (d DType) IsComplex() bool { return table[d].Kind == KindComplex }

// Part gives the type of the real and imaginary parts of a complex type, d itself for others.
func (d DType) Part() DType {
	switch d {
	case C64:
		return F32
	case C128:
		return F64
	}
	return d
}

// Complex gives the complex type whose parts have the precision of d: C128 for
// F64, C64 for other real types.
func (d DType) Complex() DType {
	switch d {
	case F64, C128:
		return C128
	}
	return C64
}

// IsInt says whether d is a signed or unsigned integer type (not Bool).
func (d DType) IsInt() bool { return table[d].Kind == KindInt || table[d].Kind == KindUint }

// Parse finds an element type by any of its names (f32, float32, s32).
func Parse(name string) (DType, bool) {
	for _, r := range table[1:] {
		if name == r.Name || name == r.Torch || name == r.HLO || name == r.Go {
			return r.DType, true
		}
	}
	return Invalid, false
}
