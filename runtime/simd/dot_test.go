package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bf16s makes n numbers around 1, with others in between when wild.
func bf16s(r *rand.Rand, n int, wild bool) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = uint16(r.Uint32())&0x81ff | 0x3e00
		if wild {
			switch r.IntN(40) {
			case 0:
				x[i] = uint16(r.Uint32()) & 0x807f // subnormal
			case 1:
				x[i] = uint16(r.Uint32())&0x80ff | 0x2000 // products near the least normal
			case 2:
				x[i] = uint16(r.Uint32()) & 0x8000
			}
		}
	}
	return x
}

// same compares bits, all NaN being one.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	})
}

// The instructions of each unit add as the Go code says.
func TestUnitsAddAsDocumented(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, u := range Units()[1:] {
		fast, slow := DotsOf(u, false), DotsOf(u, true)
		for _, rows := range []int{1, 8, 16, 17, 32, 40, 64} {
			for steps := 1; steps < 5; steps++ {
				for _, wild := range []bool{false, true} {
					const extra = 96
					strips := (rows + 15) / 16
					as, bs := steps*StepSize+extra, steps*StepSize+2*extra
					a, b := bf16s(r, strips*as, wild), bf16s(r, 2*bs, wild)
					for _, acc := range []bool{false, true} {
						cRow := 32 + rows%3
						c := fill[float32](strips*16*cRow, 3)
						want := slices.Clone(c)
						fast.Multiply(steps, a, as, b, bs, c, cRow, rows, acc)
						slow.Multiply(steps, a, as, b, bs, want, cRow, rows, acc)
						for i := range rows {
							if !same(c[i*cRow:][:32], want[i*cRow:][:32]) {
								t.Fatalf("%v: %d rows, %d steps, wild %v, accumulate %v: row %d is %v, want %v", u, rows, steps, wild, acc, i, c[i*cRow:][:32], want[i*cRow:][:32])
							}
						}
					}
				}
			}
		}
	}
}

// What is not finite comes through, and a subnormal number is zero.
func TestUnitsOfSpecialNumbers(t *testing.T) {
	inf, nan := uint16(0x7f80), uint16(0x7fc1)
	for _, u := range Units()[1:] {
		d := DotsOf(u, false)
		for _, c := range []struct {
			name string
			x, y uint16
			want float64
		}{
			{"inf·1", inf, 0x3f80, math.Inf(1)},
			{"-inf·1", inf | 0x8000, 0x3f80, math.Inf(-1)},
			{"inf·0", inf, 0, math.NaN()},
			{"NaN·0", nan, 0, math.NaN()},
			{"signalling NaN", 0x7f81, 0x3f80, math.NaN()},
			{"subnormal·2^100", 0x0040, 0x7180, 0},
			{"largest²", 0x7f7f, 0x7f7f, math.Inf(1)},
			{"2^-80·2^-60", 0x1780, 0x2180, 0},
		} {
			a, b, out := make([]uint16, StepSize), make([]uint16, 2*StepSize), make([]float32, 16*32)
			a[0], b[0] = c.x, c.y
			d.Multiply(1, a, 0, b, StepSize, out, 32, 1, false)
			if got := float64(out[0]); got != c.want && got == got || got != got && c.want == c.want {
				t.Errorf("%v: %s is %v, want %v", u, c.name, got, c.want)
			}
		}
	}
}

func TestStrips(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, u := range Units()[1:] {
		fast, slow := DotsOf(u, false), DotsOf(u, true)
		for _, rows := range []int{1, 7, 15, 16} {
			for _, terms := range []int{1, 2, 31, 32, 33, 64, 100} {
				for extra := range 3 {
					n := Steps(terms) * StepSize
					got, want := bf16s(r, n, false), make([]uint16, n)
					for _, turned := range []bool{false, true} {
						row, term, size := terms+extra, 1, rows*(terms+extra)
						if turned {
							row, term, size = 1, rows+extra, terms*(rows+extra)
						}
						src := bf16s(r, size, false)
						src = src[:(rows-1)*row+(terms-1)*term+1]
						for name, f := range map[string]func(d *Dots, dst []uint16){
							"left":  func(d *Dots, dst []uint16) { d.Left(dst, src, row, term, rows, terms) },
							"right": func(d *Dots, dst []uint16) { d.Right(dst, src, term, row, rows, terms) },
						} {
							f(fast, got)
							f(slow, want)
							if !slices.Equal(got, want) {
								t.Fatalf("%s: %d rows, %d terms, turned %v, extra %d differ", name, rows, terms, turned, extra)
							}
							i, p := r.IntN(rows), r.IntN(terms)
							at := p/32*StepSize + i*32 + p%32
							if name == "right" {
								at = p/32*StepSize + p%32/2*32 + 2*i + p%2
							}
							if got[at] != src[i*row+p*term] {
								t.Fatalf("%s: element %d,%d is elsewhere", name, i, p)
							}
						}
					}
				}
			}
		}
		for steps := 1; steps < 4; steps++ {
			term, strip := 128+steps, steps*StepSize+32
			src := bf16s(r, (steps*32-1)*term+128, false)
			got, want := make([]uint16, 8*strip), make([]uint16, 8*strip)
			fast.RightWide(got, strip, src, term, steps)
			slow.RightWide(want, strip, src, term, steps)
			if !slices.Equal(got, want) {
				t.Fatalf("%d wide steps differ", steps)
			}
		}
	}
}

func TestShortStripsPanic(t *testing.T) {
	long := make([]uint16, 1<<14)
	sums := make([]float32, 1<<12)
	for _, u := range Units()[1:] {
		d := DotsOf(u, false)
		for name, f := range map[string]func(){
			"a":        func() { d.Multiply(2, long[:2*1024-1], 1024, long, 1024, sums, 32, 17, false) },
			"b":        func() { d.Multiply(2, long, 1024, long[:2*1024-1], 1024, sums, 32, 1, false) },
			"c":        func() { d.Multiply(2, long, 1024, long, 1024, sums[:32*32-1], 32, 17, false) },
			"left":     func() { d.Left(long, long[:15*64+63], 64, 1, 16, 64) },
			"left dst": func() { d.Left(long[:1023], long, 64, 1, 16, 64) },
			"right":    func() { d.Right(long, long[:63*64+15], 64, 1, 16, 64) },
			"wide":     func() { d.RightWide(long, 1024, long[:63*128+127], 128, 2) },
			"wide dst": func() { d.RightWide(long[:8*1024-1], 1024, long, 128, 2) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: %s too short was accepted", u, name)
					}
				}()
				f()
			}()
		}
	}
}

func BenchmarkDots(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const steps, rows = 16, 256
	x, y, c := bf16s(r, rows/16*steps*StepSize, false), bf16s(r, 2*steps*StepSize, false), make([]float32, rows*32)
	for _, u := range Units()[1:] {
		d := DotsOf(u, false)
		b.Run(fmt.Sprint(u), func(b *testing.B) {
			for b.Loop() {
				d.Multiply(steps, x, steps*StepSize, y, steps*StepSize, c, 32, rows, true)
			}
			b.ReportMetric(float64(2*rows*32*steps*32)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
