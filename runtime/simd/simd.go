// Package simd holds the loops that are worth writing in vector instructions:
// the micro-kernels of matrix products, transposes, conversions. Each exists
// for every Level, in Go for Generic, and gives the same bits at all of them;
// where a sum is meant, its order and its fused multiplications are part of
// what the kernel is.
//
// The package never splits work over threads and never allocates memory for a
// result. It imports the standard library and x/sys/cpu. Invariant: a kernel
// checks the lengths of its operands before it enters assembly, which has no
// bounds checks; operands that are too short panic like an index out of range.
//
// The assembly is generated: see the module in folder gen.
package simd

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C gen ./gemm -out ../gemm_amd64.s -stubs ../gemm_amd64.go -pkg simd
//go:generate go run -C gen ./dot -out ../dot_amd64.s -stubs ../dot_amd64.go -pkg simd
//go:generate go run -C gen ./rows -out ../rows_amd64.s -stubs ../rows_amd64.go -pkg simd
//go:generate go run -C gen ./sort -out ../sort_amd64.s -stubs ../sort_amd64.go -pkg simd
//go:generate go run -C gen ./turn -out ../turn_amd64.s -stubs ../turn_amd64.go -pkg simd
//go:generate go run -C gen ./vec -out ../vec_amd64.s -stubs ../vec_amd64.go -pkg simd

// A Level is a set of vector instructions. A higher one has all of the lower ones.
type Level uint8

// The levels. AVX2 includes FMA and F16C, AVX512 is what Skylake servers and
// Zen 4 have (F, BW, DQ, VL).
const (
	Generic Level = iota
	AVX2
	AVX512
)

var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512"}

func (l Level) String() string { return levelNames[l] }

// Detected is the highest level of this processor.
func Detected() Level {
	x := &cpu.X86
	switch {
	case !native || !x.HasAVX2 || !x.HasFMA:
		return Generic
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// Chosen is the level the process works at: the one in TPUSH_CPU (generic, avx2
// or avx512) if this processor has it, else the highest it has.
var Chosen = sync.OnceValue(func() Level {
	want := strings.ToLower(os.Getenv("TPUSH_CPU"))
	for _, l := range Available() {
		if want == l.String() {
			return l
		}
	}
	return Detected()
})

// Available lists the levels of this processor, the lowest first.
func Available() []Level {
	return []Level{Generic, AVX2, AVX512}[:Detected()+1]
}
