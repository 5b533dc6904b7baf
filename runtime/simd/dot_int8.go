package simd

import (
	"encoding/binary"
	"sync"
	"unsafe"
)

// A step of a strip of bytes is 16 rows of 64 terms:
//
//	left[s*StepBytes + i*64 + p]                is term 64s+p of row i,
//	right[s*StepBytes + p/4*64 + 4*j + p%4]     is term 64s+p of column j.
const (
	StepTermsInt8 = 64
	StepBytes     = StripRows * StepTermsInt8
)

// Int8 is a kernel of products of bytes with sums of 32 bits, which wrap: all
// give the same.
type Int8 struct {
	Name    string // of the instruction
	product productFunc
}

// Int8s lists the kernels that a level has on this processor, the slowest first.
func Int8s(l Level) []*Int8 { return int8s()[l] }

var int8s = sync.OnceValue(func() (all [AVX512 + 1][]*Int8) {
	for l := range all {
		all[l] = append([]*Int8{{Name: "go"}}, fastInt8(Level(l))...)
	}
	return all
})

// Native says whether the kernel is made of vector instructions.
func (d *Int8) Native() bool { return d.product != nil }

// Multiply computes
//
//	c[i*cRow+j] = (c[i*cRow+j] +) Σ a[i,p]·b[p,j]    i < rows, j < 32
//
// over a number of steps: a has the strips of rows rows, aStrip elements apart,
// b two strips, bStrip apart. c has room for a multiple of 16 rows, and what is
// in the last ones is not specified.
func (d *Int8) Multiply(steps int, a []int8, aStrip int, b []int8, bStrip int, c []int32, cRow, rows int, accumulate bool) {
	if rows == 0 || steps == 0 {
		return
	}
	stripsOf(a, aStrip, b, bStrip, steps*StepBytes, c, cRow, rows)
	if d.product != nil {
		d.product(steps, at(a), uintptr(aStrip), at(b), uintptr(bStrip), at(c), strideBytes[int32](cRow), rows, flag(accumulate))
		return
	}
	for i := range rows {
		for j := range 2 * StripRows {
			var s int32
			if accumulate {
				s = c[i*cRow+j]
			}
			for p := range steps * StepTermsInt8 {
				x := a[i/StripRows*aStrip+p/64*StepBytes+i%StripRows*64+p%64]
				y := b[j/StripRows*bStrip+p/64*StepBytes+p%64/4*64+4*(j%StripRows)+p%4]
				s += int32(x) * int32(y)
			}
			c[i*cRow+j] = s
		}
	}
}

// LeftInt8 makes the strip of rows ≤ 16 rows whose elements are src[i*row+p*term].
func LeftInt8(dst, src []int8, row, term, rows, terms int) {
	steps := (terms + StepTermsInt8 - 1) / StepTermsInt8
	dst = dst[:steps*StepBytes]
	clear(dst)
	for i := range rows {
		if term == 1 {
			for p := 0; p < terms; p += StepTermsInt8 {
				n := min(StepTermsInt8, terms-p)
				copy(dst[p*StripRows+i*StepTermsInt8:][:n], src[i*row+p:])
			}
			continue
		}
		for p := range terms {
			dst[p/64*StepBytes+i*64+p%64] = src[i*row+p*term]
		}
	}
}

// RightInt8 makes the strip of columns ≤ 16 columns whose elements are src[p*term+j*column].
func RightInt8(dst, src []int8, term, column, columns, terms int) {
	steps := (terms + StepTermsInt8 - 1) / StepTermsInt8
	dst = dst[:steps*StepBytes]
	clear(dst)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
	p := 0
	for ; p+4 <= terms; p += 4 { // a store for the four terms of a column
		to := bytes[p/64*StepBytes+p%64/4*64:][:64]
		q := p * term
		for j := range columns {
			x := uint32(uint8(src[q])) | uint32(uint8(src[q+term]))<<8 | uint32(uint8(src[q+2*term]))<<16 | uint32(uint8(src[q+3*term]))<<24
			binary.LittleEndian.PutUint32(to[4*j:], x)
			q += column
		}
	}
	for ; p < terms; p++ {
		for j := range columns {
			dst[p/64*StepBytes+p%64/4*64+p%4+4*j] = src[p*term+j*column]
		}
	}
}
