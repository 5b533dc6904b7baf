//go:build amd64 && !purego

package simd

import "math"

// native says whether this build has vector kernels.
const native = true

// vectorKernels gives the *Kernels for the type of zero at a level, nil if there are none.
func vectorKernels(l Level, zero any) any {
	switch zero.(type) {
	case float32:
		return kernelsF32[l]
	case float64:
		return kernelsF64[l]
	}
	return nil
}

var kernelsF32 = [...]*Kernels[float32]{
	AVX2: {
		Level: AVX2, Rows: 6, Cols: 16, Narrow: 8, Lanes: 8,
		tile:   []tileFunc{nil, tileF32AVX2_1x16, tileF32AVX2_2x16, tileF32AVX2_3x16, tileF32AVX2_4x16, tileF32AVX2_5x16},
		column: columnF32AVX2_6x16, packColumn: packColumnF32AVX2_6x16,
		narrow: []tileFunc{nil, tileF32AVX2_1x8, tileF32AVX2_2x8, tileF32AVX2_3x8, tileF32AVX2_4x8, tileF32AVX2_5x8, tileF32AVX2_6x8},
		sweep:  []sweepFunc{nil, sweepF32AVX2_1, sweepF32AVX2_2, sweepF32AVX2_3, sweepF32AVX2_4, sweepF32AVX2_5, sweepF32AVX2_6},
		axpy:   axpyF32, stream8: streamF32AVX2_8, stream1: streamF32AVX2_1, addRows: [2]addRowsFunc{addRowsF32AVX2, addRowsPastF32AVX2}, dots: dotsF32AVX2, squares: squareTurner{8, turn32AVX2},
		pack: [2]moveFunc{packRowsAVX2_32, packRowsAVX2_64},
	},
	AVX512: {
		Level: AVX512, Rows: 12, Cols: 32, Narrow: 16, Lanes: 16,
		tile:   []tileFunc{nil, tileF32AVX512_1x32, tileF32AVX512_2x32, tileF32AVX512_3x32, tileF32AVX512_4x32, tileF32AVX512_5x32, tileF32AVX512_6x32, tileF32AVX512_7x32, tileF32AVX512_8x32, tileF32AVX512_9x32, tileF32AVX512_10x32, tileF32AVX512_11x32},
		column: columnF32AVX512_12x32, packColumn: packColumnF32AVX512_12x32,
		narrow: []tileFunc{nil, tileF32AVX512_1x16, tileF32AVX512_2x16, tileF32AVX512_3x16, tileF32AVX512_4x16, tileF32AVX512_5x16, tileF32AVX512_6x16, tileF32AVX512_7x16, tileF32AVX512_8x16, tileF32AVX512_9x16, tileF32AVX512_10x16, tileF32AVX512_11x16, tileF32AVX512_12x16},
		sweep:  []sweepFunc{nil, sweepF32AVX512_1, sweepF32AVX512_2, sweepF32AVX512_3, sweepF32AVX512_4, sweepF32AVX512_5, sweepF32AVX512_6, sweepF32AVX512_7, sweepF32AVX512_8, sweepF32AVX512_9, sweepF32AVX512_10, sweepF32AVX512_11, sweepF32AVX512_12},
		axpy:   axpyF32, stream8: streamF32AVX512_8, stream1: streamF32AVX512_1, addRows: [2]addRowsFunc{addRowsF32AVX512, addRowsPastF32AVX512}, dots: dotsF32AVX512, squares: squareTurner{16, turn32AVX512},
		pack: [2]moveFunc{packRowsAVX512_64, packRowsAVX512_128},
	},
}

