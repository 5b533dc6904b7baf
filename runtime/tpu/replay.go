package tpu

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A replay is a run of a compiled function that can be had again without it:
// its program, and where inputs come from and results go.
type replay struct {
	e       *engine
	words   []uint64 // the signature
	program *exec.Program
	stands  map[*Storage]bool // storages that are always the same
	dead    bool              // one of them was rebound
	types   []*exec.Type      // of the inputs that have a place
	sources []source
	hists   []histSeen
	writes  []storageWrite
	grads   []gradWrite
	made    []newStorage
	results []resultOf
	shape   *outShape
	attrs   []liveField
	effects []func()
	drawn   uint64

	// Of a call.
	in, out []*exec.Value
	slots   []exec.Slot // per result of the program: the room of a small tensor
	fresh   []*owned
	homes   []*slab // per new storage: where it lies, nil when it stands alone
}

// A storageWrite gives a storage from before a new value.
type storageWrite struct {
	to     whence
	out    int // result of the program
	writes uint32
	name   string
}

// A gradWrite gives a history its gradient: none, or a new storage.
type gradWrite struct {
	hist int
	made int // -1: none
	// shown: the function gives it as a result too.
	shown bool
}

// A newStorage is one that each call makes.
type newStorage struct {
	out             int
	small           bool // it goes to a slab
	inference, keep bool
}

// A resultOf says what a tensor that the function gives is.
type resultOf struct {
	same  *Tensor // itself, when not nil
	arg   int     // an argument itself, when at least 0
	made  int     // a handle on a new storage when at least 0,
	from  whence  // else on one from before,
	t     Tensor  // with the view and flags of this one
	whole bool    // the handle that the storage was made with
	none  bool
}

// A liveField is an attribute that is asked for at each call.
type liveField struct {
	to *any
	f  LiveNumber
}

// settle makes a replay of a run that was watched; nil when it cannot be had
// again without the function.
func (c *capture) settle() *replay {
	w, p := c.seen, c.program
	if w.spoiled || p == nil || len(w.options) > 0 {
		return nil
	}
	r := &replay{e: c.e, program: p, stands: map[*Storage]bool{}, effects: w.effects, drawn: w.drawn}
	outAt := map[*exec.Value]int{}
	for i, v := range p.Results() {
		outAt[v] = i
	}
	for _, v := range p.Inputs() {
		src, ok := w.values[v]
		if !ok {
			if !v.IsConstant() {
				return nil // nobody knows where it came from
			}
			src = source{whence: whence{kind: noPlace}, value: v}
		}
		if src.value != nil {
			src.value.Hold()
		}
		r.sources = append(r.sources, src)
		r.types = append(r.types, v.Type())
	}
	for _, h := range w.hists {
		x := *h
		if !x.grew {
			x.grad = presence(h.grad)
		}
		r.hists = append(r.hists, x)
	}
	madeAt := map[*Storage]int{}
	fresh := func(s *Storage) int {
		if k, ok := madeAt[s]; ok {
			return k
		}
		k, ok := outAt[s.value]
		if x := w.storages[s]; !ok || x == nil || !x.made || s.freed {
			return -1
		}
		madeAt[s] = len(r.made)
		small := s.value.SpecRef().HostBytes() <= exec.SlabBytes
		r.made = append(r.made, newStorage{k, small, s.inference, s.keep})
		return madeAt[s]
	}
	gone := map[*exec.Value]bool{}
	for s, x := range w.storages {
		if x.made {
			continue
		}
		if s.freed {
			return nil
		}
		if x.from.kind == fixed {
			r.stands[s] = true
		}
		if s.version == x.version && s.value == x.value {
			continue
		}
		k, ok := outAt[s.value]
		if !ok || gone[s.value] {
			return nil
		}
		gone[s.value] = true
		r.writes = append(r.writes, storageWrite{x.from, k, s.version - x.version, s.lastWrite().op})
	}
	for i, x := range w.hists {
		h := x.h
		if h == nil {
			h = c.argHistory(i)
		}
		switch g := h.grad; {
		case g == x.grad:
		case g == nil:
			r.grads = append(r.grads, gradWrite{hist: i, made: -1})
		default:
			k := fresh(g.s)
			if k < 0 || !g.whole || g.hist != nil || gone[g.s.value] {
				return nil
			}
			r.made[k].small = false // it is held for long
			r.grads = append(r.grads, gradWrite{hist: i, made: k})
		}
	}
	for _, t := range c.results {
		x, ok := c.resultOf(t, fresh)
		if !ok || t != nil && gone[t.s.value] && x.made >= 0 {
			return nil
		}
		r.results = append(r.results, x)
		for i := range r.grads {
			r.grads[i].shown = r.grads[i].shown || x.made >= 0 && x.made == r.grads[i].made
		}
	}
	for _, a := range w.attrs {
		to := p.Attr(a.opn, a.name)
		if to == nil {
			continue // the operation is not part of the program
		}
		r.attrs = append(r.attrs, liveField{to, a.f})
	}
	r.in, r.out = make([]*exec.Value, len(r.sources)), make([]*exec.Value, len(p.Results()))
	r.slots, r.homes = make([]exec.Slot, len(r.out)), make([]*slab, len(r.made))
	r.fresh = make([]*owned, len(r.made))
	p.Bound()
	c.e.stand(r)
	return r
}

// presence gives nil or something else, as g is: a gradient that only has to be there.
func presence(g *Tensor) *Tensor {
	if g == nil {
		return nil
	}
	return &Tensor{}
}

func (c *capture) argHistory(i int) *history {
	for h, at := range c.seen.histAt {
		if at == i {
			return h
		}
	}
	return nil
}

