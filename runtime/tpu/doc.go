// Package tpu is what a program types: tensors, their operations, gradients,
// modes.
//
// It never computes and never decides when something runs: it hands operations
// to a dispatcher of package exec. It imports everything below it. Invariants:
// only a Storage is ever changed, and only this package panics, always with *Error.
package tpu

//go:generate go run ./gen
