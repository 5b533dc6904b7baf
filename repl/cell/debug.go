package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What a debugger needs of a compiled cell. Each statement is preceded by
//
//	if ʹarmed { ʹrt.Hook(ʹf, 42, &x, &y) }
//
// and the frame keeps pointers to the function's locals, in slots:
//
//	ʹf.Vars[1] = &x
//
// A local's slot is filled before the first statement after its definition that
// can call or fail, so that whoever looks at a frame from outside (a hook deeper
// down, the report of a panic) finds every local that is in scope there. The
// hook itself hands over those that wait for such a statement. Code that can
// neither call nor fail therefore pays for one test of a global variable alone.

// armedVar is the global variable that opens the hooks.
const armedVar = "ʹarmed"

// ArmedVar names the bool that the interpreter must declare: while it is true,
// instrumented code calls Hook before each statement and Poll in each loop.
const ArmedVar = armedVar

// A Local is a variable of a function that is in scope at a site: a list,
// innermost declaration first.
type Local struct {
	Name  string
	Slot  int
	Root  bool       // the slot is one of Frame.Roots, else of Frame.Vars
	Param bool       // of the function, its receiver or a named result
	Type  types.Type // as the cell was checked
	Up    *Local
}

// HookKind says what a site is for a debugger.
type HookKind uint8

// The kinds of sites.
const (
	NoHook    HookKind = iota // only a program counter
	Statement                 // before a statement
	Turn                      // at the start of a turn of a loop, the first one too
)

// A visible is a local in scope while its function is lowered.
type visible struct {
	obj   types.Object
	local *Local
}

// openScope begins a block and gives what closeScope goes back to.
func (f *function) openScope() int { return len(f.vars) }

// closeScope ends a block: what it declared is out of scope.
func (f *function) closeScope(n int) {
	f.vars = f.vars[:n]
	f.pending = slices.DeleteFunc(slices.Clone(f.pending), func(v *visible) bool { return !slices.Contains(f.vars, v) })
}

// scoped lowers code that may not run, in a block of its own: locals that waited
// for their slot wait again behind it.
func (f *function) scoped(lower func()) {
	n, pending := f.openScope(), slices.Clone(f.pending)
	lower()
	f.pending = pending
	f.closeScope(n)
}

// locals gives the list of what is in scope.
func (f *function) locals() *Local {
	if len(f.vars) == 0 {
		return nil
	}
	return f.vars[len(f.vars)-1].local
}

// see brings a local into scope. One that can hold a tensor has its slot filled
// already; the others wait.
func (f *function) see(name string, o types.Object, t types.Type, slot int, root bool) {
	if !f.c.s.cfg.Markers || name == "_" || strings.Contains(name, "ʹ") || t == nil {
		return
	}
	v := &visible{o, &Local{Name: name, Slot: slot, Root: root, Param: f.params, Type: t, Up: f.locals()}}
	f.vars = append(f.vars, v)
	if !root {
		f.pending = append(f.pending, v)
	}
}

// newSlot gives the number of a new slot of Frame.Vars.
func (f *function) newSlot() int {
	f.slots++
	return f.slots - 1
}

// seeParams brings parameters, the receiver and named results into scope.
func (f *function) seeParams(recv *ast.FieldList, t *ast.FuncType) {
	if f.sig == nil {
		return
	}
	list := func(l *ast.FieldList, vars *types.Tuple) {
		if l == nil || vars == nil {
			return
		}
		k := 0
		for _, fl := range l.List {
			for _, id := range fl.Names {
				if k < vars.Len() && !f.isRoot(vars.At(k).Type()) {
					f.see(id.Name, vars.At(k), vars.At(k).Type(), f.newSlot(), false)
				}
				k++
			}
		}
	}
	if recv != nil && f.sig.Recv() != nil {
		list(recv, types.NewTuple(f.sig.Recv()))
	}
	list(t.Params, f.sig.Params())
	if t.Results != nil {
		k := 0
		for _, fl := range t.Results.List {
			for _, id := range fl.Names {
				if k < f.sig.Results().Len() {
					f.see(id.Name, f.sig.Results().At(k), f.sig.Results().At(k).Type(), f.newSlot(), false)
				}
				k++
			}
		}
	}
}

