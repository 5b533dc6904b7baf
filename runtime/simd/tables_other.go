//go:build !amd64 || purego

package simd

// native says whether this build has vector kernels.
const native = false

func vectorKernels(Level, any) any { return nil }

var runs = [...]*Runs{&goRuns}

var tapsF32 = [...]*TapsF32{&goTaps}

var squares = [...][3]squareTurner{{}}

func sorters(Level, any) any { return nil }
