package hlo

import (
	"cmp"
	"slices"
	"strings"
)

// An Assignment is where a program keeps its values, and for how long.
type Assignment struct {
	Allocations []Allocation
	Steps       int // instructions of the entry; live ranges count them
}

// An Allocation is a block of memory that buffers share.
type Allocation struct {
	Index, Bytes int64
	Space        int64
	Parameter    int64 // its number, -1 when it is none
	LiveOut      bool  // it holds a result
	PerThread    bool
	Buffers      []Buffer
}

// A Buffer is the place of one value.
type Buffer struct {
	ID, Bytes, Offset int64
	Space             int64
	Def               *Instruction // that makes it, nil when it is not in the program
	Path              []int64      // into the tuple that Def makes
	// First and Last are places in the schedule of the entry: it is live from
	// the one to the other, both included. They are -1 when nobody knows.
	First, Last int
}

// A MemoryStats is the compiler's account of a program, in bytes.
type MemoryStats struct {
	Code, Arguments, Outputs, Alias, Temp int64
	Assignment                            *Assignment
}

// ParseMemoryStats reads a CompiledMemoryStatsProto against its program.
func ParseMemoryStats(b []byte, m *Module) MemoryStats {
	w := wire(b)
	return MemoryStats{
		Code: w.int(1), Arguments: w.int(2), Outputs: w.int(3), Alias: w.int(4), Temp: w.int(5),
		Assignment: ParseAssignment(w.sub(13), m),
	}
}

// ParseProto reads a HloProto, the form of the compiler's dumps: a program and
// its assignment. The error is *FormatError.
func ParseProto(b []byte) (*Module, *Assignment, error) {
	m, err := Parse(wire(b).sub(1))
	if err != nil {
		return nil, nil, err
	}
	return m, ParseAssignment(wire(b).sub(3), m), nil
}

// ParseAssignment reads a BufferAssignmentProto against its program.
func ParseAssignment(b []byte, m *Module) *Assignment {
	w := wire(b)
	byID := map[int64]Buffer{}
	for _, l := range w.subs(1) {
		at := l.sub(3)
		byID[l.int(1)] = Buffer{ID: l.int(1), Bytes: max(l.int(2), 0), Def: m.ByID[at.int(4)], Path: at.ints(3), Space: l.int(4)}
	}
	out := &Assignment{Steps: len(m.Entry.Instructions)}
	for _, a := range w.subs(3) {
		al := Allocation{Index: a.int(1), Bytes: max(a.int(2), 0), PerThread: a.int(3) == 1, Parameter: -1, LiveOut: a.int(7) == 1, Space: a.int(8)}
		if a.int(5) == 1 {
			al.Parameter = a.int(6)
		}
		for _, s := range a.subs(9) {
			if u, ok := byID[s.int(1)]; ok {
				u.Offset, u.Space = s.int(2), al.Space
				al.Buffers = append(al.Buffers, u)
			}
		}
		out.Allocations = append(out.Allocations, al)
	}
	lives(out, m)
	return out
}

// lives sets the live ranges: from the definition to the last use in the
// schedule of the entry, through instructions that only pass values on.
// Parameters live throughout; what is made inside a called computation lives
// while its caller runs.
func lives(as *Assignment, m *Module) {
	f := flow{m: m, at: map[int64]int{}, users: map[int64][]*Instruction{}, callers: map[int64]int{}}
	for i, in := range m.Entry.Instructions {
		f.at[in.ID] = i
		for _, o := range in.Operands {
			f.users[o] = append(f.users[o], in)
		}
		f.inside(in, i, 0)
	}
	home := map[int64]int64{}
	for id, c := range m.Computations {
		for _, in := range c.Instructions {
			home[in.ID] = id
		}
	}
	for i := range as.Allocations {
		a := &as.Allocations[i]
		for k := range a.Buffers {
			u := &a.Buffers[k]
			u.First, u.Last = -1, -1
			if u.Def == nil {
				continue
			}
			at, ok := f.at[u.Def.ID]
			caller, called := f.callers[home[u.Def.ID]]
			switch {
			case ok && a.Parameter >= 0:
				u.First, u.Last = 0, as.Steps
			case ok:
				u.First, u.Last = at, f.last(u.Def, u.Path, as.Steps, map[visit]bool{})
			case called:
				u.First, u.Last = caller, caller
			}
		}
	}
}

