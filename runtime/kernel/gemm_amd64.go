//go:build !purego

package kernel

import (
	"sync"

	"golang.org/x/sys/cpu"
)

//go:noescape
func tile6x16AVX2(k int, a *float32, rowStrideA, kStrideA int, b *float32, kStrideB int, c *float32, rowStrideC int, accumulate bool)

//go:noescape
func tile6x8AVX2(k int, a *float64, rowStrideA, kStrideA int, b *float64, kStrideB int, c *float64, rowStrideC int, accumulate bool)

//go:noescape
func tile8x32AVX512(k int, a *float32, rowStrideA, kStrideA int, b *float32, kStrideB int, c *float32, rowStrideC int, accumulate bool)

//go:noescape
func axpyAVX2(n int, x float32, src, dst *float32)

// native holds the micro-kernels this processor can run, the fastest first.
var native = sync.OnceValue(func() (n struct {
	f32  []microKernel[float32]
	f64  []microKernel[float64]
	axpy bool
}) {
	if cpu.X86.HasAVX512F {
		n.f32 = append(n.f32, microKernel[float32]{8, 32, checked(8, 32, tile8x32AVX512)})
	}
	if cpu.X86.HasAVX2 {
		n.f32 = append(n.f32, microKernel[float32]{6, 16, checked(6, 16, tile6x16AVX2)})
		n.f64 = append(n.f64, microKernel[float64]{6, 8, checked(6, 8, tile6x8AVX2)})
		n.axpy = true
	}
	return n
})

// checked calls an assembly kernel after touching the last element of each
// operand: the bounds checks that assembly does not have.
func checked[T factor](rows, cols int, f func(k int, a *T, rowStrideA, kStrideA int, b *T, kStrideB int, c *T, rowStrideC int, accumulate bool)) func(k int, a []T, rowStrideA, kStrideA int, b []T, kStrideB int, c []T, rowStrideC int, accumulate bool) {
	return func(k int, a []T, rowStrideA, kStrideA int, b []T, kStrideB int, c []T, rowStrideC int, accumulate bool) {
		_ = a[(rows-1)*rowStrideA+(k-1)*kStrideA]
		_ = b[(k-1)*kStrideB+cols-1]
		_ = c[(rows-1)*rowStrideC+cols-1]
		f(k, &a[0], rowStrideA, kStrideA, &b[0], kStrideB, &c[0], rowStrideC, accumulate)
	}
}

// nativeKernels lists the micro-kernels for T that this processor can run beside the portable one.
func nativeKernels[T factor]() []microKernel[T] {
	n := native()
	switch k := any(n.f32).(type) {
	case []microKernel[T]:
		return k
	}
	if k, ok := any(n.f64).([]microKernel[T]); ok {
		return k
	}
	return nil
}

// addScaled computes dst[i] += x·src[i].
func addScaled[T factor](dst []T, x T, src []T) {
	if d, ok := any(dst).([]float32); ok && native().axpy {
		s := any(src).([]float32)[:len(d)]
		if n := len(d) &^ 15; n > 0 {
			axpyAVX2(n, any(x).(float32), &s[0], &d[0])
			dst, src = dst[n:], src[n:]
		}
	}
	addScaledGo(dst, x, src)
}
