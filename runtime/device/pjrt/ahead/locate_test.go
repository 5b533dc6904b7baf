package ahead

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLocate(t *testing.T) {
	const text = `module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<f32>) { // a comment
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> // "here
    %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%0, %c) <{dimensions = array<i64: 0>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%m) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %2:2 = stablehlo.while(%i = %1, %j = %c) : tensor<f32>, tensor<f32>
      cond {
      %3 = stablehlo.compare  LT, %i, %j : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      stablehlo.return %i, %j : tensor<f32>, tensor<f32>
    }
    return %2#0 : tensor<f32>
  }
}
`
	got := Locate(text, "f.mlir")
	for line, want := range map[int]string{
		3:  `    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc("stablehlo.tanh"("f.mlir":3:5))// "here`,
		4:  `tensor<f32> loc("stablehlo.constant"("f.mlir":4:5))`,
		5:  `({`,
		7:  `loc("stablehlo.add"("f.mlir":7:9))`,
		9:  `-> tensor<f32> loc("stablehlo.reduce"("f.mlir":5:5))`,
		10: `tensor<f32>`,
		14: `} do {`,
		16: `} loc("stablehlo.while"("f.mlir":10:5))`,
		17: `loc("return"("f.mlir":17:5))`,
		18: `}`,
	} {
		if l := strings.Split(got, "\n")[line-1]; !strings.HasSuffix(l, want) {
			t.Errorf("line %d: %s\nwant %s", line, l, want)
		}
	}
	if Locate(got, "g.mlir") != got {
		t.Error("a text with locations is changed")
	}
}

var added = regexp.MustCompile(` loc\("[^"]*"\("[^"]*":\d+:\d+\)\)`)

func FuzzLocate(f *testing.F) {
	f.Add("module {\n%0 = stablehlo.add %a, %b : t\n}\n")
	f.Add("\"stablehlo.return\"(%a) : (\n) -> ()")
	f.Fuzz(func(t *testing.T, text string) {
		got := Locate(text, "f")
		if strings.Contains(text, "loc(") {
			return
		}
		// Nothing but locations and spaces at ends of lines changes.
		plain := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if back := added.ReplaceAllString(got, ""); plain(back) != plain(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// recorded gives a folder of recorded programs beside the checkout, if it is there.
func recorded(t testing.TB, parts ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		p := filepath.Join(append([]string{dir, "shared"}, parts...)...)
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	t.Skipf("%v is not beside the checkout", parts)
	return ""
}

// Every line that defines a value gets a location in the recorded programs.
func TestLocateEverything(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recorded(t, "calibration", "programs"), "*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got := Locate(string(b), "f.mlir")
		if want, have := strings.Count(string(b), "= stablehlo.")+strings.Count(string(b), `= "stablehlo.`), len(added.FindAllString(got, -1)); have < want {
			t.Errorf("%s: %d locations for %d operations", filepath.Base(f), have, want)
		}
	}
}
