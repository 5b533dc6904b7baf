package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/store"
)

// A fake is a kernel whose cells are tiny commands, with an answer for everything.
type fake struct {
	count int
	reply kernel.ExecuteReply

	frame int               // that the debugger looks at
	asked []string          // requests of the debugger
	dap   map[string]string // the bodies it answers with
}

func (f *fake) Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error) {
	f.count++
	rep := f.reply
	rep.Status, rep.ExecutionCount, rep.WallNS, rep.Mode = "ok", f.count, 1_500_000, "debug"
	verb, rest, _ := strings.Cut(r.Code, " ")
	switch verb {
	case "print":
		ev.Stream(kernel.StreamContent{Name: "stdout", Text: rest + "\n"})
	case "value":
		ev.Result(kernel.ResultContent{ExecutionCount: f.count, Data: map[string]string{"text/plain": rest}})
	case "fail":
		ev.Error(kernel.ErrorContent{Name: "panic", Value: rest, Cell: f.count, Line: 1})
		rep.Status = "error"
	case "mistake":
		ev.Error(kernel.ErrorContent{Name: "type", Value: rest, Cell: f.count, Line: 1, Column: 9})
		rep.Status = "error"
	case "reads":
		rep.Reads = strings.Fields(rest)
	case "writes":
		rep.Writes = strings.Fields(rest)
	case "from": // from x y to z
		reads, writes, _ := strings.Cut(rest, " to ")
		rep.Reads, rep.Writes = strings.Fields(reads), strings.Fields(writes)
	case "stop":
		ev.Debug(json.RawMessage(`{"event":"stopped","body":{"reason":"breakpoint","threadId":1,"lines":["Brk[1] stopped at In[1]:2","   => 2 | y := 1","   operands  x f32[2]"]}}`))
	case "wait":
		<-ctx.Done()
		ev.Error(kernel.ErrorContent{Name: "interrupt", Value: "interrupted", Cell: f.count})
		rep.Status = "error"
	case "die":
		return rep, &kernel.DiedError{Status: "exit status 2", Stderr: "fatal error: last words\n\ngoroutine 1 [running]:"}
	}
	return rep, nil
}

func (f *fake) Complete(_ context.Context, r kernel.CompleteRequest) (kernel.CompleteReply, error) {
	word := r.Code[strings.LastIndexAny(r.Code[:r.CursorPos], " .(")+1 : r.CursorPos]
	rep := kernel.CompleteReply{CursorStart: r.CursorPos - len(word), CursorEnd: r.CursorPos}
	for _, c := range []kernel.Candidate{{Text: "MatMul", Kind: "method", Detail: "(other *Tensor) *Tensor"}, {Text: "Max", Kind: "method", Detail: "() *Tensor"}, {Text: "Mean", Kind: "method", Detail: "() *Tensor"}} {
		if strings.HasPrefix(c.Text, word) {
			rep.Matches, rep.Details = append(rep.Matches, c.Text), append(rep.Details, c)
		}
	}
	return rep, nil
}

func (f *fake) Inspect(_ context.Context, r kernel.InspectRequest) (kernel.InspectReply, error) {
	return kernel.InspectReply{Found: true, Data: map[string]string{"text/plain": "about " + r.Code}}, nil
}

func (f *fake) Check(_ context.Context, code string) (kernel.IsCompleteReply, error) {
	if i := strings.Index(code, "wrong"); i >= 0 {
		return kernel.IsCompleteReply{Status: "invalid", Errors: []kernel.ErrorContent{{Name: "type", Value: "undefined: wrong", Line: 1, Column: i + 1}}}, nil
	}
	return kernel.IsCompleteReply{Status: "complete"}, nil
}

func (f *fake) Info(context.Context) (kernel.KernelInfo, error) {
	return kernel.KernelInfo{Banner: "a TPU v5e", PID: 7}, nil
}

