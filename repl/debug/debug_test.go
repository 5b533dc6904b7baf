package debug_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/debug"
)

type sink struct{}

func (sink) Stream(string, string)  {}
func (sink) Input() (string, error) { return "", io.EOF }

// A run is a session whose stops are handed to the test.
type run struct {
	t     testing.TB
	s     *repl.Session
	d     *debug.Debugger
	stops chan *debug.Stop
}

func (r *run) Stopped(st *debug.Stop) { go func() { r.stops <- st }() }
func (r *run) Continued()             {}
func (r *run) Log(string)             {}
func (r *run) Command(string) error   { return nil }

func newRun(t testing.TB) *run {
	t.Helper()
	s, err := repl.NewSession(repl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r := &run{t: t, s: s, d: s.Debugger(), stops: make(chan *debug.Stop)}
	s.ListenDebug(r)
	return r
}

func (r *run) set(spec string) *debug.Breakpoint {
	r.t.Helper()
	b, err := debug.Parse(spec)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := r.d.Set(b)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// start runs a cell; its end is sent.
func (r *run) start(ctx context.Context, text string) chan *repl.Cell {
	ended := make(chan *repl.Cell, 1)
	go func() { ended <- r.s.Run(ctx, text, "", 1, sink{}) }()
	return ended
}

const patience = 20 * time.Second

// stop waits for a stop.
func (r *run) stop() *debug.Stop {
	r.t.Helper()
	select {
	case st := <-r.stops:
		return st
	case <-time.After(patience):
		r.t.Fatal("no stop")
		return nil
	}
}

// end waits for the end of a cell.
func (r *run) end(ended chan *repl.Cell) string {
	r.t.Helper()
	select {
	case c := <-ended:
		text := c.Status
		for _, x := range c.Reports {
			text += " " + x.Kind
		}
		for _, v := range c.Values {
			text += fmt.Sprint(" ", v.Value)
		}
		return text
	case <-time.After(patience):
		r.t.Fatal("the cell does not end")
		return ""
	}
}

func (r *run) resume(a debug.Action) {
	r.t.Helper()
	if err := r.d.Resume(debug.Resume{Action: a}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) eval(expr string) string {
	r.t.Helper()
	v, err := r.d.Eval(-1, expr)
	if err != nil {
		return "error: " + err.Error()
	}
	var list []string
	for _, x := range v {
		list = append(list, fmt.Sprint(x.Value))
	}
	return strings.Join(list, ", ")
}

func TestInterruptEndsAStoppedCell(t *testing.T) {
	r := newRun(t)
	r.set("1:3")
	ctx, cancel := context.WithCancel(context.Background())
	ended := r.start(ctx, "n := 0\nfor {\n\tn++\n}")
	r.stop()
	cancel()
	if got := r.end(ended); got != "error interrupt" {
		t.Errorf("ended %q", got)
	}
	if r.d.Stopped() != nil {
		t.Error("it is still stopped")
	}
	if err := r.d.Resume(debug.Resume{}); err == nil {
		t.Error("what is not stopped was resumed")
	}
	if got := r.end(r.start(context.Background(), "n + 1")); got != "ok 1" {
		t.Errorf("the session is not well: %s", got)
	}
}

func TestInterruptEndsAnEvaluation(t *testing.T) {
	r := newRun(t)
	r.end(r.start(context.Background(), "func spin() int { for { } }"))
	r.set("2:1")
	ctx, cancel := context.WithCancel(context.Background())
	ended := r.start(ctx, "x := 1")
	r.stop()
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := r.d.Eval(-1, "spin()")
	if got := r.end(ended); got != "error interrupt" || err == nil {
		t.Errorf("ended %q, evaluation %v", got, err)
	}
}

func TestPause(t *testing.T) {
	r := newRun(t)
	r.end(r.start(context.Background(), "run := true\nn := 0"))
	ended := r.start(context.Background(), "for run {\n\tn++\n}\nrun")
	for !r.d.Pause() {
		time.Sleep(time.Millisecond)
	}
	st := r.stop()
	if st.Reason != debug.Paused {
		t.Errorf("stopped for %q", st.Reason)
	}
	if got := r.eval("run = false"); got != "" {
		t.Error(got)
	}
	r.resume(debug.Continue)
	if got := r.end(ended); got != "ok false" {
		t.Errorf("ended %q", got)
	}
}

// While one goroutine is stopped the others begin no statement, and steps stay
// on the one that is stopped.
func TestGoroutines(t *testing.T) {
	r := newRun(t)
	r.set("1:10")
	ended := r.start(context.Background(), `import "sync/atomic"; count := 0
var stop atomic.Bool
done, begun := make(chan bool), make(chan bool)
go func() { begun <- true
	for !stop.Load() {
		count++
	}
	done <- true
}(); <-begun
a := 1
b := a + 1
stop.Store(true)
<-done
b`)
	r.stop()
	list, err := r.d.Threads()
	if err != nil || len(list) != 2 {
		t.Fatalf("%d goroutines, %v", len(list), err)
	}
	if !list[0].Main || !list[0].Stopped || list[1].Main || list[1].Stopped {
		t.Errorf("goroutines %+v", list)
	}
	first := r.eval("count")
	if again := r.eval("count"); again != first {
		t.Errorf("the other goroutine went on: %s, %s", first, again)
	}
	for i := range 2 {
		r.resume(debug.StepNext)
		if st := r.stop(); st.Place.Line != 11+i {
			t.Errorf("step %d at line %d", i, st.Place.Line)
		}
	}
	if err := r.d.SelectThread(list[1].ID); err != nil {
		t.Error(err)
	}
	frames, err := r.d.Frames()
	if err != nil || len(frames) == 0 || !strings.Contains(frames[0].Place.Func, "func1") {
		t.Errorf("frames %v, %v", frames, err)
	}
	r.resume(debug.Continue)
	if got := r.end(ended); got != "ok 2" {
		t.Errorf("ended %q", got)
	}
}

// A goroutine that outlives its statement stops the cell before it ends.
func TestStopInALateGoroutine(t *testing.T) {
	r := newRun(t)
	r.set("1:4")
	ended := r.start(context.Background(), "c := make(chan int)\nd := make(chan int)\ngo func() {\n\td <- <-c + 1\n}()\nc <- 4\n<-d")
	if st := r.stop(); st.Place.Line != 4 {
		t.Errorf("at %v", st.Place)
	}
	r.resume(debug.Continue)
	if got := r.end(ended); got != "ok 5" {
		t.Errorf("ended %q", got)
	}
}

// HBM at a stop is what the program holds: what earlier statements dropped and
// what evaluations made is given back.
func TestMemoryAtAStop(t *testing.T) {
	r := newRun(t)
	r.set("1:3")
	ended := r.start(context.Background(), "x := tpu.Ones(1024, 256)\ny := x.Add(1).Mul(2).Sum()\nz := y.Add(1)\nz")
	r.stop()
	used := r.s.Device().HBM().Used()
	if used < 1<<20 || used > 1<<20+64<<10 {
		t.Errorf("%d bytes at the stop, want one tensor of 1 MiB", used)
	}
	r.eval("x.Add(1).Add(2).Sum()")
	if now := r.s.Device().HBM().Used(); now != used {
		t.Errorf("%d bytes after an evaluation, %d before", now, used)
	}
	r.resume(debug.Continue)
	r.end(ended)
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"3:2", "In[3]:2"}, {"In[3]:2 if x > 1 hit >= 4", "In[3]:2 if x > 1 hit >= 4"}, {"train.tpu:14 hit 3", "train.tpu:14 hit == 3"},
		{"train", "train"}, {"(*Model).Step if n % 2 == 0", "(*Model).Step if n % 2 == 0"}, {"op gather shape[0] > 4096", "op gather if shape[0] > 4096"},
		{"op add dtype == bf16 if n > 1", "op add if (dtype == bf16) && (n > 1)"}, {"nan in h", "nan in h"}, {"inf", "inf"}, {"mem > 14GiB", "mem > 14.0 GiB"},
		{"mem>1.5M", "mem > 1.5 MiB"}, {"cut", "cut"}, {"cut item()", "cut item()"}, {"error oom hit % 2", "error oom hit % 2"}, {"change x", "change x"},
		{"", "error"}, {"op", "error"}, {"change x.y", "error"}, {"0:1", "error"}, {"3:", "error"}, {"a b", "error"}, {"3:2 if ", "error"}, {"mem > x", "error"},
	} {
		b, err := debug.Parse(tt.text)
		got := b.String()
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// A predicate joins what it asks of operands with any Go of the frame.
func TestPredicates(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"op add shape[0] > 3", "2 3"}, {"op add shape[0] > 3 if strings.HasSuffix(name, \"c\")", "3"}, {"op add !(shape[0] > 3)", "1"},
		{"op add self.rank == 1 && len(xs[:1]) == 1", "1 2 3"}, {"op add dtype == bf16 || n == 1", "1"}, {"op add n > 1 && (shape[0] == 5 || xs[0] == 4)", "2 3"},
		{"op add len(xs) == 2", "1 2 3"},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			r := newRun(t)
			r.set(tt.spec)
			ended := r.start(context.Background(), `import "strings"
xs := []int{4, 5}
f := func(n int, name string) {
	x := tpu.Ones(n+2)
	x.Add(1)
}
f(1, "a"+strings.ToLower("X"))
f(3, "b")
f(3, "c")`)
			var got []string
			r.each(ended, func(st *debug.Stop) {
				if len(st.Failed) > 0 {
					t.Fatal(st.Failed)
				}
				got = append(got, map[string]string{"ax": "1", "b": "2", "c": "3"}[r.eval("name")])
			})
			if strings.Join(got, " ") != tt.want {
				t.Errorf("stops at %v, want %s", got, tt.want)
			}
		})
	}
}

