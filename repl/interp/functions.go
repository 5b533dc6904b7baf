package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// A machine runs the typed syntax trees of cells: each function becomes Go
// closures over the memory of its variables.
type machine struct {
	in      *Interp
	types   *typeTable
	mu      sync.Mutex // compiling
	globals map[types.Object]unsafe.Pointer
	funcs   map[*types.Func]*function
	insts   map[string]*code
	values  map[string]valueShim
	former  map[*types.Func]*cell.Former // of methods that took the place of another
	names   map[types.Object]string      // what the user calls an object
	libs    map[string]*types.Scope      // generic functions of the standard library
	unique  sync.Map                     // values to where Handle keeps them
	known   map[string]bool              // packages whose types are learned
	pkg     *types.Package
	noSites *unitSource
}

// A function is a declared function: its code, or what makes instances of it.
type function struct {
	code    *code
	decl    *ast.FuncDecl
	info    *types.Info
	name    string
	unit    *unitSource
	generic bool
}

// A unitSource finds the places of a unit's syntax.
type unitSource struct {
	site func(p token.Pos, s cell.Site) int
	line func(p token.Pos) int
	bare bool
}

// A code is a compiled function.
type code struct {
	name     string
	nslots   int
	params   []*typ // the first slots
	results  []*typ // slots behind the parameters
	capAt    []int  // slots of the variables of functions around
	capTypes []*typ
	body     func(*fr) ctl
	direct   func(*fr) []unsafe.Pointer // of a wrapper: has no frame
	defers   bool
	site     int
	tensors  []localVar // that can hold a tensor, or a function that captured one
	holds    bool       // tells the runtime when it is left
}

// A localVar is a variable of a function.
type localVar struct {
	name string
	slot int
	t    *typ
}

// A fr is an activation of a function.
type fr struct {
	p     []unsafe.Pointer // its variables, those of functions around it first
	f     *Frame           // on the shadow stack
	st    *stack
	d     *defers
	code  *code
	label int // where a break, continue or goto leads
}

// A ctl says how a statement ended.
type ctl int

const (
	next ctl = iota
	brk
	cont
	ret
	jump
	fall
)

// spareDepth is what an evaluation may add to the calls of a cell that came to
// their limit.
const spareDepth = 1000

// run calls a function whose parameters are in place.
func (m *machine) run(g *fr) []unsafe.Pointer {
	c := g.code
	r := len(c.params)
	for i, t := range c.results {
		if g.p[r+i] == nil {
			g.p[r+i] = t.alloc()
		}
	}
	st := g.st
	away := st.enter()
	if st.armed.Load() {
		st.poll()
	}
	f := st.push(c.site)
	if limit := m.in.opt.MaxDepth; st.depth > limit && (st.quiet == 0 || st.depth > limit+spareDepth) {
		e := &DepthError{Frames: m.in.opt.MaxDepth, Stack: st.look()}
		f.Live = false // a debugger sees the caller
		st.end(e)
	}
	f.act = g
	g.f = f
	if c.defers {
		g.d = &defers{frame: f}
		g.d.protect(func() { c.body(g) })
	} else {
		c.body(g)
	}
	armed := m.in.armed.Load()
	if armed {
		m.in.left(st)
	}
	st.depth = f.depth
	f.Live = false
	f.act = nil
	if c.holds && m.in.opt.OnLeave != nil {
		left := st.leave()
		m.in.opt.OnLeave(f.depth + 1)
		st.back(left)
	}
	if armed {
		m.in.returned(f, g)
		if m.in.world.looking.Load() {
			st.hold()
		}
	}
	st.exit(away)
	return g.p[r : r+len(c.results)]
}

// enter makes an activation.
func newFr(c *code, caps []unsafe.Pointer, st *stack) *fr {
	g := &fr{p: make([]unsafe.Pointer, c.nslots), st: st, code: c}
	for i, k := range c.capAt {
		g.p[k] = caps[i]
	}
	return g
}

// callClosure calls a function value with arguments in memory of their own.
func (m *machine) callClosure(f *fr, cl *closure, args []unsafe.Pointer) []unsafe.Pointer {
	if cl == nil {
		nilDeref()
	}
	switch {
	case cl.turn != nil:
		ok := cl.turn(f, args)
		return []unsafe.Pointer{unsafe.Pointer(&ok)}
	case cl.method != nil:
		return cl.method(f, args)
	case cl.code == nil:
		return m.callReflect(f, cl.native, cl.sig.u.(*types.Signature), args, cl.policy)
	}
	g := newFr(cl.code, cl.caps, f.st)
	copy(g.p, args)
	return m.run(g)
}

