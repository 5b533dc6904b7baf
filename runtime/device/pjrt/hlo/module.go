package hlo

import (
	"fmt"
	"strconv"
)

// A Module is an optimized program.
type Module struct {
	Name         string
	Computations map[int64]*Computation
	Entry        *Computation // nil in bytes that are no program
	ByID         map[int64]*Instruction

	files, functions []string
	locations        []wire
	frames           []wire
	configs          []wire // notes that instructions share
	withConfig       wire   // the message it came from, for Slice
}

// A Computation is a function of a program.
type Computation struct {
	ID           int64
	Name         string
	Fusion       bool
	Root         int64
	Instructions []*Instruction // in the order of the schedule, where there is one
}

// An Instruction is one operation of a computation.
type Instruction struct {
	ID       int64
	Name     string // fusion.7
	Opcode   string // fusion, copy-start, …
	Kind     string // of a fusion: kLoop, kOutput, kCustom
	Target   string // of a custom call
	Shape    Shape
	Operands []int64
	Called   []int64 // computations
	Index    int64   // of a parameter or of an element of a tuple
	Dims     []int64 // of a reduction, a broadcast, …
	Place

	CodeBytes    int64  // of machine code
	WorkingBytes int64  // of fast memory while it runs
	Groups       string // who talks to whom in a collective
	GroupSize    int    // how many to each other, 0: all
	Config       Config

	raw wire
}

// A Place is where an operation was written: the name of its location, and the
// file when there is one.
type Place struct {
	OpName string // cell3/op17/exp, or what the file says
	File   string
	Line   int
	Column int
}

// String is file:line, or the name of the operation.
func (p Place) String() string {
	switch {
	case p.File != "" && p.Line > 0:
		return p.File + ":" + strconv.Itoa(p.Line)
	case p.File != "":
		return p.File
	}
	return p.OpName
}

// A FormatError says that bytes are not what they should be.
type FormatError struct{ What string }

// Error names what was expected.
func (e *FormatError) Error() string { return "not " + e.What }

// ParseWithConfig reads a HloModuleProtoWithConfig: what a plug-in calls
// hlo_with_config. The error is *FormatError.
func ParseWithConfig(b []byte) (*Module, error) {
	m, err := Parse(wire(b).sub(1))
	if err == nil {
		m.withConfig = b
	}
	return m, err
}

// Parse reads a HloModuleProto.
func Parse(b []byte) (*Module, error) {
	w := wire(b)
	m := &Module{Name: string(w.sub(1)), Computations: map[int64]*Computation{}, ByID: map[int64]*Instruction{}, configs: w.subs(22)}
	index := w.sub(17)
	m.files, m.functions = index.texts(1), index.texts(2)
	m.locations, m.frames = index.subs(3), index.subs(4)
	order := map[int64][]int64{}
	for _, e := range w.sub(7).subs(1) {
		order[e.int(1)] = e.sub(2).ints(1)
	}
	for _, c := range w.subs(3) {
		comp := &Computation{ID: c.int(5), Name: string(c.sub(1)), Fusion: c.int(7) == 1, Root: c.int(6)}
		for _, i := range c.subs(2) {
			in := m.instruction(i)
			m.ByID[in.ID] = in
			comp.Instructions = append(comp.Instructions, in)
		}
		comp.schedule(order[comp.ID])
		m.Computations[comp.ID] = comp
	}
	m.Entry = m.Computations[w.int(6)]
	if m.Entry == nil {
		return nil, &FormatError{"an HLO module"}
	}
	return m, nil
}

// schedule puts the instructions in the order of ids, when these are all of them.
func (c *Computation) schedule(ids []int64) {
	if len(ids) != len(c.Instructions) {
		return
	}
	own := map[int64]*Instruction{}
	for _, in := range c.Instructions {
		own[in.ID] = in
	}
	sorted := make([]*Instruction, 0, len(ids))
	for _, id := range ids {
		if own[id] == nil {
			return
		}
		sorted = append(sorted, own[id])
		delete(own, id)
	}
	c.Instructions = sorted
}

