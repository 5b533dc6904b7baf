package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFMA32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1 << 23, 1<<24 - 1, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127, math.MaxFloat32, 0x1p-149, 1 + 0x1p-23, 1 - 0x1p-24, 0x1p-75, 0x1.8p-75}
	pick := func() float32 {
		switch r.IntN(3) {
		case 0:
			return some[r.IntN(len(some))]
		case 1:
			return float32(r.IntN(1<<24)-1<<23) * float32(math.Ldexp(1, r.IntN(60)-30))
		}
		return math.Float32frombits(r.Uint32()&^(1<<30) | 1<<29)
	}
	for range 300000 {
		a, b, c := pick(), pick(), pick()
		got := FMA32(a, b, c)
		x := new(big.Float).SetPrec(600).SetFloat64(float64(a))
		x.Mul(x, new(big.Float).SetFloat64(float64(b)))
		x.Add(x, new(big.Float).SetFloat64(float64(c)))
		want, _ := x.Float32()
		if got != want {
			t.Fatalf("FMA32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	}
}

// The compiler fuses x*y+z on this architecture, or it does not: FMA32 must not depend on it.
func TestFMA32Halfway(t *testing.T) {
	a := float32(1 + 0x1p-12)
	// a·a = 1 + 2^-11 + 2^-24: half way; c decides.
	for _, c := range []struct{ add, want float32 }{{0, 1 + 0x1p-11}, {0x1p-80, 1 + 0x1p-11 + 0x1p-23}, {-0x1p-80, 1 + 0x1p-11}} {
		if got := FMA32(a, a, c.add); got != c.want {
			t.Errorf("FMA32(%x, %x, %x) = %x, want %x", a, a, c.add, got, c.want)
		}
	}
}

func fill[T Factor](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 7))
	s := make([]T, n)
	for i := range s {
		x := r.NormFloat64()
		switch p := any(&s[i]).(type) {
		case *float32:
			*p = float32(x)
		case *float64:
			*p = x
		case *int64:
			*p = int64(x * 1000)
		case *complex64:
			*p = complex(float32(x), float32(r.NormFloat64()))
		case *complex128:
			*p = complex(x, r.NormFloat64())
		}
	}
	return s
}

func testTiles[T Factor](t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[T](l)
		for _, cols := range []int{g.Narrow, g.Cols} {
			for rows := 1; rows <= g.Rows; rows++ {
				for _, k := range []int{1, 2, 7, 33} {
					for _, st := range []struct{ aRow, aK, bK, cRow int }{{k, 1, cols, cols}, {1, rows + 3, cols + 5, cols + 1}} {
						a := fill[T]((rows-1)*st.aRow+(k-1)*st.aK+1, 1)
						b := fill[T]((k-1)*st.bK+cols, 2)
						for _, acc := range []bool{false, true} {
							c := fill[T]((rows-1)*st.cRow+cols, 3)
							want := slices.Clone(c)
							for i := range rows {
								for j := range cols {
									var s T
									for p := range k {
										s = MulAdd(a[i*st.aRow+p*st.aK], b[p*st.bK+j], s)
									}
									if acc {
										s = want[i*st.cRow+j] + s
									}
									want[i*st.cRow+j] = s
								}
							}
							g.Tile(rows, cols, k, a, st.aRow, st.aK, b, st.bK, c, st.cRow, acc)
							if !slices.Equal(c, want) {
								t.Fatalf("%v %T: %d×%d, %d terms, %+v, accumulate %v differ", l, c, rows, cols, k, st, acc)
							}
						}
					}
				}
			}
		}
	}
}

func TestTiles(t *testing.T) {
	testTiles[float32](t)
	testTiles[float64](t)
	testTiles[int64](t)
	testTiles[complex64](t)
	testTiles[complex128](t)
}