// each looks at the stops of a cell, which goes on after each, until it ends well.
func (r *run) each(ended <-chan *repl.Cell, look func(st *debug.Stop)) {
	r.t.Helper()
	for {
		select {
		case st := <-r.stops:
			look(st)
			r.resume(debug.Continue)
		case c := <-ended:
			if c.Status != "ok" {
				r.t.Error(c.Reports)
			}
			return
		}
	}
}

// Conditions of every form stop where Go says that they hold.
func TestConditions(t *testing.T) {
	const cellText = `type point struct{ x, y int }
type flag bool
type named interface{ Name() string }
func (p point) Name() string { return fmt.Sprint("p", p.x) }
even := func(n int) bool { return n%2 == 0 }
func sum(xs ...int) (s int) { for _, x := range xs { s += x }; return }
m := map[string]int{}
n := 0
for i, w := range []string{"a", "bb", "ccc", "dddd"} {
	var p named = point{i, n}
	var on flag = i > 1
	m[w] = i
	q := &point{i, 2}
	n += i
}
n`
	for _, tt := range []struct{ cond, want string }{
		{"i == 2", "2"}, {"even(i)", "0 2"}, {"sum(i, 1, n) > 3", "2 3"}, {"p.Name() == \"p1\"", "1"}, {"p.(point).x == 3", "3"}, {"bool(on)", "2 3"}, {"on", "2 3"}, {"!on && i > 0", "1"},
		{"m[w] == 1", "1"}, {"*q == point{3, 2}", "3"}, {"func() bool { defer func() { recover() }(); return []int{1, 2}[i] == 2 }()", "1"},
		{"strings.Contains(w, \"cc\")", "2"}, {"len(w[1:]) == 2", "2"}, {"q.x+q.y == 4", "2"}, {"w < \"b\" || i == 3", "0 3"}, {"[]int{1, 2}[i] == 2", "1 2! 3!"}, {"1/i == 1", "0! 1"},
		{"tpu.Ones(i+1).Dim(0) == 2 && len(tpu.Ones(i+1).Dims()) == 1", "1"}, {"any(i) == any(2)", "2"}, {"float32(i)*0.5 == 1", "2"}, {"i&1 == 1 && i<<1 > 2", "3"}, {"true", "0 1 2 3"},
	} {
		t.Run(tt.cond, func(t *testing.T) {
			r := newRun(t)
			r.end(r.start(context.Background(), "import \"strings\"\nstrings.ToUpper(\"x\")"))
			r.set("2:14 if " + tt.cond)
			ended := r.start(context.Background(), cellText)
			var got []string
			r.each(ended, func(st *debug.Stop) {
				at := r.eval("i")
				if len(st.Failed) > 0 {
					at += "!"
				}
				got = append(got, at)
			})
			if strings.Join(got, " ") != tt.want {
				t.Errorf("stops at %v, want %s", got, tt.want)
			}
		})
	}
}