func (m *Module) instruction(b wire) *Instruction {
	meta := b.sub(7)
	in := &Instruction{
		ID: b.int(35), Name: string(b.sub(1)), Opcode: string(b.sub(2)), Shape: parseShape(b.sub(3), 0), Kind: string(b.sub(11)),
		Target: string(b.sub(28)), Operands: b.ints(36), Called: b.ints(38), Dims: b.ints(14), CodeBytes: meta.int(8), WorkingBytes: meta.int(9), raw: b,
		Place: Place{OpName: string(meta.sub(2)), File: string(meta.sub(3)), Line: int(meta.int(4))},
	}
	in.Index = b.int(13)
	if in.Opcode == "parameter" {
		in.Index = b.int(9)
	}
	if p, ok := m.frame(meta.int(15)); ok {
		in.File, in.Line, in.Column = p.File, p.Line, p.Column
	}
	in.Config = parseConfig(m.config(b))
	in.Groups, in.GroupSize = groups(b), groupSize(b)
	return in
}

// config gives the note of an instruction: its own, or one of the module's.
func (m *Module) config(b wire) wire {
	if c := b.sub(43); len(c) > 0 {
		return c
	}
	if ref := b.sub(99); len(ref) > 0 {
		if i := ref.int(2); i >= 0 && i < int64(len(m.configs)) {
			return m.configs[i]
		}
	}
	return nil
}

// frame resolves the number of a stack frame, from 1.
func (m *Module) frame(id int64) (Place, bool) {
	if id < 1 || id > int64(len(m.frames)) {
		return Place{}, false
	}
	at := m.frames[id-1].int(1)
	if at < 1 || at > int64(len(m.locations)) {
		return Place{}, false
	}
	l := m.locations[at-1]
	f := l.int(1)
	if f < 1 || f > int64(len(m.files)) {
		return Place{}, false
	}
	return Place{File: m.files[f-1], Line: int(l.int(3)), Column: int(l.int(4))}, true
}

// ParseTarget reads from a TpuTargetArguments which chip an executable is for:
// the number of its generation, and the variant of it.
func ParseTarget(b []byte) (generation int64, variant string) {
	chip := wire(b).sub(6)
	return chip.int(1), string(chip.sub(2))
}

// Parameters lists the parameters of the entry by their numbers; a number
// that nothing has is nil.
func (m *Module) Parameters() []*Instruction {
	var all []*Instruction
	for _, in := range m.Entry.Instructions {
		if in.Opcode != "parameter" || in.Index < 0 || in.Index >= int64(len(m.Entry.Instructions)) {
			continue
		}
		for int64(len(all)) <= in.Index {
			all = append(all, nil)
		}
		all[in.Index] = in
	}
	return all
}

// Root is the last instruction of the entry, nil when it is not there.
func (m *Module) Root() *Instruction { return m.ByID[m.Entry.Root] }

// groups writes the groups of a collective in the compiler's words.
func groups(b wire) string {
	var s string
	add := func(t string) {
		if s != "" {
			s += ","
		}
		s += t
	}
	for _, g := range b.sub(87).subs(1) {
		add("{" + join(g.ints(1)) + "}")
	}
	if g := b.sub(92); len(g) > 0 { // count, size, and the grid that they are cut from
		t := fmt.Sprintf("[%d,%d]<=[%s]", g.int(1), g.int(2), join(g.ints(3)))
		if perm := g.ints(4); len(perm) > 1 {
			t += "T(" + join(perm) + ")"
		}
		add(t)
	}
	if g := b.sub(93); len(g) > 0 {
		add(meshGroups(g))
	}
	for _, p := range b.subs(52) {
		add(fmt.Sprintf("{%d,%d}", p.int(1), p.int(2)))
	}
	return s
}

// groupSize is how many devices talk to one another; 0 when it does not say.
func groupSize(b wire) int {
	if g := b.sub(87).subs(1); len(g) > 0 {
		return len(g[0].ints(1))
	}
	if g := b.sub(92); len(g) > 0 {
		return int(g.int(2))
	}
	g := b.sub(93)
	n, axes := 1, g.sub(1).subs(1)
	for _, r := range g.subs(2) {
		if i := r.int(1); i >= 0 && i < int64(len(axes)) {
			n *= int(axes[i].int(2))
		}
	}
	if len(axes) == 0 {
		return 0
	}
	return n
}

// meshGroups writes groups that are axes of a mesh: mesh[x=2,y=2] over y.
func meshGroups(b wire) string {
	axes := b.sub(1).subs(1)
	s := "mesh["
	for i, a := range axes {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf("%s=%d", a.sub(1), a.int(2))
	}
	s += "] over "
	for k, r := range b.subs(2) {
		if i := r.int(1); i >= 0 && i < int64(len(axes)) {
			if k > 0 {
				s += ","
			}
			s += string(axes[i].sub(1))
		}
	}
	return s
}
