package simd

import (
	"math"
	"unsafe"
)

// Factor lists the types a product is computed in.
type Factor interface {
	float32 | float64 | int64 | complex64 | complex128
}

// Kernels are the micro-kernels of matrix products of T at one level. Sums
// start at zero and run over the terms in order; f32 and f64 fuse each
// multiplication with its addition, the other types round the product first.
// Strides count elements and are not negative.
type Kernels[T Factor] struct {
	Level Level
	// A tile is up to Rows × Cols, or × Narrow, which is less.
	Rows, Cols, Narrow int
	// Lanes is the number of rows that Dots takes; 0: the level has none.
	Lanes int

	tile, narrow []tileFunc // by the number of rows
	column       columnFunc // of tiles of Rows × Cols
	packColumn   packColumnFunc
	sweep        []sweepFunc
	goTile       func(rows, cols, k int, a []T, aRow, aK int, b []T, bK int, c []T, cRow int, accumulate bool)
	axpy         func(x T, b, c []T) // c += x·b
	stream8      streamFunc
	stream1      streamFunc
	dots         dotsFunc
	squares      squareTurner
	pack         [2]moveFunc    // rows of Narrow and of Cols
	addRows      [2]addRowsFunc // into the cache, past it
}

type (
	tileFunc       func(k int, a *byte, ra, ka uintptr, b *byte, kb uintptr, c *byte, rc uintptr, accumulate uint64)
	columnFunc     func(count, k int, a *byte, ra, ka, ta uintptr, b *byte, kb uintptr, c *byte, rc uintptr, accumulate uint64, ahead *byte, as uintptr)
	packColumnFunc func(k int, a *byte, ra, ka uintptr, b *byte, kb uintptr, c *byte, rc uintptr, accumulate uint64, dst *byte)
	sweepFunc      func(n, k int, a *byte, b *byte, kb uintptr, c *byte, rc uintptr, first uint64)
	streamFunc     func(n int, a *byte, ka uintptr, b *byte, kb uintptr, c *byte, first uint64)
	dotsFunc       func(k int, a *byte, ra uintptr, x *byte, c *byte, accumulate uint64)
	moveFunc       func(n int, src *byte, ld uintptr, dst *byte, dd uintptr)
)

// KernelsOf gives the kernels of a level, which the processor must have. Types
// without kernels at a level get those of a lower one.
func KernelsOf[T Factor](l Level) *Kernels[T] {
	for ; l > Generic; l-- {
		if g, ok := vectorKernels(l, *new(T)).(*Kernels[T]); ok {
			return g
		}
	}
	var g any
	switch any(*new(T)).(type) {
	case float32:
		g = &goF32
	case float64:
		g = &goF64
	case int64:
		g = &goI64
	case complex64:
		g = &goC64
	case complex128:
		g = &goC128
	}
	return g.(*Kernels[T])
}

var (
	goF32  = Kernels[float32]{Rows: 4, Cols: 4, Narrow: 4, goTile: tileF32, axpy: axpyF32}
	goF64  = Kernels[float64]{Rows: 4, Cols: 4, Narrow: 4, goTile: tileF64, axpy: axpyF64}
	goI64  = Kernels[int64]{Rows: 4, Cols: 2, Narrow: 2, goTile: tileOf[int64], axpy: axpyOf[int64]}
	goC64  = Kernels[complex64]{Rows: 4, Cols: 2, Narrow: 2, goTile: tileOf[complex64], axpy: axpyOf[complex64]}
	goC128 = Kernels[complex128]{Rows: 4, Cols: 2, Narrow: 2, goTile: tileOf[complex128], axpy: axpyOf[complex128]}
)

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// at points to an element as assembly wants it.
func at[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }

// strideBytes turns a stride in elements of T into bytes.
func strideBytes[T any](n int) uintptr { return uintptr(n) * unsafe.Sizeof(*new(T)) }

// Tile computes a tile of a product over k > 0 terms:
//
//	c[i*cRow+j] = (c[i*cRow+j] +) Σ a[i*aRow+p*aK] · b[p*bK+j]    i < rows ≤ Rows, j < cols
//
// where cols is Cols or Narrow.
func (g *Kernels[T]) Tile(rows, cols, k int, a []T, aRow, aK int, b []T, bK int, c []T, cRow int, accumulate bool) {
	_ = a[(rows-1)*aRow+(k-1)*aK]
	_ = b[(k-1)*bK+cols-1]
	_ = c[(rows-1)*cRow+cols-1]
	table := g.tile
	switch {
	case table == nil:
		g.goTile(rows, cols, k, a, aRow, aK, b, bK, c, cRow, accumulate)
		return
	case cols != g.Cols:
		table, cols = g.narrow, g.Narrow
		_ = b[(k-1)*bK+cols-1]
		_ = c[(rows-1)*cRow+cols-1]
	case rows == g.Rows:
		g.column(1, k, at(a), strideBytes[T](aRow), strideBytes[T](aK), 0, at(b), strideBytes[T](bK), at(c), strideBytes[T](cRow), flag(accumulate), at(b), 0)
		return
	}
	table[rows](k, at(a), strideBytes[T](aRow), strideBytes[T](aK), at(b), strideBytes[T](bK), at(c), strideBytes[T](cRow), flag(accumulate))
}

