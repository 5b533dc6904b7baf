package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTaps(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	draw := func(n, below int) []int {
		elems := make([]int, n)
		for i := range elems {
			elems[i] = r.IntN(below)
		}
		return elems
	}
	for _, l := range Available() {
		g := TapsOf(l)
		for rows := 1; rows <= g.Rows; rows++ {
			for _, segs := range []int{2, 4} {
				for _, k := range []int{1, 9, 30} {
					tiles := 1 + r.IntN(4)
					elems, from, to := draw(k, 200), draw(tiles, 50), r.Perm(tiles)
					for i := range to {
						to[i] = to[i]*g.Cols + 3
					}
					w, seg, ld := g.Cols/segs, r.IntN(80), tiles*g.Cols+1
					a := fill[float32](rows*k, 1)
					b := fill[float32](slices.Max(from)+slices.Max(elems)+(segs-1)*seg+w, 2)
					for _, acc := range []bool{false, true} {
						c := fill[float32](rows*ld+2, 3)
						want := slices.Clone(c)
						for tile := range tiles {
							for i := range rows {
								for j := range g.Cols {
									var s float32
									for p, e := range elems {
										s = FMA32(a[i*k+p], b[from[tile]+e+j/w*seg+j%w], s)
									}
									if acc {
										s += want[to[tile]+i*ld+j]
									}
									want[to[tile]+i*ld+j] = s
								}
							}
						}
						g.Tiles(rows, segs, a, k, 1, NewOffsets(elems), b, seg, NewOffsets(from), c, ld, NewOffsets(to), acc)
						if !slices.Equal(c, want) {
							t.Fatalf("%v: %d tiles of %d rows, %d segments, %d terms, accumulate %v differ", l, tiles, rows, segs, k, acc)
						}
					}
					func() {
						defer func() {
							if recover() == nil {
								t.Errorf("%v: a right operand that is too short was accepted", l)
							}
						}()
						g.Tiles(rows, segs, a, k, 1, NewOffsets(elems), b[:len(b)-1], seg, NewOffsets(from), make([]float32, 1000), ld, NewOffsets(to), false)
					}()
				}
			}
		}
	}
}

func TestPlaceTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	draw := func(n, below int) []int {
		elems := make([]int, n)
		for i := range elems {
			elems[i] = r.IntN(below)
		}
		return elems
	}
	for _, l := range Available() {
		g := TapsOf(l)
		for rows := 1; rows <= 30; rows++ {
			for _, cols := range []int{g.Narrow, g.Cols} {
				for _, k := range []int{1, 9, 30} {
					from, elems, to := draw(rows, 100), draw(k, 200), r.Perm(rows)
					for i := range to {
						to[i] = to[i]*(cols+1) + 2
					}
					a := fill[float32](slices.Max(from)+slices.Max(elems)+1, 1)
					b := fill[float32](k*cols, 2)
					c := fill[float32](slices.Max(to)+cols, 3)
					for _, acc := range []bool{false, true} {
						want := slices.Clone(c)
						for i := range rows {
							for j := range cols {
								var s float32
								for p, e := range elems {
									s = FMA32(a[from[i]+e], b[p*cols+j], s)
								}
								if acc {
									s += want[to[i]+j]
								}
								want[to[i]+j] = s
							}
						}
						got := slices.Clone(c)
						g.PlaceTiles(cols, a, NewOffsets(from), NewOffsets(elems), b, got, NewOffsets(to), acc)
						if !slices.Equal(got, want) {
							t.Fatalf("%v: %d rows, %d columns, %d terms, accumulate %v differ", l, rows, cols, k, acc)
						}
					}
					for _, short := range []struct{ a, b, c int }{{len(a) - 1, len(b), len(c)}, {len(a), len(b) - 1, len(c)}, {len(a), len(b), len(c) - 1}} {
						func() {
							defer func() {
								if recover() == nil {
									t.Errorf("%v: operands of %v elements were accepted", l, short)
								}
							}()
							g.PlaceTiles(cols, a[:short.a], NewOffsets(from), NewOffsets(elems), b[:short.b], slices.Clone(c[:short.c]), NewOffsets(to), false)
						}()
					}
				}
			}
		}
	}
}

func TestMoveRows(t *testing.T) {
	for _, l := range Available() {
		v := RunsOf(l)
		for cols := 1; cols < 70; cols++ {
			for _, n := range []int{1, 2, 5} {
				from, to := cols+cols%3, cols+cols%5
				src := fill[float32]((n-1)*from+cols, 1)
				dst := fill[float32]((n-1)*to+cols, 2)
				want := slices.Clone(dst)
				for i := range n {
					copy(want[i*to:][:cols], src[i*from:])
				}
				v.MoveRows(n, cols, dst, to, src, from)
				if !slices.Equal(dst, want) {
					t.Fatalf("%v: %d rows of %d elements differ", l, n, cols)
				}
			}
		}
	}
}

func TestSplitAndMerge(t *testing.T) {
	for _, l := range Available() {
		v := RunsOf(l)
		for n := range 140 {
			src := fill[float32](n, 1)
			even, odd := make([]float32, (n+1)/2), make([]float32, n/2)
			v.Split(even, odd, src)
			for i, x := range src {
				if got := []float32{append(even, 0)[i/2], append(odd, 0)[i/2]}[i%2]; got != x {
					t.Fatalf("%v: element %d of %d is lost", l, i, n)
				}
			}
			back := make([]float32, n)
			v.Merge(back, even, odd)
			if !slices.Equal(back, src) {
				t.Fatalf("%v: %d elements come back differently", l, n)
			}
		}
	}
}
