package jit

// Op is an operation of a program.
type Op uint8

// The operations. Builder's methods say what each computes.
const (
	opNone Op = iota

	OpIn     // element of an input; imm is its number
	OpRowIn  // the same with one element a row
	OpParam  // imm is the number of the parameter
	OpConst  // imm holds the bits
	OpColumn // position in the row

	OpAdd
	OpSub
	OpMul
	OpDiv
	OpSqrt
	OpFMA
	OpFNMA
	OpMin // imm is minMaxNumber when the second operand is known to be neither NaN nor zero
	OpMax
	OpFloor
	OpCeil
	OpTrunc
	OpRoundEven
	OpScale // imm is scaleNear when both operands are known to be small
	OpRound16

	OpAnd
	OpOr
	OpXor
	OpAndNot
	OpShl // by imm bits
	OpShr
	OpSar
	OpShlV // by a value
	OpShrV
	OpSarV

	OpEq
	OpNe
	OpLt
	OpLe
	OpLtU
	OpSelect
	OpMaskBits

	OpF32ToF64
	OpF64ToF32
	OpI32ToF32
	OpI32ToF64
	OpI64ToF32
	OpI64ToF64
	OpTruncI32 // float to I32, out of range: the least integer
	OpTruncI64
	OpNearI32 // the same to nearest even
	OpSext
	OpZext
	OpWrap
	OpBits // the same bits as another type
	OpF16Dec
	OpF16Enc

	OpSum
	OpReduceMax
	OpReduceMin
	numOps
)

// scaleNear marks an OpScale whose operands are within the bounds of ScaleNear.
const scaleNear = 1

// minMaxNumber marks an OpMin or OpMax of AtMost or AtLeast.
const minMaxNumber = 1

// sig says what an operation takes and gives, in terms of one type T.
type sig struct {
	name    string
	args    int
	types   []Type // T may be one of these
	commute bool   // a and b may be exchanged
	reduce  bool
}

var (
	floats  = []Type{F32, F64}
	ints    = []Type{I32, I64}
	numbers = []Type{F32, F64, I32, I64}
	words   = []Type{F32, F64, I32, I64, Mask}
)

var sigs = [numOps]sig{
	OpIn: {name: "in"}, OpRowIn: {name: "row_in"}, OpParam: {name: "param"}, OpConst: {name: "const"},
	OpColumn: {name: "column"},

	OpAdd:       {name: "add", args: 2, types: numbers, commute: true},
	OpSub:       {name: "sub", args: 2, types: numbers},
	OpMul:       {name: "mul", args: 2, types: numbers, commute: true},
	OpDiv:       {name: "div", args: 2, types: floats},
	OpSqrt:      {name: "sqrt", args: 1, types: floats},
	OpFMA:       {name: "fma", args: 3, types: floats, commute: true},
	OpFNMA:      {name: "fnma", args: 3, types: floats, commute: true},
	OpMin:       {name: "min", args: 2, types: numbers, commute: true},
	OpMax:       {name: "max", args: 2, types: numbers, commute: true},
	OpFloor:     {name: "floor", args: 1, types: floats},
	OpCeil:      {name: "ceil", args: 1, types: floats},
	OpTrunc:     {name: "trunc", args: 1, types: floats},
	OpRoundEven: {name: "round_even", args: 1, types: floats},
	OpScale:     {name: "scale", args: 2, types: floats},
	OpRound16:   {name: "round16", args: 1, types: []Type{I32}},

	OpAnd:    {name: "and", args: 2, types: words, commute: true},
	OpOr:     {name: "or", args: 2, types: words, commute: true},
	OpXor:    {name: "xor", args: 2, types: words, commute: true},
	OpAndNot: {name: "and_not", args: 2, types: words},
	OpShl:    {name: "shl", args: 1, types: ints},
	OpShr:    {name: "shr", args: 1, types: ints},
	OpSar:    {name: "sar", args: 1, types: ints},
	OpShlV:   {name: "shl_v", args: 2, types: ints},
	OpShrV:   {name: "shr_v", args: 2, types: ints},
	OpSarV:   {name: "sar_v", args: 2, types: ints},

	OpEq:       {name: "eq", args: 2, types: numbers, commute: true},
	OpNe:       {name: "ne", args: 2, types: numbers, commute: true},
	OpLt:       {name: "lt", args: 2, types: numbers},
	OpLe:       {name: "le", args: 2, types: numbers},
	OpLtU:      {name: "lt_u", args: 2, types: ints},
	OpSelect:   {name: "select", args: 3},
	OpMaskBits: {name: "mask_bits", args: 1, types: []Type{Mask}},

	OpF32ToF64: {name: "f32_to_f64", args: 1, types: []Type{F32}},
	OpF64ToF32: {name: "f64_to_f32", args: 1, types: []Type{F64}},
	OpI32ToF32: {name: "i32_to_f32", args: 1, types: []Type{I32}},
	OpI32ToF64: {name: "i32_to_f64", args: 1, types: []Type{I32}},
	OpI64ToF32: {name: "i64_to_f32", args: 1, types: []Type{I64}},
	OpI64ToF64: {name: "i64_to_f64", args: 1, types: []Type{I64}},
	OpTruncI32: {name: "trunc_i32", args: 1, types: floats},
	OpTruncI64: {name: "trunc_i64", args: 1, types: []Type{F64}},
	OpNearI32:  {name: "near_i32", args: 1, types: []Type{F32}},
	OpSext:     {name: "sext", args: 1, types: []Type{I32}},
	OpZext:     {name: "zext", args: 1, types: []Type{I32}},
	OpWrap:     {name: "wrap", args: 1, types: []Type{I64}},
	OpBits:     {name: "bits", args: 1, types: numbers},
	OpF16Dec:   {name: "f16_dec", args: 1, types: []Type{I32}},
	OpF16Enc:   {name: "f16_enc", args: 1, types: []Type{F32}},

	OpSum:       {name: "sum", args: 1, types: numbers, reduce: true},
	OpReduceMax: {name: "reduce_max", args: 1, types: numbers, reduce: true},
	OpReduceMin: {name: "reduce_min", args: 1, types: numbers, reduce: true},
}

// String gives the name: fma.
func (o Op) String() string {
	if o == opNone || o >= numOps {
		return "invalid"
	}
	return sigs[o].name
}