func TestNoConditions(t *testing.T) {
	r := newRun(t)
	r.end(r.start(context.Background(), "n := 1\nn++"))
	for _, tt := range []struct{ cond, want string }{
		{"n", "n: a condition is of type bool, not int"}, {"x := 1; x > 0", "x := 1; x > 0: a condition is one expression of type bool"},
		{"n = 2", "n = 2: a condition is one expression of type bool"}, {"nothing > 1", "undefined: nothing"}, {"fmt.Println", "not func("},
	} {
		b, err := debug.Parse("1:2 if " + tt.cond)
		if err == nil {
			_, err = r.d.Set(b)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.cond, err)
		}
	}
}

// The cost of a hit whose condition does not hold, and of a statement while a
// breakpoint is set elsewhere.
func BenchmarkStatement(b *testing.B) {
	for _, bb := range []struct{ name, spec string }{
		{"off", ""}, {"armed elsewhere", "99:1"}, {"condition", "1:4 if i < 0 && len(xs) == 3"}, {"condition with a slice", "1:4 if len(xs[:1]) == 0"}, {"condition with a call", "1:4 if even(i) && i < 0"}, {"condition with a method", "1:4 if p.Over(i)"},
		{"condition with a library", "1:4 if strings.HasPrefix(name, \"x\")"}, {"condition with a map", "1:4 if m[name] == 3"}, {"condition with an interface", "1:4 if v == any(3)"}, {"hit count", "1:4 hit == -1"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := newRun(b)
			if bb.spec != "" {
				p, err := debug.Parse(strings.TrimSuffix(bb.spec, " hit == -1"))
				if err != nil {
					b.Fatal(err)
				}
				if strings.Contains(bb.spec, "hit") {
					p.Hit = debug.HitRule{Op: "==", N: -1}
				}
				if _, err := r.d.Set(p); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			r.end(r.start(context.Background(), fmt.Sprintf(benchDecls+"; xs := []int{1, 2}\nn := 0\nfor i := 0; i < %d; i++ {\n\tn += i + len(xs)\n}", b.N)))
		})
	}
}

const benchDecls = `import "strings"; type point struct{ x int }; func (p point) Over(i int) bool { return i < p.x }; even := func(n int) bool { return n%%2 == 0 }; name := strings.ToLower("ABC"); m := map[string]int{"abc": 1}; p := point{}; var v any = p`

// The cost of an op that a breakpoint's predicate lets pass.
func BenchmarkPredicate(b *testing.B) {
	for _, bb := range []struct{ name, spec string }{
		{"off", ""}, {"other op", "op gather"}, {"shape", "op add shape[0] > 4096"}, {"dtype", "op add dtype == bf16"}, {"operand and frame", "op add self.rank == 1 && i < 0"}, {"with Go", "op add shape[0] < 4 && len(xs[:1]) == 0"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := newRun(b)
			if bb.spec != "" {
				r.set(bb.spec)
			}
			b.ResetTimer()
			r.end(r.start(context.Background(), fmt.Sprintf("xs := []int{1, 2}\nx := tpu.Ones(2)\nfor i := 0; i < %d; i++ {\n\tx.Add(1)\n}", b.N)))
		})
	}
}