// A column is the tiles one below the other, whatever is fetched ahead; rows of a
// lie at one distance or in panels. A tile that packs leaves b behind it.
func testColumn[T Factor](t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[T](l)
		for m := 1; m <= 6*g.Rows+4; m++ {
			for _, k := range []int{1, 3, 4, 5, 18} {
				for _, st := range []struct{ aRow, aK, aTile int }{{k + 1, 1, g.Rows * (k + 1)}, {1, g.Rows, g.Rows * k}} {
					bK, cRow := g.Cols+3, g.Cols+1
					a := fill[T](m*(k+1)+g.Rows*k, 1)
					b := fill[T]((k-1)*bK+g.Cols, 2)
					for _, acc := range []bool{false, true} {
						c := fill[T]((m-1)*cRow+g.Cols, 3)
						want := slices.Clone(c)
						for i := 0; i < m; i += g.Rows {
							g.Tile(min(g.Rows, m-i), g.Cols, k, a[i/g.Rows*st.aTile:], st.aRow, st.aK, b, bK, want[i*cRow:], cRow, acc)
						}
						tile := slices.Clone(c)
						g.Column(m, k, a, st.aRow, st.aK, st.aTile, b, bK, c, cRow, acc, b[len(b):], bK)
						if !slices.Equal(c, want) {
							t.Fatalf("%v %T: %d rows, %d terms, %+v, accumulate %v differ", l, c, m, k, st, acc)
						}
						if m != g.Rows {
							continue
						}
						packed := make([]T, k*g.Cols+1)
						g.PackTile(k, a, st.aRow, st.aK, b, bK, tile, cRow, acc, packed[:k*g.Cols])
						if !slices.Equal(tile, want) || packed[k*g.Cols] != 0 {
							t.Fatalf("%v %T: a tile of %d terms that packs differs, or writes too far", l, c, k)
						}
						for p := range k {
							if !slices.Equal(packed[p*g.Cols:][:g.Cols], b[p*bK:][:g.Cols]) {
								t.Fatalf("%v %T: row %d of %d was packed wrong", l, c, p, k)
							}
						}
					}
				}
			}
		}
	}
}

func TestColumns(t *testing.T) {
	testColumn[float32](t)
	testColumn[float64](t)
	testColumn[int64](t)
	testColumn[complex64](t)
	testColumn[complex128](t)
}

func testStream[T Factor](t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[T](l)
		for _, n := range []int{0, 1, 15, 16, 32, 33, 64, 100, 257} {
			for _, k := range []int{0, 1, 8, 9, 27} {
				for off := range 3 {
					a, b := fill[T](k*2+1, 1), fill[T](off+k*(n+1)+1, 2)[off:]
					for _, acc := range []bool{false, true} {
						c := fill[T](n, 3)
						want := make([]T, n)
						if acc {
							copy(want, c)
						}
						for p := range k {
							for j := range n {
								want[j] = MulAdd(a[2*p], b[p*(n+1)+j], want[j])
							}
						}
						g.Stream(k, a, 2, b, n+1, c, acc)
						if !slices.Equal(c, want) {
							t.Fatalf("%v %T: %d elements, %d terms, accumulate %v differ", l, c, n, k, acc)
						}
					}
				}
			}
		}
	}
}

func testSweep[T Factor](t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[T](l)
		for rows := 1; rows <= g.Rows; rows++ {
			for _, k := range []int{1, 7, 8, 21} {
				for _, n := range []int{g.Cols, 3 * g.Cols} {
					a, b := fill[T](rows*k, 1), fill[T](k*(n+1), 2)
					for _, acc := range []bool{false, true} {
						c := fill[T](rows*(n+3), 3)
						want := slices.Clone(c)
						for i := range rows {
							for j := range n {
								var s T
								if acc {
									s = want[i*(n+3)+j]
								}
								for p := range k {
									s = MulAdd(a[p*rows+i], b[p*(n+1)+j], s)
								}
								want[i*(n+3)+j] = s
							}
						}
						g.Sweep(rows, n, k, a, b, n+1, c, n+3, acc)
						if !slices.Equal(c, want) {
							t.Fatalf("%v: %d rows of %d columns, %d terms, accumulate %v differ", l, rows, n, k, acc)
						}
					}
				}
			}
		}
	}
}

func TestSweep(t *testing.T) {
	testSweep[float32](t)
	testSweep[float64](t)
	testSweep[int64](t)
}

func TestStream(t *testing.T) {
	testStream[float32](t)
	testStream[float64](t)
	testStream[int64](t)
}

func TestDots(t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[float32](l)
		if g.Lanes == 0 {
			continue
		}
		for k := g.Lanes; k <= 5*g.Lanes; k += g.Lanes {
			for extra := range 3 {
				row := k + extra
				a, x := fill[float32](g.Lanes*row, 1), fill[float32](k, 2)
				for _, acc := range []bool{false, true} {
					c := fill[float32](g.Lanes, 3)
					want := slices.Clone(c)
					for i := range want {
						var s float32
						for p := range k {
							s = FMA32(a[i*row+p], x[p], s)
						}
						if acc {
							s = want[i] + s
						}
						want[i] = s
					}
					g.Dots(a, row, x, c, acc)
					if !slices.Equal(c, want) {
						t.Fatalf("%v: %d terms, accumulate %v differ", l, k, acc)
					}
				}
			}
		}
	}
}

func TestCopyRows(t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[float32](l)
		for cols := 1; cols <= g.Cols; cols++ {
			for _, n := range []int{0, 1, 2, 9} {
				for extra := range 4 {
					srcRow, dstRow := cols+extra, cols
					src := fill[float32](max(0, (n-1)*srcRow+cols), 1)
					dst := make([]float32, n*dstRow+g.Cols)
					g.CopyRows(n, cols, src, srcRow, dst, dstRow)
					for i := range n {
						if !slices.Equal(dst[i*dstRow:][:cols], src[i*srcRow:][:cols]) {
							t.Fatalf("%v: row %d of %d×%d differs", l, i, n, cols)
						}
					}
				}
			}
		}
	}
}

