package dap

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/runtime/exec"
)

var update = flag.Bool("update", false, "record the conversations of testdata again")

// inProcess is a kernel without a process.
type inProcess struct {
	s *repl.Session
	a *Adapter

	mu     sync.Mutex
	event  func(json.RawMessage)
	closed sync.Once
}

func newInProcess(t *testing.T, l LaunchArguments) (*inProcess, error) {
	o := repl.Options{}
	if l.Mode != "" {
		m, err := exec.LookupMode(l.Mode)
		if err != nil {
			return nil, err
		}
		o.Mode = m
	}
	s, err := repl.NewSession(o)
	if err != nil {
		return nil, err
	}
	k := &inProcess{s: s}
	k.a = New(s, func(e any) bool {
		b, _ := json.Marshal(e)
		k.mu.Lock()
		f := k.event
		k.mu.Unlock()
		f(b)
		return true
	})
	t.Cleanup(k.stop)
	return k, nil
}

func (k *inProcess) stop() { k.closed.Do(func() { k.s.Close() }) }

func (k *inProcess) OnDebug(f func(json.RawMessage)) { k.event = f }

func (k *inProcess) Debug(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	return k.a.Handle(ctx, raw), nil
}

func (k *inProcess) Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error) {
	out := streams(ev.Stream)
	if repl.IsCommand(r.Code) {
		return kernel.ExecuteReply{Status: "ok"}, k.a.Command(r.Code)
	}
	c := k.s.Run(ctx, r.Code, r.File, r.FirstLine, out)
	if c == nil {
		return kernel.ExecuteReply{Status: "ok"}, nil
	}
	if len(c.Values) > 0 {
		text, err := k.s.Show(ctx, c)
		if err != nil {
			k.s.Fail(c, err)
		} else {
			ev.Result(kernel.ResultContent{ExecutionCount: c.ID, Data: map[string]string{"text/plain": text}})
		}
	}
	for _, x := range c.Reports {
		ev.Error(kernel.ErrorContent{Name: x.Kind, Value: x.Message, Traceback: x.Block, File: x.File, Cell: x.Cell, Line: x.Line, Column: x.Column})
	}
	return kernel.ExecuteReply{Status: c.Status, Exit: c.Exit}, nil
}

type streams func(kernel.StreamContent)

func (s streams) Stream(name, text string) { s(kernel.StreamContent{Name: name, Text: text}) }
func (s streams) Input() (string, error)   { return "", io.EOF }

// A client plays a script and writes down what it is told. A line of a script
// is a request (stackTrace {"threadId":1}), bytes to be sent as they are (raw
// "…"), answer for the response of a request that ended in &, or wait EVENT: the events up to that one are written down.
type client struct {
	t       *testing.T
	c       *conn
	program string
	events  []map[string]any
	ahead   map[string]bool  // commands whose responses are asked for later
	kept    []map[string]any // those that came first
	in      chan map[string]any
	log     strings.Builder
	seq     int
}

// patience is how long a client waits for a message before it gives up.
const patience = 20 * time.Second

func (c *client) next(what string) map[string]any {
	c.t.Helper()
	select {
	case m, ok := <-c.in:
		if !ok {
			return nil
		}
		return m
	case <-time.After(patience):
		c.t.Fatalf("no %s came; so far\n%s", what, c.log.String())
	}
	return nil
}

func (c *client) body(m map[string]any) string {
	b, _ := json.Marshal(m["body"])
	text := strings.ReplaceAll(string(b), c.program, "PROGRAM")
	if text == "null" {
		return ""
	}
	return " " + text
}

func (c *client) play(script string) {
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		line, ahead := strings.CutSuffix(line, " &")
		if line == "" || strings.HasPrefix(line, "< ") || strings.HasPrefix(line, "* ") {
			continue
		}
		if c.log.Len() > 0 {
			c.log.WriteByte('\n')
		}
		c.log.WriteString(line)
		if ahead {
			c.log.WriteString(" &")
		}
		c.log.WriteByte('\n')
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "wait":
			c.wait(rest)
			continue
		case "answer":
			c.response(rest)
			continue
		case "raw":
			var text string
			if err := json.Unmarshal([]byte(rest), &text); err != nil {
				c.t.Fatalf("%s: %v", line, err)
			}
			c.c.mu.Lock()
			_, _ = io.WriteString(c.c.w, text)
			c.c.mu.Unlock()
		default:
			c.c.seq = max(c.c.seq, c.seq)
			args := strings.ReplaceAll(rest, "PROGRAM", c.program)
			m := map[string]any{"type": "request", "command": verb}
			if args != "" {
				m["arguments"] = json.RawMessage(args)
			}
			if err := c.c.write(m); err != nil {
				c.t.Fatalf("%s: %v", line, err)
			}
		}
		if ahead {
			c.ahead[verb] = true
		} else {
			c.response(verb)
		}
	}
}

