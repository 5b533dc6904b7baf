package xla

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// builder turns the compiler's answers into a report.
type builder struct {
	m      *hlo.Module
	at     places
	target ahead.Target
	costs  map[int64]worker.Cost
	slots  map[string]*hlo.Slots
}

// FromResult makes the report of a compiled subject.
func FromResult(s *Subject, r *ahead.Result) *Compiled {
	b := &builder{m: r.Module, at: placesOf(s.Graph), target: r.Target, costs: r.Costs, slots: r.Slots}
	out := &Compiled{
		Module: r.Module.Name, Topology: r.Target.Topology, Devices: r.Target.Devices, CompileNS: r.Compile.Nanoseconds(), RSSBytes: r.RSSBytes,
		CodeBytes: r.CodeBytes, ClockHz: r.Target.ClockHz, Kernels: []Kernel{}, HasSlots: r.Slots != nil, Serialized: r.Serialized,
		FLOPs: rounded(r.Cost["flops"]), HBMBytes: rounded(r.Cost["bytes accessed"]), Transcend: rounded(r.Cost["transcendentals"]),
		TotalNS: rounded(r.Cost["optimal_seconds"] * 1e9),
	}
	if out.CodeBytes == 0 {
		out.CodeBytes = r.Memory.Code
	}
	b.schedule(out, r.Module.Entry, 0, 1, map[int64]bool{})
	for i := range out.Kernels {
		k := &out.Kernels[i]
		trips := max(k.Trips, 1)
		switch {
		case k.Moves:
			out.Copies++
			continue
		case k.Cycles >= 0:
			out.Cycles += k.Cycles * trips
			out.TimeNS += k.NS * trips
		case k.Unit != scalarKernel:
			out.Unpriced++
		}
		if k.Groups != "" {
			out.Collectives++
		}
		out.RooflineNS += k.RooflineNS * trips
	}
	out.Params, out.Results = b.arrays()
	out.Memory = b.memory(r.Memory.Assignment)
	out.Memory.Arguments, out.Memory.Outputs, out.Memory.Alias, out.Memory.Temp, out.Memory.Code =
		r.Memory.Arguments, r.Memory.Outputs, r.Memory.Alias, r.Memory.Temp, out.CodeBytes
	out.Memory.HBM = r.Memory.Arguments + r.Memory.Outputs - r.Memory.Alias + r.Memory.Temp
	return out
}

func rounded(v float64) int64 {
	if math.IsNaN(v) || math.Abs(v) > 1<<62 {
		return 0
	}
	return int64(math.Round(v))
}

// maxDepth bounds the nesting of loops that is followed.
const maxDepth = 8

// schedule lists what runs of a computation, the bodies of loops below them.
func (b *builder) schedule(out *Compiled, c *hlo.Computation, depth int, trips int64, seen map[int64]bool) {
	for _, in := range c.Instructions {
		if !in.Runs() || strings.HasSuffix(in.Opcode, "-done") {
			continue
		}
		loop := in.Opcode == "while" || in.Opcode == "conditional" || in.Opcode == "call"
		k := b.kernel(in)
		k.Depth = depth
		if trips != 1 {
			k.Trips = trips
		}
		if loop {
			k.Cycles, k.RooflineNS, k.FLOPs, k.Bytes = -1, 0, 0, 0
			k.Unit = scalarKernel // what takes time follows
		}
		out.Kernels = append(out.Kernels, k)
		if !loop || depth >= maxDepth {
			continue
		}
		inner := trips
		if in.Config.Trips > 0 && in.Config.Trips < math.MaxInt32 && trips < math.MaxInt32 {
			inner *= in.Config.Trips
		}
		for _, id := range in.Called {
			if called := b.m.Computations[id]; called != nil && !seen[id] {
				seen[id] = true
				b.schedule(out, called, depth+1, inner, seen)
			}
		}
	}
}

