package recipe

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// chain is tanh(a·b + c)·σ(a) + eᶜ - max(b, 0), halved: three transcendental
// functions of three arrays.
func chain(b *jit.Builder) {
	x, y, z := b.In(dtype.F32), b.In(dtype.F32), b.In(dtype.F32)
	t := b.Mul(Tanh(b, b.Add(b.Mul(x, y), z)), Sigmoid(b, x))
	b.Out(dtype.F32, b.Mul(b.Sub(b.Add(t, Exp(b, z)), b.Max(y, b.F32(0))), b.F32(0.5)))
}

// BenchmarkFunctions measures each function, and three of them in one program,
// over arrays that stay in a near cache; the least time is
// what others on the machine disturb least.
func BenchmarkFunctions(b *testing.B) {
	const n = 1 << 13
	for level := jit.AVX2; level <= jit.Best(); level++ {
		measure := func(name string, ins int, build func(*jit.Builder)) {
			b.Run(fmt.Sprintf("%v/%s", level, name), func(b *testing.B) {
				bl := jit.NewBuilder()
				build(bl)
				k := jit.NewEngine(level).Kernel(bl.Program())
				array := func() jit.Operand {
					words := make([]uint64, n/2+8)
					xs := unsafe.Slice((*float32)(unsafe.Pointer(&words[0])), n)
					for i := range xs {
						xs[i] = float32(i%1000)/500 - 1
					}
					return jit.Operand{Buf: bytesOf(xs), Strides: []int{1}}
				}
				c := &jit.Call{Dims: []int{n}, Out: []jit.Operand{array()}}
				for range ins {
					c.In = append(c.In, array())
				}
				b.SetBytes(4 * n)
				least := time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					if err := k.Run(c); err != nil {
						b.Fatal(err)
					}
					least = min(least, time.Since(start))
				}
				b.ReportMetric(float64(least.Nanoseconds())/n, "least-ns/element")
			})
		}
		measure("chain", 3, chain)
		for _, f := range functions {
			measure(f.name, 1, func(b *jit.Builder) { b.Out(dtype.F32, f.build(b, b.In(dtype.F32))) })
		}
	}
}
