package interp

import (
	"strings"
	"testing"

	"github.com/tpush/tpush/repl/interp/programs"
)

// exceptions are the programs that cells run otherwise than Go, and why.
var exceptions = map[string]string{}

// TestDifferential runs each function of package programs natively and, as a
// program, in cells: whole and cut at random, in each form.
func TestDifferential(t *testing.T) {
	sources, err := programs.Extract()
	if err != nil {
		t.Fatal(err)
	}
	native := programs.All()
	if len(sources) != len(native) {
		t.Fatalf("%d programs, %d native", len(sources), len(native))
	}
	for name, f := range native {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := strings.ReplaceAll(f(), "programs.", "main.") // cells are package main
			checkProgram(t, programs.Program{Name: name, Source: sources[name], Output: want}, exceptions[name])
		})
	}
}
