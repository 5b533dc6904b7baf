//go:build !amd64 || purego

package kernel

// nativeKernels lists the micro-kernels for T that this processor can run beside the portable one.
func nativeKernels[T factor]() []microKernel[T] { return nil }

// addScaled computes dst[i] += x·src[i].
func addScaled[T factor](dst []T, x T, src []T) { addScaledGo(dst, x, src) }
