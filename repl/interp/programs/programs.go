//lint:file-ignore SA4000,SA4004,SA4006,SA4023,SA5000,ST1017,ST1023,S1034,U1000 these programs exercise odd corners on purpose

// Package programs holds ordinary Go, each function a small program that gives
// a text. The tests compile it with Go and run it in cells as well: both must
// say the same. It is for tests only and imports nothing of this module.
package programs

import "embed"

//go:generate go run generate.go

// Sources are the files of this package, for the interpreter's side.
//
//go:embed basic.go library.go language.go
var Sources embed.FS
