package debug

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/viz"
)

// Kind says what a breakpoint waits for.
type Kind uint8

// The kinds.
const (
	Line   Kind = iota // a line of a cell or a file
	Func               // the first statement of a function
	Op                 // an operation, before it runs
	NaN                // a value with a NaN that an operation made
	Inf                // with an infinity
	Memory             // HBM in use that crosses a limit
	Cut                // a launch of a group of operations for a reason
	Error              // a panic, before anything of it is undone
	Change             // another value of a variable
)

// A Breakpoint is one row of the table of breakpoints. The fields above the
// line are given, those below it are told.
type Breakpoint struct {
	Kind       Kind
	Cell       int    // Line: the cell, where File is ""
	File       string // Line: the file
	Line       int
	Name       string // Func, Op; Cut: reason; Error: kind word; NaN, Inf, Change: variable
	LimitBytes int64  // Memory
	Cond       string // Go in the scope of the stop, "" for always; of an Op also its operands
	Hit        HitRule
	Once       bool
	Disabled   bool
	Commands   []string
	Log        string // not a stop but a message: {expr} is replaced by its value

	// ---
	ID       int
	Hits     int // how often the place was reached and the condition held
	Resolved int // Line: where it stops, 0 as long as the cell has not run

	compiled map[*cell.Local]*interp.Condition
	pred     *predicate
	base     map[variableKey]any // Change: what the variable held
	slots    map[*cell.Site]*cell.Local
	above    bool // Memory: the limit is crossed
}

// A HitRule counts hits: the zero value stops at each.
type HitRule struct {
	Op string // > >= == < <= != %
	N  int
}

// Holds tells whether hit number n stops.
func (h HitRule) Holds(n int) bool {
	switch h.Op {
	case ">":
		return n > h.N
	case ">=":
		return n >= h.N
	case "==":
		return n == h.N
	case "<":
		return n < h.N
	case "<=":
		return n <= h.N
	case "!=":
		return n != h.N
	case "%":
		return h.N > 0 && n%h.N == 0
	}
	return true
}

func (h HitRule) String() string {
	if h.Op == "" {
		return ""
	}
	return fmt.Sprintf("hit %s %d", h.Op, h.N)
}

// Place is what the breakpoint waits for, as it is typed.
func (b *Breakpoint) Place() string {
	s := ""
	switch b.Kind {
	case Line:
		s = fmt.Sprintf("In[%d]:%d", b.Cell, b.Line)
		if b.File != "" {
			s = fmt.Sprintf("%s:%d", b.File, b.Line)
		}
	case Func:
		s = b.Name
	case Op:
		s = strings.TrimSpace("op " + b.Name)
	case NaN, Inf:
		s = map[Kind]string{NaN: "nan", Inf: "inf"}[b.Kind]
		if b.Name != "" {
			s += " in " + b.Name
		}
	case Memory:
		s = "mem > " + viz.Bytes(b.LimitBytes)
	case Cut:
		s = strings.TrimSpace("cut " + b.Name)
	case Error:
		s = strings.TrimSpace("error " + b.Name)
	case Change:
		s = "change " + b.Name
	}
	return s
}

// String is the breakpoint as it is typed.
func (b *Breakpoint) String() string {
	s := b.Place()
	if b.Cond != "" {
		s += " if " + b.Cond
	}
	if b.Hit.Op != "" {
		s += " " + b.Hit.String()
	}
	return s
}

// forget drops what was compiled.
func (b *Breakpoint) forget() {
	b.compiled, b.base, b.slots = nil, nil, nil
	b.pred.forget()
	if b.Kind == Line {
		b.Resolved = 0
	}
}

// A NoBreakpointError says that there is no breakpoint of this number.
type NoBreakpointError struct{ ID int }

func (e *NoBreakpointError) Error() string { return fmt.Sprintf("there is no breakpoint %d", e.ID) }

// A NoLineError says that a breakpoint's line cannot be stopped at.
type NoLineError struct{ Cell, Line, Lines int }

func (e *NoLineError) Error() string {
	return fmt.Sprintf("In[%d] has no statement at line %d or behind it", e.Cell, e.Line)
}

// Set adds a breakpoint and gives it its number. Where the place is compiled
// already, its condition is type-checked now: the error is a
// *cell.CompileError, or a *NoLineError. A cell that has not run is pending. One
// that waits for the same as another is that other one.
func (d *Debugger) Set(b Breakpoint) (*Breakpoint, error) {
	b.ID, b.Hits = 0, 0
	if err := d.check(&b); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.bps {
		if o.same(&b) {
			return o.copy(), nil
		}
	}
	d.lastID++
	b.ID = d.lastID
	d.bps = append(d.bps, &b)
	d.changed()
	return b.copy(), nil
}

// same tells whether two breakpoints wait for the same.
func (b *Breakpoint) same(o *Breakpoint) bool {
	return b.Kind == o.Kind && b.Cell == o.Cell && b.File == o.File && b.Line == o.Line && b.Name == o.Name && b.LimitBytes == o.LimitBytes &&
		b.Cond == o.Cond && b.Hit == o.Hit && b.Once == o.Once && b.Log == o.Log
}

