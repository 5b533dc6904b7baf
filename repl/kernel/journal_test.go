package kernel

import (
	"context"
	"slices"
	"testing"
)

// counter gives its cells numbers and fails those named in fails.
type counter struct {
	fails map[string]string
	asked []string
	n     int
}

func (c *counter) Execute(_ context.Context, r ExecuteRequest, _ Events) (ExecuteReply, error) {
	if c.fails[r.Code] == "dies" && !r.Skip {
		return ExecuteReply{}, &DiedError{Status: "exit status 2"}
	}
	code := r.Code
	if r.Skip {
		code = "skip " + code
	}
	c.asked = append(c.asked, code)
	if r.Code == ":who" {
		return ExecuteReply{Status: "ok"}, nil
	}
	c.n++
	rep := ExecuteReply{Status: "ok", ExecutionCount: c.n, Replayed: true}
	if kind := c.fails[r.Code]; kind != "" && !r.Skip {
		rep.Status, rep.ErrorName = "error", kind
	}
	return rep, nil
}

func TestReplay(t *testing.T) {
	first := &counter{fails: map[string]string{"bad": "type", "loop": "interrupt"}}
	var j Journal
	for _, code := range []string{"a", ":who", "bad", "loop", "b"} {
		rep, err := first.Execute(context.Background(), ExecuteRequest{Code: code}, Events{})
		if err != nil {
			t.Fatal(err)
		}
		j.Note(ExecuteRequest{Code: code}, rep)
	}
	second := &counter{fails: map[string]string{"bad": "type", "b": "panic"}}
	list := j.take()
	got, err := replay(context.Background(), second, list)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "bad", "skip loop", "b"}; !slices.Equal(second.asked, want) {
		t.Errorf("asked %q, want %q", second.asked, want)
	}
	if got.Requests != 4 || got.Next != 5 || len(got.Skipped) != 1 || got.Skipped[0].Code != "loop" || len(got.Different) != 1 || got.Different[0].Code != "b" {
		t.Errorf("got %+v", got)
	}
	if j.Len() != 0 {
		t.Errorf("%d requests are left", j.Len())
	}
	third := &counter{fails: map[string]string{"bad": "dies"}}
	if got, err := replay(context.Background(), third, list); err == nil || got.Requests != 1 {
		t.Errorf("a kernel that dies in the replay: %+v, %v", got, err)
	}
}

// TestDebugIsReplayed keeps the commands that the debugger evaluated at a stop.
func TestDebugIsReplayed(t *testing.T) {
	var j Journal
	j.noteDebug([]byte(`{"arguments":{"expression":":break 3:2"}}`), []byte(`{"body":{"result":"1","replayed":true}}`))
	j.noteDebug([]byte(`{"arguments":{"expression":":print x"}}`), []byte(`{"body":{"result":"1"}}`))
	j.noteDebug([]byte(`{"arguments":{"expression":":break"}}`), []byte(`{"success":false}`))
	if list := j.take(); len(list) != 1 || list[0].request.Code != ":break 3:2" {
		t.Errorf("kept %+v", list)
	}
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		e           DiedError
		error, last string
	}{
		{DiedError{"exit status 2", "hello\nfatal error: concurrent map writes\n\ngoroutine 7 [running]:\nmain.main()\n"},
			"the kernel died: fatal error: concurrent map writes (exit status 2)", "fatal error: concurrent map writes"},
		{DiedError{"exit status 2", "runtime: goroutine stack exceeds 1000000000-byte limit\nsp=0xc0 stack=[0xc0]\nfatal error: stack overflow\n\nruntime stack:\nruntime.throw()\n"},
			"the kernel died: runtime: goroutine stack exceeds 1000000000-byte limit (exit status 2)", "fatal error: stack overflow"},
		{DiedError{"exit status 2", "panic: boom\n\ngoroutine 1 [running]:\n"}, "the kernel died: panic: boom (exit status 2)", "panic: boom"},
		{DiedError{Status: "exit status 3"}, "the kernel died: exit status 3", ""},
		{DiedError{Status: "signal: killed"}, "the kernel died: killed from outside, as the system does when memory runs out (signal: killed)", ""},
	} {
		last := ""
		if w := tt.e.Words(1); len(w) > 0 {
			last = w[0]
		}
		if tt.e.Error() != tt.error || last != tt.last {
			t.Errorf("got %q and %q, want %q and %q", tt.e.Error(), last, tt.error, tt.last)
		}
	}
}
