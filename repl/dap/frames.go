package dap

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/trace"
)

// A place is what a frame id stands for: a frame of a goroutine, or a level of
// the stack of an operation that is looked back at.
type place struct {
	thread, frame int
	then          bool
	opn           uint64
}

// noFrame is the selected frame, or the session where there is none.
var noFrame = place{frame: -1}

// place finds a frame by its id, which counts from 1; 0 is the selected one.
func (a *Adapter) place(id int) (place, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id == 0 {
		if rec, ok := a.s.Cursor(); ok {
			return place{then: true, opn: rec.OpN}, nil
		}
		return noFrame, nil
	}
	if id < 1 || id > len(a.frames) {
		return place{}, bad("there is no frame %d: the program has gone on since it was shown", id)
	}
	return a.frames[id-1], nil
}

func (a *Adapter) threads(context.Context, *request) (any, error) {
	body := dap.ThreadsResponseBody{Threads: []dap.Thread{}}
	for _, t := range a.e.Threads() {
		body.Threads = append(body.Threads, dap.Thread{Id: t.ID, Name: t.Name})
	}
	if len(body.Threads) == 0 { // a client wants one
		body.Threads = append(body.Threads, dap.Thread{Id: mainThread, Name: "cells"})
	}
	return body, nil
}

// mainThread stands for the session while no cell runs.
const mainThread = 1

func (a *Adapter) stackTrace(_ context.Context, r *request) (any, error) {
	x := arguments[dap.StackTraceArguments](r)
	var frames []Frame
	var places []place
	if rec, ok := a.s.Cursor(); ok {
		for _, f := range rec.Stack.Frames {
			frames = append(frames, frameOf(f))
			places = append(places, place{thread: x.ThreadId, frame: len(places), then: true, opn: rec.OpN})
		}
		if len(frames) > 0 {
			frames[0].Name = fmt.Sprintf("%s  op #%d %s", frames[0].Name, rec.OpN, rec.Def.Name)
		}
	} else {
		list, err := a.e.Frames(x.ThreadId)
		if err != nil {
			return nil, err
		}
		frames = list
		for i := range list {
			places = append(places, place{thread: x.ThreadId, frame: i})
		}
	}
	lo := min(max(x.StartFrame, 0), len(frames))
	hi := len(frames)
	if x.Levels > 0 {
		hi = min(lo+x.Levels, hi)
	}
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}, TotalFrames: len(frames)}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := lo; i < hi; i++ {
		f := frames[i]
		body.StackFrames = append(body.StackFrames, dap.StackFrame{
			Id: a.frameID(places[i]), Name: f.Name, Line: f.Line, Column: max(f.Column, 1), Source: sourceFor(f.File, f.Cell),
		})
	}
	return body, nil
}

// frameID gives the id of a place; the same place has the same one until the program goes on.
func (a *Adapter) frameID(p place) int {
	for i, q := range a.frames {
		if p == q {
			return i + 1
		}
	}
	a.frames = append(a.frames, p)
	return len(a.frames)
}

func frameOf(f trace.Frame) Frame {
	x := Frame{Name: f.Func, File: f.File, Cell: f.Cell, Line: f.Line, Column: f.Column}
	if f.File != "" && f.FileLine > 0 {
		x.Line = f.FileLine
	}
	return x
}

func (a *Adapter) scopes(_ context.Context, r *request) (any, error) {
	p, err := a.place(arguments[dap.ScopesArguments](r).FrameId)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	body := dap.ScopesResponseBody{Scopes: []dap.Scope{}}
	add := func(name, hint string, n *node) {
		body.Scopes = append(body.Scopes, dap.Scope{Name: name, PresentationHint: hint, VariablesReference: a.view.ref(n)})
	}
	if p.then {
		add(fmt.Sprintf("Before op #%d", p.opn), "locals", &node{children: func() []child { return a.then(p.opn) }})
	} else {
		locals, err := a.e.Locals(p.thread, p.frame)
		if err != nil {
			return nil, err
		}
		id := a.frameID(p)
		add("Locals", "locals", &node{frame: id, children: func() []child {
			var list []child
			for _, l := range locals {
				list = append(list, a.view.value(l.Name, l.Name, l.Type, l.Exact, l.Value, id))
			}
			return list
		}})
		add("Session", "globals", &node{frame: id, session: true, children: func() []child { return a.session(id) }})
	}
	add("HBM", "", &node{children: a.hbm})
	return body, nil
}

// session lists the variables of the session.
func (a *Adapter) session(frame int) []child {
	var list []child
	for _, v := range a.e.Session() {
		list = append(list, a.view.value(v.Name, v.Name, v.Type, v.Exact, v.Value, frame))
	}
	return list
}

// then lists what the variables named before an operation, its operands and its results.
func (a *Adapter) then(opn uint64) []child {
	d := a.s.Dispatcher()
	var list []child
	for _, b := range d.NamesAt(opn) {
		if b.Ref.ID != 0 {
			list = append(list, a.pastChild(b.Name, b))
		}
	}
	rec, ok := d.RecordOf(opn)
	if !ok {
		return list
	}
	params := rec.Def.Inputs()
	for i, x := range rec.In {
		if x.ID != 0 {
			list = append(list, a.refChild("operand "+params[min(i, len(params)-1)].Name, x))
		}
	}
	for i, x := range rec.Out {
		name := "result"
		if i < len(rec.Def.Results) {
			name += " " + rec.Def.Results[i]
		}
		list = append(list, a.refChild(name, x))
	}
	return list
}

func (a *Adapter) pastChild(name string, b exec.Binding) child {
	c := child{name: name, expr: name, typ: b.Ref.Spec.DType.String()}
	array, source, err := a.view.past.Value(b.Ref)
	if err != nil {
		c.text = err.Error()
		return c
	}
	array.View = b.View
	c.typ = array.Spec().String()
	c.text = a.view.array("", array).text
	if source == inspect.Recomputed {
		c.text += "  (recomputed)"
	}
	c.node = &node{children: func() []child {
		return []child{a.view.stats(array, source), a.view.array("values", array)}
	}}
	return c
}

func (a *Adapter) refChild(name string, x exec.Ref) child {
	c := child{name: name, typ: x.Spec.String(), hint: "virtual"}
	array, source, err := a.view.past.Value(x)
	if err != nil {
		c.text = err.Error()
		return c
	}
	c.text = a.view.array("", array).text
	c.node = &node{children: func() []child {
		return []child{a.view.stats(array, source), a.view.array("values", array)}
	}}
	return c
}

// hbm sums the memory of the device up.
func (a *Adapter) hbm() []child {
	h := a.s.Device().HBM()
	list := []child{
		property("used", device.FormatBytes(h.Used())), property("peak", device.FormatBytes(h.Peak())), property("limit", device.FormatBytes(h.Limit())),
		property("free", device.FormatBytes(h.FreeBytes())), property("largest free block", device.FormatBytes(h.LargestFree())),
		property("padding", device.FormatBytes(h.Padding())),
	}
	owners := h.Owners()
	for _, o := range owners[:min(len(owners), shownOwners)] {
		where := strings.TrimSpace(o.What + " " + o.Frame.Place())
		list = append(list, property(where, device.FormatBytes(o.Bytes)))
	}
	return list
}

// shownOwners bounds the owners of HBM in its scope.
const shownOwners = 10
