package dap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
)

// echo is a kernel whose debugger answers every request with its arguments.
type echo struct{ event func(json.RawMessage) }

func (k *echo) Execute(_ context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error) {
	ev.Stream(kernel.StreamContent{Name: "stdout", Text: r.Code})
	ev.Debug(json.RawMessage(`{"type":"event","event":"continued","body":{"threadId":1}}`))
	return kernel.ExecuteReply{Status: "ok"}, nil
}

func (k *echo) Debug(_ context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Command string          `json:"command"`
		Args    json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	switch r.Command {
	case "evaluate":
		return nil, errors.New("the kernel died")
	case "pause":
		return json.RawMessage(`{"success":false,"message":"nothing runs"}`), nil
	}
	if len(r.Args) == 0 {
		r.Args = json.RawMessage(`{}`)
	}
	return json.RawMessage(fmt.Sprintf(`{"success":true,"body":%s}`, r.Args)), nil
}

func (k *echo) OnDebug(f func(json.RawMessage)) { k.event = f }

func testOptions() Options {
	return Options{
		Read: func(path string) (*repl.Notebook, error) {
			if strings.HasSuffix(path, "missing.tpu") {
				return nil, errors.New("no such file")
			}
			return repl.ParseNotebook(path, []byte("x := 1\n// %%\ny := 2\n")), nil
		},
		Start: func(a LaunchArguments) (Kernel, func(), error) {
			if a.Mode == "wrong" {
				return nil, nil, errors.New("no such mode")
			}
			return &echo{}, func() {}, nil
		},
	}
}

func framed(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(m), m)
	}
	return b.String()
}

// sent gives the messages that a server wrote, without their numbers.
func sent(t testing.TB, out []byte) []map[string]any {
	t.Helper()
	c := newConn(bytes.NewReader(out), io.Discard)
	var list []map[string]any
	for last := 0; ; {
		content, err := c.read()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatalf("what the server wrote is broken: %v", err)
		}
		var m map[string]any
		if err := json.Unmarshal(content, &m); err != nil {
			t.Fatal(err)
		}
		if seq := int(m["seq"].(float64)); seq != last+1 {
			t.Fatalf("message %d follows %d", seq, last)
		}
		last++
		list = append(list, m)
	}
}

const begin = `{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"tpush"}}`

// Wrong messages get error responses, and the conversation goes on.
func TestWrongMessages(t *testing.T) {
	launch := `{"seq":2,"type":"request","command":"launch","arguments":{"program":"a.tpu"}}`
	for _, tt := range []struct{ name, message, want string }{
		{"no JSON", `{"seq":`, "bad message"},
		{"an array", `[1,2]`, "bad message"},
		{"not a type", `{"seq":9,"type":"question","command":"threads"}`, "neither request"},
		{"no seq", `{"type":"request","command":"threads"}`, "no positive number"},
		{"seq of a string", `{"seq":"x","type":"request","command":"threads"}`, "bad message"},
		{"seq of before", `{"seq":2,"type":"request","command":"threads"}`, "seq 2 was used"},
		{"negative seq", `{"seq":-4,"type":"request","command":"threads"}`, "no positive number"},
		{"unknown command", `{"seq":9,"type":"request","command":"dance"}`, `unknown command "dance"`},
		{"no command", `{"seq":9,"type":"request"}`, `unknown command ""`},
		{"no arguments", `{"seq":9,"type":"request","command":"stackTrace"}`, "arguments are missing"},
		{"null arguments", `{"seq":9,"type":"request","command":"stackTrace","arguments":null}`, "arguments are missing"},
		{"arguments of another type", `{"seq":9,"type":"request","command":"stackTrace","arguments":[1]}`, "arguments are missing"},
		{"an argument is missing", `{"seq":9,"type":"request","command":"setVariable","arguments":{"name":"x","value":"1"}}`, "variablesReference is missing"},
		{"an argument of another type", `{"seq":9,"type":"request","command":"stackTrace","arguments":{"threadId":"one"}}`, "cannot unmarshal"},
		{"launch without a program", `{"seq":9,"type":"request","command":"launch","arguments":{}}`, "program is missing"},
		{"launch twice", `{"seq":9,"type":"request","command":"launch","arguments":{"program":"b.tpu"}}`, "launched already"},
		{"attach", `{"seq":9,"type":"request","command":"attach","arguments":{}}`, "attach is not offered"},
		{"initialize twice", `{"seq":9,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}`, "done already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			in := framed(begin, launch, tt.message, `{"seq":99,"type":"request","command":"disconnect"}`)
			if err := Serve(context.Background(), strings.NewReader(in), &out, testOptions()); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, m := range sent(t, out.Bytes()) {
				if text, _ := m["message"].(string); m["success"] == false && strings.Contains(text, tt.want) {
					found = true
				}
			}
			if !found {
				t.Errorf("no error response with %q in\n%s", tt.want, out.String())
			}
		})
	}
}