// Operands that are too short must not reach assembly.
func TestShortOperandsPanic(t *testing.T) {
	for _, l := range Available() {
		g := KernelsOf[float32](l)
		long := make([]float32, 4096)
		for name, f := range map[string]func(){
			"a":        func() { g.Tile(g.Rows, g.Cols, 9, long[:g.Rows*9-1], 9, 1, long, g.Cols, long, g.Cols, false) },
			"b":        func() { g.Tile(g.Rows, g.Cols, 9, long, 9, 1, long[:9*g.Cols-1], g.Cols, long, g.Cols, false) },
			"c":        func() { g.Tile(g.Rows, g.Cols, 9, long, 9, 1, long, g.Cols, long[:g.Rows*g.Cols-1], g.Cols, false) },
			"rows":     func() { g.Tile(20, g.Cols, 9, long[:19*9], 9, 1, long, g.Cols, long, g.Cols, false) },
			"stream a": func() { g.Stream(9, long[:8], 1, long, 64, long[:64], false) },
			"sweep a":  func() { g.Sweep(2, 64, 9, long[:17], long, 64, long, 64, false) },
			"sweep b":  func() { g.Sweep(2, 64, 9, long, long[:9*64-1], 64, long, 64, false) },
			"sweep c":  func() { g.Sweep(2, 64, 9, long, long, 64, long[:127], 64, false) },
			"stream b": func() { g.Stream(9, long, 1, long[:9*64-1], 64, long[:64], false) },
			"copy src": func() { g.CopyRows(9, 5, long[:9*5-1], 5, long, 5) },
			"copy dst": func() { g.CopyRows(9, 5, long, 5, long[:9*5-1], 5) },
			"dots a":   func() { g.Dots(long[:(g.Lanes-1)*16+15], 16, long[:16], long, false) },
			"dots x":   func() { g.Dots(long, 16, long[:15], long, false) },
			"dots c":   func() { g.Dots(long, 16, long[:16], long[:3], false) },
			"turn src": func() { g.Turn(8, 16, long[:7*16+15], 16, long, 16) },
			"turn dst": func() { g.Turn(8, 16, long, 16, long[:15*16+7], 16) },
			"column a": func() {
				g.Column(2*g.Rows, 9, long[:2*g.Rows*9-1], 9, 1, g.Rows*9, long, g.Cols, long, g.Cols, false, nil, 0)
			},
			"column b": func() {
				g.Column(2*g.Rows, 9, long, 9, 1, g.Rows*9, long[:9*g.Cols-1], g.Cols, long, g.Cols, false, nil, 0)
			},
			"column c": func() {
				g.Column(2*g.Rows, 9, long, 9, 1, g.Rows*9, long, g.Cols, long[:2*g.Rows*g.Cols-1], g.Cols, false, nil, 0)
			},
			"pack a":   func() { g.PackTile(9, long[:g.Rows*9-1], 9, 1, long, g.Cols, long, g.Cols, false, long) },
			"pack b":   func() { g.PackTile(9, long, 9, 1, long[:9*g.Cols-1], g.Cols, long, g.Cols, false, long) },
			"pack c":   func() { g.PackTile(9, long, 9, 1, long, g.Cols, long[:g.Rows*g.Cols-1], g.Cols, false, long) },
			"pack dst": func() { g.PackTile(9, long, 9, 1, long, g.Cols, long, g.Cols, false, long[:9*g.Cols-1]) },
		} {
			if g.Lanes == 0 && name[0] == 'd' {
				continue
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: %s too short was accepted", l, name)
					}
				}()
				f()
			}()
		}
	}
}

func TestAvailable(t *testing.T) {
	ls := Available()
	if ls[0] != Generic || ls[len(ls)-1] != Detected() || !slices.Contains(ls, Chosen()) {
		t.Errorf("available %v, detected %v, chosen %v", ls, Detected(), Chosen())
	}
}

func BenchmarkTile(b *testing.B) {
	const k = 512
	for _, l := range Available() {
		g := KernelsOf[float32](l)
		a, bb, c := fill[float32](g.Rows*k, 1), fill[float32](k*g.Cols, 2), fill[float32](g.Rows*g.Cols, 3)
		for rows := 4; rows <= g.Rows; rows += 2 {
			b.Run(fmt.Sprint(l, rows), func(b *testing.B) {
				for b.Loop() {
					g.Tile(rows, g.Cols, k, a, k, 1, bb, g.Cols, c, g.Cols, false)
				}
				b.ReportMetric(float64(2*rows*g.Cols*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