// A fc compiles one function.
type fc struct {
	m       *machine
	info    *types.Info
	sub     *subst
	unit    *unitSource
	name    string
	outer   *fc
	code    *code
	slots   map[types.Object]int
	caps    []capture
	escapes map[types.Object]bool
	lits    int
	labels  map[types.Object]int
	nlabel  int
	results []int // slots
	named   bool
	sig     *types.Signature
	scope   []*visible // locals in scope
	params  bool       // what is seen now is a parameter
	entered bool
	// assigns are the variables that the statement gives a value, literalFor those
	// of the statement that a literal stands in.
	assigns, literalFor []string
	lines               map[int]bool // with a statement
}

func (m *machine) holdsTensor(t types.Type) bool { return m.in.scope.HoldsTensor(t) }

// compileBody compiles a function's body into c.code. Parameters and results
// have the first slots.
func (c *fc) compileBody(recv, params, results *ast.FieldList, body *ast.BlockStmt) {
	k := 0
	list := func(l *ast.FieldList) {
		if l == nil {
			return
		}
		for _, fl := range l.List {
			if len(fl.Names) == 0 {
				k++
			}
			for _, id := range fl.Names {
				if o := c.info.Defs[id]; o != nil && id.Name != "_" {
					c.param(o, k)
				}
				k++
			}
		}
	}
	c.params = true
	list(recv)
	list(params)
	list(results)
	c.params = false
	for i := range c.code.results {
		c.results = append(c.results, len(c.code.params)+i)
	}
	c.named = results != nil && len(results.List) > 0 && len(results.List[0].Names) > 0
	c.code.body = c.block(body.List)
	if !c.entered && !c.unit.bare { // an empty function can be stopped in, too
		hook, empty := c.hook(body.Rbrace, cell.Statement), c.code.body
		c.code.body = func(f *fr) ctl {
			r := empty(f)
			hook(f)
			return r
		}
	}
}

// param gives a parameter or result its slot.
func (c *fc) param(o types.Object, k int) {
	t := c.typ(o.Type())
	c.slots[o] = k
	v := localVar{o.Name(), k, t}
	c.see(o, k)
	c.registers(v)
}

// registers makes a variable one of the roots while its frame lives.
func (c *fc) registers(v localVar) {
	holds := c.m.holdsTensor(v.t.t)
	if holds || c.m.hides(v.t) {
		c.code.tensors = append(c.code.tensors, v)
	}
	c.code.holds = c.code.holds || holds
}

// newCode starts the code of a function with a signature, receiver first.
func (c *fc) newCode(sig *types.Signature, recv bool) *code {
	k := &code{name: c.name}
	if recv && sig.Recv() != nil {
		k.params = append(k.params, c.typ(sig.Recv().Type()))
	}
	for v := range sig.Params().Variables() {
		k.params = append(k.params, c.typ(v.Type()))
	}
	for v := range sig.Results().Variables() {
		k.results = append(k.results, c.typ(v.Type()))
	}
	k.nslots = len(k.params) + len(k.results)
	return k
}

// codeOf gives the code of a function for type arguments. It may still be under
// way: only its address counts.
func (m *machine) codeOf(o *types.Func, args []types.Type) *code {
	fn := m.funcs[o.Origin()]
	if fn == nil {
		return nil
	}
	if !fn.generic {
		return fn.code
	}
	var key strings.Builder
	key.WriteString(strconv.FormatUint(uint64(uintptr(unsafe.Pointer(fn))), 16))
	for _, a := range args {
		key.WriteString("," + strconv.Itoa(m.types.of(a).id))
	}
	if k := m.insts[key.String()]; k != nil {
		return k
	}
	sig := fn.info.Defs[fn.decl.Name].(*types.Func).Signature()
	params := sig.TypeParams() // of a method that is written as a function, too
	if sig.Recv() != nil {
		params = sig.RecvTypeParams()
	}
	s := &subst{tt: m.types, from: map[*types.TypeParam]types.Type{}, local: map[*types.Named]*types.Named{}}
	for i := range params.Len() {
		s.from[params.At(i)] = args[i]
	}
	lo, hi := fn.decl.Pos(), fn.decl.End()
	s.scope = func(tn *types.TypeName) bool {
		return tn.Pos() >= lo && tn.Pos() < hi && tn.Parent() != nil && tn.Pkg() != nil && tn.Parent() != tn.Pkg().Scope()
	}
	k := &code{}
	m.insts[key.String()] = k
	m.compileFunc(fn, s, k)
	return k
}

