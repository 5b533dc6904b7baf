package tpu

import (
	"slices"
	"weak"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
)

// A capture is one run of a compiled function.
type capture struct {
	e       *engine
	outer   *capture
	seq     uint64     // tape nodes made before
	wrote   []*Storage // storages written and gradients gathered meanwhile
	made    []*Storage // storages made meanwhile
	args    []*Tensor
	results []*Tensor
	program *exec.Program
	seen    *watched // nil: nobody watches
}

// A watched is what a run touched that was there before: what a program
// recorded from it has to take from the same places at the next call.
type watched struct {
	spoiled  bool
	args     []*Tensor
	storages map[*Storage]*touched
	values   map[*exec.Value]source // where values from outside come from
	hists    []*histSeen
	histAt   map[*history]int
	options  []liveOption // of the operation that comes next
	attrs    []liveAttr
	effects  []func()
	seed     uint64
	first    uint64 // draws before
	drawn    uint64
}

// A touched is a storage as the run found it.
type touched struct {
	made    bool // by the run itself
	from    whence
	value   *exec.Value
	version uint32
}

// A whence says where a replay finds a storage.
type whence struct {
	kind whenceKind
	at   int      // argument, or history
	s    *Storage // of the program, always the same
}

type whenceKind uint8

const (
	fixed   whenceKind = iota // always the same storage
	ofArg                     // that of an argument
	ofGrad                    // that of the gradient of a history
	noPlace                   // none: see source
)

// A source says where a replay finds an input of its program.
type source struct {
	whence
	value *exec.Value // a constant, when there is no place
	live  LiveNumber  // asked at each call
	draw  bool        // the state of the generator,
	after uint64      // so many draws on
}

// A histSeen is a history as the run found it.
type histSeen struct {
	h    *history // nil: of an argument
	arg  int
	grad *Tensor
	grew bool // grad is a handle the program may hold: it has to be the same
}

type liveOption struct {
	def  *op.Def
	name string
	f    LiveNumber
}

type liveAttr struct {
	opn  uint64
	name string
	f    LiveNumber
}

// watch begins to note what the run touches.
func (c *capture) watch() {
	args := c.args
	c.e.runs++
	w := &watched{args: args, storages: map[*Storage]*touched{}, values: map[*exec.Value]source{}, histAt: map[*history]int{}, seed: c.e.seed, first: c.e.offset}
	c.seen = w
	for i, t := range args {
		if t == nil {
			continue
		}
		w.storage(t.s, whence{kind: ofArg, at: i})
		if h := t.history(); h != nil {
			w.history(h, i)
		}
	}
}

func (w *watched) storage(s *Storage, from whence) *touched {
	x := w.storages[s]
	if x != nil {
		return x
	}
	x = &touched{from: from, value: s.value, version: s.version}
	w.storages[s] = x
	if _, ok := w.values[s.value]; !ok {
		w.values[s.value] = source{whence: from}
	}
	return x
}

func (w *watched) history(h *history, arg int) {
	if _, ok := w.histAt[h]; ok {
		return
	}
	x := &histSeen{h: h, arg: arg, grad: h.grad}
	if arg >= 0 {
		x.h = nil
	}
	at := len(w.hists)
	w.histAt[h] = at
	w.hists = append(w.hists, x)
	if h.grad != nil {
		from := w.storage(h.grad.s, whence{kind: ofGrad, at: at}).from
		x.grew = from.kind != ofGrad || from.at != at
	}
}

// touch notes that the run uses a storage.
func (c *capture) touch(s *Storage) {
	if w := c.seen; w != nil {
		w.storage(s, whence{s: s})
	}
}

// use notes that the run uses a handle. One that is neither an argument nor made
// by the run itself, yet sees the storage of an argument, makes this call unlike
// others: which of the two is meant does not show.
func (c *capture) use(t *Tensor) {
	w := c.seen
	if w == nil {
		return
	}
	if x := w.storage(t.s, whence{s: t.s}); x.from.kind == ofArg && t.run != c.e.runs && !slices.Contains(w.args, t) {
		w.spoiled = true
	}
}

// run is the number of the run that makes handles now, 0 outside of one.
func (e *engine) run() uint32 {
	if e.capture == nil {
		return 0
	}
	return e.runs
}

// born notes a storage that the run made.
func (c *capture) born(s *Storage) {
	c.made = append(c.made, s)
	if w := c.seen; w != nil && w.storages[s] == nil {
		w.storages[s] = &touched{made: true}
	}
}

