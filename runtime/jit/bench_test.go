package jit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

// expOf is e^x with a relative error below 2^-22: 2^k times a polynomial.
func expOf(b *Builder, x Value) Value {
	f := b.F32
	x = b.Max(b.Min(x, f(88.7)), f(-104))
	k := b.RoundEven(b.Mul(x, f(1.4426950408889634)))
	r := b.FNMA(k, f(0.693359375), x)
	r = b.FNMA(k, f(-2.12194440e-4), r)
	p := f(1.9875691500e-4)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		p = b.FMA(p, r, f(c))
	}
	p = b.Add(b.FMA(b.Mul(r, r), p, r), f(1))
	return b.Scale(p, k)
}

// tanhOf is tanh x from e^2x.
func tanhOf(b *Builder, x Value) Value {
	e := expOf(b, b.Add(x, x))
	return b.Sub(b.F32(1), b.Div(b.F32(2), b.Add(e, b.F32(1))))
}

// chains are the programs that are measured: what the operations one by one
// would be, and the bytes that the whole program has to move for an element.
var chains = []struct {
	name  string
	bytes int
	build func(b *Builder)
	steps []func(b *Builder) // the same, operation by operation
}{
	{"add", 12, func(b *Builder) { b.Out(dtype.F32, b.Add(b.In(dtype.F32), b.In(dtype.F32))) }, nil},
	{"arith", 16, func(b *Builder) {
		x, y, z := b.In(dtype.F32), b.In(dtype.F32), b.In(dtype.F32)
		t := b.Max(b.Sub(b.Mul(b.Add(b.Mul(x, y), z), x), y), b.F32(0))
		b.Out(dtype.F32, b.Mul(b.Mul(b.Min(b.Add(b.Mul(t, z), x), b.F32(1)), y), b.F32(0.5)))
	}, arithSteps()},
	{"tanh", 16, func(b *Builder) {
		x, y, z := b.In(dtype.F32), b.In(dtype.F32), b.In(dtype.F32)
		one := b.F32(1)
		t := b.Mul(tanhOf(b, b.Add(b.Mul(x, y), z)), b.Div(one, b.Add(one, expOf(b, b.Neg(x)))))
		b.Out(dtype.F32, b.Mul(b.Sub(b.Add(t, expOf(b, z)), b.Max(y, b.F32(0))), b.F32(0.5)))
	}, nil},
	{"bf16", 6, func(b *Builder) { b.Out(dtype.BF16, b.Add(b.In(dtype.BF16), b.In(dtype.BF16))) }, nil},
	{"tobf16", 6, func(b *Builder) { b.Out(dtype.BF16, b.In(dtype.F32)) }, nil},
	{"tof8e4m3", 5, func(b *Builder) { b.Out(dtype.F8E4M3, b.In(dtype.F32)) }, nil},
}

// two is one operation on two arrays.
func two(f func(b *Builder, x, y Value) Value) func(b *Builder) {
	return func(b *Builder) { b.Out(dtype.F32, f(b, b.In(dtype.F32), b.In(dtype.F32))) }
}

func arithSteps() []func(b *Builder) {
	add, sub, mul := two((*Builder).Add), two((*Builder).Sub), two((*Builder).Mul)
	unary := func(f func(b *Builder, x Value) Value) func(b *Builder) {
		return func(b *Builder) { b.Out(dtype.F32, f(b, b.In(dtype.F32))) }
	}
	relu := unary(func(b *Builder, x Value) Value { return b.Max(x, b.F32(0)) })
	most := unary(func(b *Builder, x Value) Value { return b.Min(x, b.F32(1)) })
	half := unary(func(b *Builder, x Value) Value { return b.Mul(x, b.F32(0.5)) })
	return []func(b *Builder){mul, add, mul, sub, relu, mul, add, most, mul, half}
}

