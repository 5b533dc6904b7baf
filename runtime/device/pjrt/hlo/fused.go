package hlo

import (
	"slices"
	"strings"
)

// passive are instructions of a schedule that run nothing.
var passive = []string{"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "partition-id", "replica-id", "after-all"}

// Runs says whether an instruction of a schedule does work of its own.
func (in *Instruction) Runs() bool { return !slices.Contains(passive, in.Opcode) }

// moves are the instructions that only move bytes between memories.
var moves = []string{"copy-start", "copy-done", "slice-start", "slice-done", "dynamic-slice-start", "dynamic-update-slice-start"}

// Moves says whether an instruction is a transfer that runs beside the others.
func (in *Instruction) Moves() bool {
	return slices.Contains(moves, in.Opcode) || strings.HasPrefix(in.Opcode, "async-") && in.Kind == ""
}

// collectives are the instructions that talk to other chips, without -start and -done.
var collectives = []string{"all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast", "ragged-all-to-all", "send", "recv"}

// Collective says whether an instruction talks to other chips.
func (in *Instruction) Collective() bool {
	return slices.Contains(collectives, strings.TrimSuffix(strings.TrimSuffix(in.Opcode, "-start"), "-done"))
}

// Inside gives an instruction and what it is made of: the instructions of a
// fusion, nested ones and the bodies of loops too, in the order of the program.
func (m *Module) Inside(in *Instruction) []*Instruction {
	var all []*Instruction
	m.inside(in, 0, map[int64]bool{}, &all)
	return all
}

func (m *Module) inside(in *Instruction, depth int, seen map[int64]bool, all *[]*Instruction) {
	*all = append(*all, in)
	if depth > maxNesting {
		return
	}
	for _, id := range in.Called {
		c := m.Computations[id]
		if c == nil || seen[id] {
			continue
		}
		seen[id] = true
		for _, k := range c.Instructions {
			m.inside(k, depth+1, seen, all)
		}
	}
}

// Places lists the distinct places of what an instruction is made of, in the
// order of the program.
func (m *Module) Places(in *Instruction) []Place {
	var all []Place
	seen := map[Place]bool{}
	for _, k := range m.Inside(in) {
		if k.Opcode == "parameter" && k != in || k.OpName == "" && k.File == "" || seen[k.Place] {
			continue
		}
		seen[k.Place] = true
		all = append(all, k.Place)
	}
	return all
}

// Opcodes lists the operations that an instruction is made of, each once, in
// the order of the program; those that run nothing are left out.
func (m *Module) Opcodes(in *Instruction) []string {
	var all []string
	for _, k := range m.Inside(in) {
		if k.Runs() && k.Opcode != "fusion" && !slices.Contains(all, k.Opcode) {
			all = append(all, k.Opcode)
		}
	}
	return all
}

// transcendental are the operations of the extended unit.
var transcendental = []string{"exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh", "tan", "sine", "cosine", "power", "sqrt", "rsqrt", "cbrt", "divide", "erf", "atan2"}

// Unit names the unit that the hardest operation of an instruction needs, by
// the operations alone: ICI (links), DMA, MXU (products), XLU (across lanes),
// EUP (transcendental), VPU, scalar. Listings of machine code say what really
// was busy.
func (m *Module) Unit(in *Instruction) string {
	switch {
	case in.Collective():
		return "ICI"
	case in.Moves():
		return "DMA"
	case in.Opcode == "custom-call":
		return "custom"
	}
	unit := "VPU"
	rank := map[string]int{"VPU": 0, "EUP": 1, "XLU": 2, "MXU": 3}
	up := func(u string) {
		if rank[u] > rank[unit] {
			unit = u
		}
	}
	scalar := true
	for _, k := range m.Inside(in) {
		if k.Collective() {
			return "ICI"
		}
		scalar = scalar && small(k.Shape)
		switch {
		case k.Opcode == "convolution" || k.Opcode == "dot":
			up("MXU")
		case k.Opcode == "transpose" || k.Opcode == "reverse" || k.Opcode == "sort":
			up("XLU")
		case k.Opcode == "reduce" && m.acrossLanes(k):
			up("XLU")
		case slices.Contains(transcendental, k.Opcode):
			up("EUP")
		}
	}
	if scalar && unit != "MXU" {
		return "scalar"
	}
	return unit
}

// small says whether a shape is of single numbers.
func small(s Shape) bool {
	for _, l := range s.Leaves() {
		for _, d := range l.Dims {
			if d != 1 {
				return false
			}
		}
	}
	return true
}

// acrossLanes says whether a reduction goes along the minor dimension.
func (m *Module) acrossLanes(in *Instruction) bool {
	if len(in.Operands) == 0 {
		return false
	}
	x := m.ByID[in.Operands[0]]
	if x == nil || len(x.Shape.Dims) == 0 {
		return false
	}
	minor := int64(len(x.Shape.Dims) - 1)
	if len(x.Shape.Order) > 0 {
		minor = x.Shape.Order[0]
	}
	return slices.Contains(in.Dims, minor)
}
