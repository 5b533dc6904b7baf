package simd

// A step of a strip of bytes is 16 rows of 64 terms:
//
//	left[s*StepBytes + i*64 + p]                is term 64s+p of row i,
//	right[s*StepBytes + p/4*64 + 4*j + p%4]     is term 64s+p of column j.
const (
	StepTermsInt8 = 64
	StepBytes     = StripRows * StepTermsInt8
)

// MultiplyInt8 is Multiply of bytes with sums of 32 bits, which wrap. Only Tiles
// have an instruction for it; the sums are the same without.
func (d *Dots) MultiplyInt8(steps int, a []int8, aStrip int, b []int8, bStrip int, c []int32, cRow, rows int, accumulate bool) {
	if rows == 0 || steps == 0 {
		return
	}
	strips := stripsOf(a, aStrip, b, bStrip, steps*StepBytes, c, cRow, rows)
	if d.productInt8 != nil {
		d.productInt8(steps, at(a), uintptr(aStrip), at(b), uintptr(bStrip), at(c), strideBytes[int32](cRow), rows, flag(accumulate))
		return
	}
	for i := range strips * StripRows {
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

// HasInt8 says whether MultiplyInt8 is an instruction.
func (d *Dots) HasInt8() bool { return d.productInt8 != nil }

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
	for p := range terms {
		to := dst[p/64*StepBytes+p%64/4*64+p%4:]
		q := p * term
		for j := range columns {
			to[4*j] = src[q]
			q += column
		}
	}
}