type flow struct {
	m       *Module
	at      map[int64]int
	users   map[int64][]*Instruction
	callers map[int64]int // computation → place of the entry's instruction that leads to it
}

// inside notes the computations that an instruction of the entry calls.
func (f *flow) inside(in *Instruction, at, depth int) {
	if in.Opcode == "fusion" || depth > maxNesting { // values of a fusion live in registers
		return
	}
	for _, id := range in.Called {
		c := f.m.Computations[id]
		if _, known := f.callers[id]; c == nil || known || c == f.m.Entry {
			continue
		}
		f.callers[id] = at
		for _, k := range c.Instructions {
			f.inside(k, at, depth+1)
		}
	}
}

type visit struct {
	id   int64
	path string
}

func (f *flow) last(in *Instruction, path []int64, end int, seen map[visit]bool) int {
	v := visit{in.ID, join(path)}
	if in.ID == f.m.Entry.Root {
		return end
	}
	last := f.at[in.ID]
	if seen[v] || len(path) > maxNesting {
		return last
	}
	seen[v] = true
	for _, u := range f.users[in.ID] {
		next, used, through := passes(u, in, path)
		if used {
			last = max(last, f.at[u.ID])
		}
		if through {
			last = max(last, f.last(u, next, end, seen))
		}
	}
	return last
}

// passes says whether u reads the value at a path of in, and where that value
// is seen again in what u makes.
func passes(u, in *Instruction, path []int64) (next []int64, used, through bool) {
	switch {
	case u.Opcode == "get-tuple-element":
		if len(path) == 0 {
			return nil, true, false // it reads the table of the tuple only
		}
		return path[1:], path[0] == u.Index, path[0] == u.Index
	case u.Opcode == "tuple":
		for i, o := range u.Operands {
			if o == in.ID {
				return append([]int64{int64(i)}, path...), true, true
			}
		}
	case u.Opcode == "bitcast", u.Opcode == "optimization-barrier", u.Opcode == "while":
		return slices.Clone(path), true, true
	case u.Opcode == "copy-start": // its results are destination, source, semaphore
		return append([]int64{1}, path...), true, true
	case u.Opcode == "copy-done":
		if len(path) > 0 && path[0] == 0 {
			return path[1:], true, true
		}
	case strings.HasSuffix(u.Opcode, "-start"): // source, destination, …
		return append([]int64{0}, path...), true, true
	case strings.HasSuffix(u.Opcode, "-done"):
		if len(path) > 0 && path[0] == 1 {
			return path[1:], true, true
		}
	}
	return nil, true, false
}

// maxSteps bounds the schedules that are drawn.
const maxSteps = 1 << 20

// Use gives the bytes of a memory space that are live at each place of the
// schedule, the end included.
func (as *Assignment) Use(space int64) []int64 {
	if as.Steps > maxSteps {
		return nil
	}
	change := make([]int64, as.Steps+2)
	for _, a := range as.Allocations {
		if a.Space != space || a.PerThread {
			continue
		}
		if a.Parameter >= 0 { // a result that takes it over takes nothing more
			change[0] += a.Bytes
			continue
		}
		for _, u := range a.Buffers {
			if u.First >= 0 && u.First <= u.Last && u.Last <= as.Steps {
				change[u.First] += u.Bytes
				change[u.Last+1] -= u.Bytes
			}
		}
	}
	use, sum := make([]int64, as.Steps+1), int64(0)
	for i := range use {
		sum += change[i]
		use[i] = sum
	}
	return use
}

// Peak gives the most bytes of a space that are live at once, and where first.
func (as *Assignment) Peak(space int64) (bytes int64, at int) {
	for i, n := range as.Use(space) {
		if n > bytes {
			bytes, at = n, i
		}
	}
	return bytes, at
}

// LiveAt lists the buffers of a space that are live at a place of the
// schedule, the largest first.
func (as *Assignment) LiveAt(space int64, at int) []Placed {
	var all []Placed
	for i := range as.Allocations {
		a := &as.Allocations[i]
		if a.Space != space || a.PerThread {
			continue
		}
		for k := range a.Buffers {
			if u := &a.Buffers[k]; u.First >= 0 && u.First <= at && at <= u.Last {
				all = append(all, Placed{u, a})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Placed) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return all
}

// Placed is a buffer in its allocation.
type Placed struct {
	*Buffer
	In *Allocation
}
