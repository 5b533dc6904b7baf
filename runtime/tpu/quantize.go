package tpu

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A BlockType is a format of blocks of narrow floats that share a scale. It is
// no element type: a tensor in it is a pair, Quantized.
type BlockType uint8

// The block formats: OCP Microscaling (MX) 1.0, blocks of 32 with a power of
// two, and NVFP4, blocks of 16 with an f8e4m3.
const (
	MXFP4 BlockType = iota
	MXFP6E2M3
	MXFP6E3M2
	MXFP8 // elements f8e4m3
	MXFP8E5M2
	NVFP4
)

// blockNames are the names in package dtype.
var blockNames = [...]string{"mxfp4", "mxfp6e2m3", "mxfp6e3m2", "mxfp8e4m3", "mxfp8e5m2", "nvfp4"}

// block gives the format.
func (b BlockType) block() dtype.Block {
	if int(b) < len(blockNames) {
		if f, ok := dtype.BlockByName(blockNames[b]); ok {
			return f
		}
	}
	refuse("quantize", &shape.ArgumentError{Op: "quantize", Arg: "type", Value: int(b), Why: "it is no block format"})
	return dtype.Block{}
}

// String gives the name: mxfp4.
func (b BlockType) String() string { return b.block().Name }

// Size is the number of elements that share a scale.
func (b BlockType) Size() int { return b.block().Size }

// element is the type of the elements; U8 codes for the six-bit formats, which
// are no element types.
func (b BlockType) element() dtype.DType {
	if d, ok := dtype.Parse(b.block().Element); ok {
		return d
	}
	return dtype.U8
}

// A Quantized is a tensor in a block format: Elements has its shape, Scales one
// element for each block of its last axis.
type Quantized struct {
	Type     BlockType
	Elements *Tensor
	Scales   *Tensor
}

// Quantize brings a float tensor whose last axis is a multiple of the block
// into a block format: elements round to nearest even and saturate. It reads x.
func (b BlockType) Quantize(x *Tensor) *Quantized {
	const name = "quantize"
	f := b.block()
	e := x.engine()
	d := x.view.Dims
	switch {
	case !x.dt.IsFloat():
		e.fail(name, &op.TypeError{Op: name, Arg: "x", DType: x.dt, Want: "a float"})
	case len(d) == 0 || d[len(d)-1]%f.Size != 0:
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "x", Value: d, Why: fmt.Sprintf("the last axis must be a multiple of %d", f.Size)})
	}
	xs := kernel.Float32s(x.host(name, exec.ReasonHostCopy))
	last := len(d) - 1
	elements := kernel.New(shape.Spec{DType: b.element(), Dims: d})
	scales := kernel.New(shape.Spec{DType: f.Scale, Dims: append(append([]int{}, d[:last]...), d[last]/f.Size)})
	for i := range scales.Size() {
		part := elements.Buf[i*f.Size : (i+1)*f.Size]
		scales.Buf[i] = f.Quantize(xs[i*f.Size:(i+1)*f.Size], part)
	}
	return &Quantized{b, e.upload(elements, name), e.upload(scales, name)}
}

// Quantize is the block format's Quantize of t.
func (t *Tensor) Quantize(b BlockType) *Quantized { return b.Quantize(t) }

// Dequantize gives the numbers, elements times scales, as f32.
func (q *Quantized) Dequantize() *Tensor {
	f := q.Type.block()
	d := q.Elements.Dims()
	blocks := append(append([]int{}, q.Scales.Dims()...), f.Size)
	var x *Tensor
	if q.Type.element() == dtype.U8 { // a table of the values of each code
		values := make([]float32, 1<<6)
		format, _ := dtype.FormatByName(f.Element)
		for c := range values {
			values[c] = float32(format.Decode(uint64(c)))
		}
		x = From(values).Index(q.Elements.To(I64))
	} else {
		x = q.Elements.To(F32)
	}
	return x.Reshape(blocks...).Mul(q.Scales.To(F32).Unsqueeze(-1)).Reshape(d...)
}

// Bytes is what elements and scales need, packed.
func (q *Quantized) Bytes() int64 {
	bits := int64(q.Elements.DType().Bits())
	if q.Type.element() == dtype.U8 {
		bits = 6
	}
	return (int64(q.Elements.Size())*bits+7)/8 + q.Scales.Bytes()
}

// String names type and shape.
func (q *Quantized) String() string {
	return fmt.Sprintf("%v%s", q.Type, shape.FormatDims(q.Elements.Dims()))
}

// PackBits puts integers of 1, 2 or 4 bits into bytes, the first into the low
// bits: [..,n] → u8[..,n·bits/8]. Higher bits of an element are dropped.
func PackBits(x *Tensor, bits int) *Tensor {
	per := perByte("pack_bits", x, bits)
	d := x.Dims()
	last := len(d) - 1
	if last < 0 || d[last]%per != 0 {
		x.engine().fail("pack_bits", &shape.ArgumentError{Op: "pack_bits", Arg: "x", Value: d, Why: fmt.Sprintf("the last axis must be a multiple of %d", per)})
	}
	parts := append(append([]int{}, d[:last]...), d[last]/per, per)
	codes := x.To(I32).BitwiseAnd(1<<bits - 1).Reshape(parts...)
	return codes.BitwiseLeftShift(I32.Arange(per).Mul(bits)).Sum(-1).To(U8)
}

// UnpackBits takes bytes apart again: u8[..,m] → [..,m·8/bits], unsigned in
// u8, signed in i8.
func UnpackBits(x *Tensor, bits int, signed bool) *Tensor {
	per := perByte("unpack_bits", x, bits)
	d := x.Dims()
	if len(d) == 0 || x.DType() != U8 {
		x.engine().fail("unpack_bits", &shape.ArgumentError{Op: "unpack_bits", Arg: "x", Value: x.Spec().String(), Why: "bytes along an axis are wanted"})
	}
	d[len(d)-1] *= per
	codes := x.To(I32).Unsqueeze(-1).BitwiseRightShift(I32.Arange(per).Mul(bits)).BitwiseAnd(1<<bits - 1).Reshape(d...)
	if !signed {
		return codes.To(U8)
	}
	sign := 1 << (bits - 1)
	return codes.BitwiseXor(sign).Sub(sign).To(I8)
}

// perByte is how many integers a byte holds.
func perByte(name string, x *Tensor, bits int) int {
	e := x.engine()
	if !x.dt.IsInt() {
		e.fail(name, &IndexTypeError{x.dt.String() + " tensor"})
	}
	if bits != 1 && bits != 2 && bits != 4 {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "bits", Value: bits, Why: "it is none of 1, 2, 4"})
	}
	return 8 / bits
}
