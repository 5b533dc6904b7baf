package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/trace"
)

// places writes a stack as func@cell:line:column, innermost first.
func places(st *trace.Stack) string {
	if st == nil {
		return "none"
	}
	var out []string
	for _, f := range st.Frames {
		out = append(out, fmt.Sprintf("%s@%d:%d:%d", f.Func, f.Cell, f.Line, f.Column))
	}
	return strings.Join(out, " ")
}

func TestPanicStack(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cells []string
		text  string
		stack string
	}{
		{"index", []string{"xs := []int{1, 2, 3}\ni := 5\nxs[i]"}, "runtime error: index out of range [5] with length 3", "(cell)@1:3:3"},
		{"nil map", []string{"var m map[string]int\nm[\"a\"] = 1"}, "assignment to entry in nil map", "(cell)@1:2:2"},
		{"divide", []string{"z := 0\nfunc f(a int) int {\n\treturn a / z\n}", "1 + f(2)"}, "runtime error: integer divide by zero", "f@1:3:11 (cell)@2:1:5"},
		{"two calls", []string{"func f(a int) int {\n\tif a > 1 {\n\t\tpanic(\"big\")\n\t}\n\treturn a\n}\nf(1) + f(2)"}, "big", "f@1:3:3 (cell)@1:7:8"},
		{"nil pointer", []string{"type P struct{ X int }\nvar p *P\np.X"}, "runtime error: invalid memory address or nil pointer dereference", "(cell)@1:3:3"},
		{"in a literal", []string{"f := func() { panic(fmt.Errorf(\"e %d\", 1)) }", "for i := 0; i < 3; i++ {\n\tf()\n}"}, "e 1", "(cell).func1@1:1:15 (cell)@2:2:2"},
		{"deferred", []string{"func f() {\n\tdefer func() { panic(\"two\") }()\n\tpanic(\"one\")\n}\nf()"}, "one\n\tpanic: two", "f.func1@1:2:17 f@1:3:2 (cell)@1:5:1"},
		{"recovered and again", []string{"func f() (err error) {\n\tdefer func() { if e := recover(); e != nil { err = fmt.Errorf(\"%v\", e) } }()\n\tpanic(\"one\")\n}\nif f() != nil {\n\tpanic(\"later\")\n}"}, "later", "(cell)@1:6:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t, Options{})
			var err error
			for _, c := range tt.cells {
				if _, err = s.try(c); err != nil {
					break
				}
			}
			var p *PanicError
			if !errors.As(err, &p) {
				t.Fatalf("error %v, want a panic", err)
			}
			if p.Text != tt.text {
				t.Errorf("text %q, want %q", p.Text, tt.text)
			}
			if got := places(p.Stack); got != tt.stack {
				t.Errorf("stack %s, want %s", got, tt.stack)
			}
			if got := s.show("1 + 1"); got != "2 (int)" {
				t.Errorf("the session is gone: %s", got)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	for _, src := range []string{
		"for {\n}",
		"for { n++ }",
		"func spin() { for { n++ } }\nspin()",
		"func rec() { rec2() }\nfunc rec2() { for i := 0; ; i++ { n = i } }\nrec()",
		"<-time.After(time.Hour)",
		"ctx, cancel := context.WithCancel(context.Background())\n_ = cancel\n<-ctx.Done()",
		"c := make(chan int)\nselect {\ncase <-c:\n}",
		"time.Sleep(time.Hour)",
		"defer func() { m = 7 }()\nfor {\n}",
		"defer func() { recover() }()\nfor {\n}",
	} {
		s := newSession(t, Options{})
		s.show("import \"context\"")
		s.show("n := 0; m := 0; inc := func() int { n++; return n }")
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		began := time.Now()
		_, err := s.in.Run(ctx, Source{Cell: 9, Text: src})
		var e *InterruptError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, want an interrupt", src, err)
			continue
		}
		if e.Abandoned {
			t.Errorf("%q: left behind", src)
		}
		if e.Stack == nil || len(e.Stack.Frames) == 0 {
			t.Errorf("%q: no stack", src)
		}
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("%q: took %v", src, d)
		}
		if got := s.show("n = 0; inc() + inc()"); got != "3 (int)" {
			t.Errorf("%q: closures of before give %s", src, got)
		}
	}
}

