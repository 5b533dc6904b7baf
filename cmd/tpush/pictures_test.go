package main

import (
	"os"
	"path/filepath"
	"testing"
)

// pictures are the drawings of documents: what tpush shot is given for each.
var pictures = []struct {
	name string
	args []string
}{
	{"notebook", []string{"--size=110x30", "--keys", `x := tpu.Randn(256, 1024)<enter>w := tpu.Randn(1024, 512)<enter>h := (x @ w).GELU()<enter>h<enter><f2>`}},
	{"error", []string{"--size=100x18", "--keys", `emb := tpu.Randn(100, 16)<enter>tok := tpu.I64.Of(3, 7, 100)<enter>e := emb.IndexSelect(0, tok)<enter>`}},
	{"fusion", []string{"--size=110x30", "--mode=fuse", "--keys", `x, w := tpu.Randn(128, 256), tpu.Randn(256, 128)<enter>y := (x @ w + 1).ReLU().Sum(1)<enter>y.Max()<enter><f3>`}},
	{"trace", []string{"--size=120x30", "--mode=fuse", "--keys", `x, w := tpu.Randn(128, 256), tpu.Randn(256, 128)<enter>for range 4 { y := (x @ w).Exp(); fmt.Println(y.Mean()) }<enter><f4>`}},
}

// TestPicturesAreCurrent draws every picture of the documents again. The same
// keys must give the same picture, to the byte.
func TestPicturesAreCurrent(t *testing.T) {
	dir := filepath.Join(root(t), "docs", "pictures")
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			out, errs, code := tpush(t, append([]string{"shot"}, p.args...)...)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, errs)
			}
			file := filepath.Join(dir, p.name+".svg")
			if *update {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != out {
				t.Errorf("docs/pictures/%s.svg is not what the screen shows: go test ./cmd/tpush -run Pictures -update (%v)", p.name, err)
			}
		})
	}
}