// response writes the next response down; events that come first are kept.
func (c *client) response(what string) {
	for {
		var m map[string]any
		if i := slices.IndexFunc(c.kept, func(m map[string]any) bool { return m["command"] == what }); i >= 0 {
			m = c.kept[i]
			c.kept = slices.Delete(c.kept, i, i+1) // which clears what was the last
		} else {
			m = c.next("response to " + what)
		}
		switch {
		case m != nil && m["type"] == "response" && c.ahead[fmt.Sprint(m["command"])] && m["command"] != what:
			c.kept = append(c.kept, m)
		case m == nil:
			c.log.WriteString("< closed\n")
			return
		case m["type"] == "event":
			c.events = append(c.events, m)
		case m["success"] == true:
			if what == "initialize" {
				fmt.Fprintf(&c.log, "< %v\n", m["command"])
				return
			}
			fmt.Fprintf(&c.log, "< %v%s\n", m["command"], c.body(m))
			return
		default:
			fmt.Fprintf(&c.log, "< %v failed: %s\n", m["command"], strings.ReplaceAll(fmt.Sprint(m["message"]), c.program, "PROGRAM"))
			return
		}
	}
}

// wait writes the events up to one of a name down; pieces of output are joined.
func (c *client) wait(name string) {
	var category, text string
	flush := func() {
		if text != "" {
			fmt.Fprintf(&c.log, "* output %s %q\n", category, strings.ReplaceAll(text, c.program, "PROGRAM"))
		}
		text = ""
	}
	for {
		var m map[string]any
		if len(c.events) > 0 {
			m, c.events = c.events[0], c.events[1:]
		} else {
			m = c.next("event " + name)
		}
		if m == nil {
			flush()
			c.log.WriteString("* closed\n")
			return
		}
		body, _ := m["body"].(map[string]any)
		if m["event"] == "output" {
			if body["category"] != category {
				flush()
			}
			category = fmt.Sprint(body["category"])
			text += fmt.Sprint(body["output"])
			continue
		}
		flush()
		fmt.Fprintf(&c.log, "* %v%s\n", m["event"], c.body(m))
		if m["event"] == name {
			return
		}
	}
}

// TestConversations plays the recorded conversations of testdata: what is
// answered and told must be what was recorded.
func TestConversations(t *testing.T) {
	converse(t, *update, func(t *testing.T, r io.ReadCloser, w io.WriteCloser) {
		_ = Serve(context.Background(), r, w, Options{
			Read: func(path string) (*repl.Notebook, error) {
				src, err := os.ReadFile(path)
				var wrong *os.PathError
				if errors.As(err, &wrong) { // as the program says it
					return nil, fmt.Errorf("%s: %w", path, wrong.Err)
				}
				return repl.ParseNotebook(path, src), nil
			},
			Start: func(l LaunchArguments) (Kernel, func(), error) {
				k, err := newInProcess(t, l)
				if err != nil {
					return nil, nil, err
				}
				return k, func() {}, nil
			},
		})
		w.Close()
		r.Close()
	})
}

// TestConversationsWithProgram plays them with the program itself, its kernel in
// a process of its own: what is answered and told is the same.
func TestConversationsWithProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("the program is built")
	}
	program := filepath.Join(t.TempDir(), "tpush")
	if out, err := osexec.Command("go", "build", "-o", program, "../../cmd/tpush").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	converse(t, false, func(t *testing.T, r io.ReadCloser, w io.WriteCloser) {
		cmd := osexec.Command(program, "dap")
		cmd.Stdout = w
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Error(err)
		} else {
			go func() {
				_, _ = io.Copy(in, r)
				in.Close()
			}()
			_ = cmd.Wait()
		}
		w.Close()
		r.Close()
	})
}

// converse plays the recorded conversations with what serve runs.
func converse(t *testing.T, update bool, serve func(t *testing.T, r io.ReadCloser, w io.WriteCloser)) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no conversations")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(t.TempDir(), "program.tpu")
			script := &ar.Files[len(ar.Files)-1]
			if err := os.WriteFile(program, ar.Files[0].Data, 0o666); err != nil {
				t.Fatal(err)
			}
			r, in := io.Pipe()
			out, w := io.Pipe()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				serve(t, r, w)
			}()
			c := &client{t: t, c: newConn(out, in), program: program, ahead: map[string]bool{}, in: make(chan map[string]any, 1024)}
			go func() {
				defer close(c.in)
				for {
					content, err := c.c.read()
					if err != nil {
						return
					}
					var m map[string]any
					if json.Unmarshal(content, &m) == nil {
						c.in <- m
					}
				}
			}()
			c.play(string(script.Data))
			in.Close()
			<-ended
			if got := c.log.String(); update {
				script.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got != string(script.Data) {
				t.Errorf("the conversation differs from %s:\n%s", file, firstDifference(string(script.Data), got))
			}
		})
	}
}

// firstDifference shows the first lines that differ.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, x, y)
		}
	}
	return ""
}
