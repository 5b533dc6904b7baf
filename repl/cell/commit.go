package cell

import (
	"go/types"
	"strings"
)

// commit makes the function that enters the cell's names in the scope.
func (c *compiler) commit() func(func(string) bool) (undo func()) {
	type named struct {
		name string
		e    *entry
	}
	var list []named
	for in, name := range c.declared {
		o := c.pkg.Scope().Lookup(in)
		if o == nil || name == "init" {
			continue
		}
		if c.env[name] != in && c.hoisted[name] != in {
			continue // declared again further down
		}
		e := &entry{name: name, internal: in, obj: o, cell: c.src.Cell}
		if st := c.stored[in]; st != "" {
			e.internal = st
			if old := c.s.names[name]; old != nil && old.internal == st {
				e.obj = old.obj
			} else {
				e.obj = c.pkg.Scope().Lookup(st)
			}
		}
		list = append(list, named{name, e})
	}
	methods := map[string]*entry{}
	c.keepSources(func(name string, e *entry) {
		if strings.Contains(name, ".") {
			methods[name] = e
			return
		}
		for _, n := range list {
			if n.name == name {
				n.e.piece, n.e.uses, n.e.literal, n.e.info = e.piece, e.uses, e.literal, e.info
			}
		}
	})
	for name, e := range c.resultVars {
		list = append(list, named{name, e})
	}
	imports := c.imports
	s := c.s
	return func(reached func(string) bool) (undo func()) {
		changed := map[string]*entry{}
		set := func(name string, e *entry) {
			if _, ok := changed[name]; !ok {
				changed[name] = s.names[name]
			}
			if s.names[name] = e; e == nil {
				delete(s.names, name)
			}
		}
		formerMethods, formerImports := map[string]*entry{}, map[string]string{}
		for _, n := range list {
			if _, isVar := n.e.obj.(*types.Var); isVar && s.names[n.name] != nil && s.names[n.name].internal == n.e.internal {
				continue // the variable is the same
			} else if isVar && !reached(n.e.internal) {
				continue
			}
			set(n.name, n.e)
		}
		for name, e := range methods {
			formerMethods[name] = s.methods[name]
			s.methods[name] = e
		}
		for name, path := range imports {
			formerImports[name] = s.imports[name]
			s.imports[name] = path
			set(name, nil)
		}
		return func() {
			restore(s.names, changed)
			restore(s.methods, formerMethods)
			restore(s.imports, formerImports)
		}
	}
}

// restore gives the keys of former their values again; a zero one was not there.
func restore[V comparable](m, former map[string]V) {
	var zero V
	for k, v := range former {
		if m[k] = v; v == zero {
			delete(m, k)
		}
	}
}

// keepSources tells the text and the uses of each declared function, method
// and type.
func (c *compiler) keepSources(tell func(name string, e *entry)) {
	for _, d := range c.sources {
		seg := c.asm.find(c.offset(d.pos))
		e := &entry{name: d.name, uses: d.uses, literal: d.literal, cell: c.src.Cell}
		if seg != nil && d.literal == "" {
			e.piece, e.info = seg.piece, c.info
			if seg.piece.src != c.src {
				e.cell = seg.piece.src.Cell
			}
		}
		tell(d.name, e)
	}
}

// keptVars warns of functions that go on using a variable whose type changed.
func (c *compiler) keptVars() (out []Diagnostic) {
	changed := map[string]bool{}
	for _, v := range c.order {
		name := c.declared[v.Name()]
		if e := c.s.names[name]; e != nil && c.storageOf(v) == v.Name() {
			if _, ok := e.obj.(*types.Var); ok {
				changed[name] = true
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	for _, e := range c.s.names {
		if _, ok := e.obj.(*types.Func); !ok || c.hoisted[e.name] != "" {
			continue
		}
		for n := range e.uses {
			if changed[n] {
				out = append(out, Diagnostic{Cell: c.src.Cell, File: c.src.File, Line: 1, Column: 1, Kind: "kept",
					Msg: "func " + e.name + " keeps the " + n + " of before: its type changed"})
				break
			}
		}
	}
	return out
}
