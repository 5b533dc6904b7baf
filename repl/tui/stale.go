package tui

// markStale marks the cells whose inputs the run of c changed: they read a name
// that c wrote, and ran before it.
func (m *Model) markStale(c *cell) {
	for _, o := range m.nb.cells {
		if o == c || o.count == 0 || o.status == running || len(c.reply.Writes) == 0 {
			continue
		}
		for _, name := range o.reply.Reads {
			if contains(c.reply.Writes, name) && !contains(o.stale, name) {
				o.stale = append(o.stale, name)
				o.changed = append(o.changed, c.count)
				o.touch()
			}
		}
	}
	m.countStale()
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

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
