package dap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
)

// still is a debugger whose only goroutine stands for ever.
type still struct {
	s       *repl.Session
	vars    []Variable
	assigns []string
	resumed []string
}

func (e *still) Start(string, bool, bool) error { return nil }
func (e *still) SetLines(string, int, []Spec) []Breakpoint {
	return []Breakpoint{{ID: 1, Line: 2}, {ID: 2, Message: "no statement there"}}
}
func (e *still) SetFunctions(s []Spec) []Breakpoint { return make([]Breakpoint, len(s)) }
func (e *still) SetData(s []Spec) []Breakpoint      { return make([]Breakpoint, len(s)) }
func (e *still) SetErrors([]string) []Breakpoint    { return nil }
func (e *still) Threads() []Thread                  { return []Thread{{7, "cell 1"}} }
func (e *still) Frames(thread int) ([]Frame, error) {
	if thread != 7 {
		return nil, errors.New("no such goroutine")
	}
	var list []Frame
	for i := range 30 {
		list = append(list, Frame{Name: fmt.Sprint("f", i), Cell: 1, Line: i + 1})
	}
	return list, nil
}
func (e *still) Locals(int, int) ([]Variable, error) { return e.vars, nil }
func (e *still) Resume(_ int, kind string) error     { e.resumed = append(e.resumed, kind); return nil }
func (e *still) Session() []Variable                 { return e.vars }
func (e *still) Complete(_, _ int, text string) ([]interp.Candidate, int) {
	return e.s.Interp().Complete(text, len(text))
}
func (e *still) Enter(string, int) error { return nil }
func (e *still) Reason(int) string       { return "" }
func (e *still) Pause() error            { return nil }
func (e *still) Evaluate(_ context.Context, _, _ int, expr string) ([]Variable, error) {
	for _, v := range e.vars {
		if v.Name == expr {
			return []Variable{v}, nil
		}
	}
	return nil, errors.New("undefined: " + expr)
}
func (e *still) Assign(_ context.Context, _, _ int, expr, value string) (Variable, error) {
	e.assigns = append(e.assigns, expr+" = "+value)
	return Variable{Name: expr, Type: "int", Value: reflect.ValueOf(42)}, nil
}
func (e *still) Failure() (Failure, bool) {
	return Failure{"bounds", "index 7 is outside", "In[1]:2"}, true
}

type quiet struct{}

func (quiet) Stream(string, string)  {}
func (quiet) Input() (string, error) { return "", io.EOF }