func (f *fake) Debug(_ context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Command   string          `json:"command"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(raw, &r)
	f.asked = append(f.asked, r.Command+" "+string(r.Arguments))
	body, ok := f.dap[r.Command]
	if !ok {
		body = "{}"
	}
	return json.RawMessage(`{"success":true,"body":` + body + `}`), nil
}

func (f *fake) View(_ context.Context, name string, _, into any) error {
	data := map[string]string{"debug": fmt.Sprintf(`{"frame":%d}`, f.frame), "hbm": `{"chip":"v5e","used_bytes":1024,"limit_bytes":4096}`, "vars": `{"rows":[{"name":"weights","type":"f32[2]","tensor":true,"address":-1}]}`}[name]
	if data == "" {
		return errors.New("no such view")
	}
	return json.Unmarshal([]byte(data), into)
}

func (f *fake) Wait() error { select {} }
func (f *fake) Stop()       {}
func (f *fake) Kill()       {}

// A screen drives a model without a terminal and without a clock.
type screen struct {
	*Model
	t    testing.TB
	k    *fake
	now  time.Time
	mu   sync.Mutex
	sent []tea.Msg // by goroutines beside the screen
}

func newScreen(t testing.TB, w, h int, cells ...string) *screen {
	theme, _ := ThemeNamed("dark")
	s := &screen{t: t, now: time.Unix(1_000_000, 0)}
	k := &fake{}
	s.k = k
	s.Model = New(Options{Start: func() (Kernel, error) { return k, nil }, Theme: theme, Keys: config.Default().Keys, Files: Files{Original: []byte(strings.Join(cells, "\n// %%\n"))}, Now: func() time.Time { return s.now }}, func(msg tea.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent = append(s.sent, msg)
	})
	s.later = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		return func() tea.Msg { return msg }
	}
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	s.do(s.Init())
	return s
}

// do runs a command and what follows from it; ticks are dropped.
func (s *screen) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	for _, first := range s.take() { // what came before the command ended
		_, next := s.Update(first)
		s.do(next)
	}
	switch msg := msg.(type) {
	case nil, tickMsg, autosaveMsg, tea.QuitMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	default:
		_, next := s.Update(msg)
		s.do(next)
	}
}

func (s *screen) take() []tea.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.sent
	s.sent = nil
	return list
}

// keys presses keys: words are named keys, "text is typed.
func (s *screen) keys(keys ...string) *screen {
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, `"`); ok {
			for _, r := range text {
				s.press(tea.KeyPressMsg{Text: string(r), Code: r})
			}
			continue
		}
		s.press(named(k))
	}
	return s
}

func (s *screen) press(k tea.KeyPressMsg) {
	_, cmd := s.Update(k)
	s.do(cmd)
}

// named makes the message of a key from its name.
func named(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		name = rest
	}
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": ' ',
		"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6, "f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9,
		"f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
	}
	if c, ok := codes[name]; ok {
		k.Code = c
		return k
	}
	k.Code = []rune(name)[0]
	if k.Mod&^tea.ModShift == 0 {
		k.Text = name
	}
	return k
}

// text is the screen without colours.
func (s *screen) text() string {
	rows, _, _, _ := s.frame()
	for i := range rows {
		rows[i] = strings.TrimRight(ansi.Strip(rows[i]), " ")
	}
	return strings.Join(rows, "\n")
}

func (s *screen) want(parts ...string) *screen {
	s.t.Helper()
	text := s.text()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.t.Errorf("the screen lacks %q:\n%s", p, text)
		}
	}
	return s
}

func (s *screen) lacks(parts ...string) *screen {
	s.t.Helper()
	text := s.text()
	for _, p := range parts {
		if strings.Contains(text, p) {
			s.t.Errorf("the screen has %q:\n%s", p, text)
		}
	}
	return s
}

func TestRunACell(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"print hello`, "enter").want("In[1]   print hello", "hello", "ok  1.5 ms", "In[2]")
	s.keys(`"value 42`, "enter").want("Out[2]  42")
	s.keys(`"fail it broke`, "enter").want("Err[3]  panic: it broke", "failed  1.5 ms")
}

func TestAMistakeOpensTheCellAtItsPlace(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"mistake undefined: x`, "enter").want("Err[1]  type: undefined: x", "editing In[1]")
	if s.focus != onEdit || s.editor.Cursor().Col != 8 {
		t.Fatalf("focus %d, cursor %v", s.focus, s.editor.Cursor())
	}
	s.keys("ctrl+u", `"print `, "ctrl+k", `"fixed`, "enter").want("In[2]   print fixed").lacks("mistake", "editing")
}

func TestAnUnfinishedCellGetsALine(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"if x {`, "enter")
	if got := s.input.Text(); got != "if x {\n\t" {
		t.Errorf("%q", got)
	}
}

