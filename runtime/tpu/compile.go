package tpu

import (
	"reflect"
	"slices"

	"github.com/tpush/tpush/runtime/exec"
)

// Compile gives a function of f's own type whose operations are launched as
// one program. Reading a value inside f is refused with
// *exec.ReadWhileTracingError; gradients flow through.
//
// f itself runs once for each signature: the types and layouts of its tensors,
// its other arguments by value, which tensors want gradients and have one, the
// mode and the settings. Later calls launch the program that this run recorded
// with what the tensors f uses hold by then: parameters, buffers, the state of an
// optimizer, the random numbers. What f reads of Go beside its arguments is what
// it was in that run, and what it changes of Go is changed by that run alone; a
// [LiveNumber] is asked at each call, and [EachCall] does something at each.
//
// f runs at each call when it cannot be otherwise: when it is not one program,
// makes results on the tape, changes handles it did not make, keeps a tensor, or
// says so itself ([RunAgain]); when somebody watches single operations; and in a
// session when it has effects there.
func Compile(f any) any {
	fv := reflect.ValueOf(f)
	if fv.Kind() != reflect.Func {
		refuse("compile", operandError(f, "a function is wanted"))
	}
	c := &compiledFunc{f: fv}
	switch f := f.(type) {
	case func() *Tensor:
		return func() *Tensor { return c.one(func([]*Tensor) *Tensor { return f() }) }
	case func(*Tensor) *Tensor:
		return func(x *Tensor) *Tensor { return c.one(func(a []*Tensor) *Tensor { return f(a[0]) }, x) }
	case func(_, _ *Tensor) *Tensor:
		return func(x, y *Tensor) *Tensor { return c.one(func(a []*Tensor) *Tensor { return f(a[0], a[1]) }, x, y) }
	case func(_, _, _ *Tensor) *Tensor:
		return func(x, y, z *Tensor) *Tensor {
			return c.one(func(a []*Tensor) *Tensor { return f(a[0], a[1], a[2]) }, x, y, z)
		}
	}
	return reflect.MakeFunc(fv.Type(), c.call).Interface()
}

// A compiledFunc is what Compile made of a function.
type compiledFunc struct {
	f       reflect.Value
	sig     signature // of the present call, until the function runs
	replays []*replay // used last first
	spoiled int       // runs in a row that could not be kept
}

// maxSpoiled is after how many runs in a row that could not be kept a function
// is no longer watched.
const maxSpoiled = 8

// maxReplays is how many signatures of a function are kept; the one not used for
// longest goes first.
const maxReplays = 64

// maxAlike is how many programs of one signature are kept: they differ in what
// the function finds, such as gradients that are there or not.
const maxAlike = 4

// one calls a function of tensors that gives one.
func (c *compiledFunc) one(f func([]*Tensor) *Tensor, args ...*Tensor) *Tensor {
	e := ambientEngine()
	s := c.sig.begin(e)
	for _, t := range args {
		s.argument(t)
	}
	if r := c.find(e, s, args); r != nil {
		t := r.results[0].tensor(r, args)
		clear(r.fresh)
		return t
	}
	return c.runOne(e, s.kept(), f, slices.Clone(args))
}

// runOne runs such a function.
func (c *compiledFunc) runOne(e *engine, s *signature, f func([]*Tensor) *Tensor, args []*Tensor) *Tensor {
	var out [1]*Tensor
	var given []*Tensor
	c.record(e, s, args, func(in []*Tensor) []*Tensor {
		given = in
		out[0] = f(in)
		return out[:]
	})
	return original(out[0], given, args)
}

// call calls a function of any type.
func (c *compiledFunc) call(args []reflect.Value) []reflect.Value {
	e := ambientEngine()
	s := c.sig.begin(e)
	for _, a := range args {
		s.parameter(a)
	}
	if r := c.find(e, s, s.tensors); r != nil && r.shape != nil {
		ts := s.tensors
		out := r.shape.fill(func(i int) *Tensor { return r.results[i].tensor(r, ts) })
		clear(r.fresh)
		return out
	}
	s = s.kept()
	ts := s.tensors
	var out []reflect.Value
	var form *outShape
	var given []*Tensor
	r := c.record(e, s, ts, func(in []*Tensor) []*Tensor {
		given = in
		if c.f.Type().IsVariadic() {
			out = c.f.CallSlice(withTensors(args, in))
		} else {
			out = c.f.Call(withTensors(args, in))
		}
		form = shapeOf(out)
		if form == nil {
			e.capture.spoil()
			var all []*Tensor
			for _, v := range out {
				all = collectTensors(v, all)
			}
			for _, v := range args { // in-place writes and gradients of arguments
				all = collectTensors(v, all)
			}
			return all
		}
		return form.tensors
	})
	if r != nil {
		r.shape = form
	}
	if form == nil {
		return out
	}
	return form.fill(func(i int) *Tensor { return original(form.tensors[i], given, ts) })
}

// find replays the program of a signature and gives it, with its results in
// place; nil when f has to run.
func (c *compiledFunc) find(e *engine, s *signature, args []*Tensor) *replay {
	if s.unknown || e.capture != nil {
		return nil
	}
	for i, r := range c.replays {
		if r.e != e || !equalWords(r.words, s.words) {
			continue
		}
		if !r.run(args) {
			continue
		}
		if i > 0 {
			copy(c.replays[1:i+1], c.replays[:i])
			c.replays[0] = r
		}
		return r
	}
	return nil
}

