package simd

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

func testAddRows[T Factor](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, l := range Available() {
		g := KernelsOf[T](l)
		for _, n := range []int{0, 1, 31, 32, 63, 64, 65, 128, 257} {
			for _, count := range []int{0, 1, 2, 5} {
				x, from := fill[T](n, 1), fill[T](10*n+3, 2)
				places := make([]int, count+RowsAhead)
				for i := range count {
					places[i] = r.IntN(9*n + 4)
				}
				want := slices.Clone(x)
				for _, p := range places[:count] {
					for j := range n {
						want[j] += from[p+j]
					}
				}
				for off := range 2 {
					got := make([]T, n+off)[off:]
					for _, past := range []bool{false, true} {
						g.AddRows(got, x, from, places, count, past)
						if !slices.Equal(got, want) {
							t.Fatalf("%v %T: %d rows of %d, past %v differ", l, got, count, n, past)
						}
					}
				}
			}
		}
	}
}

func TestAddRows(t *testing.T) {
	testAddRows[float32](t)
	testAddRows[float64](t)
	testAddRows[int64](t)
}

func TestPickRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	src := make([]byte, 5000)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	for _, l := range Available() {
		for _, size := range []int{0, 1, 63, 64, 65, 128, 960} {
			for count := range 5 {
				for _, past := range []bool{false, true} {
					for off := range 2 {
						places := make([]int, count+RowsAhead)
						var want []byte
						for i := range count {
							places[i] = r.IntN(len(src) - size + 1)
							want = append(want, src[places[i]:][:size]...)
						}
						got := make([]byte, off+count*size+1)[off:]
						RunsOf(l).PickRows(got, src, size, places, count, past)
						if !bytes.Equal(got[:len(want)], want) || got[len(want)] != 0 {
							t.Fatalf("%v: %d rows of %d bytes, past %v differ", l, count, size, past)
						}
					}
				}
			}
		}
	}
}

func TestShortRowsPanic(t *testing.T) {
	for _, l := range Available() {
		g, run := KernelsOf[float32](l), RunsOf(l)
		long, src := make([]float32, 4096), make([]byte, 4096)
		for name, f := range map[string]func(){
			"x":        func() { g.AddRows(long[:64], long[:63:63], long, make([]int, 3), 1, false) },
			"from":     func() { g.AddRows(long[:64], long, long[:100:100], []int{37, 0, 0}, 1, false) },
			"negative": func() { g.AddRows(long[:64], long, long, []int{-1, 0, 0}, 1, false) },
			"places":   func() { g.AddRows(long[:64], long, long, make([]int, 2), 1, false) },
			"pick src": func() { run.PickRows(src, src[:100:100], 64, []int{37, 0, 0}, 1, false) },
			"pick dst": func() { run.PickRows(src[:63], src, 64, make([]int, 3), 1, false) },
			"pick at":  func() { run.PickRows(src, src, 64, make([]int, 2), 1, false) },
		} {
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
