package exec

import "slices"

// keptSteps is how many steps of training the figures are of.
const keptSteps = 128

// steps are how long the last steps took, on the virtual clock.
type steps struct {
	ring  [keptSteps]int64
	count int64
	of    int   // the cell whose steps these are
	cell  int   // that the last step was in
	atNS  int64 // when it ended
}

// Steps say how long the steps of the cell that trained last took, in nanoseconds
// of virtual time.
type Steps struct {
	Count  int64 // steps that were timed
	LastNS int64
	P95NS  int64 // of the last 128
}

// EndStep says that a step of training ended: an optimizer has changed its
// parameters. A step is timed from the end of the one before in the same cell.
func (d *Dispatcher) EndStep() {
	d.lock()
	defer d.mu.Unlock()
	s, now := &d.steps, max(d.clock.HostNS, d.clock.DeviceNS)
	if s.atNS > 0 && s.cell == d.cell {
		if s.of != d.cell {
			s.of, s.count = d.cell, 0
		}
		s.ring[s.count%keptSteps] = now - s.atNS
		s.count++
	}
	s.cell, s.atNS = d.cell, now
}

// stats sums up the steps.
func (s *steps) stats() Steps {
	n := min(s.count, keptSteps)
	if n == 0 {
		return Steps{}
	}
	list := slices.Clone(s.ring[:n])
	slices.Sort(list)
	return Steps{s.count, s.ring[(s.count-1)%keptSteps], list[(n*95+99)/100-1]}
}
