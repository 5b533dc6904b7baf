package interp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"unique"
)

// runtimePath is where instrumented code finds what it calls.
const runtimePath = "tpush/cellrt"

// runtimeSymbols are the functions that instrumented code calls.
func (in *Interp) runtimeSymbols() map[string]reflect.Value {
	fns := map[string]any{
		"Enter":       in.enter,
		"EnterRoots":  in.enterRoots,
		"EnterVars":   in.enterVars,
		"EnterBody":   in.enterBody,
		"Hook":        in.hook,
		"Leaf":        in.leaf,
		"Evaluator":   func(_ string, f any) int { in.evaluator = f; return 0 },
		"Leave":       in.leave,
		"End":         in.end,
		"Drop":        in.drop,
		"Poll":        func(f *Frame) { f.Stack.poll() },
		"Defers":      func(f *Frame) *defers { return &defers{frame: f} },
		"Protect":     func(d *defers, body func()) { d.protect(body) },
		"Push":        func(d *defers, f func()) { d.calls = append(d.calls, f) },
		"Recover":     func(f *Frame) any { return f.Stack.recovered(f) },
		"Go":          in.spawn,
		"Spawned":     in.spawned,
		"Register":    func(_ string, f func()) int { in.entry = f; return 0 },
		"Show":        func(p any) { in.run.shown = append(in.run.shown, reflect.ValueOf(p).Elem()) },
		"ShowVar":     in.showVar,
		"Var":         in.declared,
		"Clear":       clearValue,
		"Type":        in.registry.declare,
		"Method":      in.registry.addMethod,
		"Methods":     in.registry.addMethods,
		"Equal":       equal,
		"Any":         unwrap,
		"Error":       in.registry.asError,
		"Native":      in.native,
		"NoAssert":    in.noAssert,
		"As":          in.registry.errorsAs,
		"SortOrdered": sortOrdered,
		"SortSlice":   func(x any, less func(i, j int) bool) { sort.Slice(x, less) },
		"SortStable":  func(x any, less func(i, j int) bool) { sort.SliceStable(x, less) },
		"OnceFunc":    sync.OnceFunc,
		"BadIndex":    badIndex,
		"BadSlice":    badSlice,
		"BadShift":    badShift,
		"Receive":     receive,
		"Send":        send,
		"Interrupted": func(f *Frame) chan struct{} {
			return f.Stack.run.stop
		},
		"Forever":       forever,
		"Blocks":        func(f *Frame) { f.Stack.block("select", true) },
		"Unblocks":      func(f *Frame) { f.Stack.unblock() },
		"WaitGroupWait": waitGroup,
		"MutexLock":     mutexLock,
		"RWLock":        rwLock,
		"RWRLock":       rwRLock,
		"LockerLock":    lockerLock,
		"CondWait":      condWait,
		"OnceDo":        onceDo,
	}
	maps.Copy(fns, in.genericSupport())
	out := map[string]reflect.Value{"Frame": reflect.ValueOf((*Frame)(nil)), "Box": reflect.ValueOf((*box)(nil)), "Handle": reflect.ValueOf((*unique.Handle[any])(nil)),
		"ReflectType": reflect.ValueOf((*reflect.Type)(nil)), "ReflectValue": reflect.ValueOf((*reflect.Value)(nil))}
	maps.Copy(out, standInSymbols())
	for name, f := range fns {
		out[name] = reflect.ValueOf(f)
	}
	return out
}

// enter pushes a frame of the calling goroutine's stack.
func (in *Interp) enter(site int) *Frame {
	s := in.stacks.current()
	if s == nil {
		s = in.adopt()
	}
	if s.Armed {
		s.poll()
	}
	f := s.push(site)
	if s.depth > in.opt.MaxDepth {
		s.end(&DepthError{Frames: in.opt.MaxDepth, Stack: s.look()})
	}
	return f
}

func (in *Interp) enterRoots(site, n int) *Frame {
	f := in.enter(site)
	if cap(f.Roots) < n {
		f.Roots = make([]any, n)
	} else {
		f.Roots = f.Roots[:n]
		clear(f.Roots)
	}
	return f
}

// leave pops the frame of a function with tensors.
func (in *Interp) leave(f *Frame) {
	f.Live = false
	f.Stack.depth = f.depth
	clear(f.Roots)
	if in.opt.OnLeave != nil {
		in.opt.OnLeave(f.depth + 1)
	}
}

// end says that a statement that may have used tensors has ended.
func (in *Interp) end(f *Frame) {
	f.Stack.reset(f)
	if in.opt.OnStatementEnd != nil {
		in.opt.OnStatementEnd(f.depth + 1)
	}
}

// drop is end for a statement that may have dropped a tensor without an op.
func (in *Interp) drop(f *Frame) {
	if in.opt.OnDrop != nil {
		in.opt.OnDrop()
	}
	in.end(f)
}

// adopt gives a stack to a goroutine that native code started.
func (in *Interp) adopt() *stack {
	r := in.run
	if r == nil {
		r = newRun(0)
	}
	return in.stacks.attach(in, r, nil)
}

// declared notes where a session variable is, and that the run came to its
// declaration.
func (in *Interp) declared(internal string, p any) {
	if r := in.run; r != nil {
		r.reached[internal] = true
	}
	in.mu.Lock()
	in.vars[internal] = reflect.ValueOf(p)
	in.mu.Unlock()
	if in.opt.OnVariable != nil {
		name, _, _ := strings.Cut(internal, "ʹ")
		in.opt.OnVariable(name, p)
	}
}

// showVar shows a session variable that the run has just declared.
func (in *Interp) showVar(internal string) {
	in.mu.Lock()
	p := in.vars[internal]
	in.mu.Unlock()
	in.run.shown = append(in.run.shown, p.Elem())
}

// spawn runs f on a goroutine with a stack that goes on the caller's.
func (in *Interp) spawn(f *Frame, body func()) {
	go in.spawned(f, body)()
}

// spawned makes f run with a stack of its own: native code calls it on another
// goroutine.
func (in *Interp) spawned(f *Frame, body func()) func() {
	s := f.Stack
	r := s.run
	var parent *pcNode
	if s.depth > 0 || s.parent != nil {
		parent = s.intern()
	}
	in.pending.Add(1)
	return func() {
		c := in.stacks.attach(in, r, parent)
		r.add(c)
		in.pending.Add(-1)
		defer func() {
			if v := recover(); v != nil {
				in.goroutinePanic(r, c.panicked(v).(*PanicError))
			}
			r.remove(c)
			in.stacks.detach(c)
		}()
		body()
	}
}

func (in *Interp) goroutinePanic(r *run, p *PanicError) {
	e := &GoroutineError{Cell: r.cell, Panic: p}
	r.mu.Lock()
	r.panics = append(r.panics, e)
	r.mu.Unlock()
	if in.opt.OnGoroutinePanic != nil {
		in.opt.OnGoroutinePanic(e)
		return
	}
	fmt.Fprintln(in.opt.Stderr, e.Error())
}

// clearValue is the builtin clear.
func clearValue(x any) {
	v := reflect.ValueOf(x)
	if v.Kind() == reflect.Map || v.Kind() == reflect.Slice {
		v.Clear()
	}
}

// sortOrdered is slices.Sort.
func sortOrdered(x any) {
	switch x := x.(type) {
	case []int:
		slices.Sort(x)
		return
	case []float64:
		slices.Sort(x)
		return
	case []string:
		slices.Sort(x)
		return
	}
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Slice {
		return
	}
	sort.SliceStable(x, func(i, j int) bool { return compareKeys(v.Index(i), v.Index(j)) < 0 })
}