// changed makes every site look for its breakpoints again. d.mu is held.
func (d *Debugger) changed() {
	d.replan()
	d.arm()
}

func (b *Breakpoint) copy() *Breakpoint {
	c := *b
	c.Commands = slices.Clone(b.Commands)
	return &c
}

// check resolves a breakpoint's place and compiles its condition there.
func (d *Debugger) check(b *Breakpoint) error {
	if b.Kind == Op {
		if !b.callsAny() {
			return &exec.MissingRowError{Name: b.Name, Nearest: string(op.Nearest(b.Name))}
		}
		p, err := newPredicate(b.Cond)
		if err != nil {
			return err
		}
		b.pred = p
		return nil
	}
	if err := d.checkName(b); err != nil {
		return err
	}
	var at *cell.Site
	switch b.Kind {
	case Line:
		sites := d.in.Sites(func(s *cell.Site) bool {
			_, ok := d.lineIn(b, s.Cell, s.File, s.FirstLine)
			return ok
		})
		if len(sites) == 0 {
			return d.checkSyntax(b.Cond) // pending
		}
		for _, s := range sites {
			line, _ := d.lineIn(b, s.Cell, s.File, s.FirstLine)
			if d.in.StopLine(s.Cell, line) == s.Line && (at == nil || s.ID < at.ID) {
				at = s
			}
		}
		if at == nil {
			return &NoLineError{Cell: sites[0].Cell, Line: b.Line}
		}
		b.Resolved = at.Line
	case Func:
		for _, s := range d.in.Sites(func(s *cell.Site) bool { return b.begins(s) }) {
			at = s
		}
	}
	if b.Cond == "" || at == nil {
		return d.checkSyntax(b.Cond)
	}
	c, err := d.in.CompileCondition(b.Cond, at.Locals)
	var ce *cell.CompileError
	if errors.As(err, &ce) && d.in.CheckEval(b.Cond, at.Locals) == nil {
		return nil // it is compiled when the place is reached
	}
	if err != nil {
		return err
	}
	b.compiled = map[*cell.Local]*interp.Condition{at.Locals: c}
	return nil
}

// checkName refuses a kind of error and a reason of a cut that there is not.
func (d *Debugger) checkName(b *Breakpoint) error {
	var known []string
	switch {
	case b.Name == "":
		return nil
	case b.Kind == Error:
		known = d.o.ErrorKinds
	case b.Kind == Cut:
		for _, r := range exec.Reasons() {
			known = append(known, r.Name)
		}
	default:
		return nil
	}
	if slices.Contains(known, b.Name) {
		return nil
	}
	return &SpecError{b.Place(), "there are " + strings.Join(known, ", ")}
}

// checkSyntax refuses what is no expression in any place; whether its names mean
// something is seen where it is evaluated. The error is a *cell.CompileError.
func (d *Debugger) checkSyntax(expr string) error {
	if expr == "" {
		return nil
	}
	err := d.in.CheckEval(expr, nil)
	var ce *cell.CompileError
	if errors.As(err, &ce) && ce.Diagnostics[0].Kind == "syntax" {
		return err
	}
	return nil
}

// find gives the breakpoint of a number. d.mu is held.
func (d *Debugger) find(id int) (*Breakpoint, error) {
	for _, b := range d.bps {
		if b.ID == id {
			return b, nil
		}
	}
	return nil, &NoBreakpointError{id}
}

// Breakpoints lists copies of the breakpoints by number.
func (d *Debugger) Breakpoints() []*Breakpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*Breakpoint, len(d.bps))
	for i, b := range d.bps {
		out[i] = b.copy()
	}
	return out
}

// Breakpoint gives a copy of the breakpoint of a number, nil when there is none.
func (d *Debugger) Breakpoint(id int) *Breakpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, err := d.find(id)
	if err != nil {
		return nil
	}
	return b.copy()
}

// Change alters a breakpoint: its condition, hit rule, commands, once or
// disabled. What it waits for stays. The error is a *NoBreakpointError or what
// Set gives.
func (d *Debugger) Change(id int, f func(*Breakpoint)) error {
	b := d.Breakpoint(id)
	if b == nil {
		return &NoBreakpointError{id}
	}
	f(b)
	b.compiled = nil
	if err := d.check(b); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	old, err := d.find(id)
	if err != nil {
		return err
	}
	b.Hits = old.Hits
	*old = *b
	d.changed()
	return nil
}

// Clear takes a breakpoint out.
func (d *Debugger) Clear(id int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.find(id); err != nil {
		return err
	}
	d.bps = slices.DeleteFunc(d.bps, func(b *Breakpoint) bool { return b.ID == id })
	d.changed()
	return nil
}

// ClearAll takes every breakpoint out and says how many there were.
func (d *Debugger) ClearAll() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.bps)
	d.bps = nil
	d.changed()
	return n
}