// isRoot tells whether a local of type t has its slot in Frame.Roots.
func (f *function) isRoot(t types.Type) bool { return f.framed && f.c.s.holdsTensor(t) }

// seeCaptured brings the locals of the functions around a literal into scope
// that the literal mentions.
func (f *function) seeCaptured(body ast.Node) {
	if f.outer == nil || len(f.outer.vars) == 0 {
		return
	}
	used := f.mentioned(body)
	hidden := map[string]bool{}
	var list []*visible
	for _, v := range slices.Backward(f.outer.vars) {
		if used[v.obj] && !hidden[v.local.Name] {
			list = append(list, v)
		}
		hidden[v.local.Name] = true
	}
	for _, v := range slices.Backward(list) {
		f.see(v.local.Name, v.obj, v.local.Type, f.newSlot(), false)
	}
}

// mentioned lists the variables that code uses.
func (f *function) mentioned(n ast.Node) map[types.Object]bool {
	out := map[types.Object]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := f.c.info.Uses[id]; o != nil {
				out[o] = true
			}
		}
		return true
	})
	return out
}

// flush fills the slots of the locals that wait.
func (f *function) flush(p token.Pos) (out []ast.Stmt) {
	if !f.framed {
		return nil
	}
	var hidden []*visible
	for _, v := range f.pending {
		if f.shadowed(v) {
			hidden = append(hidden, v)
			continue
		}
		out = append(out, f.fill(v, p))
		f.flushed = true
	}
	f.pending = hidden
	return out
}

// fill stores the pointer of a local.
func (f *function) fill(v *visible, p token.Pos) ast.Stmt {
	slot := &ast.IndexExpr{X: sel(ident(frameVar, p), "Vars", p), Lbrack: p, Index: intLit(v.local.Slot, p), Rbrack: p}
	return assign(slot, addr(ident(v.local.Name, p), p), p)
}

// fillWaiting fills the slots of the waiting locals on a way that ends in a panic.
func (f *function) fillWaiting(p token.Pos) (out []ast.Stmt) {
	if !f.framed {
		return nil
	}
	for _, v := range f.pending {
		if !f.shadowed(v) {
			out = append(out, f.fill(v, p))
			f.flushed = true
		}
	}
	return out
}

// unchecked tells whether something of the expressions can fail that no check
// in front of them finds first.
func (w *eventWalk) unchecked() bool {
	for _, p := range w.notes {
		if !slices.ContainsFunc(w.checks, func(k *check) bool { return k.pos == p }) {
			return true
		}
	}
	return false
}

// seeLoop brings the variables that a loop declares itself into scope.
func (f *function) seeLoop(names []*ast.Ident) {
	for _, id := range names {
		if o := f.c.info.Defs[id]; o != nil {
			f.see(id.Name, o, o.Type(), f.newSlot(), false)
		}
	}
}

// again lets the locals of these names wait for their slots once more: each
// turn of a loop has its own.
func (f *function) again(names []string) {
	for _, name := range names {
		for _, v := range slices.Backward(f.vars) {
			if v.local.Name == name {
				if !v.local.Root && !slices.Contains(f.pending, v) {
					f.pending = append(f.pending, v)
				}
				break
			}
		}
	}
}

// seeBody brings the locals around the body of a loop over a function into
// scope: it has a frame of its own.
func (f *function) seeBody(around []*visible, body ast.Node) {
	used := f.mentioned(body)
	for _, v := range around {
		if used[v.obj] {
			f.see(v.local.Name, v.obj, v.local.Type, f.newSlot(), false)
		}
	}
}

