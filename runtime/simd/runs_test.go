package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestConversionsAgreeAtAllLevels(t *testing.T) {
	halves := make([]uint16, 1<<16)
	for i := range halves {
		halves[i] = uint16(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	wide := make([]float32, 1<<18)
	for i := range wide {
		switch i % 4 {
		case 0: // near a code of bf16 or f16, at and beside ties
			wide[i] = math.Float32frombits(r.Uint32()&^0xffff | uint32(r.IntN(3)-1) + 0x8000)
		case 1:
			wide[i] = float32(math.Ldexp(float64(r.IntN(8192)-4096), r.IntN(44)-28))
		default:
			wide[i] = math.Float32frombits(r.Uint32())
		}
	}
	copy(wide, []float32{65519, 65520, -65520, 65504, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-24, 0x1p-25, 0x1.8p-25, math.MaxFloat32})
	g := RunsOf(Generic)
	wantF, wantH := make([]float32, len(wide)), make([]uint16, len(wide))
	for _, l := range Available()[1:] {
		v := RunsOf(l)
		for name, k := range map[string][2]func([]float32, []uint16){"WidenBF16": {g.WidenBF16, v.WidenBF16}, "WidenF16": {g.WidenF16, v.WidenF16}} {
			got := make([]float32, len(halves))
			k[0](wantF[:len(halves)], halves)
			k[1](got, halves)
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(wantF[i]) {
					t.Fatalf("%v: %s(%#x) = %#x, want %#x", l, name, halves[i], math.Float32bits(got[i]), math.Float32bits(wantF[i]))
				}
			}
		}
		for name, k := range map[string][2]func([]uint16, []float32){"NarrowBF16": {g.NarrowBF16, v.NarrowBF16}, "NarrowF16": {g.NarrowF16, v.NarrowF16}} {
			got := make([]uint16, len(wide))
			k[0](wantH, wide)
			k[1](got, wide)
			for i := range got {
				if got[i] != wantH[i] {
					t.Fatalf("%v: %s(%x) = %#x, want %#x", l, name, wide[i], got[i], wantH[i])
				}
			}
		}
		for n := range 70 { // lengths and what lies behind
			got := make([]uint16, n+1)
			got[n] = 0xA5A5
			v.NarrowBF16(got[:n], wide[:n])
			g.NarrowBF16(wantH[:n], wide[:n])
			for i := range n {
				if got[i] != wantH[i] {
					t.Fatalf("%v: element %d of %d differs", l, i, n)
				}
			}
			if got[n] != 0xA5A5 {
				t.Fatalf("%v: %d elements wrote behind the end", l, n)
			}
		}
	}
}

func TestArgExtremes(t *testing.T) {
	nan := float32(math.NaN())
	r := rand.New(rand.NewPCG(3, 4))
	for _, l := range Available() {
		v := RunsOf(l)
		for n := 1; n < 130; n++ {
			for round := range 6 {
				row := make([]float32, n)
				for i := range row {
					row[i] = float32(r.IntN(20) - 10) // many equal ones
					if row[i] == 0 && r.IntN(2) == 0 {
						row[i] = float32(math.Copysign(0, -1))
					}
				}
				switch round {
				case 3, 4: // nothing is above or below the ends
					for i := range row {
						row[i] = float32(math.Inf(2*round - 7))
					}
				case 5:
					row[r.IntN(n)], row[r.IntN(n)] = nan, nan
				}
				most, least := 0, 0
				for i, x := range row {
					if x != x {
						most, least = i, i
						break
					}
					if x > row[most] {
						most = i
					}
					if x < row[least] {
						least = i
					}
				}
				if got := v.ArgMax(row); got != most {
					t.Fatalf("%v: ArgMax(%v) = %d, want %d", l, row, got, most)
				}
				if got := v.ArgMin(row); got != least {
					t.Fatalf("%v: ArgMin(%v) = %d, want %d", l, row, got, least)
				}
			}
		}
	}
}

func TestSums(t *testing.T) {
	for _, l := range Available() {
		v := RunsOf(l)
		for _, n := range []int{0, 1, 7, 8, 16, 33, 64, 100, 257} {
			row := n + 3
			x := fill[float32](v.SumRows*row, 1)
			y := make([]float32, v.SumRows*row)
			v.Sums(n, x, row, y, row)
			for i := range v.SumRows {
				var s float32
				for j := range n {
					s += x[i*row+j]
					if y[i*row+j] != s {
						t.Fatalf("%v: sum %d of row %d of %d differs", l, j, i, n)
					}
				}
			}
		}
	}
}

func TestWidenRows(t *testing.T) {
	for _, l := range Available() {
		r := RunsOf(l)
		for _, cols := range []int{1, 4, 15, 16, 31, 32, 33} {
			for _, n := range []int{0, 1, 2, 9} {
				for extra := range 3 {
					srcRow, dstRow := cols+extra, cols+2*extra
					src := make([]uint16, max(0, (n-1)*srcRow+cols))
					for i := range src {
						src[i] = uint16(0x3f80 + 77*i)
					}
					dst := make([]float32, max(0, (n-1)*dstRow+cols))
					r.WidenBF16Rows(n, cols, dst, dstRow, src, srcRow)
					for i := range n {
						for j := range cols {
							if got, want := math.Float32bits(dst[i*dstRow+j]), uint32(src[i*srcRow+j])<<16; got != want {
								t.Fatalf("%v: (%d, %d) of %d×%d is %#x, want %#x", l, i, j, n, cols, got, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestStreamBF16(t *testing.T) {
	for _, l := range Available() {
		r := RunsOf(l)
		for _, n := range []int{0, 1, 15, 16, 31, 32, 64, 100, 257} {
			for _, k := range []int{0, 1, 7, 8, 9, 27} {
				a, c := fill[float32](k, 1), fill[float32](n, 2)
				b := make([]uint16, k*(n+3)+1)
				for i := range b {
					b[i] = uint16(0x3e00 + 77*i%0x200)
				}
				want := make([]float32, n)
				for p, x := range a {
					for j := range want {
						want[j] = FMA32(x, math.Float32frombits(uint32(b[1+p*(n+3)+j])<<16), want[j])
					}
				}
				r.StreamBF16(a, b[1:], n+3, c)
				if !slices.Equal(c, want) {
					t.Fatalf("%v: %d elements, %d terms differ", l, n, k)
				}
			}
		}
	}
}

func TestWidenPanels(t *testing.T) {
	for _, l := range Available() {
		r := RunsOf(l)
		for _, cols := range []int{4, 16, 32} {
			for _, n := range []int{0, 1, 9} {
				srcRow, panel := 4*cols+3, n*cols+5
				src, dst := make([]uint16, n*srcRow+1), make([]float32, 4*panel)
				for i := range src {
					src[i] = uint16(0x3f80 + 77*i)
				}
				r.WidenBF16Panels(n, cols, dst, panel, src[1:], srcRow)
				for q := range 4 * n * cols {
					i, p, j := q/(4*cols), q/cols%4, q%cols
					if got, want := math.Float32bits(dst[p*panel+i*cols+j]), uint32(src[1+i*srcRow+p*cols+j])<<16; got != want {
						t.Fatalf("%v: row %d, column %d of panel %d is %#x, want %#x", l, i, j, p, got, want)
					}
				}
			}
		}
	}
}
