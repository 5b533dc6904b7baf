package command_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/runtime/device/pjrt/plugintest"
	"github.com/tpush/tpush/runtime/exec"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md")

// discard takes the output of cells.
type discard struct{}

func (discard) Stream(string, string)  {}
func (discard) Input() (string, error) { return "", io.EOF }

func session(t *testing.T) *repl.Session {
	t.Helper()
	s, err := repl.NewSession(repl.Options{Compiler: plugintest.TPU()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A stage runs cells and commands as a script does: when a cell stops, the
// commands that follow it run at the stop.
type stage struct {
	s     *repl.Session
	stops chan *debug.Stop
	ended chan *repl.Cell // nil when no cell runs
	texts []string        // what command lists and logpoints said
}

func newStage(s *repl.Session) *stage {
	g := &stage{s: s, stops: make(chan *debug.Stop)}
	s.ListenDebug(g)
	return g
}

func (g *stage) Stopped(st *debug.Stop) { go func() { g.stops <- st }() }
func (g *stage) Continued()             {}
func (g *stage) Log(text string)        { g.texts = append(g.texts, text) }
func (g *stage) Command(line string) error {
	a, err := command.Run(context.Background(), g.s, line, discard{})
	g.texts = append(g.texts, a.Text)
	return err
}

// wait waits for a stop or the end of the cell; c is nil at a stop.
func (g *stage) wait() (c *repl.Cell) {
	select {
	case <-g.stops:
		return nil
	case c := <-g.ended:
		g.ended = nil
		return c
	}
}

// cell runs a cell to its first stop or its end.
func (g *stage) cell(text string) *repl.Cell {
	if c := g.finish(); c != nil && len(c.Reports) > 0 {
		return c
	}
	ended := make(chan *repl.Cell, 1)
	g.ended = ended
	go func() { ended <- g.s.Run(context.Background(), text, "", 1, discard{}) }()
	return g.wait()
}

// finish lets a stopped cell run to its end.
func (g *stage) finish() (c *repl.Cell) {
	for g.ended != nil {
		_ = g.s.Debugger().Resume(debug.Resume{})
		c = g.wait()
	}
	return c
}

// command runs a command, at the stop if a cell is stopped.
func (g *stage) command(line string) (command.Answer, *repl.Cell, error) {
	a, err := command.Run(context.Background(), g.s, line, discard{})
	name, _, _ := strings.Cut(strings.TrimPrefix(line, ":"), " ")
	if c, lerr := command.Lookup(name); err == nil && lerr == nil && c.Resumes && g.ended != nil {
		end := g.wait()
		if end == nil {
			a.Text = strings.Join(g.s.StopText(g.s.Debugger().Stopped()), "\n")
		} else {
			a.Text = "ended"
		}
		return a, end, err
	}
	return a, nil, err
}

// play runs cells and commands, one a line, and gives the last answer.
func play(t *testing.T, s *repl.Session, lines string, fails ...bool) command.Answer {
	t.Helper()
	g := newStage(s)
	var last command.Answer
	check := func(line string, c *repl.Cell) {
		if c != nil && len(c.Reports) > 0 && len(fails) == 0 {
			t.Fatalf("%s: %s: %s", line, c.Reports[0].Kind, c.Reports[0].Message)
		}
	}
	for _, l := range strings.Split(lines, "\n") {
		if st := s.Debugger().Stopped(); st != nil {
			l = strings.ReplaceAll(l, "$STOPPED", fmt.Sprint(st.Goroutine))
		}
		if repl.IsCommand(l) {
			a, c, err := g.command(l)
			if err != nil {
				t.Fatalf("%s: %v", l, err)
			}
			check(l, c)
			last = a
			continue
		}
		check(l, g.cell(l))
	}
	check("the end", g.finish())
	return last
}

func TestExamples(t *testing.T) {
	for _, c := range command.All() {
		t.Run(c.Name, func(t *testing.T) {
			if c.TPU && plugintest.TPU() == nil {
				t.Skip("no TPU compiler: TPUSH_XLA_TPU names none")
			}
			var fails []bool
			if c.Fails {
				fails = []bool{true}
			}
			a := play(t, session(t), strings.ReplaceAll(c.Example, "$WORK", t.TempDir()), fails...)
			if a.Text == "" && !a.Quit && !a.Restart && !a.Replay {
				t.Error("the example answers nothing")
			}
			if !strings.Contains(c.Example, ":"+c.Name) {
				t.Error("the example does not use the command")
			}
		})
	}
}

func TestRowsComplete(t *testing.T) {
	seen := map[string]string{}
	groups := map[command.Group]bool{}
	for _, g := range command.Groups() {
		groups[g] = true
	}
	for _, c := range command.All() {
		if c.Doc == "" || c.Example == "" || c.Run == nil || !groups[c.Group] {
			t.Errorf(":%s: the row is not complete", c.Name)
		}
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if seen[n] != "" {
				t.Errorf(":%s and :%s share the name %s", c.Name, seen[n], n)
			}
			seen[n] = c.Name
		}
	}
	for _, want := range strings.Fields("help mode chip hbm fusion why ops who type inspect time timeit trace export set show history reset restart doctor quit packages graph") {
		if seen[want] == "" {
			t.Errorf("no command :%s", want)
		}
	}
}

func TestDocsAreCurrent(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "commands.md")
	got, _ := os.ReadFile(file)
	want := command.Markdown()
	if string(got) == want {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/commands.md is stale: go test ./repl/command -update")
}

func TestHelpCutsNothing(t *testing.T) {
	a := play(t, session(t), ":help")
	for _, l := range strings.Split(a.Text, "\n") {
		if strings.HasSuffix(l, "~") || len([]rune(l)) > 120 {
			t.Errorf("too long: %s", l)
		}
	}
}

func TestNamesAndPrefixes(t *testing.T) {
	s := session(t)
	for line, want := range map[string]string{
		"?": ":fusion", "?optim": "optim.NewAdamW", ":help nn": "nn.Linear", ":hb": "HBM", ":mo": "debug", "?mode": ":mode", ":help index_select": "index_select", ":h :quit": ":quit", "?matmul": "matmul",
	} {
		if a := play(t, s, line); !strings.Contains(a.Text, want) {
			t.Errorf("%s answers %q, want %q in it", line, a.Text, want)
		}
	}
	var unknown *command.UnknownError
	for line, near := range map[string]string{":fuson": "fusion", ":nothing-like-it": ""} {
		if _, err := command.Run(context.Background(), s, line, discard{}); !errors.As(err, &unknown) || unknown.Nearest != near {
			t.Errorf("%s: got %v, want nearest %q", line, err, near)
		}
	}
	for name, near := range map[string]string{"Ones": "tpu.Ones?", "new_adamw": "optim.NewAdamW?", "nothing_like_it": "(usage"} {
		if _, err := command.Run(context.Background(), s, "?"+name, discard{}); err == nil || !strings.Contains(err.Error(), near) {
			t.Errorf("?%s: got %v, want %q in it", name, err, near)
		}
	}
	if _, err := command.Run(context.Background(), s, ":t", discard{}); err == nil {
		t.Error(":t without an argument is accepted")
	}
	if _, err := command.Run(context.Background(), s, ":res", discard{}); !errors.As(err, &unknown) || len(unknown.Matches) != 2 {
		t.Errorf(":res: got %v, want two matches", err)
	}
}

func TestComplete(t *testing.T) {
	s := session(t)
	play(t, s, "weights := tpu.Ones(2)")
	for line, want := range map[string]string{":mo": "mode", ":mode f": "fuse", ":inspect we": "weights", ":chip v6": "v6e", ":export pp": "pprof", ":set ch": "checks"} {
		_, words := command.Complete(s, line)
		if strings.Join(words, " ") != want {
			t.Errorf("%q completes to %v, want %s", line, words, want)
		}
	}
}

func TestModeChangesWhatRuns(t *testing.T) {
	s := session(t)
	play(t, s, "x := tpu.Ones(4)\n:mode fuse\ny := x.Add(1).Mul(2)")
	if s.Dispatcher().Mode() != exec.DeferAndFuse {
		t.Fatal("the mode did not change")
	}
	play(t, s, "_ = y.Float32s()")
	if a := play(t, s, ":fusion last"); !strings.Contains(a.Text, "2") || !strings.Contains(a.Text, ".cpu()") {
		t.Errorf("the group of two ops and its reason are not shown:\n%s", a.Text)
	}
}

func TestChipIsNotChangedUnderLiveTensors(t *testing.T) {
	s := session(t)
	play(t, s, "x := tpu.Ones(4)")
	var live *repl.LiveTensorsError
	if _, err := command.Run(context.Background(), s, ":chip v6e", discard{}); !errors.As(err, &live) {
		t.Errorf("got %v, want a LiveTensorsError", err)
	}
	play(t, s, ":reset")
	if a := play(t, s, ":chip v6e"); !strings.Contains(a.Text, "v6e") {
		t.Errorf("got %q", a.Text)
	}
	play(t, s, "x := tpu.Ones(4)\n:hbm")
}

func TestExportsWriteWholeFilesOrNone(t *testing.T) {
	s := session(t)
	dir := t.TempDir()
	if _, err := command.Run(context.Background(), s, ":export pprof "+filepath.Join(dir, "no", "such", "p"), discard{}); err == nil {
		t.Error("a missing folder is accepted")
	}
	if _, err := command.Run(context.Background(), s, ":export nonsense "+filepath.Join(dir, "f"), discard{}); err == nil {
		t.Error("a format that does not exist is accepted")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestInspectCutsAndDraws(t *testing.T) {
	s := session(t)
	play(t, s, "x := tpu.Arange(24).Reshape(2, 3, 4)\ny := tpu.Of(1.0, 2.0, 4.0)")
	for line, want := range map[string][]string{
		":inspect x":                 {"i32[2,3,4]", "layout", "min 0  max 23"},
		":inspect x [1, :, 2:]":      {"i32[3,2]", "[14 15]", "[22 23]"},
		":inspect x 1, -1":           {"i32[4]", "[20 21 22 23]"},
		":inspect x 1 --heat":        {"x[1]", "12", "23"},
		":inspect y --plot":          {"3 elements", "o"},
		":inspect y --hist":          {"n 3"},
		":inspect y --full :2":       {"f32[2]"},
		":inspect x 0 --full --hist": {"[ 0  1  2  3]", "n 24"},
	} {
		a := play(t, s, line)
		for _, w := range want {
			if !strings.Contains(a.Text, w) {
				t.Errorf("%s has no %q:\n%s", line, w, a.Text)
			}
		}
	}
	for _, bad := range []string{":inspect x 5", ":inspect x 0,0,0,0", ":inspect x --nothing", ":inspect z", ":inspect x a:b"} {
		if _, err := command.Run(context.Background(), s, bad, discard{}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
