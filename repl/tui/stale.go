package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A staleInput is why a cell is stale: something it read is no longer what it
// was when the cell ran.
type staleInput struct {
	name string
	cell int  // In[cell] changed it; or would, for it is stale itself
	late bool // the latter
	root int  // the cell whose run began it
}

// markStale marks the cells whose inputs the run of c changed: those that read a
// name that c changed and ran before it, and those that read what such a cell
// made.
func (m *Model) markStale(c *cell) {
	for _, o := range m.nb.cells {
		if o == c || o.count == 0 || o.status == running {
			continue
		}
		for _, name := range o.reply.Reads {
			if slices.Contains(c.reply.Writes, name) {
				o.addStale(staleInput{name: name, cell: c.count, root: c.count})
			}
		}
	}
	m.markLate()
	m.countStale()
}

// addStale notes one reason more; the latest change of a name counts.
func (c *cell) addStale(s staleInput) {
	for i := range c.stale {
		if c.stale[i].name == s.name {
			if c.stale[i].late || !s.late {
				c.stale[i] = s
				c.touch()
			}
			return
		}
	}
	c.stale = append(c.stale, s)
	c.touch()
}

// markLate finds anew the cells that read what a stale cell made: in the order
// in which they ran, each read a name as the last cell before it left it.
func (m *Model) markLate() {
	var ran []*cell
	for _, c := range m.nb.cells {
		if kept := slices.DeleteFunc(slices.Clone(c.stale), func(s staleInput) bool { return s.late }); len(kept) < len(c.stale) {
			c.stale = kept
			c.touch()
		}
		if c.count > 0 && c.status != running {
			ran = append(ran, c)
		}
	}
	slices.SortFunc(ran, func(a, b *cell) int { return cmp.Compare(a.count, b.count) })
	wrote := map[string]*cell{}
	for _, c := range ran {
		for _, name := range c.reply.Reads {
			if by := wrote[name]; by != nil {
				// A cell that trains makes the optimizer stale that it uses; that makes
				// it no more stale itself than it was.
				if i := slices.IndexFunc(by.stale, func(s staleInput) bool { return s.root != c.count }); i >= 0 {
					c.addStale(staleInput{name, by.count, true, by.stale[i].root})
				}
			}
		}
		for _, name := range c.reply.Writes {
			wrote[name] = c
		}
	}
}

// countStale counts the stale cells for the status bar.
func (m *Model) countStale() {
	m.stales = 0
	for _, c := range m.nb.cells {
		if len(c.stale) > 0 {
			m.stales++
		}
	}
}

// staleText says which inputs changed and where: x, w changed in In[7]; h of
// In[3] is stale.
func (c *cell) staleText() string {
	var parts []string
	for _, late := range []bool{false, true} {
		var names []string
		at := 0
		for _, s := range c.stale {
			if s.late == late {
				names, at = append(names, s.name), max(at, s.cell)
			}
		}
		if len(names) == 0 {
			continue
		}
		in := "In[" + strconv.Itoa(at) + "]"
		if late {
			parts = append(parts, strings.Join(names, ", ")+" of "+in+" is stale")
		} else {
			parts = append(parts, strings.Join(names, ", ")+" changed in "+in)
		}
	}
	return strings.Join(parts, "; ")
}
