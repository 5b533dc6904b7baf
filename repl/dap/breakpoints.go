package dap

import (
	"context"
	"strings"

	"github.com/google/go-dap"
)

// A breakpointsBody is the body of every response that lists breakpoints.
type breakpointsBody struct {
	Breakpoints []dap.Breakpoint `json:"breakpoints"`
}

func shownBreakpoints(list []Breakpoint, source *dap.Source) breakpointsBody {
	body := breakpointsBody{[]dap.Breakpoint{}}
	for _, b := range list {
		body.Breakpoints = append(body.Breakpoints, dap.Breakpoint{Id: b.ID, Verified: b.Message == "", Message: b.Message, Line: b.Line, Source: source})
	}
	return body
}

func (a *Adapter) setBreakpoints(_ context.Context, r *request) (any, error) {
	x := arguments[dap.SetBreakpointsArguments](r)
	file, cell, err := a.sourceOf(x.Source)
	if err != nil {
		return nil, err
	}
	var specs []Spec
	at := map[int]bool{}
	for _, b := range x.Breakpoints {
		if b.Line < 1 {
			return nil, bad("setBreakpoints: there is no line %d", b.Line)
		}
		specs = append(specs, Spec{Line: b.Line, Condition: b.Condition, Hits: b.HitCondition, LogMessage: b.LogMessage})
		at[b.Line] = true
	}
	a.mu.Lock()
	a.lines[placeName(file, cell)] = at
	a.mu.Unlock()
	return shownBreakpoints(a.e.SetLines(file, cell, specs), &x.Source), nil
}

// placeName is a file or a cell as a key.
func placeName(file string, cell int) string {
	if file != "" {
		return file
	}
	return cellName(cell)
}

func (a *Adapter) setFunctionBreakpoints(_ context.Context, r *request) (any, error) {
	var specs []Spec
	for _, b := range arguments[dap.SetFunctionBreakpointsArguments](r).Breakpoints {
		specs = append(specs, Spec{Expr: b.Name, Condition: b.Condition, Hits: b.HitCondition})
	}
	return shownBreakpoints(a.e.SetFunctions(specs), nil), nil
}

func (a *Adapter) setExceptionBreakpoints(_ context.Context, r *request) (any, error) {
	x := arguments[dap.SetExceptionBreakpointsArguments](r)
	filters := x.Filters
	for _, o := range x.FilterOptions {
		if o.Condition != "" {
			return nil, bad("setExceptionBreakpoints: filter %q takes no condition", o.FilterId)
		}
		filters = append(filters, o.FilterId)
	}
	for _, f := range filters {
		if !isFilter(f) {
			return nil, bad("setExceptionBreakpoints: no filter %q", f)
		}
	}
	return shownBreakpoints(a.e.SetErrors(filters), nil), nil
}

func isFilter(name string) bool {
	for _, f := range capabilities.ExceptionBreakpointFilters {
		if f.Filter == name {
			return true
		}
	}
	return false
}

func (a *Adapter) setDataBreakpoints(_ context.Context, r *request) (any, error) {
	var specs []Spec
	for _, b := range arguments[dap.SetDataBreakpointsArguments](r).Breakpoints {
		specs = append(specs, Spec{Expr: strings.TrimPrefix(b.DataId, dataPrefix), Condition: b.Condition, Hits: b.HitCondition})
	}
	return shownBreakpoints(a.e.SetData(specs), nil), nil
}

// dataPrefix begins the ids of what can be watched.
const dataPrefix = "var:"

func (a *Adapter) dataBreakpointInfo(_ context.Context, r *request) (any, error) {
	x := arguments[dap.DataBreakpointInfoArguments](r)
	name := x.Name
	if x.VariablesReference > 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		n, err := a.view.node(x.VariablesReference)
		if err != nil {
			return nil, err
		}
		c, ok := a.view.find(n, name)
		if !ok || c.expr == "" {
			return dap.DataBreakpointInfoResponseBody{DataId: nil, Description: name + " cannot be watched: Go has no expression for it"}, nil
		}
		name = c.expr
	}
	return dap.DataBreakpointInfoResponseBody{DataId: dataPrefix + name, Description: name, AccessTypes: []dap.DataBreakpointAccessType{"write"}}, nil
}