var kernelsF64 = [...]*Kernels[float64]{
	AVX2: {
		Level: AVX2, Rows: 6, Cols: 8, Narrow: 4,
		tile:   []tileFunc{nil, tileF64AVX2_1x8, tileF64AVX2_2x8, tileF64AVX2_3x8, tileF64AVX2_4x8, tileF64AVX2_5x8},
		column: columnF64AVX2_6x8, packColumn: packColumnF64AVX2_6x8,
		narrow: []tileFunc{nil, tileF64AVX2_1x4, tileF64AVX2_2x4, tileF64AVX2_3x4, tileF64AVX2_4x4, tileF64AVX2_5x4, tileF64AVX2_6x4},
		sweep:  []sweepFunc{nil, sweepF64AVX2_1, sweepF64AVX2_2, sweepF64AVX2_3, sweepF64AVX2_4, sweepF64AVX2_5, sweepF64AVX2_6},
		axpy:   axpyF64, stream8: streamF64AVX2_8, stream1: streamF64AVX2_1, addRows: [2]addRowsFunc{addRowsF64AVX2, addRowsPastF64AVX2}, squares: squareTurner{4, turn64AVX2},
		pack: [2]moveFunc{packRowsAVX2_32, packRowsAVX2_64},
	},
	AVX512: {
		Level: AVX512, Rows: 12, Cols: 16, Narrow: 8,
		tile:   []tileFunc{nil, tileF64AVX512_1x16, tileF64AVX512_2x16, tileF64AVX512_3x16, tileF64AVX512_4x16, tileF64AVX512_5x16, tileF64AVX512_6x16, tileF64AVX512_7x16, tileF64AVX512_8x16, tileF64AVX512_9x16, tileF64AVX512_10x16, tileF64AVX512_11x16},
		column: columnF64AVX512_12x16, packColumn: packColumnF64AVX512_12x16,
		narrow: []tileFunc{nil, tileF64AVX512_1x8, tileF64AVX512_2x8, tileF64AVX512_3x8, tileF64AVX512_4x8, tileF64AVX512_5x8, tileF64AVX512_6x8, tileF64AVX512_7x8, tileF64AVX512_8x8, tileF64AVX512_9x8, tileF64AVX512_10x8, tileF64AVX512_11x8, tileF64AVX512_12x8},
		sweep:  []sweepFunc{nil, sweepF64AVX512_1, sweepF64AVX512_2, sweepF64AVX512_3, sweepF64AVX512_4, sweepF64AVX512_5, sweepF64AVX512_6, sweepF64AVX512_7, sweepF64AVX512_8, sweepF64AVX512_9, sweepF64AVX512_10, sweepF64AVX512_11, sweepF64AVX512_12},
		axpy:   axpyF64, stream8: streamF64AVX512_8, stream1: streamF64AVX512_1, addRows: [2]addRowsFunc{addRowsF64AVX512, addRowsPastF64AVX512}, squares: squareTurner{8, turn64AVX512},
		pack: [2]moveFunc{packRowsAVX512_64, packRowsAVX512_128},
	},
}

var runs = [...]*Runs{
	&goRuns,
	{
		Level: AVX2, SumRows: 8, lanes: 8, rowCols: 16, widenRows: [2]panelsFunc{widenRowsBF16AVX2_1, widenRowsBF16AVX2_4}, stream8: streamBF16AVX2_8, stream1: streamBF16AVX2_1,
		widenBF16: widenBF16AVX2, widenF16: widenF16AVX2, narrowBF16: narrowBF16AVX2, narrowF16: narrowF16AVX2,
		max: maxF32AVX2, min: minF32AVX2, sums: sumsF32AVX2, split: split32AVX2, merge: merge32AVX2, pickRows: [2]pickRowsFunc{pickRowsAVX2, pickRowsPastAVX2}, odd: oddF32AVX2, philox: philoxAVX2, moveRows: [2]moveRowsFunc{moveRowsAVX2},
	},
	{
		Level: AVX512, SumRows: 16, lanes: 16, rowCols: 32, widenRows: [2]panelsFunc{widenRowsBF16AVX512_1, widenRowsBF16AVX512_4}, stream8: streamBF16AVX512_8, stream1: streamBF16AVX512_1,
		widenBF16: widenBF16AVX512, widenF16: widenF16AVX512, narrowBF16: narrowBF16AVX512, narrowF16: narrowF16AVX512,
		max: maxF32AVX512, min: minF32AVX512, sums: sumsF32AVX512, split: split32AVX512, merge: merge32AVX512, pickRows: [2]pickRowsFunc{pickRowsAVX512, pickRowsPastAVX512}, moveRows: [2]moveRowsFunc{moveRowsAVX512, moveRowsAVX2}, odd: oddF32, philox: philoxAVX2,
	},
}

// squares are by level and by the size of elements: 2, 4 and 8 bytes.
var squares = [...][3]squareTurner{
	AVX2:   {{8, turn16AVX2}, {8, turn32AVX2}, {4, turn64AVX2}},
	AVX512: {{8, turn16AVX2}, {16, turn32AVX512}, {8, turn64AVX512}},
}

