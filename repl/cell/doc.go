// Package cell makes typed syntax of the text of a cell: split, parse,
// type-check with go/types, rewrite the tensor sugar, and say what the session
// gains by it.
//
// It is pure: it knows no machine and no tensor, runs nothing and reads no
// file. What a tensor is and which packages exist is told by Config. It imports
// go/*, golang.org/x/tools and nothing of this module.
//
// Invariant: a cell that is not well typed changes nothing; names enter the
// Scope only by Unit.Commit. Internal names contain the letter ʹ (U+02B9),
// which users do not type and messages do not show.
package cell
