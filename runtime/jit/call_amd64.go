package jit

// call runs machine code at fn with frame in RDI. The code uses every vector and
// general register but RBP, RSP and R14, and little of the stack; the goroutine
// cannot be stopped meanwhile.
//
//go:noescape
func call(fn uintptr, frame *uint64)
