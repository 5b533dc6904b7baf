package jit

// A processor begins what is ready among some sixty instructions that wait. A chain
// of operations after the other fills that with one chain, so chains are mixed as far
// as registers last. AVX-512 has registers for the simple order of weave.

// latencies are about how many cycles pass until a result can be used, by map
// and opcode; one where there is none.
var latencies = map[enc]int{
	{1, 0, 0x58, 0}: 3, {1, 0, 0x59, 0}: 3, {1, 0, 0x5C, 0}: 3, {1, 0, 0x5E, 0}: 12, {1, 0, 0x51, 0}: 16,
	{1, 1, 0x58, 1}: 3, {1, 1, 0x59, 1}: 3, {1, 1, 0x5C, 1}: 3, {1, 1, 0x5E, 1}: 14, {1, 1, 0x51, 1}: 20,
	{1, 0, 0x5A, 0}: 4, {1, 1, 0x5A, 1}: 4, {1, 0, 0x5B, 0}: 4, {1, 1, 0x5B, 0}: 4, {1, 2, 0x5B, 0}: 4,
	{3, 1, 8, 0}: 4, {3, 1, 9, 1}: 4, {2, 1, 0x13, 0}: 4, {3, 1, 0x1D, 0}: 4, {3, 1, 0x19, 0}: 4, {3, 1, 0x18, 0}: 4,
}

// begun is how many instructions a processor begins in a cycle, about.
const begun = 3

// latency is that of in. A load begins long before what waits for it.
func (in *ins) latency() int {
	if in.form == fFMA {
		return 4
	}
	if n, ok := latencies[in.e]; ok && in.ref == nil {
		return n
	}
	return 1
}

// A job is an instruction that waits for its turn.
type job struct {
	waits  int     // for so many others
	after  []int32 // those that wait for it
	height int     // cycles from its start to the end of what depends on it
	start  int     // the cycle in which its operands are there
}

// arrange puts first those instructions whose followers take longest, as far
// as so many registers last.
func (l *lower) arrange(list []ins, registers int) []ins {
	jobs := l.jobs(list)
	uses := make([]int, len(l.info))
	for i := range list {
		list[i].sources(func(v *vr) { uses[*v]++ })
	}
	// more is how many registers more are taken when in is done.
	more := func(in *ins) (n int) {
		if l.taken(in.dst) {
			n++
		}
		in.sources(func(v *vr) { uses[*v]-- })
		in.sources(func(v *vr) {
			if uses[*v] == 0 && l.taken(*v) {
				n--
				uses[*v] = -1 // counted, should it be read twice
			}
		})
		in.sources(func(v *vr) { uses[*v] = max(uses[*v], 0) })
		in.sources(func(v *vr) { uses[*v]++ })
		return n
	}
	var ready []int32
	for i := range jobs {
		if jobs[i].waits == 0 {
			ready = append(ready, int32(i))
		}
	}
	out := make([]ins, 0, len(list))
	live, now := 0, 0 // now in parts of a cycle
	// before says whether a with its ma registers is the better choice.
	before := func(a, b int32, ma, mb int) bool {
		if fa, fb := ma <= 0 || live+ma <= registers, mb <= 0 || live+mb <= registers; fa != fb {
			return fa
		} else if !fa && ma != mb {
			return ma < mb
		}
		x, y := &jobs[a], &jobs[b]
		if sx, sy := max(x.start*begun, now), max(y.start*begun, now); sx != sy {
			return sx < sy
		}
		if x.height != y.height {
			return x.height > y.height
		}
		return a < b
	}
	for len(ready) > 0 {
		best, fewest := 0, more(&list[ready[0]])
		for k := 1; k < len(ready); k++ {
			if m := more(&list[ready[k]]); before(ready[k], ready[best], m, fewest) {
				best, fewest = k, m
			}
		}
		i := ready[best]
		ready = append(ready[:best], ready[best+1:]...)
		live += fewest
		list[i].sources(func(v *vr) { uses[*v]-- })
		now = max(now, jobs[i].start*begun)
		done := now/begun + list[i].latency()
		now++
		for _, j := range jobs[i].after {
			jobs[j].start = max(jobs[j].start, done)
			if jobs[j].waits--; jobs[j].waits == 0 {
				ready = append(ready, j)
			}
		}
		out = append(out, list[i])
	}
	return out
}

// taken says whether v needs a register while it is wanted.
func (l *lower) taken(v vr) bool {
	n := &l.info[v]
	return v != 0 && n.home == nil && n.ref == nil && !n.pin
}

// jobs finds what waits for what.
func (l *lower) jobs(list []ins) []job {
	jobs := make([]job, len(list))
	wait := func(on, i int) { // numbers from 1 on; 0 is none
		if on > 0 {
			jobs[on-1].after = append(jobs[on-1].after, int32(i))
			jobs[i].waits++
		}
	}
	maker := make([]int, len(l.info)) // of an accumulator: who touched it last
	slot, store := 0, 0               // who touched a slot of the frame, and stored an element, last
	for i := range list {
		in := &list[i]
		in.sources(func(v *vr) { wait(maker[*v], i) })
		in.sources(func(v *vr) {
			if l.info[*v].pin {
				maker[*v] = i + 1
			}
		})
		if in.dst != 0 {
			if maker[in.dst] != i+1 {
				wait(maker[in.dst], i)
			}
			maker[in.dst] = i + 1
		}
		if in.m != nil && in.m.base >= 0 {
			wait(slot, i)
			slot = i + 1
		}
		if in.form == fStore && in.ref != nil {
			wait(store, i)
			store = i + 1
			for j := range i {
				if l.alias && list[j].form != fStore && list[j].ref != nil {
					wait(j+1, i)
				}
			}
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		for _, j := range jobs[i].after {
			jobs[i].height = max(jobs[i].height, jobs[j].height)
		}
		jobs[i].height += list[i].latency()
	}
	return jobs
}
