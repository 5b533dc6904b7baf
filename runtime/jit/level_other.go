//go:build !amd64

package jit

// allowed says whether the system lets pages become executable.
func allowed() bool { return false }

// native makes machine code of a plan; there is none for this processor.
func native(*plan, Level, layout) machine { return nil }
