package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// A memory is a history without a file.
type memory struct{ cells []string }

func (m *memory) Len() int        { return len(m.cells) }
func (m *memory) At(i int) string { return m.cells[i] }
func (m *memory) Add(s string, _ time.Time) error {
	m.cells = append(m.cells, s)
	return nil
}

func TestCompletionPopup(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"x.M`, "tab").want("MatMul", "(other *Tensor) *Tensor", "Mean")
	s.keys(`"e`).want("Mean").lacks("MatMul")
	s.keys("backspace").want("MatMul")
	s.keys("enter") // nothing was chosen: Enter runs
	if len(s.nb.cells) != 1 || s.popup != nil {
		t.Fatalf("%d cells", len(s.nb.cells))
	}
	s.keys(`"x.`).want("MatMul", "Max") // a dot opens it
	s.keys("tab", "tab", "enter")
	if got := s.input.Text(); got != "x.Max" {
		t.Errorf("%q", got)
	}
	s.keys("ctrl+c", `"x.Mat`, "tab")
	if got := s.input.Text(); got != "x.MatMul" {
		t.Errorf("a single candidate is taken: %q", got)
	}
	s.keys(`"(`).want("MatMul(other *Tensor) *Tensor")
	s.keys("f1").want("about x.MatMul(", "q leaves")
	s.keys("q").lacks("q leaves")
}

func TestHistory(t *testing.T) {
	s := newScreen(t, 100, 30)
	h := &memory{cells: []string{"alpha := 1", "beta(2)\nmore", "alpha + 2"}}
	s.opts.History, s.past = h, newPast(h)
	s.keys(`"draft`, "home", "up")
	if got := s.input.Text(); got != "alpha + 2" {
		t.Errorf("up: %q", got)
	}
	s.keys("up", "up")
	if got := s.input.Text(); got != "beta(2)\nmore" { // the cursor moves through it first
		t.Errorf("up: %q", got)
	}
	s.keys("down", "down", "down", "down", "down")
	if got := s.input.Text(); got != "draft" {
		t.Errorf("the draft is lost: %q", got)
	}
	s.keys("ctrl+c", `"alp`, "up", "up")
	if got := s.input.Text(); got != "alpha := 1" {
		t.Errorf("by prefix: %q", got)
	}
	s.keys("ctrl+c", "ctrl+r", `"bet`).want("history  1/3", "more")
	s.keys("enter")
	if got := s.input.Text(); got != "beta(2)\nmore" {
		t.Errorf("ctrl+r: %q", got)
	}
	s.keys("ctrl+c", `"beta(2) +`)
	s.keys("ctrl+c", `"alpha +`).want("alpha + 2") // the rest is suggested
	s.keys("right")
	if got := s.input.Text(); got != "alpha + 2" {
		t.Errorf("suggestion: %q", got)
	}
	s.keys("enter")
	if last := h.cells[len(h.cells)-1]; last != "alpha + 2" {
		t.Errorf("kept %q", last)
	}
}

func TestPaletteAndKeys(t *testing.T) {
	s := newScreen(t, 120, 40)
	s.keys("ctrl+p").want("commands and keys", "run-as-is", "f8")
	s.keys(`"fold cell`).want("fold")
	s.keys("esc").lacks("commands and keys")
	s.keys("ctrl+p", `":theme`, "enter").want("themes: dark")
	s.keys(`":theme mono`, "enter")
	if s.theme.Name != "mono" {
		t.Errorf("theme %s", s.theme.Name)
	}
	s.keys(`":keys`, "enter").want("everywhere", "interrupt", "ctrl+c")
	s.keys("q", `"print a`, "enter", "esc", "?").want("everywhere")
}

func TestTheWholeOutputCanBeSeen(t *testing.T) {
	s := newScreen(t, 80, 60)
	s.keys(`"print `+strings.Repeat("x", 200), "enter")
	c := s.nb.cells[0]
	for i := range 500 {
		c.outputs[0].text.add([]string{"line " + string(rune('a'+i%26))})
	}
	c.touch()
	s.want("466 lines more, o shows all")
	s.keys("esc", "o").want("lines 1-", "of 501")
	s.keys("G").want("of 501", "line f")
	s.keys("g", "/", `"line z`, "enter").want("lines 27-")
	s.keys("q", "esc").want("466 lines more")
}

func TestOutputIsBounded(t *testing.T) {
	var l lines
	line := strings.Repeat("x", 100)
	for range 100 {
		chunk := make([]string, 10_000)
		for i := range chunk {
			chunk[i] = line
		}
		l.add(chunk)
	}
	if l.len() != 1_000_000 {
		t.Errorf("%d lines counted", l.len())
	}
	if n := len(l.first) + len(l.last); n > keepFirst+keepLast || l.bytes > keepBytes {
		t.Errorf("%d lines, %d bytes kept", n, l.bytes)
	}
}

func TestThingsToTry(t *testing.T) {
	s := newScreen(t, 110, 34)
	s.opts.Welcome = true
	s.want("Four things to try", "Alt-4", ":tour")
	s.keys("alt+1").want("In[1]", "Alt-1..4 try another")
	s.keys("alt+2").want(":hbm", "2/2", "try another")
	s.keys("alt+4").want("tour 1/", "Enter runs it")
	s.keys("enter").want("tour 2/", "In[3]   x := tpu.Randn")
	for range len(stages()) {
		s.keys("enter")
	}
	s.lacks("tour ", "try another").want("the tour's cells are yours")
}

func TestMistakesAreSeenWhileTyping(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"x + wrong`).want("type: undefined: wrong")
	rows, _, _, _ := s.frame()
	if all := strings.Join(rows, "\n"); !strings.Contains(all, "\x1b["+s.theme.Mistake+"mwrong") {
		t.Error("the word is not marked")
	}
	s.keys("backspace").lacks("undefined")
}

func TestALongOutputIsWhollyInAFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := newFeed(nil, nil)
	var outs []*output
	for i := range 3 * keepFirst {
		f.stream(streamOf(fmt.Sprintf("line %d\n", i)))
		outs = apply(outs, f.take())
	}
	f.all.close()
	b, err := os.ReadFile((&cell{outputs: outs}).spoolFile())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(b)), "\n"); len(got) != 3*keepFirst || got[0] != "line 0" || got[len(got)-1] != fmt.Sprintf("line %d", 3*keepFirst-1) {
		t.Errorf("%d lines, from %q to %q", len(got), got[0], got[len(got)-1])
	}
}

func TestHelpListsTheScreensCommands(t *testing.T) {
	s := newScreen(t, 120, 50)
	s.keys(`":help`, "enter").want("on this screen", ":tour", ":panel [NAME]")
}
