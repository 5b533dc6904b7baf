package dap

import (
	"context"
	"io"
	"strings"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
)

func (a *Adapter) variables(_ context.Context, r *request) (any, error) {
	x := arguments[dap.VariablesArguments](r)
	a.mu.Lock()
	defer a.mu.Unlock()
	n, err := a.view.node(x.VariablesReference)
	if err != nil {
		return nil, err
	}
	body := dap.VariablesResponseBody{Variables: []dap.Variable{}}
	for _, c := range a.view.page(n, x.Filter, x.Start, x.Count) {
		body.Variables = append(body.Variables, a.view.shown(c))
	}
	return body, nil
}

// find gives a child by its name.
func (v *viewer) find(n *node, name string) (child, bool) {
	if n.children != nil {
		for _, c := range n.children() {
			if c.name == name {
				return c, true
			}
		}
	}
	for i := range n.elements {
		if c := n.element(i); c.name == name {
			return c, true
		}
	}
	return child{}, false
}

func (a *Adapter) setVariable(ctx context.Context, r *request) (any, error) {
	x := arguments[dap.SetVariableArguments](r)
	a.mu.Lock()
	n, err := a.view.node(x.VariablesReference)
	var c child
	ok := false
	if err == nil {
		c, ok = a.view.find(n, x.Name)
	}
	a.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, bad("setVariable: there is no %q here", x.Name)
	case c.expr == "":
		return nil, bad("setVariable: %s cannot be written", x.Name)
	}
	v, err := a.assign(ctx, n.frame, c.expr, x.Value)
	if err != nil {
		return nil, err
	}
	return dap.SetVariableResponseBody{Value: v.Value, Type: v.Type, VariablesReference: v.VariablesReference, IndexedVariables: v.IndexedVariables}, nil
}

func (a *Adapter) setExpression(ctx context.Context, r *request) (any, error) {
	x := arguments[dap.SetExpressionArguments](r)
	v, err := a.assign(ctx, x.FrameId, x.Expression, x.Value)
	if err != nil {
		return nil, err
	}
	return dap.SetExpressionResponseBody{Value: v.Value, Type: v.Type, VariablesReference: v.VariablesReference, IndexedVariables: v.IndexedVariables}, nil
}

