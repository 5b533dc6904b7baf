package simd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly is what the generator writes. Skipped where the
// generator's own module cannot be built, because its dependency is not here.
func TestGeneratedIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator")
	}
	for _, g := range []struct{ dir, file string }{{"./gemm", "gemm_amd64"}, {"./dot", "dot_amd64"}, {"./sort", "sort_amd64"}, {"./rows", "rows_amd64"}, {"./turn", "turn_amd64"}, {"./vec", "vec_amd64"}} {
		exe := filepath.Join(t.TempDir(), "main")
		build := exec.Command("go", "build", "-o", exe, g.dir)
		build.Dir = "gen"
		build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Skipf("the generator cannot be built: %s", out)
		}
		dir := t.TempDir()
		asm, stubs := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.go")
		run := exec.Command(exe, "-out", asm, "-stubs", stubs, "-pkg", "simd")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for got, want := range map[string]string{asm: g.file + ".s", stubs: g.file + ".go"} {
			a, errA := os.ReadFile(got)
			b, errB := os.ReadFile(want)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if !bytes.Equal(body(a), body(b)) {
				t.Errorf("%s is stale: go generate ./runtime/simd", want)
			}
		}
	}
}

// body is a file without its first line, which quotes the command.
func body(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return rest
}