func denseCall(p *Program, dims ...int) *Call {
	c := &Call{Dims: dims}
	n := 1
	for _, d := range dims {
		n *= d
	}
	r := rand.New(rand.NewPCG(1, 1))
	operand := func(s slot) Operand {
		buf := aligned64(n * s.dtype.HostBytes())
		for i := range n {
			poke(buf, s.dtype, i, s.dtype.Encode(2*r.Float64()-1))
		}
		strides := make([]int, len(dims))
		for i, x := len(dims)-1, 1; i >= 0; i-- {
			strides[i] = x
			x *= dims[i]
		}
		return Operand{Buf: buf, Strides: strides}
	}
	for _, s := range p.ins {
		c.In = append(c.In, operand(s))
	}
	for _, s := range p.outs {
		c.Out = append(c.Out, operand(s))
	}
	return c
}

func aligned64(n int) []byte {
	b := make([]byte, n+64)
	skip := (64 - int(uintptr(address(b))%64)) % 64
	return b[skip : skip+n]
}

func BenchmarkChains(b *testing.B) {
	for _, e := range levels() {
		for _, ch := range chains {
			for _, n := range []int{16, 1 << 10, 1 << 14, 1 << 20, 1 << 24} {
				b.Run(fmt.Sprintf("%s/%s/%d", e.name, ch.name, n), func(b *testing.B) {
					bl := NewBuilder()
					ch.build(bl)
					k := e.engine.Kernel(bl.Program())
					c := denseCall(k.Program(), n)
					b.SetBytes(int64(n * ch.bytes))
					for b.Loop() {
						if err := k.Run(c); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkOneByOne runs a chain as one program for each operation.
func BenchmarkOneByOne(b *testing.B) {
	for _, e := range levels() {
		for _, n := range []int{1 << 14, 1 << 20, 1 << 24} {
			b.Run(fmt.Sprintf("%s/arith/%d", e.name, n), func(b *testing.B) {
				var ks []*Kernel
				var cs []*Call
				for _, s := range arithSteps() {
					bl := NewBuilder()
					s(bl)
					k := e.engine.Kernel(bl.Program())
					ks = append(ks, k)
					cs = append(cs, denseCall(k.Program(), n))
				}
				b.SetBytes(int64(n * 16))
				for b.Loop() {
					for i, k := range ks {
						if err := k.Run(cs[i]); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// rowPrograms fold rows.
var rowPrograms = []struct {
	name  string
	bytes int
	build func(b *Builder)
}{
	{"softmax", 8, func(b *Builder) {
		x := b.In(dtype.F32)
		e := expOf(b, b.Sub(x, b.ReduceMax(x)))
		b.Out(dtype.F32, b.Mul(e, b.Div(b.F32(1), b.Sum(e))))
	}},
	{"layernorm", 8, func(b *Builder) {
		x, n := b.In(dtype.F32), b.Param(F32)
		mean := b.Div(b.Sum(x), n)
		d := b.Sub(x, mean)
		v := b.Div(b.Sum(b.Mul(d, d)), n)
		r := b.Div(b.F32(1), b.Sqrt(b.Add(v, b.F32(1e-5))))
		b.Out(dtype.F32, b.Mul(d, r))
	}},
	{"sum", 4, func(b *Builder) { b.RowOut(dtype.F32, b.Sum(b.In(dtype.F32))) }},
}

func BenchmarkRows(b *testing.B) {
	for _, e := range levels() {
		for _, ch := range rowPrograms {
			for _, dims := range [][]int{{4096, 10}, {4096, 1024}, {64, 65536}, {1, 1 << 22}} {
				b.Run(fmt.Sprintf("%s/%s/%dx%d", e.name, ch.name, dims[0], dims[1]), func(b *testing.B) {
					bl := NewBuilder()
					ch.build(bl)
					k := e.engine.Kernel(bl.Program())
					c := denseCall(k.Program(), dims...)
					if len(k.program.params) > 0 {
						c.Params = []uint64{bits32(float32(dims[1]))}
					}
					b.SetBytes(int64(dims[0] * dims[1] * ch.bytes))
					for b.Loop() {
						if err := k.Run(c); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkCompile makes the code of the tanh chain.
func BenchmarkCompile(b *testing.B) {
	for _, e := range levels() {
		b.Run(e.name, func(b *testing.B) {
			for b.Loop() {
				bl := NewBuilder()
				chains[2].build(bl)
				NewEngine(e.engine.level).machine(bl.Program().plan(), layout{})
			}
		})
	}
}