// grad notes that the run looks at the gradient that a leaf gathered, or changes it.
func (c *capture) grad(h *history) {
	if w := c.seen; w != nil && h != nil {
		w.history(h, -1)
	}
}

// constant notes a value that is the same at each call.
func (c *capture) constant(v *exec.Value) {
	if w := c.seen; w != nil {
		w.values[v] = source{whence: whence{kind: noPlace}, value: v}
	}
}

// spoil says that the run cannot stand for later ones.
func (c *capture) spoil() {
	if c != nil && c.seen != nil {
		c.seen.spoiled = true
	}
}

// owns says whether the run made a storage.
func (c *capture) owns(s *Storage) bool {
	if c.seen == nil {
		return false
	}
	x := c.seen.storages[s]
	return x != nil && x.made
}

// draws notes the state of the generator that an operation reads.
func (c *capture) draws(v *exec.Value) {
	w, e := c.seen, c.e
	if w == nil {
		return
	}
	if e.seed != w.seed || e.offset < w.first {
		w.spoiled = true
	}
	w.values[v] = source{whence: whence{kind: noPlace}, draw: true, after: e.offset - w.first}
}

// option notes a live number that was given for a parameter of the next operation.
func (c *capture) option(d *op.Def, p *op.Param, f LiveNumber) {
	w := c.seen
	if w == nil {
		return
	}
	if !p.Dynamic {
		w.spoiled = true
		return
	}
	w.options = append(w.options, liveOption{d, p.Name, f})
	c.asked()
}

// applied notes the operation that live options were given to.
func (c *capture) applied(d *op.Def, v *exec.Value) {
	w := c.seen
	if w == nil || len(w.options) == 0 {
		return
	}
	for _, o := range w.options {
		if o.def != d {
			w.spoiled = true
			continue
		}
		w.attrs = append(w.attrs, liveAttr{v.OpNumber(), o.name, o.f})
	}
	w.options = w.options[:0]
}

// A LiveNumber is a Go number that is asked for when an operation uses it, as an
// operand or as an option. A compiled function asks again at each call: a learning
// rate that changes, a count of steps. The program is the same: numbers are arguments.
//
//	lr := 0.1
//	step := tpu.Compile(func(w, g *tpu.Tensor) *tpu.Tensor {
//		return w.Sub(g.Mul(tpu.LiveNumber(func() float64 { return lr })))
//	})
type LiveNumber func() float64

// EachCall runs f now, and inside a compiled function at the end of each later
// call too: what a function changes of Go beside its tensors. A LiveNumber asked
// for after it would see the change in the first call alone: such a function runs
// again each time.
func EachCall(f func()) {
	f()
	if c := ambientEngine().capture; c != nil && c.seen != nil {
		c.seen.effects = append(c.seen.effects, f)
	}
}

// RunAgain says inside a compiled function that this run is unlike the next: its
// program is not launched again without the function.
func RunAgain() { ambientEngine().capture.spoil() }

// liveOperand asks a live number for an operand.
func (e *engine) liveOperand(f LiveNumber) *exec.Value {
	c := e.capture
	if c == nil || c.seen == nil {
		return e.d.Scalar(f())
	}
	v := e.d.LiveScalar(f())
	c.seen.values[v] = source{whence: whence{kind: noPlace}, live: f}
	c.asked()
	return v
}

// asked notes that a live number was used.
func (c *capture) asked() {
	if len(c.seen.effects) > 0 {
		c.seen.spoiled = true
	}
}

// rebound says that handles on s see something else now, or have another place
// on the tape: programs that stand on it are no longer launched.
func (e *engine) rebound(s *Storage) {
	if c := e.capture; c != nil {
		if c.owns(s) {
			return
		}
		c.spoil()
	}
	kept := e.replays[:0]
	for _, p := range e.replays {
		r := p.Value()
		if r == nil {
			continue
		}
		if _, ok := r.stands[s]; ok {
			r.dead = true
			continue
		}
		kept = append(kept, p)
	}
	clear(e.replays[len(kept):])
	e.replays = kept
}

// unsettle is rebound for every storage there is.
func (e *engine) unsettle() {
	e.capture.spoil()
	for _, p := range e.replays {
		if r := p.Value(); r != nil {
			r.dead = true
		}
	}
	e.replays = nil
}

// stand keeps r until a storage that it stands on is rebound.
func (e *engine) stand(r *replay) {
	e.replays = append(e.replays, weak.Make(r))
}