// What cannot be read on from ends the conversation cleanly.
func TestBrokenFrames(t *testing.T) {
	for name, in := range map[string]string{
		"half a header":       "Content-Len",
		"half a message":      "Content-Length: 50\r\n\r\n{\"seq\":1",
		"a huge length":       "Content-Length: 99999999999\r\n\r\n{}",
		"beyond numbers":      "Content-Length: 99999999999999999999999999\r\n\r\n{}",
		"a negative length":   "Content-Length: -1\r\n\r\n{}",
		"no length":           "Content-Type: json\r\n\r\n{}",
		"no header":           "hello\r\n\r\n",
		"a header of a MB":    strings.Repeat("x", 1<<20),
		"a long line of many": strings.Repeat("a: b\r\n", 1<<16),
		"an empty header":     "\r\n\r\n",
	} {
		var out bytes.Buffer
		err := Serve(context.Background(), strings.NewReader(framed(begin)+in), &out, testOptions())
		var fe *FrameError
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v, want a FrameError", name, err)
		}
		if m := sent(t, out.Bytes()); m[len(m)-1]["event"] != "terminated" {
			t.Errorf("%s: the client is not told", name)
		}
	}
	for name, in := range map[string]string{
		"nothing": "", "line feeds alone": "Content-Length: 2\n\n{}", "other headers": "content-length:  2 \r\nX: y\r\n\r\n{}",
	} {
		if err := Serve(context.Background(), strings.NewReader(in), io.Discard, testOptions()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A conversation from the first request to the last event.
func TestServer(t *testing.T) {
	r, in := io.Pipe()
	out, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), r, w, testOptions()); w.Close() }()
	c := newConn(out, in)
	ask := func(command, args string) {
		t.Helper()
		if err := c.write(json.RawMessage(fmt.Sprintf(`{"type":"request","command":%q,"arguments":%s}`, command, args))); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want string) {
		t.Helper()
		content, err := c.read()
		if err != nil {
			t.Fatalf("%v, want %s", err, want)
		}
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(string(content), part) {
				t.Errorf("got %s, want %s", content, want)
			}
		}
	}
	ask("threads", "{}")
	expect(`"success":false|initialize comes first`)
	ask("initialize", `{"adapterID":"x","linesStartAt1":false}`)
	expect(`"success":false|count from 1`)
	ask("initialize", `{"adapterID":"x","pathFormat":"uri"}`)
	expect(`"success":false|by path`)
	ask("initialize", `{"adapterID":"x","linesStartAt1":true,"pathFormat":"path"}`)
	expect(`"success":true|supportsStepBack`)
	ask("threads", "{}")
	expect(`"success":false|nothing is launched`)
	ask("configurationDone", "{}")
	expect(`"success":false|nothing is launched`)
	ask("launch", `{"program":"missing.tpu"}`)
	expect(`"success":false|no such file`)
	ask("launch", `{"program":"a.tpu","mode":"wrong"}`)
	expect(`"success":false|no such mode`)
	ask("launch", `{"program":"a.tpu"}`)
	expect(`"success":true`)
	expect(`"event":"process"|a.tpu`)
	expect(`"event":"initialized"`)
	ask("setBreakpoints", `{"source":{"path":"a.tpu"},"breakpoints":[{"line":1}]}`)
	expect(`"success":true|"line":1`)
	ask("evaluate", `{"expression":"x"}`)
	expect(`"success":false|the kernel died`)
	ask("pause", `{"threadId":1}`)
	expect(`"success":false|nothing runs`)
	ask("loadedSources", `{}`)
	expect(`"success":true|a.tpu`)
	ask("cancel", `{"requestId":77}`)
	expect(`"success":true`)
	ask("configurationDone", "{}")
	expect(`"success":true`)
	for range 2 {
		expect(`"event":"output"|"category":"stdout"`)
		expect(`"event":"continued"`)
	}
	expect(`"event":"exited"|"exitCode":0`)
	expect(`"event":"terminated"`)
	ask("configurationDone", "{}")
	expect(`"success":false|runs already`)
	ask("disconnect", "{}")
	expect(`"success":true`)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// FuzzServer: no input makes the server panic, hang or answer a request twice.
func FuzzServer(f *testing.F) {
	f.Add([]byte(framed(begin)))
	f.Add([]byte(framed(begin, `{"seq":2,"type":"request","command":"launch","arguments":{"program":"a"}}`, `{"seq":3,"type":"request","command":"configurationDone"}`)))
	f.Add([]byte(framed(`{"seq":1e99,"type":"request","command":"cancel","arguments":{"requestId":{}}}`)))
	f.Add([]byte("Content-Length: 3\r\n\r\n{}"))
	for command, row := range rows {
		args := "{"
		for i, name := range row.required {
			if i > 0 {
				args += ","
			}
			args += fmt.Sprintf("%q:1", name)
		}
		f.Add([]byte(framed(begin, `{"seq":2,"type":"request","command":"launch","arguments":{"program":"a"}}`, fmt.Sprintf(`{"seq":3,"type":"request","command":%q,"arguments":%s}}`, command, args))))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = Serve(context.Background(), bufio.NewReader(bytes.NewReader(in)), &out, testOptions())
		answered := map[float64]bool{}
		for _, m := range sent(t, out.Bytes()) {
			if m["type"] != "response" {
				continue
			}
			if n := m["request_seq"].(float64); n > 0 && m["success"] == true {
				if answered[n] {
					t.Fatalf("request %v is answered twice", n)
				}
				answered[n] = true
			}
		}
	})
}