func TestCellMode(t *testing.T) {
	s := newScreen(t, 100, 30)
	for _, c := range []string{"print a", "print b", "print c"} {
		s.keys(`"`+c, "enter")
	}
	sources := func() string {
		var list []string
		for _, c := range s.nb.cells {
			list = append(list, strings.ReplaceAll(strings.TrimPrefix(c.source, "print "), "\n", "+"))
		}
		return strings.Join(list, " ")
	}
	for _, step := range []struct {
		keys []string
		want string
	}{
		{[]string{"esc", "k", "J"}, "a c b"},
		{[]string{"u"}, "a b c"},
		{[]string{"g", "d", "d"}, "b c"},
		{[]string{"u"}, "a b c"},
		{[]string{"U"}, "b c"},
		{[]string{"u", "g", "M"}, "a+print b c"},
		{[]string{"u", "G", "a", `"x`, "esc"}, "a b x c"},
		{[]string{"u", "u", "p"}, "a b c c"},
		{[]string{"u", "g", "e", "ctrl+a", "alt+f", "esc", "S"}, "print  a b c"},
	} {
		s.keys(step.keys...)
		if got := sources(); got != step.want {
			t.Fatalf("after %v: %q, want %q\n%s", step.keys, got, step.want, s.text())
		}
	}
}

func TestRunAllStopsAtTheFirstFailure(t *testing.T) {
	s := newScreen(t, 100, 30, "print a", "fail b", "print c")
	s.keys("esc", "A")
	var got []status
	for _, c := range s.nb.cells {
		got = append(got, c.status)
	}
	if want := []status{okay, failed, aborted}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.want("not run: an earlier cell failed")
}

// What ran again on a new kernel is what ran on the one before: a cell that
// failed there holds up none of those that ran after it.
func TestARestartGoesOnPastWhatFailedBefore(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"fail a`, "enter", `"print b`, "enter").want("   b")
	s.Update(goneMsg{s.kernel, &kernel.DiedError{Status: "signal: killed"}})
	s.keys("alt+p").lacks("NO KERNEL", "not run")
	var got []status
	for _, c := range s.nb.cells {
		got = append(got, c.status)
	}
	if want := []status{failed, okay}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.keys("esc", "A").want("not run: an earlier cell failed") // asked for by hand, they stop as ever
}

func TestStaleCells(t *testing.T) {
	s := newScreen(t, 100, 40, "writes x", "reads x y", "reads z")
	s.keys("esc", "A").lacks("stale")
	s.keys("g", "r").want("stale: x changed in In[4]", "1 stale")
	s.keys("s").lacks("stale")
}

// What a stale cell made is out of date, too, and so is what was made of that;
// running a stale cell, or one that changes nothing, takes the marks away again.
func TestStaleIsTransitive(t *testing.T) {
	s := newScreen(t, 100, 60, "writes x", "from x to y", "from y to z", "from z to w", "writes y2", "from q to r", "from y2 to y2")
	s.keys("esc", "A").lacks("stale")
	s.keys("g", "r").want("stale: x changed in In[8]", "stale: y of In[2] is stale", "stale: z of In[3] is stale", "3 stale")
	s.keys("g", "j", "r").want("stale: y changed in In[9]", "stale: z of In[3] is stale", "2 stale").lacks("x changed")
	s.keys("g", "r", "s").lacks("stale")
	if got := s.nb.cells[5].count; got != 6 {
		t.Errorf("a cell that depends on nothing that changed ran as In[%d]", got)
	}
	// A cell that reads what a stale cell made is stale as soon as it has run.
	s.keys("g", "r", "g", "j", "j", "j", "r").want("z of In[")
}

// A training cell changes the weights that its optimizer was made from: the
// optimizer is stale, the cell itself is not, and another that uses the optimizer is.
func TestACellDoesNotMakeItselfStale(t *testing.T) {
	s := newScreen(t, 100, 60, "writes w", "from w to opt", "from opt to w", "reads opt")
	s.keys("esc", "A")
	s.want("stale: w changed in In[3]", "stale: opt of In[2] is stale", "2 stale")
	if n := len(s.nb.cells[2].stale); n != 0 {
		t.Errorf("the cell is stale by its own run: %v", s.nb.cells[2].stale)
	}
}

func TestADeadKernelKeepsTheScreen(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"print kept`, "enter", `"die`, "enter").want("kept", "the kernel died: exit status 2", "last words", "NO KERNEL").lacks("goroutine 1")
	s.keys("alt+r").want("kept", "the kernel was restarted").lacks("NO KERNEL")
}