func (b *builder) kernel(in *hlo.Instruction) Kernel {
	k := Kernel{
		Name: in.Name, Opcode: in.Opcode, Kind: strings.ToLower(strings.TrimPrefix(in.Kind, "k")), Shape: in.Shape.String(), Cycles: in.Config.Cycles,
		VMEMBytes: in.WorkingBytes, Scoped: in.Config.ScopedBytes, CodeBytes: in.CodeBytes, Unit: b.m.Unit(in), Emitter: in.Config.Emitter,
		Window: strings.Join(in.Config.Window, "×"), Iterations: strings.Join(in.Config.Iterations, "×"), Groups: in.Groups, Moves: in.Moves(),
		Ours: []int{},
	}
	if in.Opcode == "custom-call" {
		k.Kind = in.Target
	}
	k.VMEMBytes = max(k.VMEMBytes, k.Scoped)
	if k.Cycles >= 0 {
		k.NS = b.target.NS(k.Cycles)
	}
	if c := b.costs[in.ID]; c != nil {
		k.FLOPs, k.Bytes = rounded(c["flops"]), rounded(c["bytes accessed"])
		if s := c["optimal_seconds"]; s > 0 {
			k.RooflineNS = rounded(s * 1e9)
		}
		k.Bound = b.bound(c, &k)
	}
	if s := b.slots[in.Name]; s != nil {
		k.Slots = slotsOf(s)
	}
	b.source(in, &k)
	return k
}

// bound names what limits a kernel by the compiler's roofline.
func (b *builder) bound(c worker.Cost, k *Kernel) string {
	if k.Moves || b.target.PeakFLOPs == 0 || k.Unit == scalarKernel || c["optimal_seconds"] <= 0 {
		return ""
	}
	if c["flops"]/b.target.PeakFLOPs > c["bytes accessed"]/b.target.HBMBytesPerSec {
		return k.Unit
	}
	return "HBM"
}

