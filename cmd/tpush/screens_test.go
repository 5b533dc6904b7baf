package main

import (
	"os"
	"path/filepath"
	"testing"
)

// screens are the states of the notebook that are kept as they look: the keys
// that lead to each, then pictures at three sizes.
var screens = []struct {
	name string
	args []string // beside those of the form
	keys string
}{
	{"welcome", nil, ``},
	{"cells", nil, `x := tpu.Randn(64, 64)<enter>y := x @ x + 1<enter>y<enter>fmt.Println("wide 世界", 7)<enter>`},
	{"typing", nil, `for i := range 3 {<ctrl+j>fmt.Println("a", i) // note`},
	{"error", nil, `emb := tpu.Randn(100, 16)<enter>emb.IndexSelect(0, tpu.I64.Of(3, 100))<enter>`},
	{"complete", nil, `x := tpu.Ones(2, 3)<enter>x.<settle>Ma<settle><tab>`},
	{"cellmode", nil, `a := 1<enter>b := a + 1<enter>b<enter><esc>kk`},
	{"palette", nil, `<ctrl+p>fus`},
	{"keys", nil, `:keys<enter>`},
	{"help", nil, `?matmul<enter>`},
	{"stale", nil, `a := 1<enter>b := a * 2<enter>a = 5<enter>`},
	{"hbm", nil, `x := tpu.Randn(256, 256)<enter>y := x.Exp()<enter><f2>`},
	{"fusion", []string{"--mode=fuse"}, `x := tpu.Randn(64, 64)<enter>(x * 2 + 1).Exp().Sum()<enter><f3>`},
	{"trace", []string{"--mode=fuse"}, `x := tpu.Randn(64, 64)<enter>(x * 2 + 1).Exp().Sum()<enter><f4>`},
	{"vars", nil, `x := tpu.Randn(8, 8)<enter>n, s := 3, "text"<enter><f6>`},
	{"breakpoint", nil, `func f(n int) int {<ctrl+j>s := n * 2<ctrl+j>return s + 1<ctrl+j>}<enter>:break f<enter>f(20)<enter><f10><f7>`},
	{"empty", nil, `<f3>`},
	{"graph", []string{"--mode=fuse"}, `x := tpu.Randn(64, 64)<enter>(x * 2 + 1).Exp().Sum()<enter>:panel graph<enter>`},
	{"roofline", nil, `x := tpu.Randn(256, 256)<enter>x @ x<enter>:panel roofline<enter>`},
	{"events", nil, `tpu.Ones(4)<enter>:panel events<enter>`},
	{"cache", nil, `tpu.Ones(4).Exp()<enter>:panel cache<enter>`},
}

// forms are how a screen is drawn: in colour, without any, and in ASCII.
var forms = []struct {
	name string
	args []string
}{
	{"colour", []string{"--ansi", "--theme=dark"}},
	{"mono", []string{"--text", "--theme=mono"}},
	{"ascii", []string{"--text", "--ascii"}},
}

// TestScreens draws every state at three sizes in every form, and compares.
func TestScreens(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range forms {
				args := append(append([]string{"shot", "--size=120x36", "--keys", s.keys + "<size:80x24><shot><size:200x60><shot><size:120x36>"}, f.args...), s.args...)
				out, errs, code := tpush(t, args...)
				if code != 0 {
					t.Fatalf("%s: exit %d: %s", f.name, code, errs)
				}
				file := filepath.Join("testdata", "screens", s.name+"-"+f.name+".txt")
				if *update {
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if want, err := os.ReadFile(file); err != nil || string(want) != out {
					t.Errorf("%s: the screen differs from %s: go test ./cmd/tpush -run Screens -update, and look (%v)", f.name, file, err)
				}
			}
		})
	}
}