// hook makes the call that lets a debugger stop before a statement, whose syntax
// may be given.
func (f *function) hook(p token.Pos, kind HookKind, st ...ast.Stmt) []ast.Stmt {
	if !f.c.s.cfg.Markers {
		return nil
	}
	h := Site{Kind: kind, Locals: f.locals()}
	for _, s := range st {
		h.Assigns = append(h.Assigns, f.assigned(s)...)
	}
	h.Entry = kind == Statement && !f.entered
	f.entered = f.entered || kind == Statement
	waiting := f.pending
	if !f.framed {
		waiting = f.vars
	}
	var ptrs []ast.Expr
	for _, v := range waiting {
		if f.shadowed(v) {
			continue
		}
		h.Waiting = append(h.Waiting, v.local)
		ptrs = append(ptrs, addr(ident(v.local.Name, p), p))
	}
	id := f.hookSite(p, h)
	var do *ast.CallExpr
	if f.framed {
		do = rt("Hook", p, append([]ast.Expr{ident(frameVar, p), intLit(id, p)}, ptrs...)...)
	} else {
		do = rt("Leaf", p, append([]ast.Expr{intLit(id, p)}, ptrs...)...)
	}
	return []ast.Stmt{ifStmt(ident(armedVar, p), p, exprStmt(do))}
}

// shadowed tells whether another local in scope has the same name and was
// declared later.
func (f *function) shadowed(v *visible) bool {
	for _, w := range slices.Backward(f.vars) {
		if w.local.Name == v.local.Name {
			return w != v
		}
	}
	return false
}

// hooked tells whether a statement of a list is the user's own.
func (f *function) hooked(st ast.Stmt) bool {
	if f.c.synthetic[st] {
		return false
	}
	switch st := st.(type) {
	case *ast.BlockStmt, *ast.EmptyStmt, *ast.LabeledStmt:
		return false // what stands inside has its own
	case *ast.DeclStmt:
		g, ok := st.Decl.(*ast.GenDecl)
		return ok && g.Tok == token.VAR
	case *ast.ExprStmt:
		if c, ok := st.X.(*ast.CallExpr); ok {
			switch rtName(c) {
			case "Var", "Show", "ShowVar":
				return false
			}
		}
	}
	return true
}

// madeUp notes that statements behind the first are no statements of the user.
func (c *compiler) madeUp(list []ast.Stmt) []ast.Stmt {
	if c.synthetic == nil {
		c.synthetic = map[ast.Stmt]bool{}
	}
	for i, st := range list {
		if i > 0 {
			c.synthetic[st] = true
		}
	}
	return list
}

// hookSite makes the site of a hook.
func (f *function) hookSite(p token.Pos, h Site) int {
	src, line, col := f.c.locate(p)
	if f.lines == nil {
		f.lines = map[int]bool{}
	}
	h.Lead = !f.lines[line] || h.Kind == Turn
	f.lines[line] = true
	h.Cell, h.File, h.FirstLine, h.Line, h.Column, h.Func = src.Cell, src.File, src.FirstLine, line, col, f.name
	return f.c.s.addSite(h)
}

// Begins tells whether s is the statement of the loop whose turn t begins.
func (s *Site) Begins(t *Site) bool {
	return s.Kind == Statement && s.Cell == t.Cell && s.Line == t.Line && s.Column == t.Column && s.Func == t.Func
}

// joinHooks puts the hook at the head of a list behind another one, under the
// same test.
func joinHooks(first, list []ast.Stmt) []ast.Stmt {
	if len(first) == 0 || len(list) == 0 {
		return list
	}
	next, ok := list[0].(*ast.IfStmt)
	if !ok {
		return list
	}
	if id, ok := next.Cond.(*ast.Ident); !ok || id.Name != armedVar {
		return list
	}
	into := first[0].(*ast.IfStmt).Body
	into.List = append(into.List, next.Body.List...)
	return list[1:]
}

// assigned lists the variables that a statement gives a value.
func (f *function) assigned(st ast.Stmt) (out []string) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		for _, l := range st.Lhs {
			if id, ok := unparen(l).(*ast.Ident); ok && id.Name != "_" {
				out = append(out, f.c.userName(id.Name))
			}
		}
	case *ast.DeclStmt:
		if g, ok := st.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					out = append(out, f.c.userName(id.Name))
				}
			}
		}
	}
	return out
}