// resultOf finds out what a tensor is that the function gave.
func (c *capture) resultOf(t *Tensor, fresh func(*Storage) int) (resultOf, bool) {
	x := resultOf{arg: -1, made: -1}
	if t == nil {
		x.none = true
		return x, true
	}
	if t.s == nil {
		return x, false
	}
	for i, a := range c.args {
		if a == t {
			x.arg = i
			return x, true
		}
	}
	s := c.seen.storages[t.s]
	switch {
	case s == nil, t.weak:
		return x, false
	case !s.made && s.from.kind == fixed:
		if t.hist != nil && t.hist.fn != nil && t.hist.fn.seq > c.seq {
			return x, false
		}
		x.same = t
		return x, true
	case t.hist != nil:
		return x, false // on the tape of this run
	case s.made:
		if x.made = fresh(t.s); x.made < 0 {
			return x, false
		}
	default:
		x.from = s.from
	}
	x.whole = t.whole && unsafe.SliceData(t.view.Dims) == unsafe.SliceData(t.s.value.SpecRef().Dims) && t.base == nil
	x.t = Tensor{view: t.view, dt: t.dt, whole: t.whole, multi: t.multi, quiet: t.quiet}
	if t.base != nil {
		x.t.base = &Tensor{}
	}
	return x, true
}

// storage finds a storage for a call.
func (r *replay) storage(p whence, args []*Tensor) *Storage {
	switch p.kind {
	case ofArg:
		return args[p.at].s
	case ofGrad:
		return r.history(p.at, args).grad.s
	}
	return p.s
}

func (r *replay) history(i int, args []*Tensor) *history {
	x := &r.hists[i]
	if x.h != nil {
		return x.h
	}
	return args[x.arg].history()
}

// run launches the program with what its places hold now. It gives false, and
// nothing has happened, when the function has to run instead.
func (r *replay) run(args []*Tensor) bool {
	e := r.e
	if r.dead {
		return false
	}
	for i := range r.hists {
		x := &r.hists[i]
		h := r.history(i, args)
		if h == nil || (h.grad == nil) != (x.grad == nil) || x.grew && h.grad != x.grad || len(h.hooks)+len(h.after) > 0 {
			return false
		}
	}
	if len(r.writes) > 0 { // what is written must be as distinct as it was
		for _, t := range args {
			if t != nil && r.stands[t.s] {
				return false
			}
		}
	}
	for i := range r.sources {
		src := &r.sources[i]
		switch {
		case src.kind != noPlace:
			s := r.storage(src.whence, args)
			if s.freed {
				return false
			}
			v := s.value
			if typ := v.Type(); typ != r.types[i] && !typ.Spec.Equal(r.types[i].Spec) {
				return false
			}
			r.in[i] = v
		case src.live != nil:
			r.in[i] = e.d.LiveScalar(src.live())
		case src.draw:
			r.in[i] = e.rngState(src.after)
		default:
			r.in[i] = src.value
		}
	}
	for i := range r.attrs {
		*r.attrs[i].to = r.attrs[i].f()
	}
	r.house()
	ok := e.d.Replay(r.program, r.in, r.out, r.slots)
	clear(r.in)
	if ok {
		r.finish(args)
	}
	clear(r.slots)
	clear(r.homes)
	return ok
}

// house finds room for the small results. What is not used is lost: that is rare.
func (r *replay) house() {
	for i := range r.made {
		m := &r.made[i]
		if !m.small {
			continue
		}
		if s := r.e.room(); s != nil {
			r.slots[m.out] = exec.Slot{Slab: s.vals, Husk: s.list.husk, At: s.used}
			r.homes[i] = s
			s.used++
		}
	}
}

// finish puts the results where the function would have put them.
func (r *replay) finish(args []*Tensor) {
	e := r.e
	e.offset += r.drawn
	for i := range r.made {
		m := &r.made[i]
		if s := r.homes[i]; s != nil {
			r.fresh[i] = s.own(e, r.slots[m.out].At, r.out[m.out])
		} else {
			r.fresh[i] = &owned{}
			e.own(r.fresh[i], r.out[m.out])
		}
		o := r.fresh[i]
		o.s.inference, o.s.keep = m.inference, m.keep
		o.s.adopt()
	}
	for i := range r.writes {
		w := &r.writes[i]
		s := r.storage(w.to, args)
		s.set(r.out[w.out], w.name, false)
		s.version += w.writes - 1
	}
	for _, g := range r.grads {
		h := r.history(g.hist, args)
		if old := h.grad; old != nil && !h.shown {
			old.Free() // made by a replay, and nobody has it
		}
		h.shown = g.shown || g.made < 0
		if g.made < 0 {
			h.grad = nil
		} else {
			h.grad = &r.fresh[g.made].t
			e.live.gathers(h)
		}
	}
	for _, f := range r.effects {
		f()
	}
	clear(r.out)
}

// tensor gives a result of the call that just ran.
func (x *resultOf) tensor(r *replay, args []*Tensor) *Tensor {
	switch {
	case x.none:
		return nil
	case x.same != nil:
		return x.same
	case x.arg >= 0:
		return args[x.arg]
	}
	var s *Storage
	if x.made >= 0 {
		o := r.fresh[x.made]
		if x.whole && o.t.s != nil {
			return &o.t
		}
		s = &o.s
	} else {
		s = r.storage(x.from, args)
	}
	t := x.t
	t.s = s
	if t.base != nil {
		t.base = s.entire()
	}
	return &t
}

// rngState makes the value of the generator's state so many draws on.
func (e *engine) rngState(after uint64) *exec.Value {
	a := kernel.New(shape.Of(dtype.U64, 2))
	p := kernel.As[uint64](a.Buf)
	p[0], p[1] = e.seed, e.offset+after
	return e.d.Constant(a, "rng_state")
}