var tapsF32 = [...]*TapsF32{
	&goTaps,
	{
		Rows: 6, Cols: 16, Narrow: 8,
		taps: [2][]tapsFunc{
			{nil, tapsF32AVX2_1x2, tapsF32AVX2_2x2, tapsF32AVX2_3x2, tapsF32AVX2_4x2, tapsF32AVX2_5x2, tapsF32AVX2_6x2},
			{nil, tapsF32AVX2_1x4, tapsF32AVX2_2x4, tapsF32AVX2_3x4, tapsF32AVX2_4x4, tapsF32AVX2_5x4, tapsF32AVX2_6x4},
		},
		places: [2][]placesFunc{
			{nil, placesF32AVX2_1x8, placesF32AVX2_2x8, placesF32AVX2_3x8, placesF32AVX2_4x8, placesF32AVX2_5x8, placesF32AVX2_6x8},
			{nil, placesF32AVX2_1x16, placesF32AVX2_2x16, placesF32AVX2_3x16, placesF32AVX2_4x16, placesF32AVX2_5x16, placesF32AVX2_6x16},
		},
	},
	{
		Rows: 12, Cols: 32, Narrow: 16,
		taps: [2][]tapsFunc{
			{nil, tapsF32AVX512_1x2, tapsF32AVX512_2x2, tapsF32AVX512_3x2, tapsF32AVX512_4x2, tapsF32AVX512_5x2, tapsF32AVX512_6x2, tapsF32AVX512_7x2, tapsF32AVX512_8x2, tapsF32AVX512_9x2, tapsF32AVX512_10x2, tapsF32AVX512_11x2, tapsF32AVX512_12x2},
			{nil, tapsF32AVX512_1x4, tapsF32AVX512_2x4, tapsF32AVX512_3x4, tapsF32AVX512_4x4, tapsF32AVX512_5x4, tapsF32AVX512_6x4, tapsF32AVX512_7x4, tapsF32AVX512_8x4, tapsF32AVX512_9x4, tapsF32AVX512_10x4, tapsF32AVX512_11x4, tapsF32AVX512_12x4},
		},
		places: [2][]placesFunc{
			{nil, placesF32AVX512_1x16, placesF32AVX512_2x16, placesF32AVX512_3x16, placesF32AVX512_4x16, placesF32AVX512_5x16, placesF32AVX512_6x16, placesF32AVX512_7x16, placesF32AVX512_8x16},
			{nil, placesF32AVX512_1x32, placesF32AVX512_2x32, placesF32AVX512_3x32, placesF32AVX512_4x32, placesF32AVX512_5x32, placesF32AVX512_6x32, placesF32AVX512_7x32, placesF32AVX512_8x32},
		},
	},
}

var (
	sortU32 = Sorter[uint32]{
		small: []func(int, *byte, *byte){1: sortSmallU32_1, 2: sortSmallU32_2, 3: sortSmallU32_3, 4: sortSmallU32_4, 6: sortSmallU32_6, 8: sortSmallU32_8, 12: sortSmallU32_12, 16: sortSmallU32_16},
		part:  sortPartU32, lanes: 16,
		bits: func(x uint32) uint64 { return uint64(x) },
		next: func(x uint32) uint32 { return x + 1 },
		most: math.MaxUint32,
	}
	sortF32 = Sorter[float32]{
		small: []func(int, *byte, *byte){1: sortSmallF32_1, 2: sortSmallF32_2, 3: sortSmallF32_3, 4: sortSmallF32_4, 6: sortSmallF32_6, 8: sortSmallF32_8, 12: sortSmallF32_12, 16: sortSmallF32_16},
		part:  sortPartF32, lanes: 16,
		bits: func(x float32) uint64 { return uint64(math.Float32bits(x)) },
		next: func(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(1))) },
		most: float32(math.Inf(1)),
	}
	sortF32AVX2 = Sorter[float32]{
		small: []func(int, *byte, *byte){1: sortSmallF32AVX2_1, 2: sortSmallF32AVX2_2, 3: sortSmallF32AVX2_3, 4: sortSmallF32AVX2_4, 6: sortSmallF32AVX2_6, 8: sortSmallF32AVX2_8},
		part:  sortPartF32AVX2, lanes: 8,
		bits: sortF32.bits, next: sortF32.next, most: sortF32.most,
	}
	sortU64 = Sorter[uint64]{
		small: []func(int, *byte, *byte){1: sortSmallU64_1, 2: sortSmallU64_2, 3: sortSmallU64_3, 4: sortSmallU64_4, 6: sortSmallU64_6, 8: sortSmallU64_8, 12: sortSmallU64_12, 16: sortSmallU64_16},
		part:  sortPartU64, lanes: 8,
		bits: func(x uint64) uint64 { return x },
		next: func(x uint64) uint64 { return x + 1 },
		most: math.MaxUint64,
	}
)

// sorters gives the *Sorter for the type of zero at a level, nil if there is none.
func sorters(l Level, zero any) any {
	switch zero.(type) {
	case float32:
		return []any{Generic: nil, AVX2: &sortF32AVX2, AVX512: &sortF32}[l]
	case uint32:
		return []any{AVX512: &sortU32}[l]
	}
	return []any{AVX512: &sortU64}[l]
}