// adapted makes a session that has run cells, and an adapter of it.
func adapted(t *testing.T, cells ...string) (*Adapter, *still, *[]string) {
	t.Helper()
	s, err := repl.NewSession(repl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, text := range cells {
		if c := s.Run(context.Background(), text, "", 1, quiet{}); c.Status != "ok" {
			t.Fatalf("%s: %s", text, c.Reports[0].Message)
		}
	}
	e := &still{s: s}
	for _, v := range s.Interp().Variables() {
		if v.Name != "ans" && !strings.HasPrefix(v.Name, "_") {
			e.vars = append(e.vars, (&debugger{s: s}).variable(v.Shown()))
		}
	}
	var events []string
	a := newAdapter(s, e, func(ev any) bool {
		b, _ := json.Marshal(ev)
		events = append(events, string(b))
		return true
	})
	return a, e, &events
}

// asked sends a request and gives the response.
func asked(t *testing.T, a *Adapter, command, args string) map[string]any {
	t.Helper()
	raw := a.Handle(context.Background(), json.RawMessage(fmt.Sprintf(`{"seq":1,"type":"request","command":%q,"arguments":%s}`, command, args)))
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if m["type"] != "response" || m["request_seq"] != 1.0 || m["command"] != command {
		t.Errorf("%s is no response to %s", raw, command)
	}
	return m
}

// open follows names from a reference and gives the variable at the end.
func open(t *testing.T, a *Adapter, ref float64, path ...string) map[string]any {
	t.Helper()
	var v map[string]any
	for _, name := range path {
		list, ok := asked(t, a, "variables", fmt.Sprintf(`{"variablesReference":%v}`, ref))["body"].(map[string]any)["variables"].([]any)
		if !ok {
			t.Fatalf("%q: nothing is inside of %v", path, v)
		}
		v = nil
		var names []string
		for _, x := range list {
			x := x.(map[string]any)
			names = append(names, x["name"].(string))
			if x["name"] == name {
				v = x
			}
		}
		if v == nil {
			t.Fatalf("no %s among %q", name, names)
		}
		ref = v["variablesReference"].(float64)
	}
	return v
}

func scope(t *testing.T, a *Adapter, name string) float64 {
	t.Helper()
	frames := asked(t, a, "stackTrace", `{"threadId":7,"levels":1}`)["body"].(map[string]any)["stackFrames"].([]any)
	body := asked(t, a, "scopes", fmt.Sprintf(`{"frameId":%v}`, frames[0].(map[string]any)["id"]))["body"].(map[string]any)
	for _, s := range body["scopes"].([]any) {
		if s := s.(map[string]any); strings.HasPrefix(s["name"].(string), name) {
			return s["variablesReference"].(float64)
		}
	}
	t.Fatalf("no scope %s in %v", name, body)
	return 0
}

func TestVariablesTree(t *testing.T) {
	a, e, _ := adapted(t, `type P struct { N int; Tags []string; Next *P }
p := &P{N: 1, Tags: []string{"a", "b"}}
p.Next = &P{N: 2}
m := map[string]int{"two": 2, "one": 1}
xs := make([]int, 2500)
xs[2400] = 9
var none *P
f := func() {}
x := tpu.Arange(12).Reshape(3, 4).To(tpu.F32)
s := "text"
var any1 interface{} = 3.5`)
	locals := scope(t, a, "Locals")
	for path, want := range map[string]string{
		"p.N": "1", "p.Tags.[1]": `"b"`, "p.Next.N": "2", "m.[\"one\"]": "1", "none": "nil", "s": `"text"`, "any1": "3.5", "f": "func",
		"x.shape": "[3 4]", "x.dtype": "f32", "x.stats.max": "11", "x.stats.nan": "0", "x.values.[2].[1]": "9", "x.layout": "f32[3,4]",
	} {
		v := open(t, a, locals, strings.Split(path, ".")...)
		if got := v["value"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
	if v := open(t, a, locals, "p", "Next", "N"); v["evaluateName"] != "p.Next.N" || v["type"] != "int" {
		t.Errorf("%v", v)
	}
	if v := open(t, a, locals, "m", `["one"]`); v["evaluateName"] != `m["one"]` {
		t.Errorf("%v", v)
	}
	// Slices come by page.
	list := open(t, a, locals, "xs")
	if list["indexedVariables"] != 2500.0 {
		t.Errorf("%v", list)
	}
	page := asked(t, a, "variables", fmt.Sprintf(`{"variablesReference":%v,"filter":"indexed","start":2399,"count":2}`, list["variablesReference"]))["body"].(map[string]any)["variables"].([]any)
	if len(page) != 2 || page[1].(map[string]any)["name"] != "[2400]" || page[1].(map[string]any)["value"] != "9" {
		t.Errorf("%v", page)
	}
	for _, args := range []string{`"start":-5,"count":2`, `"start":99999,"count":2`, `"start":1,"count":-1`} {
		if r := asked(t, a, "variables", fmt.Sprintf(`{"variablesReference":%v,"filter":"indexed",%s}`, list["variablesReference"], args)); r["success"] != true {
			t.Errorf("%s: %v", args, r)
		}
	}
	// Writing goes by the expression of the child.
	p := open(t, a, locals, "p")
	asked(t, a, "setVariable", fmt.Sprintf(`{"variablesReference":%v,"name":"N","value":"42"}`, p["variablesReference"]))
	if len(e.assigns) != 1 || e.assigns[0] != "p.N = 42" {
		t.Errorf("%q", e.assigns)
	}
	x := open(t, a, locals, "x")
	if r := asked(t, a, "setVariable", fmt.Sprintf(`{"variablesReference":%v,"name":"dtype","value":"3"}`, x["variablesReference"])); r["success"] != false {
		t.Errorf("a property was written: %v", r)
	}
	if v := open(t, a, scope(t, a, "HBM"), "limit"); !strings.Contains(v["value"].(string), "GiB") {
		t.Errorf("%v", v)
	}
	if v := open(t, a, scope(t, a, "Session"), "s"); v["value"] != `"text"` {
		t.Errorf("%v", v)
	}
	// After the program has gone on, what was shown is no longer valid.
	asked(t, a, "next", `{"threadId":7}`)
	if r := asked(t, a, "variables", fmt.Sprintf(`{"variablesReference":%v}`, locals)); r["success"] != false {
		t.Errorf("%v", r)
	}
}

func TestStackComesByPage(t *testing.T) {
	a, _, _ := adapted(t, "x := 1")
	for _, tt := range []struct {
		args  string
		first string
		n     int
	}{
		{`"startFrame":0,"levels":20`, "f0", 20}, {`"startFrame":20,"levels":20`, "f20", 10}, {`"startFrame":5`, "f5", 25}, {`"startFrame":-1,"levels":1`, "f0", 1}, {`"startFrame":99`, "", 0},
	} {
		body := asked(t, a, "stackTrace", `{"threadId":7,`+tt.args+`}`)["body"].(map[string]any)
		list := body["stackFrames"].([]any)
		if len(list) != tt.n || body["totalFrames"] != 30.0 || tt.n > 0 && list[0].(map[string]any)["name"] != tt.first {
			t.Errorf("%s: %v", tt.args, body)
		}
	}
	if r := asked(t, a, "stackTrace", `{"threadId":8}`); r["success"] != false {
		t.Error("an unknown goroutine has a stack")
	}
	if r := asked(t, a, "scopes", `{"frameId":77}`); r["success"] != false {
		t.Error("an unknown frame has scopes")
	}
	if r := asked(t, a, "source", `{"sourceReference":1}`); r["body"].(map[string]any)["content"] != "x := 1" {
		t.Errorf("%v", r)
	}
}

func TestSteppingBack(t *testing.T) {
	a, e, events := adapted(t, "x := tpu.Ones(2)\nx = x.Add(1)\nx = x.Mul(3)")
	asked(t, a, "setBreakpoints", `{"source":{"sourceReference":1},"breakpoints":[{"line":2}]}`)
	asked(t, a, "stepBack", `{"threadId":7}`)
	if n := len(*events); n != 1 || !strings.Contains((*events)[0], "Looking back at op #3 mul") {
		t.Errorf("%q", *events)
	}
	if v := open(t, a, scope(t, a, "Before op #3"), "x"); v["value"] != "[2 2]" {
		t.Errorf("%v", v)
	}
	if r := asked(t, a, "evaluate", `{"expression":"x"}`); r["success"] != true {
		t.Errorf("%v", r)
	}
	asked(t, a, "reverseContinue", `{"threadId":7}`)
	if v := open(t, a, scope(t, a, "Before op #2"), "x", "stats", "max"); v["value"] != "1" {
		t.Errorf("%v", v)
	}
	asked(t, a, "reverseContinue", `{"threadId":7}`)
	if last := (*events)[len(*events)-1]; !strings.Contains(last, "op #1") || !strings.Contains(last, "start of recorded history") {
		t.Errorf("%s", last)
	}
	if r := asked(t, a, "stepBack", `{"threadId":7}`); r["success"] != false {
		t.Error("there is nothing before the start")
	}
	asked(t, a, "next", `{"threadId":7}`)
	asked(t, a, "continue", `{"threadId":7}`)
	if last := (*events)[len(*events)-1]; !strings.Contains(last, "Back in the present") || len(e.resumed) > 0 {
		t.Errorf("%s %q", last, e.resumed)
	}
	asked(t, a, "continue", `{"threadId":7}`)
	if len(e.resumed) != 1 {
		t.Errorf("%q", e.resumed)
	}
}

func TestEvaluateAndComplete(t *testing.T) {
	a, _, events := adapted(t, "count := 3\nx := tpu.Ones(2).Add(1)")
	for _, tt := range []struct{ args, want string }{
		{`{"expression":"count"}`, `"3"`},
		{`{"expression":"nope"}`, "undefined: nope"},
		{`{"expression":"  "}`, "empty"},
		{`{"expression":":mode","context":"repl"}`, "debug: each op"},
		{`{"expression":":mode","context":"hover"}`, "for the console"},
		{`{"expression":":fuson","context":"repl"}`, "did you mean :fusion"},
		{`{"expression":":back","context":"repl"}`, "op #2 add"},
		{`{"expression":"count","frameId":99}`, "no frame 99"},
	} {
		b, _ := json.Marshal(asked(t, a, "evaluate", tt.args))
		if !strings.Contains(string(b), tt.want) {
			t.Errorf("%s: %s", tt.args, b)
		}
	}
	if len(*events) != 1 || !strings.Contains((*events)[0], "Looking back") {
		t.Errorf(":back sent %q", *events)
	}
	for _, tt := range []struct{ text, want string }{{":fus", "fusion"}, {"cou", "count"}, {"x.MatM", "MatMul"}, {"é := 1\ncou", "count"}} {
		lines := strings.Split(tt.text, "\n")
		args, _ := json.Marshal(map[string]any{"text": tt.text, "line": len(lines), "column": len([]rune(lines[len(lines)-1])) + 1})
		b, _ := json.Marshal(asked(t, a, "completions", string(args)))
		if !strings.Contains(string(b), tt.want) {
			t.Errorf("%s: %s", tt.text, b)
		}
	}
	if r := asked(t, a, "exceptionInfo", `{"threadId":7}`)["body"].(map[string]any); r["exceptionId"] != "bounds" {
		t.Errorf("%v", r)
	}
}

func TestBreakpointRequests(t *testing.T) {
	a, _, _ := adapted(t, "x := []int{1}")
	for _, tt := range []struct{ command, args, want string }{
		{"setBreakpoints", `{"source":{"path":"a.tpu"},"breakpoints":[{"line":2},{"line":9}]}`, `"verified":true|no statement there`},
		{"setBreakpoints", `{"source":{},"breakpoints":[]}`, "neither a path"},
		{"setBreakpoints", `{"source":{"path":"a.tpu"},"breakpoints":[{"line":0}]}`, "no line 0"},
		{"setFunctionBreakpoints", `{"breakpoints":[{"name":"f"}]}`, `"verified":true`},
		{"setExceptionBreakpoints", `{"filters":["nan","all"]}`, `"breakpoints":[]`},
		{"setExceptionBreakpoints", `{"filters":["luck"]}`, "no filter"},
		{"setExceptionBreakpoints", `{"filters":[],"filterOptions":[{"filterId":"luck"}]}`, "no filter"},
		{"setExceptionBreakpoints", `{"filters":[],"filterOptions":[{"filterId":"nan","condition":"1"}]}`, "takes no condition"},
		{"dataBreakpointInfo", `{"name":"x"}`, `"dataId":"var:x"`},
		{"setDataBreakpoints", `{"breakpoints":[{"dataId":"var:x"}]}`, `"verified":true`},
		{"dance", `{}`, "unknown command"},
		{"threads", `{}`, `"id":7`},
		{"pause", `{"threadId":7}`, `"success":true`},
	} {
		b, _ := json.Marshal(asked(t, a, tt.command, tt.args))
		for _, want := range strings.Split(tt.want, "|") {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s %s: %s", tt.command, tt.args, b)
			}
		}
	}
	for _, raw := range []string{"", "{", "[]", `{"type":"event"}`, `{"seq":1,"type":"request"}`, `null`} {
		var m map[string]any
		if err := json.Unmarshal(a.Handle(context.Background(), json.RawMessage(raw)), &m); err != nil || m["success"] != false {
			t.Errorf("%q: %v %v", raw, m, err)
		}
	}
}

// FuzzAdapter: whatever a request holds, its answer is one response to it.
func FuzzAdapter(f *testing.F) {
	for command := range answers {
		for _, args := range []string{
			`{}`, `null`, `[]`, `7`, `{"threadId":7}`, `{"threadId":-1,"startFrame":99999999999,"levels":-7}`, `{"frameId":-1}`, `{"frameId":1,"expression":"xs[","context":"watch"}`,
			`{"variablesReference":1,"name":"x","value":"","start":-9,"count":9223372036854775807}`, `{"variablesReference":99999}`, `{"source":{"path":"\u0000"},"breakpoints":[{"line":9223372036854775807,"condition":"((","hitCondition":"%","logMessage":"{"}]}`,
			`{"source":{"sourceReference":1},"sourceReference":-1,"breakpoints":[{"name":"","dataId":""}]}`, `{"filters":[""]}`, `{"text":"\ud800é.","column":99,"line":-4}`, `{"program":"/nowhere"}`,
		} {
			f.Add(command, args)
		}
	}
	s, err := repl.NewSession(repl.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	if c := s.Run(context.Background(), "x := tpu.Ones(2).Add(1)\nxs := []int{1, 2, 3}\nm := map[string]any{\"k\": x}", "", 1, quiet{}); c.Status != "ok" {
		f.Fatal(c.Reports[0].Message)
	}
	f.Fuzz(func(t *testing.T, command, args string) {
		var loose struct {
			Expression string `json:"expression"`
		}
		_ = json.Unmarshal([]byte(args), &loose)
		if repl.IsCommand(strings.TrimSpace(loose.Expression)) {
			t.Skip("commands are not the adapter's")
		}
		e := &still{s: s}
		for _, v := range s.Interp().Variables() {
			e.vars = append(e.vars, (&debugger{s: s}).variable(v.Shown()))
		}
		a := newAdapter(s, e, func(any) bool { return true })
		defer s.Present()
		a.Handle(context.Background(), json.RawMessage(`{"seq":1,"type":"request","command":"stackTrace","arguments":{"threadId":7}}`))
		a.Handle(context.Background(), json.RawMessage(`{"seq":2,"type":"request","command":"scopes","arguments":{"frameId":1}}`))
		name, _ := json.Marshal(command)
		raw := a.Handle(context.Background(), json.RawMessage(fmt.Sprintf(`{"seq":3,"type":"request","command":%s,"arguments":%s}`, name, args)))
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil || m["type"] != "response" {
			t.Fatalf("%s %s: %s", command, args, raw)
		}
	})
}
