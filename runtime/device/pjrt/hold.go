package pjrt

// maxPrograms is how many programs the process holds. Each takes about nine
// memory maps, of which Linux allows a process 65,530.
const maxPrograms = 512

// holds says whether the process has a program.
func (d *Device) holds(p *program) bool { return p.p != nil && p.born == d.born }

// touch notes that a program is used.
func (d *Device) touch(p *program) {
	d.uses++
	p.used = d.uses
}

// hold notes a new program. When there are too many, the one that was not used
// for the longest time is dropped: should it be needed, it is compiled again.
func (d *Device) hold(p *program) {
	if len(d.held) > 0 && d.held[0].born != d.born { // of a process that is gone
		d.held = d.held[:0]
	}
	d.touch(p)
	d.held = append(d.held, p)
	if len(d.held) <= maxPrograms {
		return
	}
	oldest := 0
	for i, h := range d.held {
		if h.used < d.held[oldest].used {
			oldest = i
		}
	}
	d.held[oldest].p.Drop()
	d.held[oldest].p = nil
	last := len(d.held) - 1
	d.held[oldest], d.held[last] = d.held[last], nil
	d.held = d.held[:last]
}
