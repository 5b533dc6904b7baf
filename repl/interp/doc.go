// Package interp runs cells: it hands what repl/cell made to the yaegi
// interpreter and keeps what instrumented code needs while it runs, the shadow
// stacks, the interrupt flags and the roots of the liveness walk.
//
// The user's text never reaches the interpreter. It imports repl/cell, trace
// and yaegi; only universe.go knows the tensor packages.
//
// Invariant: after any end of a cell, also an interrupt or a panic, the session
// can run the next one.
package interp

//go:generate go run generate.go