// A kernel that dies while nobody waits for it is noticed, and what is being
// typed at that moment goes where it was meant to go.
func TestAKernelThatDiesWhileIdleIsNoticed(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"print kept`, "enter", `"pr`)
	s.Update(goneMsg{s.kernel, &kernel.DiedError{Status: "signal: killed"}})
	s.want("the kernel died: signal: killed", "NO KERNEL", "Alt-P")
	s.keys(`"int more`)
	s.Update(tea.PasteMsg{Content: " pasted"})
	if got := s.input.Text(); got != "print more pasted" {
		t.Errorf("typed %q", got)
	}
	s.keys("esc").lacks("Alt-P")
	s.keys("enter").want("Alt-P", "queued") // running needs a kernel
	s.keys("alt+p").want("   print kept", "   print more pasted", "more pasted").lacks("NO KERNEL", "queued")

	s.Update(goneMsg{s.kernel, &kernel.DiedError{Status: "signal: killed"}})
	s.keys("esc", `":restart`, "enter").want("the kernel was restarted").lacks("NO KERNEL")
	s.Update(goneMsg{nil, &kernel.DiedError{Status: "an older kernel"}})
	s.lacks("NO KERNEL")

	s.keys("ctrl+p") // what the user has open is not taken away
	s.Update(goneMsg{s.kernel, &kernel.DiedError{Status: "signal: killed"}})
	s.want("commands and keys", "NO KERNEL").lacks("Alt-P")
}

// What is set for good is written to the user's file, with what was there, and
// holds at once; what cannot be set changes nothing.
func TestConfigCommand(t *testing.T) {
	s := newScreen(t, 160, 40)
	s.opts.Config, s.opts.ConfigFile = config.Default(), filepath.Join(t.TempDir(), "new", "config.toml")
	s.keys(`":config`, "enter").want("ui.theme", "default", "print.lines").keys("q")
	s.keys(`":config ui.theme light`, "enter").want("holds now")
	s.keys(`":config keys.fold Z`, "enter", `":config ui.theme pink`, "enter").want("not kept")
	s.keys(`":config nonsense 1`, "enter").want("not kept", "no such setting")
	if s.theme.Name != "light" || strings.Join(s.Model.keys.Keys("fold"), " ") != "Z" {
		t.Errorf("theme %s, fold %s", s.theme.Name, strings.Join(s.Model.keys.Keys("fold"), " "))
	}
	text, err := os.ReadFile(s.opts.ConfigFile)
	if want := "[ui]\ntheme = \"light\"\n\n[keys]\nfold = \"Z\"\n"; err != nil || string(text) != want {
		t.Errorf("%q %v, want %q", text, err, want)
	}
}

// A cell that takes longer than it may is ended, but for one that the debugger holds.
func TestTimeout(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.opts.Timeout = time.Second
	s.keys(`"wait`, "enter").want("interrupt: interrupted")
}

func TestCtrlDAndCtrlC(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"text`, "ctrl+c").lacks("In:     text")
	s.keys("ctrl+y").want("text")
	s.keys("ctrl+d")
	if s.quit {
		t.Fatal("left with something typed")
	}
	s.keys("ctrl+c", "ctrl+d")
	if !s.quit {
		t.Fatal("did not leave")
	}
}

func TestPasteIsLiteral(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.Update(tea.PasteMsg{Content: "for {\r\tx := 1\x1b[2J\r}"})
	if got := s.input.Text(); got != "for {\n\tx := 1[2J\n}" {
		t.Errorf("%q", got)
	}
}

// Whatever the size, the text and the keys: exactly h rows of exactly w cells.
func TestExactSizeEverywhere(t *testing.T) {
	odd := []string{
		"print 日本語の出力 🚀 👨\u200d👩\u200d👧 ─│", "value \x1b[31mred\x1b[0m שלום مرحبا e\u0301\u200b\u202e", "fail क्षि\ttab", "// " + strings.Repeat("long ", 60),
		"for {\n\tx := 1\n\n\ty := `raw`\n}", "print " + strings.Repeat("\t日", 50), ":help",
	}
	keys := []string{"esc", "j", "k", "e", "enter", "z", "i", "pgup", "pgdown", "ctrl+end", "ctrl+home", "up", "down", "ctrl+p", "ctrl+r", "tab", "f1", "f2", "f3", "f4", "f6", "f7", "ctrl+c", "right", "left", "alt+left", "alt+up"}
	r := rand.New(rand.NewPCG(3, 4))
	for _, theme := range Themes() {
		s := newScreen(t, 80, 24)
		s.setTheme(theme)
		for _, o := range odd {
			s.input.Reset(o)
			_, cmd := s.Update(named("f8"))
			s.do(cmd)
		}
		sizes := [][2]int{{1, 1}, {1, 40}, {2, 3}, {500, 200}, {200, 1}, {60, 15}, {80, 24}, {100, 20}, {180, 50}}
		for range 120 {
			sizes = append(sizes, [2]int{1 + r.IntN(200), 1 + r.IntN(80)})
		}
		for _, size := range sizes {
			s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for range 3 {
				if k := keys[r.IntN(len(keys))]; r.IntN(2) == 0 {
					s.keys(k)
				} else {
					_, cmd := s.Update(tea.PasteMsg{Content: odd[r.IntN(len(odd))]})
					s.do(cmd)
				}
				rows, x, y, shown := s.frame()
				if len(rows) != size[1] {
					t.Fatalf("%v: %d rows", size, len(rows))
				}
				if shown && (x < 0 || y < 0 || x >= size[0] || y >= size[1]) {
					t.Fatalf("%v: cursor at %d,%d", size, x, y)
				}
				for i, row := range rows {
					if n := ansi.StringWidth(row); n != size[0] {
						t.Fatalf("%s %v: row %d is %d wide: %q", theme.Name, size, i, n, row)
					}
				}
			}
			s.quit = false
		}
	}
}