// compileFunc compiles a declared function into k.
func (m *machine) compileFunc(fn *function, s *subst, k *code) {
	sig := fn.info.Defs[fn.decl.Name].(*types.Func).Signature()
	c := &fc{m: m, info: fn.info, sub: s, unit: fn.unit, name: fn.name, slots: map[types.Object]int{}, labels: map[types.Object]int{}, sig: sig}
	*k = *c.newCode(sig, true)
	k.name = fn.name
	c.code = k
	if fn.decl.Body == nil {
		run := m.bodiless(fn.name, k)
		k.nslots = len(k.params) + len(k.results)
		k.body = func(f *fr) ctl {
			for i, p := range run(f) {
				k.results[i].copyTo(f.p[len(k.params)+i], p)
			}
			return ret
		}
		return
	}
	c.escapes = escapesOf(fn.info, fn.decl.Body)
	k.site = c.site(fn.decl.Body.Lbrace, cell.NoHook)
	k.defers = hasDefer(fn.decl.Body)
	c.compileBody(fn.decl.Recv, fn.decl.Type.Params, fn.decl.Type.Results, fn.decl.Body)
}

func hasDefer(b ast.Node) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return n == b
		case *ast.DeferStmt:
			found = true
		}
		return !found
	})
	return found
}

// funcLit compiles a function literal.
func (c *fc) funcLit(n *ast.FuncLit) ex {
	t := c.m.types.of(c.typeOf(n))
	c.lits++
	sig := t.u.(*types.Signature)
	g := &fc{m: c.m, info: c.info, sub: c.sub, unit: c.unit, name: c.name + ".func" + strconv.Itoa(c.lits), outer: c,
		slots: map[types.Object]int{}, labels: map[types.Object]int{}, sig: sig, escapes: c.escapes, literalFor: c.assigns}
	g.code = g.newCode(sig, false)
	k := g.code
	k.site = g.site(n.Body.Lbrace, cell.NoHook)
	k.defers = hasDefer(n.Body)
	g.seeCaptured(n.Body)
	g.compileBody(nil, n.Type.Params, n.Type.Results, n.Body)
	from := make([]int, len(g.caps))
	for i, cp := range g.caps {
		from[i] = cp.from
	}
	return ex{t: t, P: func(f *fr) unsafe.Pointer {
		cl := &closure{code: k, sig: t}
		if len(from) > 0 {
			cl.caps = make([]unsafe.Pointer, len(from))
			for i, k := range from {
				cl.caps[i] = f.p[k]
			}
		}
		return unsafe.Pointer(cl)
	}}
}

// funcValue is a declared function as a value.
func (c *fc) funcValue(o *types.Func, args []types.Type, n ast.Node) ex {
	e, ok := n.(ast.Expr)
	var t *typ
	if ok {
		t = c.m.types.of(c.funcType(e))
	} else {
		t = c.typ(o.Type())
	}
	if o.Pkg() != nil && o.Pkg().Path() != mainPath && c.m.funcs[o.Origin()] == nil {
		if lib := c.m.library(o, args); lib != nil {
			cl := &closure{code: lib, sig: t}
			return ex{t: t, P: func(*fr) unsafe.Pointer { return unsafe.Pointer(cl) }}
		}
		v := c.m.in.symbol(o.Pkg().Path(), o.Name())
		if !v.IsValid() {
			c.fail(n, "%s.%s is not available in cells", o.Pkg().Name(), o.Name())
		}
		cl := &closure{native: v, sig: t, policy: passing(o)}
		return ex{t: t, P: func(*fr) unsafe.Pointer { return unsafe.Pointer(cl) }}
	}
	fn := c.m.funcs[o.Origin()]
	if fn == nil {
		c.fail(n, "function %s", o.Name())
	}
	if fn.generic {
		k := c.m.codeOf(o, args)
		cl := &closure{code: k, sig: t}
		return ex{t: t, P: func(*fr) unsafe.Pointer { return unsafe.Pointer(cl) }}
	}
	return ex{t: t, P: func(*fr) unsafe.Pointer { return unsafe.Pointer(&closure{code: fn.code, sig: t}) }}
}