// aheadTiles is the number of tiles in which a column fetches all that Column is
// told to: one row in four steps of each.
const aheadTiles = 4

// Column computes m rows of Cols columns of a product over k > 0 terms, tile by
// tile: those of Tile whose a begins i/Rows*aTile behind a. Meanwhile it fetches
// rows of Cols elements, aheadRow apart, from the begin of ahead into the cache:
// as many as b has, unless m is small. They need not exist.
func (g *Kernels[T]) Column(m, k int, a []T, aRow, aK, aTile int, b []T, bK int, c []T, cRow int, accumulate bool, ahead []T, aheadRow int) {
	if tiles := m / g.Rows; tiles > 0 && g.column != nil {
		_ = a[(tiles-1)*aTile+(g.Rows-1)*aRow+(k-1)*aK]
		_ = b[(k-1)*bK+g.Cols-1]
		_ = c[(tiles*g.Rows-1)*cRow+g.Cols-1]
		for i := 0; i < tiles; {
			n := tiles - i
			if i == 0 {
				n = min(n, aheadTiles)
			} else {
				ahead, aheadRow = b, 0
			}
			g.column(n, k, at(a[i*aTile:]), strideBytes[T](aRow), strideBytes[T](aK), strideBytes[T](aTile), at(b), strideBytes[T](bK),
				at(c[i*g.Rows*cRow:]), strideBytes[T](cRow), flag(accumulate), at(ahead), strideBytes[T](aheadRow))
			i += n
		}
		m, a, c = m-tiles*g.Rows, a[min(tiles*aTile, len(a)):], c[min(tiles*g.Rows*cRow, len(c)):]
	}
	for i := 0; i < m; i += g.Rows {
		g.Tile(min(g.Rows, m-i), g.Cols, k, a[i/g.Rows*aTile:], aRow, aK, b, bK, c[i*cRow:], cRow, accumulate)
	}
}

// PackTile is Tile of Rows × Cols; it leaves the rows of b behind each other in dst.
func (g *Kernels[T]) PackTile(k int, a []T, aRow, aK int, b []T, bK int, c []T, cRow int, accumulate bool, dst []T) {
	if g.packColumn == nil {
		g.CopyRows(k, g.Cols, b, bK, dst, g.Cols)
		g.Tile(g.Rows, g.Cols, k, a, aRow, aK, b, bK, c, cRow, accumulate)
		return
	}
	_ = a[(g.Rows-1)*aRow+(k-1)*aK]
	_ = b[(k-1)*bK+g.Cols-1]
	_ = c[(g.Rows-1)*cRow+g.Cols-1]
	_ = dst[k*g.Cols-1]
	g.packColumn(k, at(a), strideBytes[T](aRow), strideBytes[T](aK), at(b), strideBytes[T](bK), at(c), strideBytes[T](cRow), flag(accumulate), at(dst))
}

// Stream computes c[j] = (c[j] +) Σ a[p*aK] · b[p*bK+j] over k terms and all of
// c, each sum continued in order: with accumulate, c is where it begins. It
// reads every row of b once, from end to end.
func (g *Kernels[T]) Stream(k int, a []T, aK int, b []T, bK int, c []T, accumulate bool) {
	if len(c) == 0 {
		return
	}
	if k > 0 {
		_ = a[(k-1)*aK]
		_ = b[(k-1)*bK+len(c)-1]
	}
	if !accumulate && (k == 0 || g.stream8 == nil) {
		clear(c)
		accumulate = true
	}
	n := 0
	if g.stream8 != nil && k > 0 {
		n = len(c) / g.Cols * g.Cols
		p := 0
		if n > 0 {
			for ; p+8 <= k; p += 8 {
				g.stream8(n, at(a[p*aK:]), strideBytes[T](aK), at(b[p*bK:]), strideBytes[T](bK), at(c), flag(!accumulate && p == 0))
			}
			for ; p < k; p++ {
				g.stream1(n, at(a[p*aK:]), strideBytes[T](aK), at(b[p*bK:]), strideBytes[T](bK), at(c), flag(!accumulate && p == 0))
			}
		}
		if !accumulate {
			clear(c[n:])
		}
	}
	if n == len(c) {
		return
	}
	for p := range k {
		g.axpy(a[p*aK], b[p*bK+n:], c[n:])
	}
}