// hit counts a breakpoint whose place was reached. If it stops there it is added
// to stop, which is made when it is nil.
func (d *Debugger) hit(g *interp.Goroutine, s *cell.Site, a *armed, stop *Stop) *Stop {
	b := a.b
	var failed error
	if b.Cond != "" && b.Kind != Op {
		ok, err := d.holds(g, s, a)
		if err == nil && !ok {
			return stop
		}
		failed = err
	}
	d.mu.Lock()
	b.Hits++
	n := b.Hits
	d.mu.Unlock()
	if !b.Hit.Holds(n) {
		return stop
	}
	if b.Log != "" {
		if d.o.Log != nil {
			d.o.Log(d.fill(g, s, b.Log))
		}
		return stop
	}
	if stop == nil {
		stop = &Stop{}
	}
	if failed != nil {
		stop.Failed = append(stop.Failed, fmt.Sprintf("breakpoint %d: %v", b.ID, failed))
	}
	if stop.Reason == None || stop.Reason == Stepped {
		stop.Reason = map[Kind]Reason{Error: AtError, Change: Changed}[b.Kind]
		if stop.Reason == None {
			stop.Reason = AtBreakpoint
		}
	}
	stop.Hits = append(stop.Hits, b.ID)
	if len(b.Commands) > 0 {
		stop.lists = append(stop.lists, slices.Clone(b.Commands))
	}
	return stop
}

// holds evaluates a breakpoint's condition at a site.
func (d *Debugger) holds(g *interp.Goroutine, s *cell.Site, a *armed) (bool, error) {
	c := a.cond.Load()
	if c == nil {
		var err error
		if c, err = d.compiled(a.b, s.Locals); err != nil {
			return false, err
		}
		a.cond.Store(c)
	}
	return c.Holds(g)
}

// compiled gives a breakpoint's condition compiled for a scope.
func (d *Debugger) compiled(b *Breakpoint, scope *cell.Local) (*interp.Condition, error) {
	d.mu.Lock()
	c := b.compiled[scope]
	d.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := d.in.CompileCondition(b.Cond, scope)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.compiled == nil {
		b.compiled = map[*cell.Local]*interp.Condition{}
	}
	b.compiled[scope] = c
	return c, nil
}

// begins says whether a site is the first statement of the function that a
// breakpoint names: a declared one, or a literal by the variable it is given to.
func (b *Breakpoint) begins(s *cell.Site) bool {
	return s.Entry && (funcNamed(s.Func, b.Name) || slices.Contains(s.For, b.Name))
}

// funcNamed tells whether a function has the name that a breakpoint gives:
// (*P).Inc is also P.Inc and Inc... of a method the bare name is not enough.
func funcNamed(have, want string) bool {
	plain := strings.NewReplacer("(", "", ")", "", "*", "")
	return have == want || plain.Replace(have) == plain.Replace(want)
}

// sameFile tells whether two paths mean one file; a name alone means any of it.
func sameFile(a, b string) bool {
	if a == b || filepath.Base(b) == a {
		return true
	}
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// checkChange compares a variable with what it held at the last statement.
func (d *Debugger) checkChange(g *interp.Goroutine, s *cell.Site, a *armed, stop *Stop) *Stop {
	b := a.b
	p, key := d.variable(g, s, b)
	if !p.IsValid() || d.o.Mark == nil {
		return stop
	}
	now := d.o.Mark(p.Elem())
	d.mu.Lock()
	was, known := b.base[key]
	if len(b.base) > maxBases || b.base == nil {
		b.base = map[variableKey]any{}
	}
	b.base[key] = now
	d.mu.Unlock()
	if known && was != now {
		if stop = d.hit(g, s, a, stop); stop != nil && slices.Contains(stop.Hits, b.ID) {
			stop.Text = fmt.Sprintf("%s: %v → %v", b.Name, was, now)
		}
	}
	return stop
}

// variable finds the variable that a breakpoint names: a local in scope, else
// the session's. The key tells activations apart.
func (d *Debugger) variable(g *interp.Goroutine, s *cell.Site, b *Breakpoint) (p reflect.Value, key variableKey) {
	d.mu.Lock()
	l, known := b.slots[s]
	d.mu.Unlock()
	if !known {
		for l = s.Locals; l != nil && l.Name != b.Name; l = l.Up {
		}
		d.mu.Lock()
		if b.slots == nil {
			b.slots = map[*cell.Site]*cell.Local{}
		}
		b.slots[s] = l
		d.mu.Unlock()
	}
	if l == nil {
		return d.in.NamedVar(b.Name), key
	}
	v := g.Slot(l)
	if v == nil {
		return p, key
	}
	return reflect.ValueOf(v), variableKey{g.Serial(), l.Slot}
}

// A variableKey tells the variables of one name apart: activation and slot. The
// zero one is the session's.
type variableKey struct {
	serial uint64
	slot   int
}

// maxBases bounds the activations in which a variable is remembered.
const maxBases = 10000