func streamOf(text string) kernel.StreamContent {
	return kernel.StreamContent{Name: "stdout", Text: text}
}

func TestEveryActionIsDone(t *testing.T) {
	done := actors()
	for _, a := range config.Actions() {
		if a.Context != config.Popup && done[a.Name] == nil {
			t.Errorf("nothing does %s", a.Name)
		}
		if a.Context != config.Popup {
			delete(done, a.Name)
		}
	}
	for name := range done {
		t.Errorf("no key can be given to %s", name)
	}
}

// A kept text that nobody answered for outlives every session that offers it,
// what is typed outlives the terminal, and an answer for one is none for another.
func TestKeptTextStays(t *testing.T) {
	dir := t.TempDir()
	path, state := filepath.Join(dir, "a.tpu"), filepath.Join(dir, "state")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	visit := func(path string, do func(s *screen)) []store.Saved {
		t.Helper()
		now = now.Add(time.Hour)
		f := Files{State: state}
		var err error
		if f.Session, err = store.Begin(state, path, now); err != nil {
			t.Fatal(err)
		}
		if path != "" {
			if f.File, _, err = store.Open(path); err != nil {
				t.Fatal(err)
			}
		}
		f.Kept = store.Kept(state, path, "", now)
		found := f.Kept
		theme, _ := ThemeNamed("dark")
		s := &screen{t: t, k: &fake{}}
		s.Model = New(Options{Start: func() (Kernel, error) { return s.k, nil }, Theme: theme, Keys: config.Default().Keys, Files: f, Now: func() time.Time { return now }}, func(tea.Msg) {})
		s.later = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
		s.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
		s.do(s.Init())
		do(s)
		s.closed()
		return found
	}
	for _, path := range []string{path, ""} {
		visit(path, func(s *screen) { s.input.Reset("y := 1") })
		visit(path, func(s *screen) { s.keys("esc", `"z := 2`, "enter").want("z := 2") }) // it runs, and is kept before
		for range 2 {
			got := visit(path, func(s *screen) { s.want("2 notebooks", "z := 2").keys(`"drop`) }) // typing is no answer
			if len(got) < 2 || !strings.Contains(got[len(got)-1].Text, "y := 1") || !strings.Contains(got[len(got)-2].Text, "z := 2") {
				t.Fatalf("%q: kept %v", path, got)
			}
			visit(path, func(s *screen) { s.want("drop").keys("alt+d", "esc") })
		}
		visit(path, func(s *screen) {
			s.keys("alt+d").want("y := 1").keys("ctrl+c").want("y := 1").keys("alt+r").want("y := 1", "recovered").lacks("Alt-D")
		})
		visit(path, func(s *screen) { s.want("y := 1").keys("esc", `":recover`, "enter").want("y := 1").keys("alt+d") })
		if got := visit(path, func(s *screen) { s.lacks("Alt-D").keys(`":recover`, "enter").want("no crash") }); len(got) > 0 {
			t.Errorf("%q: dropped, and still there: %v", path, got)
		}
	}
}

// A screen of a thousand cells, each drawn once, takes what a terminal program may take.
func TestMemoryOfAThousandCells(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	s := full(t, 1000)
	s.keys("ctrl+home")
	for range 2000 {
		s.keys("pgdown")
		s.frame()
	}
	if !s.view.follow {
		t.Error("not every cell was seen")
	}
	if got := heap() - before; got > 20<<20 {
		t.Errorf("%d MiB, want 20 at most", got>>20)
	}
	runtime.KeepAlive(s)
}
