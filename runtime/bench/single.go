package bench

import (
	"fmt"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

var bothFloats = []tpu.DType{tpu.F32, tpu.BF16}

// dispatchCases add two small arrays: what is measured is everything around the sum.
func dispatchCases() []Case {
	var list []Case
	for _, n := range []int{4, 1024} {
		for _, d := range bothFloats {
			list = append(list, Case{Name: fmt.Sprintf("add%d", n), DType: d, Work: 1, Unit: "op", build: func(m *exec.Mode) unit {
				a, b := in(d, uniform(1, 1, n)), in(d, uniform(2, 1, n))
				add := func() *tpu.Tensor { return a.Add(b) }
				if m == exec.Compiled {
					add = tpu.Compile(add).(func() *tpu.Tensor)
				}
				return unit{
					run: func(k int) {
						var c *tpu.Tensor
						for range k {
							c = add()
						}
						tpu.Sync(c)
					},
					check: func() []float64 { return summary(add()) },
				}
			}})
		}
	}
	return list
}

// productCases are c[m,n] = a[m,k] × b[k,n].
func productCases() []Case {
	type product struct {
		name    string
		m, k, n int
		bf16    bool
	}
	var list []Case
	for _, p := range []product{
		{"64", 64, 64, 64, false}, {"128", 128, 128, 128, false}, {"256", 256, 256, 256, true}, {"512", 512, 512, 512, false},
		{"1024", 1024, 1024, 1024, true}, {"2048", 2048, 2048, 2048, false},
		{"1x4096x4096", 1, 4096, 4096, true}, {"8x4096x4096", 8, 4096, 4096, true}, {"4096x64x4096", 4096, 64, 4096, false},
	} {
		for _, d := range bothFloats {
			if d == tpu.BF16 && !p.bf16 {
				continue
			}
			list = append(list, Case{Name: p.name, DType: d, Work: 2 * float64(p.m) * float64(p.k) * float64(p.n), Unit: "FLOP", build: func(m *exec.Mode) unit {
				a, b := in(d, uniform(1, 1, p.m, p.k)), in(d, uniform(2, 1, p.k, p.n))
				return simple(m, func() *tpu.Tensor { return a.MatMul(b) })
			}})
		}
	}
	return list
}

func chainTanh(a, b, c *tpu.Tensor) *tpu.Tensor {
	t := a.Mul(b).Add(c).Tanh().Mul(a.Sigmoid())
	return t.Add(c.Exp()).Sub(b.ReLU()).Mul(0.5)
}

func chainArith(a, b, c *tpu.Tensor) *tpu.Tensor {
	t := a.Mul(b).Add(c).Mul(a).Sub(b).ReLU()
	return t.Mul(c).Add(a).ClampMax(1).Mul(b).Mul(0.5)
}

// chainCases are ten elementwise operations on three arrays. The work is what
// a fused loop moves: three arrays read and one written.
func chainCases() []Case {
	type chain struct {
		name string
		n    int
		f    func(a, b, c *tpu.Tensor) *tpu.Tensor
	}
	var list []Case
	for _, c := range []chain{{"tanh1M", 1 << 20, chainTanh}, {"tanh16M", 1 << 24, chainTanh}, {"arith1M", 1 << 20, chainArith}, {"arith16M", 1 << 24, chainArith}} {
		for _, d := range bothFloats {
			if d == tpu.BF16 && c.n < 1<<24 {
				continue
			}
			list = append(list, Case{Name: c.name, DType: d, Work: 4 * float64(c.n) * float64(d.Bits()/8), Unit: "byte", build: func(m *exec.Mode) unit {
				x, y, z := in(d, uniform(1, 1, c.n)), in(d, uniform(2, 1, c.n)), in(d, uniform(3, 1, c.n))
				return simple(m, func() *tpu.Tensor { return c.f(x, y, z) })
			}})
		}
	}
	return list
}

const (
	rowCount, rowLength = 4096, 1024
	sortLength          = 1 << 20
)

// rowCases work on 4096 rows of 1024, on a million numbers to sort, and on
// 16,384 rows of 256 picked from or added to a table.
func rowCases() []Case {
	const all = rowCount * rowLength
	x := func(d tpu.DType) *tpu.Tensor { return in(d, uniform(1, 1, rowCount, rowLength)) }
	// of makes a case of one function of x; moved is how many elements it reads and writes.
	of := func(name string, moved float64, dtypes []tpu.DType, f func(x *tpu.Tensor) *tpu.Tensor) []Case {
		var list []Case
		for _, d := range dtypes {
			list = append(list, Case{Name: name, DType: d, Work: moved * float64(d.Bits()/8), Unit: "byte", build: func(m *exec.Mode) unit {
				v := x(d)
				return simple(m, func() *tpu.Tensor { return f(v) })
			}})
		}
		return list
	}
	f32 := bothFloats[:1]
	list := of("softmax", 2*all, bothFloats, func(x *tpu.Tensor) *tpu.Tensor { return x.Softmax(-1) })
	for _, d := range bothFloats {
		list = append(list, Case{Name: "layernorm", DType: d, Work: 2 * all * float64(d.Bits()/8), Unit: "byte", build: func(m *exec.Mode) unit {
			v := x(d)
			o := tpu.LayerNormOptions{Weight: in(d, shifted(1, 2, 0.1, rowLength)), Bias: in(d, uniform(3, 0.1, rowLength))}
			return simple(m, func() *tpu.Tensor { return tpu.LayerNorm(v, []int{rowLength}, o) })
		}})
	}
	list = append(list, of("gelu", 2*all, bothFloats, gelu)...)
	list = append(list, of("sum0", all, f32, func(x *tpu.Tensor) *tpu.Tensor { return x.Sum(0) })...)
	list = append(list, of("sum1", all, bothFloats, func(x *tpu.Tensor) *tpu.Tensor { return x.Sum(1) })...)
	list = append(list, of("argmax", all, f32, func(x *tpu.Tensor) *tpu.Tensor { return x.ArgMax(1) })...)
	list = append(list, of("cumsum", 2*all, f32, func(x *tpu.Tensor) *tpu.Tensor { return x.CumSum(1) })...)
	const table, width, picks, target = 100_000, 256, 16_384, 10_000
	return append(list,
		Case{Name: "sort", DType: tpu.F32, Work: sortLength, Unit: "element", build: func(m *exec.Mode) unit {
			v := uniform(4, 1, sortLength)
			return simple(m, v.MSort)
		}},
		Case{Name: "gather", DType: tpu.F32, Work: 2 * picks * width * 4, Unit: "byte", build: func(m *exec.Mode) unit {
			t, i := uniform(5, 1, table, width), integers(6, table, picks)
			return simple(m, func() *tpu.Tensor { return tpu.Embedding(i, t) })
		}},
		Case{Name: "scatter_add", DType: tpu.F32, Work: (2*target + 3*picks) * width * 4, Unit: "byte", build: func(m *exec.Mode) unit {
			t, s, i := uniform(7, 1, target, width), uniform(8, 1, picks, width), integers(9, target, picks)
			return simple(m, func() *tpu.Tensor { return t.IndexAdd(0, i, s) })
		}})
}

// gelu is the form with tanh.
func gelu(x *tpu.Tensor) *tpu.Tensor { return x.GELU(tpu.GELUOptions{Approximate: "tanh"}) }