// assign writes a value where a frame id says, and gives it as it is then.
func (a *Adapter) assign(ctx context.Context, frame int, expr, value string) (dap.Variable, error) {
	p, err := a.place(frame)
	if err != nil {
		return dap.Variable{}, err
	}
	if p.then {
		return dap.Variable{}, bad("what was cannot be written: op #%d is in the past", p.opn)
	}
	v, err := a.e.Assign(ctx, p.thread, p.frame, expr, value)
	if err != nil {
		return dap.Variable{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.view.shown(a.view.value(expr, expr, v.Type, v.Exact, v.Value, frame)), nil
}

func (a *Adapter) evaluate(ctx context.Context, r *request) (any, error) {
	x := arguments[dap.EvaluateArguments](r)
	text := strings.TrimSpace(x.Expression)
	if text == "" {
		return nil, bad("evaluate: the expression is empty")
	}
	if repl.IsCommand(text) {
		if x.Context == "hover" || x.Context == "watch" {
			return nil, bad("evaluate: a command is for the console")
		}
		return a.command(ctx, text)
	}
	p, err := a.place(x.FrameId)
	if err != nil {
		return nil, err
	}
	if p.then {
		for _, b := range a.s.Dispatcher().NamesAt(p.opn) {
			if b.Name == text && b.Ref.ID != 0 {
				a.mu.Lock()
				defer a.mu.Unlock()
				return evaluated([]dap.Variable{a.view.shown(a.pastChild(b.Name, b))}), nil
			}
		}
		return nil, bad("op #%d is in the past: only tensors that a variable named then can be shown, and %s is none", p.opn, text)
	}
	vars, err := a.e.Evaluate(ctx, p.thread, p.frame, text)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []dap.Variable
	for _, v := range vars {
		expr := ""
		if len(vars) == 1 {
			expr = text
		}
		list = append(list, a.view.shown(a.view.value(v.Name, expr, v.Type, v.Exact, v.Value, x.FrameId)))
	}
	body := evaluated(list)
	if x.Context == "repl" && len(list) == 1 && list[0].Type != "" && list[0].VariablesReference == 0 {
		body.Result += "  " + list[0].Type // as the line front ends show it
	}
	return body, nil
}

// evaluated makes the body of an evaluation, of several values the list of them.
func evaluated(list []dap.Variable) dap.EvaluateResponseBody {
	if len(list) == 1 {
		v := list[0]
		return dap.EvaluateResponseBody{Result: v.Value, Type: v.Type, VariablesReference: v.VariablesReference, IndexedVariables: v.IndexedVariables}
	}
	var texts []string
	for _, v := range list {
		texts = append(texts, v.Value)
	}
	return dap.EvaluateResponseBody{Result: strings.Join(texts, ", ")}
}

// collected takes what a cell prints that a command runs.
type collected struct{ strings.Builder }

// Stream takes text.
func (c *collected) Stream(_, text string) { c.WriteString(text) }

// Input is at its end.
func (c *collected) Input() (string, error) { return "", io.EOF }

// command runs a command of the session.
func (a *Adapter) command(ctx context.Context, text string) (any, error) {
	before, was := a.s.Cursor()
	var out collected
	ans, err := command.Run(ctx, a.s, text, &out)
	if err != nil {
		return nil, err
	}
	if after, is := a.s.Cursor(); is != was || after.OpN != before.OpN { // :back and :forward move the view
		a.lookedBack()
	}
	return answered{dap.EvaluateResponseBody{Result: strings.TrimRight(out.String()+ans.Text, "\n")}, ans.Replayed}, nil
}

// An answered is what a command gave. A kernel that replaces this one must hear
// of those that are Replayed: clients that start kernels look for it.
type answered struct {
	dap.EvaluateResponseBody
	Replayed bool `json:"replayed,omitempty"`
}

func (a *Adapter) completions(_ context.Context, r *request) (any, error) {
	x := arguments[dap.CompletionsArguments](r)
	lines := strings.Split(x.Text, "\n")
	row := min(max(x.Line, 1), len(lines)) - 1
	runes := []rune(lines[row])
	line := string(runes[:min(max(x.Column-1, 0), len(runes))])
	body := dap.CompletionsResponseBody{Targets: []dap.CompletionItem{}}
	add := func(text, label, detail string, kind dap.CompletionItemType, start int) {
		at := len([]rune(line[:start]))
		body.Targets = append(body.Targets, dap.CompletionItem{Label: label, Text: text, Detail: detail, Type: kind, Start: at, Length: len([]rune(line)) - at})
	}
	if repl.IsCommand(line) || line == ":" {
		start, words := command.Complete(a.s, line)
		for _, w := range words {
			add(w, w, "", "keyword", start)
		}
		return body, nil
	}
	before := strings.Join(append(append([]string{}, lines[:row]...), line), "\n")
	p, err := a.place(x.FrameId)
	if err != nil || p.then {
		p = noFrame
	}
	cands, start := a.e.Complete(p.thread, p.frame, before)
	start -= len(before) - len(line)
	for _, c := range cands {
		add(c.Text, c.Text, c.Detail, completionKind(c.Kind), max(start, 0))
	}
	return body, nil
}

// completionKind names a kind of candidate as the protocol does.
func completionKind(kind string) dap.CompletionItemType {
	switch kind {
	case "func", "function":
		return "function"
	case "method":
		return "method"
	case "field":
		return "field"
	case "type":
		return "class"
	case "package":
		return "module"
	case "const":
		return "value"
	case "keyword":
		return "keyword"
	}
	return "variable"
}