// source says what an instruction computes and where that was written.
func (b *builder) source(in *hlo.Instruction, k *Kernel) {
	places := b.m.Places(in)
	var nodes []int
	for _, p := range places {
		for _, n := range b.at.nodes(p.OpName) {
			if !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	if len(nodes) > 0 {
		slices.Sort(nodes)
		var frames []trace.Frame
		for _, n := range nodes {
			f := b.at.frame(n)
			frames = append(frames, f)
			k.OpNs = append(k.OpNs, b.at.g.Nodes[n].Op)
			k.Ops = append(k.Ops, b.at.opText(n))
			if at := (At{Cell: f.Cell, Line: f.Line, Column: f.Column}); f.Line > 0 && !slices.Contains(k.Lines, at) {
				k.Lines = append(k.Lines, at)
			}
		}
		k.Where = whereOf(frames)
		return
	}
	k.Where, k.Lines = fileLines(places)
	switch k.Ops = b.m.Opcodes(in); {
	case in.Target != "":
		k.Ops = []string{in.Target}
	case k.Moves || len(k.Ops) == 0:
		k.Ops = []string{in.Opcode}
	}
}

// fileLines writes the lines of places in files.
func fileLines(places []hlo.Place) (string, []At) {
	var frames []trace.Frame
	var lines []At
	for _, p := range places {
		if p.File == "" || p.Line == 0 {
			continue
		}
		frames = append(frames, trace.Frame{File: p.File, FileLine: p.Line})
		if at := (At{File: p.File, Line: p.Line, Column: p.Column}); !slices.Contains(lines, at) {
			lines = append(lines, at)
		}
	}
	return whereOf(frames), lines
}

func slotsOf(s *hlo.Slots) *Slots {
	out := &Slots{Bundles: s.Bundles, Empty: s.Empty}
	if f := s.Fullest(); f != nil {
		out.Fullest = f.Name
	}
	for _, u := range s.Units {
		out.Units = append(out.Units, SlotUse{u.Name, u.Capacity, u.Used, u.Busy, s.Share(u)})
	}
	return out
}

// arrays lists the parameters and the results.
func (b *builder) arrays() (params, results []Array) {
	params, results = []Array{}, []Array{}
	var specs []shape.Spec
	if b.at.g != nil {
		specs = paramsOf(b.at.g)
	}
	for i, in := range b.m.Parameters() {
		if in == nil {
			continue
		}
		a := arrayOf(i, in.Shape)
		if g := b.at.g; g != nil && i < len(g.Inputs) {
			a.Where = g.Inputs[i].Stack.Top().Place()
			a.compare(specs[i])
		} else if g == nil {
			a.Where = in.Place.String()
			a.compareShape(in.Shape)
		}
		params = append(params, a)
	}
	if root := b.m.Root(); root != nil {
		for i, s := range root.Shape.Leaves() {
			a := arrayOf(i, s)
			if g := b.at.g; g != nil && i < len(g.Outputs) {
				n := g.Outputs[i].Node
				a.Where = n.Stack.Top().Place()
				a.compare(g.Outputs[i].Spec())
			} else if g == nil {
				a.compareShape(s)
			}
			results = append(results, a)
		}
	}
	return params, results
}

func arrayOf(i int, s hlo.Shape) Array {
	return Array{Index: i, Type: s.Array(), Layout: s.Layout(), Bytes: s.Bytes(), Padded: s.PaddedBytes()}
}

// memory makes the report of a buffer assignment.
func (b *builder) memory(as *hlo.Assignment) Memory {
	out := Memory{HBMUse: as.Use(hlo.HBM), VMEMUse: as.Use(hlo.VMEM), Buffers: []Buffer{}, Lines: []Line{}, Steps: []string{}}
	for _, in := range b.m.Entry.Instructions {
		out.Steps = append(out.Steps, in.Name)
	}
	out.PeakHBM, out.PeakAt = as.Peak(hlo.HBM)
	out.PeakVMEM, _ = as.Peak(hlo.VMEM)
	for i := range as.Allocations {
		al := &as.Allocations[i]
		if al.PerThread || al.Space != hlo.HBM && al.Space != hlo.VMEM {
			continue
		}
		for k := range al.Buffers {
			out.Buffers = append(out.Buffers, b.buffer(&al.Buffers[k], al))
		}
	}
	out.Lines = linesAt(out.Buffers, out.PeakAt)
	return out
}

// inPlace is the kind of a buffer that takes over the memory of a parameter.
const inPlace = "in place"

func (b *builder) buffer(u *hlo.Buffer, al *hlo.Allocation) Buffer {
	out := Buffer{Kind: "temp", Space: hlo.SpaceName(al.Space), Allocation: al.Index, Offset: u.Offset, Bytes: u.Bytes, First: u.First, Last: u.Last}
	switch {
	case al.Parameter >= 0 && u.Def != nil && u.Def.Opcode != "parameter":
		out.Kind = inPlace
	case al.Parameter >= 0:
		out.Kind = "parameter"
	case al.LiveOut:
		out.Kind = "result"
	}
	in := u.Def
	if in == nil {
		return out
	}
	out.Name = in.Name
	if len(u.Path) > 0 {
		out.Name += fmt.Sprint(u.Path)
	}
	if s, ok := in.Shape.At(u.Path); ok {
		out.Shape = s.Array()
		if out.Unpadded = s.Bytes(); s.IsTuple() {
			out.Shape = "table of addresses"
		}
	}
	if g := b.at.g; g != nil && out.Kind == "parameter" && al.Parameter < int64(len(g.Inputs)) {
		out.What = fmt.Sprintf("parameter %d", al.Parameter)
		out.Where = g.Inputs[al.Parameter].Stack.Top().Place()
		return out
	}
	if nodes := b.at.nodes(in.OpName); len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		out.What, out.Where = b.at.opText(n), b.at.frame(n).Place()
		return out
	}
	if out.What = in.OpName; out.What == "" {
		out.What = in.Opcode
	}
	if in.File != "" && in.Line > 0 {
		out.Where = in.Place.String()
	}
	if out.Where == "" {
		b.made(in, &out)
	}
	return out
}

// made finds where the value comes from that a copy or a tuple holds.
func (b *builder) made(in *hlo.Instruction, out *Buffer) {
	for range maxDepth {
		if len(in.Operands) == 0 {
			break
		}
		if in = b.m.ByID[in.Operands[0]]; in == nil {
			return
		}
		if nodes := b.at.nodes(in.OpName); len(nodes) > 0 {
			out.Where = b.at.frame(nodes[len(nodes)-1]).Place()
			return
		}
		if in.Opcode == "parameter" && b.at.g != nil && in.Index >= 0 && in.Index < int64(len(b.at.g.Inputs)) {
			out.Where = b.at.g.Inputs[in.Index].Stack.Top().Place()
			return
		}
		if in.File != "" && in.Line > 0 {
			out.Where = in.Place.String()
			return
		}
	}
}
