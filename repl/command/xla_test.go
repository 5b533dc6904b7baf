package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/runtime/device/pjrt/plugintest"
)

// TestMain is the compiler's process too.
func TestMain(m *testing.M) { plugintest.Main(m) }

// planned runs lines, the last of them a :plan with --json, and gives its report.
func planned(t *testing.T, s *repl.Session, lines string) *xla.Report {
	t.Helper()
	a := play(t, s, lines)
	r := &xla.Report{}
	if err := json.Unmarshal([]byte(a.Text), r); err != nil {
		t.Fatalf("%v in %s", err, a.Text)
	}
	return r
}

// TestSubjects: a cell, a launch, a tensor, a function and a file name the
// programs that they ran as, whatever the mode launched.
func TestSubjects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.tpu")
	if err := os.WriteFile(file, []byte("x := tpu.Ones(8, 8)\n// %%\ny := (x + 1.0).Tanh()\ny.Sum().Item()\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const (
		two     = "x := tpu.Ones(8, 8)\ny := (x + 1.0).Tanh(); z := y * y"
		compile = "x := tpu.Ones(8, 8)\nf := tpu.Compile(func(a *tpu.Tensor) *tpu.Tensor { return a.Exp().Neg() })\ng := tpu.Compile(func(a *tpu.Tensor) *tpu.Tensor { return a.Sin() })\ng(x); h := f(x)"
	)
	for _, tt := range []struct {
		lines string
		ops   []string // of each program, in order
	}{
		{two + "\n:plan --json", []string{"add tanh mul"}},
		{two + "\n:plan 2 --json", []string{"add tanh mul"}},
		{two + "\n:plan In[1] --json", []string{"full"}},
		{two + "\n:plan y --json", []string{"add tanh"}},
		{two + "\n:plan last v6e --json", []string{"mul"}},
		{two + "\n:plan g2 --json", []string{"add"}},
		{":mode fuse\n" + two + "\n:plan y --json", []string{"add tanh"}},
		{":mode fuse\n" + two + "\nz.Sum().Item()\n:plan y --json", []string{"full add tanh mul sum"}},
		{compile + "\n:plan f --json", []string{"exp neg"}},
		{compile + "\n:plan g --json", []string{"sin"}},
		{compile + "\n:plan 4 --json", []string{"sin", "exp neg"}},
		{"double := func(a *tpu.Tensor) *tpu.Tensor { return a.Exp().Neg() }\nw := double(tpu.Ones(8)).Sin()\n:plan double --json", []string{"exp neg"}},
		{":plan " + file + " --json", []string{"full", "add tanh sum"}},
	} {
		var got []string
		for _, p := range planned(t, session(t), tt.lines).Programs {
			if p.Ours == nil || p.Ours.Error != "" {
				t.Fatalf("%s: %+v", tt.lines, p)
			}
			var ops []string
			seen := map[string]bool{}
			for _, k := range p.Ours.Kernels {
				for _, o := range k.Ops {
					if name, _, _ := strings.Cut(o, "#"); !seen[o] {
						seen[o], ops = true, append(ops, name)
					}
				}
			}
			got = append(got, strings.Join(ops, " "))
		}
		if strings.Join(got, ", ") != strings.Join(tt.ops, ", ") {
			t.Errorf("%s\nprograms %q, want %q", tt.lines, got, tt.ops)
		}
	}
}

func TestSubjectErrors(t *testing.T) {
	for line, want := range map[string]string{
		":plan":              "nothing used the device yet",
		":plan nobody":       "no such variable",
		":plan g7":           "nothing was launched yet",
		":plan 9":            "no such cell",
		":plan --wide":       "no option --wide",
		":plan x y":          "one subject is wanted",
		":plan there.tpu":    "no such file",
		":plan a.mlir":       "only cells are predicted",
		":xla --json nobody": "no such variable",
	} {
		s := session(t)
		_, err := command.Run(context.Background(), s, line, discard{})
		if plugintest.TPU() == nil && strings.HasPrefix(line, ":xla") {
			var no *repl.NoCompilerError
			if !errors.As(err, &no) {
				t.Errorf("%s: got %v, want that there is no compiler", line, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in a line", line, err, want)
		}
	}
}

// TestTooLarge: what failed for HBM is one program, with its lines; the real
// compiler has the session's limit and refuses it too.
func TestTooLarge(t *testing.T) {
	s, err := repl.NewSession(repl.Options{Compiler: plugintest.TPU(), HBMBytes: 7 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	run := func(text string) { s.Run(context.Background(), text, "", 1, discard{}) }
	run("x := tpu.BF16.Empty(1024, 1000)\nw := tpu.BF16.Empty(1000, 1024)")
	if _, err := command.Run(context.Background(), s, ":mode compiled", discard{}); err != nil {
		t.Fatal(err)
	}
	run("h := x.MatMul(w)\ny := h.MatMul(h)\nz := y.MatMul(h).Tanh()\nz.Sum().Item()")
	ask := func(line string) *xla.Program {
		t.Helper()
		a, err := command.Run(context.Background(), s, line, discard{})
		if err != nil {
			t.Fatal(err)
		}
		r := &xla.Report{}
		if err := json.Unmarshal([]byte(a.Text), r); err != nil {
			t.Fatal(err)
		}
		if len(r.Programs) != 1 || r.Programs[0].Where != "In[2]:1-4" {
			t.Fatalf("programs %+v", r.Programs)
		}
		return &r.Programs[0]
	}
	if p := ask(":plan 2 --json"); p.Ours.Limit != 7<<20 || p.Ours.Fits {
		t.Errorf("predicted %+v", p.Ours)
	}
	if plugintest.TPU() == nil {
		t.Skip("no TPU compiler: TPUSH_XLA_TPU names none")
	}
	p := ask(":xla 2 --json")
	if p.OOM == nil || p.OOM.Available == 0 || p.OOM.Available > 7<<20 || len(p.OOM.Entries) == 0 {
		t.Fatalf("%+v, %s", p.OOM, p.Error)
	}
	lines := map[string]bool{}
	for _, e := range p.OOM.Entries {
		lines[e.Where] = true
	}
	if !lines["In[1]:1"] || !lines["In[2]:1"] {
		t.Errorf("lines of the largest allocations: %v", lines)
	}
}

// TestRealCompiler asks the real compiler about a cell.
func TestRealCompiler(t *testing.T) {
	if plugintest.TPU() == nil {
		t.Skip("no TPU compiler: TPUSH_XLA_TPU names none")
	}
	r := planned(t, session(t), "x := tpu.Ones(256, 1024)\nw := tpu.Ones(1024, 512)\ny := (x.MatMul(w) + 1.0).Tanh()\n:xla y --json --bundles")
	c := r.Programs[0].Compiled
	if c == nil || c.Cycles == 0 || !c.HasSlots || c.Memory.HBM == 0 || r.Programs[0].Match.LayoutsSame != r.Programs[0].Match.Layouts {
		t.Fatalf("%+v", r.Programs[0])
	}
	var ops []string
	for _, k := range c.Kernels {
		if k.Unit == "MXU" {
			ops = append(ops, k.Where+" "+strings.Join(k.Ops, " "))
		}
	}
	if len(ops) != 1 || ops[0] != "In[3]:1 matmul#3 add#4 tanh#5" {
		t.Errorf("products %q", ops)
	}
}