// record runs f as a program, and keeps what it became if that can be launched
// again without f.
func (c *compiledFunc) record(e *engine, s *signature, args []*Tensor, f func([]*Tensor) []*Tensor) *replay {
	watch := e.capture == nil && !s.unknown && e.replayable(c.f) && c.spoiled < maxSpoiled
	x := e.program(watch, args, s.nested, f)
	if x == nil {
		return nil
	}
	r := x.settle()
	if r == nil {
		c.spoiled++
		return nil
	}
	c.spoiled = 0
	r.words = s.words
	kept, alike := c.replays, 0
	for i := 0; i < len(kept); i++ {
		if old := kept[i]; old.e == e && equalWords(old.words, r.words) {
			if alike++; old.dead || alike >= maxAlike {
				kept = append(kept[:i:i], kept[i+1:]...)
				i--
			}
		}
	}
	if len(kept) >= maxReplays {
		kept = kept[:maxReplays-1]
	}
	c.replays = append([]*replay{r}, kept...)
	return r
}

// replayable says whether a function may be left out at later calls. Where a
// root walk decides what lives, a function belongs to a session, which knows.
func (e *engine) replayable(f reflect.Value) bool { return !e.d.Rooted() }

// program runs f with its operations collected and launches them as one
// region. When it is told to watch, it gives what f touched and the program.
//
// A watched run gets handles of its own in the place of its arguments: what it
// does with an argument is so told from what it does with a tensor that it
// captured, should they be one.
func (e *engine) program(watch bool, args, nested []*Tensor, f func([]*Tensor) []*Tensor) *capture {
	if err := e.d.BeginProgram(); err != nil {
		e.fail("compile", err)
	}
	c := &capture{e: e, outer: e.capture, seq: e.seq, args: args}
	if watch {
		c.args = standIns(args)
	}
	if c.outer != nil {
		c.seen = c.outer.seen
	}
	if watch {
		c.watch()
		e.d.RecordProgram()
	}
	e.capture = c
	done := false
	defer func() {
		e.capture = c.outer
		if !done {
			e.d.AbortProgram()
		}
	}()
	c.results = f(c.args)
	done = true
	if watch {
		c.giveBack(args)
	}
	ts := append(append(append([]*Tensor{}, c.results...), args...), nested...) // in-place writes and gradients of arguments
	if err := e.d.EndProgram(c.needed(ts)...); err != nil {
		e.fail("compile", err)
	}
	e.capture = c.outer
	for _, s := range c.made {
		if c.outer != nil || s.value.HBMBytes() > 0 { // the others stayed on chip
			s.adopt()
		}
	}
	if c.outer != nil {
		c.outer.wrote = append(c.outer.wrote, c.wrote...)
	}
	if !watch {
		return nil
	}
	c.seen.drawn = e.offset - c.seen.first
	c.program = e.d.TakeProgram()
	return c
}

// needed lists the values the program must leave behind: results, gradients,
// storages that were written, and what the tape saved of the results.
func (c *capture) needed(results []*Tensor) []*exec.Value {
	var vs []*exec.Value
	seen := map[*node]bool{}
	var nodes []*node
	add := func(t *Tensor) {
		if t == nil {
			return
		}
		vs = append(vs, t.s.value)
		if h := t.hist; h != nil {
			if h.grad != nil {
				vs = append(vs, h.grad.s.value)
			}
			if h.fn != nil && h.fn.seq > c.seq && !seen[h.fn] {
				seen[h.fn] = true
				nodes = append(nodes, h.fn)
			}
		}
	}
	for _, t := range results {
		add(t)
	}
	for _, s := range c.wrote {
		vs = append(vs, s.value)
	}
	for _, s := range c.made {
		if s.keep {
			vs = append(vs, s.value)
		}
	}
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		for _, s := range n.saved {
			if s != nil && s.s.version == s.version {
				vs = append(vs, s.s.value)
			}
		}
		for _, h := range n.ins {
			if h != nil && h.fn != nil && h.fn.seq > c.seq && !seen[h.fn] {
				seen[h.fn] = true
				nodes = append(nodes, h.fn)
			}
		}
	}
	return vs
}

// collectTensors lists the tensors a value leads to.
func collectTensors(v reflect.Value, ts []*Tensor) []*Tensor {
	w := &walker{visitTensor: func(t *Tensor) { ts = append(ts, t) }}
	w.visit(v)
	return ts
}

// standIns gives a copy of each handle, one for one.
func standIns(ts []*Tensor) []*Tensor {
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		if k := slices.Index(ts[:i], t); k >= 0 {
			out[i] = out[k]
		} else if t != nil {
			c := *t
			out[i] = &c
		}
	}
	return out
}

// giveBack makes the arguments what the run made of their stand-ins.
func (c *capture) giveBack(args []*Tensor) {
	for i, t := range args {
		if t == nil {
			continue
		}
		if in := c.args[i]; *in != *t {
			*t = *in
		}
		for _, r := range c.results {
			if r != nil && r.base == c.args[i] {
				r.base = t
			}
		}
	}
}

// original gives the argument that t stands for, t itself when it stands for none.
func original(t *Tensor, given, args []*Tensor) *Tensor {
	if t != nil {
		if k := slices.Index(given, t); k >= 0 {
			return args[k]
		}
	}
	return t
}

// withTensors gives arguments with other tensors in the places that parameter lists.
func withTensors(args []reflect.Value, ts []*Tensor) []reflect.Value {
	out := slices.Clone(args)
	k := 0
	for i, a := range args {
		switch t := a.Type(); {
		case t == tensorType:
			out[i] = reflect.ValueOf(ts[k])
			k++
		case isTensors(t) && !a.IsNil():
			l := reflect.MakeSlice(t, a.Len(), a.Len())
			for j := range a.Len() {
				l.Index(j).Set(reflect.ValueOf(ts[k]))
				k++
			}
			out[i] = l
		}
	}
	return out
}