func TestDeadlock(t *testing.T) {
	for _, tt := range []struct{ src, waits string }{
		{"c := make(chan int)\n<-c", "chan receive (cell)@1:2:1"},
		{"c := make(chan int)\nc <- 1", "chan send (cell)@1:2:3"},
		{"c := make(chan int)\nfor range c {\n}", "chan receive (cell)@1:2:1"},
		{"select {}", "select (no cases) (cell)@1:1:1"},
		{"var c chan int\nfunc f() {\n\t<-c\n}\ngo f()\n<-c", "chan receive (nil chan) (cell)@1:6:1; chan receive (nil chan) f@1:3:2 (cell)@1:5:1"},
	} {
		s := newSession(t, Options{})
		_, err := s.try(tt.src)
		var e *DeadlockError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, want a deadlock", tt.src, err)
			continue
		}
		var got []string
		for _, w := range e.Waits {
			got = append(got, w.For+" "+places(w.Stack))
		}
		if text := strings.Join(got, "; "); text != tt.waits {
			t.Errorf("%q: got %s, want %s", tt.src, text, tt.waits)
		}
		if got := s.show("1 + 1"); got != "2 (int)" {
			t.Errorf("%q: the session is gone: %s", tt.src, got)
		}
	}
	s := newSession(t, Options{})
	if got := s.show("c := make(chan int)\ngo func() { time.Sleep(120 * time.Millisecond); c <- 5 }()\n<-c"); got != "5 (int)" {
		t.Errorf("a goroutine that sleeps is no deadlock: %s", got)
	}
}

func TestTimeout(t *testing.T) {
	s := newSession(t, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err := s.in.Run(ctx, Source{Cell: 1, Text: "for {\n}"})
	var e *TimeoutError
	if !errors.As(err, &e) {
		t.Fatalf("%v, want a timeout", err)
	}
}

func TestDepth(t *testing.T) {
	s := newSession(t, Options{MaxDepth: 3000})
	_, err := s.try("func f(n int) int { return f(n+1) + 1 }\nf(0)")
	var e *DepthError
	if !errors.As(err, &e) {
		t.Fatalf("%v, want a depth error", err)
	}
	if e.Stack.Top().Func != "f" {
		t.Errorf("stack %s", places(e.Stack))
	}
	if got := s.show("1 + 1"); got != "2 (int)" {
		t.Errorf("the session is gone: %s", got)
	}
}

func TestExit(t *testing.T) {
	s := newSession(t, Options{})
	_, err := s.try("os.Exit(3)")
	var e *ExitError
	if !errors.As(err, &e) || e.Code != 3 {
		t.Fatalf("%v, want exit 3", err)
	}
}

func TestGoroutinePanic(t *testing.T) {
	got := make(chan *GoroutineError, 1)
	s := newSession(t, Options{OnGoroutinePanic: func(e *GoroutineError) { got <- e }})
	s.show("func bad(n int) { panic(n) }\nfunc start() {\n\tgo bad(4)\n}\nstart()")
	select {
	case e := <-got:
		if e.Panic.Text != "4" || places(e.Panic.Stack) != "bad@1:1:19 start@1:3:2 (cell)@1:5:1" {
			t.Errorf("%v at %s", e, places(e.Panic.Stack))
		}
	case <-time.After(5 * time.Second):
		t.Fatal("not reported")
	}
}

func TestPanicKeepsError(t *testing.T) {
	s := newSession(t, Options{})
	_, err := s.try("_, e := os.Open(\"/does/not/exist\")\npanic(e)")
	var p *PanicError
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	if p.Unwrap() == nil {
		t.Fatalf("the error was lost: %T", p.Value)
	}
}
