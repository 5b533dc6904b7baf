package interp

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestFaults compares what a cell says when it dies with what Go said when the
// same function died in a compiled program.
func TestFaults(t *testing.T) {
	b, err := os.ReadFile("testdata/faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := txtar.Parse(b).Files
	s := newSession(t, Options{})
	if _, err := s.try(string(files[0].Data)); err != nil {
		t.Fatal(err)
	}
	for i := 1; i+1 < len(files); i += 2 {
		f := files[i]
		t.Run(f.Name, func(t *testing.T) {
			want := strings.TrimSuffix(string(files[i+1].Data), "\n")
			_, err := s.try(string(f.Data) + f.Name + "()")
			var p *PanicError
			if !errors.As(err, &p) {
				t.Fatalf("got %v, want a panic: %s", err, want)
			}
			if p.Text != want {
				t.Errorf("\n got %s\nwant %s", p.Text, want)
			}
			if p.Stack == nil || len(p.Stack.Frames) < 2 {
				t.Errorf("the stack is %v, want the function and the cell", p.Stack)
			}
		})
	}
	if got := s.show("five"); got != "5 (int)" {
		t.Errorf("afterwards: %s", got)
	}
}