// SweepTerms is the number of rows of b that a sweep reads side by side.
const SweepTerms = 8

// Sweep computes n columns, a multiple of Cols, of rows ≤ Rows rows over k terms,
// each sum continued in order: without accumulate it begins with zero.
//
//	c[i*cRow+j] = (c[i*cRow+j] +) Σ a[p*rows+i] · b[p*bK+j]
//
// Like Stream it reads every row of b once.
func (g *Kernels[T]) Sweep(rows, n, k int, a, b []T, bK int, c []T, cRow int, accumulate bool) {
	if n == 0 || k == 0 {
		return
	}
	_ = a[rows*k-1]
	_ = b[(k-1)*bK+n-1]
	_ = c[(rows-1)*cRow+n-1]
	if n%g.Cols != 0 || rows > g.Rows {
		panic("simd: no such sweep")
	}
	if g.sweep == nil {
		for i := range rows {
			row := c[i*cRow:][:n]
			if !accumulate {
				clear(row)
			}
			for p := range k {
				g.axpy(a[p*rows+i], b[p*bK:], row)
			}
		}
		return
	}
	for p := 0; p < k; p += SweepTerms {
		g.sweep[rows](n, min(SweepTerms, k-p), at(a[p*rows:]), at(b[p*bK:]), strideBytes[T](bK), at(c), strideBytes[T](cRow), flag(!accumulate && p == 0))
	}
}

// Dots computes c[i] = (c[i] +) Σ a[i*aRow+p] · x[p] over all of x, which is a
// multiple of Lanes long, for Lanes rows; the sum from zero.
func (g *Kernels[T]) Dots(a []T, aRow int, x []T, c []T, accumulate bool) {
	k := len(x)
	if k%g.Lanes != 0 {
		panic("simd: the length is no multiple of the lanes")
	}
	_ = a[(g.Lanes-1)*aRow+k-1]
	_ = c[g.Lanes-1]
	g.dots(k, at(a), strideBytes[T](aRow), at(x), at(c), flag(accumulate))
}

// Turn writes the transpose of src[rows,cols]: dst[j*dstRow+i] = src[i*srcRow+j].
func (g *Kernels[T]) Turn(rows, cols int, src []T, srcRow int, dst []T, dstRow int) {
	turn(g.squares, rows, cols, src, srcRow, dst, dstRow)
}

// CopyRows copies n rows of cols elements, srcRow and dstRow apart. It may write
// up to Cols elements of a row, so rows are written first to last and dst must
// have room for that many after the begin of the last one; src is never read
// behind the last row's last element.
func (g *Kernels[T]) CopyRows(n, cols int, src []T, srcRow int, dst []T, dstRow int) {
	if n == 0 {
		return
	}
	_ = src[(n-1)*srcRow+cols-1]
	_ = dst[(n-1)*dstRow+cols-1]
	i := 0
	if w := g.width(cols); w > 0 && n > 1 {
		i = n
		if w != cols { // a whole vector of the last rows may end behind src
			i = min(n, (len(src)-w)/srcRow+1)
			i = min(i, (len(dst)-w)/dstRow+1)
		}
		if i > 0 {
			move := g.pack[1]
			if w == g.Narrow {
				move = g.pack[0]
			}
			move(i, at(src), strideBytes[T](srcRow), at(dst), strideBytes[T](dstRow))
		} else {
			i = 0
		}
	}
	for ; i < n; i++ {
		copy(dst[i*dstRow:][:cols], src[i*srcRow:][:cols])
	}
}

// width is the least width of a row kernel that covers cols, 0 if there is none.
func (g *Kernels[T]) width(cols int) int {
	switch {
	case g.pack[0] == nil || cols > g.Cols:
		return 0
	case cols <= g.Narrow:
		return g.Narrow
	}
	return g.Cols
}

// MulAdd adds a product to a sum as the kernels do.
func MulAdd[T Factor](a, b, c T) T {
	switch p := any(&c).(type) {
	case *float32:
		*p = FMA32(any(a).(float32), any(b).(float32), *p)
		return c
	case *float64:
		*p = math.FMA(any(a).(float64), any(b).(float64), *p)
		return c
	}
	return c + T(a*b)
}
