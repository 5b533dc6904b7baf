package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// A visible is a local in scope while its function is compiled.
type visible struct {
	obj   types.Object
	local *cell.Local
}

// site makes a program counter for a place.
func (c *fc) site(p token.Pos, kind cell.HookKind, assigns ...string) int {
	if c.unit.bare {
		return 0
	}
	s := cell.Site{Func: c.name, Kind: kind, Locals: c.locals(), Assigns: assigns}
	if kind != cell.NoHook {
		if c.lines == nil {
			c.lines = map[int]bool{}
		}
		line := c.unit.line(p)
		s.Lead = !c.lines[line] || kind == cell.Turn
		c.lines[line] = true
		s.Entry = kind == cell.Statement && !c.entered
		if s.Entry {
			s.For = c.literalFor
		}
		if kind == cell.Statement {
			c.assigns = assigns
		}
		c.entered = c.entered || kind == cell.Statement
	}
	return c.unit.site(p, s)
}

// locals gives the list of what is in scope.
func (c *fc) locals() *cell.Local {
	if len(c.scope) == 0 {
		return nil
	}
	return c.scope[len(c.scope)-1].local
}

// see brings a local into scope.
func (c *fc) see(o types.Object, slot int) {
	if c.unit.bare || o.Name() == "_" || strings.Contains(o.Name(), "ʹ") {
		return
	}
	c.scope = append(c.scope, &visible{o, &cell.Local{Name: o.Name(), Slot: slot, Param: c.params, Type: c.sub.typ(o.Type()), Up: c.locals()}})
}

// seeCaptured brings the locals of the function around into scope that a
// literal uses.
func (c *fc) seeCaptured(body ast.Node) {
	if c.outer == nil || len(c.outer.scope) == 0 || c.unit.bare {
		return
	}
	used := map[types.Object]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := c.info.Uses[id]; o != nil {
				used[o] = true
			}
		}
		return true
	})
	for _, v := range c.outer.scope {
		if used[v.obj] {
			if k, ok := c.slot(v.obj); ok {
				c.see(v.obj, k)
			}
		}
	}
}

// hook gives what lets a debugger stop before a statement, nil if cells are bare.
func (c *fc) hook(p token.Pos, kind cell.HookKind) func(*fr) {
	if c.unit.bare {
		return nil
	}
	id, in := c.site(p, kind), c.m.in
	return func(f *fr) {
		if in.armed.Load() {
			in.hook(f.f, id)
		}
	}
}

// A capture is a variable of the function around.
type capture struct {
	obj  types.Object
	from int
}

// slot gives the slot of a local variable, capturing it from the function
// around if it is of that.
func (c *fc) slot(o types.Object) (int, bool) {
	if k, ok := c.slots[o]; ok {
		return k, true
	}
	if c.outer == nil {
		return 0, false
	}
	from, ok := c.outer.slot(o)
	if !ok {
		return 0, false
	}
	s := c.newSlot()
	c.slots[o] = s
	c.caps = append(c.caps, capture{o, from})
	c.code.capAt, c.code.capTypes = append(c.code.capAt, s), append(c.code.capTypes, c.typ(o.Type()))
	return s, true
}

func (c *fc) newSlot() int {
	c.code.nslots++
	return c.code.nslots - 1
}

// mark gives what stores a place for the reports of errors.
func (c *fc) mark(p token.Pos) func(*fr) {
	if c.unit.bare {
		return func(*fr) {}
	}
	site := c.site(p, cell.NoHook)
	return func(f *fr) { f.at(site) }
}

// at stores a place. The bit that a statement has begun stays until an op ran.
func (f *fr) at(site int) {
	if pc := f.f.PC; pc>>opShift == 0 {
		f.f.PC = site | pc&cell.BeginBit
	} else {
		f.f.PC = site
	}
}

// begin gives what stores the place where a statement begins.
func (c *fc) begin(p token.Pos) func(*fr) {
	if c.unit.bare {
		return nil
	}
	site := c.site(p, cell.NoHook) | cell.BeginBit
	return func(f *fr) { f.f.PC = site }
}

// declare makes a variable. The result prepares its memory.
func (c *fc) declare(o types.Object) (slot int, make func(*fr) unsafe.Pointer) {
	t := c.typ(o.Type())
	k := c.newSlot()
	c.slots[o] = k
	v := localVar{o.Name(), k, t}
	c.see(o, k)
	c.registers(v)
	if c.escapes[o] {
		return k, func(f *fr) unsafe.Pointer {
			p := t.alloc()
			f.p[k] = p
			return p
		}
	}
	return k, func(f *fr) unsafe.Pointer {
		p := f.p[k]
		if p == nil {
			p = t.alloc()
			f.p[k] = p
		}
		return p
	}
}

// escapesOf finds the variables that outlive their turn: used in a literal that
// does not declare them, or whose address is taken.
func escapesOf(info *types.Info, body ast.Node) map[types.Object]bool {
	out := map[types.Object]bool{}
	home := map[types.Object]ast.Node{}
	var walk func(n ast.Node, fn ast.Node)
	root := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.SliceExpr:
				e = x.X
			case *ast.Ident:
				if o := info.ObjectOf(x); o != nil {
					out[o] = true
				}
				return
			default:
				return
			}
		}
	}
	walk = func(n ast.Node, fn ast.Node) {
		ast.Inspect(n, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.FuncLit:
				if x != fn {
					walk(x, x)
					return false
				}
			case *ast.Ident:
				if o := info.Defs[x]; o != nil {
					home[o] = fn
				} else if o, ok := info.Uses[x].(*types.Var); ok && home[o] != fn {
					out[o] = true
				}
			case *ast.CaseClause:
				if o := info.Implicits[x]; o != nil {
					home[o] = fn
				}
			case *ast.UnaryExpr:
				if x.Op == token.AND {
					root(x.X)
				}
			case *ast.SliceExpr:
				if t := info.TypeOf(x.X); t != nil {
					if _, ok := t.Underlying().(*types.Array); ok {
						root(x.X)
					}
					if _, ok := types.Unalias(t).(*types.TypeParam); ok {
						root(x.X)
					}
				}
			case *ast.SelectorExpr:
				if s := info.Selections[x]; s != nil && s.Kind() == types.MethodVal {
					if f, ok := s.Obj().(*types.Func); ok && f.Signature().Recv() != nil {
						_, isPtr := f.Signature().Recv().Type().(*types.Pointer)
						_, param := types.Unalias(s.Recv()).(*types.TypeParam)
						if isPtr || param {
							root(x.X)
						}
					}
				}
			}
			return true
		})
	}
	walk(body, body)
	return out
}
