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
	ended := r.start(context.Background(), `count := 0
stop := false
done, begun := make(chan bool), make(chan bool)
go func() { begun <- true
	for !stop {
		count++
	}
	done <- true
}(); <-begun
a := 1
b := a + 1
stop = true
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

// The cost of a hit whose condition does not hold, and of a statement while a
// breakpoint is set elsewhere.
func BenchmarkStatement(b *testing.B) {
	for _, bb := range []struct{ name, spec string }{
		{"off", ""}, {"armed elsewhere", "99:1"}, {"condition", "1:4 if i < 0 && len(xs) == 3"}, {"condition by the interpreter", "1:4 if len(xs[:1]) == 0"}, {"hit count", "1:4 hit == -1"},
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
			r.end(r.start(context.Background(), fmt.Sprintf("xs := []int{1, 2}\nn := 0\nfor i := 0; i < %d; i++ {\n\tn += i + len(xs)\n}", b.N)))
		})
	}
}
