// Package interp runs cells: its machine makes closures of the typed syntax that
// repl/cell checked, over memory that native code can share. Around it are the
// shadow stacks, the interrupts, the roots of the liveness walk and the hooks of
// a debugger.
//
// It parses and checks nothing itself but the library of generic functions. It
// imports repl/cell and trace; only universe.go knows the tensor packages.
//
// Invariant: after any end of a cell, also an interrupt or a panic, the session
// can run the next one.
package interp

//go:generate go run generate.go
