package repl

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFormatIsStable formats every example and every script: formatting twice is
// formatting once, and the examples are formatted.
func TestFormatIsStable(t *testing.T) {
	files, _ := filepath.Glob("../examples/*.tpu")
	if len(files) == 0 {
		t.Fatal("no examples")
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Format(ParseNotebook(f, src))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if string(out) != string(src) {
			t.Errorf("%s is not formatted: tpush fmt -w %s", f, f)
		}
		again, err := Format(ParseNotebook(f, out))
		if err != nil || string(again) != string(out) {
			t.Errorf("%s: formatting is not stable: %v", f, err)
		}
	}
}

func TestFormatKeepsTheFormOfTheFile(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""}, {"\n", "\n"}, {"x:=1", "x := 1\n"}, {"x:=1\r\ny:=2\r\n", "x := 1\r\ny := 2\r\n"}, {"\ufeffx:=1\n", "\ufeffx := 1\n"},
		{":hbm\n\n\n:mode fuse\n", ":hbm\n\n\n:mode fuse\n"}, {"// %% a\n\nx:=1\n\n\n\ny:=2\n", "// %% a\n\nx := 1\n\ny := 2\n"},
	} {
		out, err := Format(ParseNotebook("f.tpu", []byte(tt.in)))
		if err != nil || string(out) != tt.want {
			t.Errorf("%q: %v\n got %q\nwant %q", tt.in, err, out, tt.want)
		}
	}
}
