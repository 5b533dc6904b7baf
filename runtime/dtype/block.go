package dtype

import "math"

// A Block is a format of blocks of narrow floats that share one scale.
type Block struct {
	Name    string
	Element string // XLA's name of the element format
	Scale   DType  // F8E8M0: a power of two from the largest exponent; F8E4M3: the largest value over the element's
	Size    int    // elements that share a scale
	Doc     string
}

// Blocks lists the block formats: OCP Microscaling (MX) 1.0, and NVFP4.
func Blocks() []Block {
	return []Block{
		{"mxfp4", "f4e2m1fn", F8E8M0, 32, "4.25 bits an element"},
		{"mxfp6e2m3", "f6e2m3fn", F8E8M0, 32, "6.25 bits an element"},
		{"mxfp6e3m2", "f6e3m2fn", F8E8M0, 32, "6.25 bits an element, wider range"},
		{"mxfp8e4m3", "f8e4m3fn", F8E8M0, 32, "8.25 bits an element"},
		{"mxfp8e5m2", "f8e5m2", F8E8M0, 32, "8.25 bits an element, wider range"},
		{"nvfp4", "f4e2m1fn", F8E4M3, 16, "4.5 bits an element"},
	}
}

// BlockByName finds a block format.
func BlockByName(name string) (Block, bool) {
	for _, b := range Blocks() {
		if b.Name == name {
			return b, true
		}
	}
	return Block{}, false
}

// Quantize writes the scale code of one block and the codes of its elements,
// which are x over the scale, rounded to nearest even and saturated. A block
// of zeros has the scale 0 (MX: 2^-127); one with a NaN or an infinity has the
// scale NaN and elements 0. codes has the length of x.
func (b Block) Quantize(x []float32, codes []uint8) (scale uint8) {
	f, _ := FormatByName(b.Element)
	var top float32
	for _, v := range x {
		top = max(top, float32(math.Abs(float64(v)))) // max gives NaN for a NaN
	}
	if top != top || top > math.MaxFloat32 {
		clear(codes)
		return uint8(b.Scale.Encode(math.NaN()))
	}
	largest := f.Decode(f.maxCode())
	if b.Scale == F8E8M0 {
		if top > 0 {
			e := math.Ilogb(float64(top)) - math.Ilogb(largest) + 127
			scale = uint8(max(0, min(e, 254)))
		}
	} else {
		scale = uint8(b.Scale.Encode(float64(top / float32(largest))))
	}
	s := float32(b.Scale.Decode(uint64(scale)))
	for i, v := range x {
		if s != 0 {
			v /= s
		} else {
			v = float32(math.Copysign(0, float64(v)))
		}
		codes[i] = uint8(f.Encode(float64(v), Saturates))
	}
	return scale
}

// Dequantize writes the values of a block: element times scale.
func (b Block) Dequantize(scale uint8, codes []uint8, x []float32) {
	f, _ := FormatByName(b.Element)
	s := b.Scale.Decode(uint64(scale))
	for i, c := range codes {
		x[i] = float32(f.Decode(uint64(c)) * s)
	}
}

// PackNibbles puts two 4-bit codes into a byte, the first into the low bits;
// an odd last one has the high bits 0.
func PackNibbles(codes []uint8) []uint8 {
	out := make([]uint8, (len(codes)+1)/2)
	for i, c := range codes {
		out[i/2] |= (c & 15) << (i % 2 * 4)
	}
	return out
}

// UnpackNibbles gives the first n 4-bit codes.
func UnpackNibbles(packed []uint8, n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = packed[i/2] >> (i % 2 * 4) & 15
	}
	return out
}
