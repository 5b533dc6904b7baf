package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A Fusion is the fusion groups: what was launched last and what waits.
type Fusion struct {
	Mode        string `json:"mode"`
	Ops         int64  `json:"ops"`
	Launches    int64  `json:"launches"`
	Queued      int    `json:"queued"`
	GraphBreaks int64  `json:"graph_breaks"`
	SavedBytes  int64  `json:"saved_bytes"`
	DeviceNS    int64  `json:"device_ns"`

	Groups []FusionGroup `json:"groups"`           // oldest first; what waits comes last
	Detail *GroupDetail  `json:"detail,omitempty"` // of the group that was asked for
}

// FusionArgs ask for fusion groups.
type FusionArgs struct {
	Last   int    `json:"last,omitempty"`   // how many launches, 0 for the usual
	Unfold bool   `json:"unfold,omitempty"` // every launch is a row, also the turns of a loop
	Detail uint64 `json:"detail,omitempty"` // the group to look into
}

// A FusionGroup is one launch, or several of the same program for the same
// reason from the same lines.
type FusionGroup struct {
	Number     uint64   `json:"number"`            // of the latest
	Numbers    []uint64 `json:"numbers,omitempty"` // of all, when there are several
	Pending    bool     `json:"pending,omitempty"` // waits in the queue
	Cell       int      `json:"cell"`
	Mode       string   `json:"mode"`
	Name       string   `json:"name"`
	OpCount    int      `json:"op_count"`
	Ops        []uint64 `json:"ops"` // numbers of the ops of the latest
	Lines      []At     `json:"lines"`
	Where      string   `json:"where"`              // the lines, as a user reads them
	Reason     string   `json:"reason,omitempty"`   // it was cut
	Why        string   `json:"why,omitempty"`      // the reason in words
	Fix        string   `json:"fix,omitempty"`      // how the cut can be avoided
	CutPlace   string   `json:"cut_at,omitempty"`   // where the program was when it was cut
	CutAt      At       `json:"cut,omitzero"`       //
	Hit        bool     `json:"hit,omitempty"`      // found in the compilation cache
	StartNS    int64    `json:"start_ns,omitempty"` // virtual time
	DurationNS int64    `json:"duration_ns,omitempty"`
	HostNS     int64    `json:"host_ns,omitempty"`
	RealNS     int64    `json:"real_ns,omitempty"` // measured by real XLA
	FLOPs      int64    `json:"flops,omitempty"`
	InBytes    int64    `json:"in_bytes,omitempty"` // padded bytes of its inputs and outputs
	OutBytes   int64    `json:"out_bytes,omitempty"`
	ReadBytes  int64    `json:"read_bytes,omitempty"` // HBM traffic
	WriteBytes int64    `json:"write_bytes,omitempty"`
	SavedBytes int64    `json:"saved_bytes,omitempty"`
	Saved      int      `json:"saved_launches,omitempty"` // by one of them
	Failed     bool     `json:"failed,omitempty"`
}

// An At is a line of a cell.
type At struct {
	Cell int `json:"cell"`
	Line int `json:"line"`
}

// A GroupDetail is what is inside one group.
type GroupDetail struct {
	Group   FusionGroup   `json:"group"`
	Ops     []FusionOp    `json:"ops"`
	Kernels []FusedKernel `json:"kernels"`
	Inputs  []string      `json:"inputs"` // types
	Outputs []string      `json:"outputs"`
	// Collectives are what the devices of a mesh told each other.
	Collectives []Exchange `json:"collectives,omitempty"`
}

// An Exchange is one collective of a group.
type Exchange struct {
	Op     string `json:"op"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"` // of the result on one device
	Groups string `json:"groups"`
	// NS is simulated, always; Predicted says that the exchange is too.
	NS        int64 `json:"ns"`
	Predicted bool  `json:"predicted,omitempty"`
}

// A FusionOp is one operation of a group.
type FusionOp struct {
	Op     uint64 `json:"op"`
	Name   string `json:"name"`
	Spec   string `json:"spec"`
	Layout string `json:"layout"`
	Bytes  int64  `json:"bytes"`
	Padded int64  `json:"padded"`
	Place  string `json:"place"`
	At     At     `json:"at"`
	Kernel int    `json:"kernel"` // index into Kernels, -1 when it runs in none
	NS     int64  `json:"ns"`     // its share of the group's time
}

// A FusedKernel is one kernel of a compiled group and what its time is made of.
type FusedKernel struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Ops        int    `json:"ops"`
	DurationNS int64  `json:"duration_ns"`
	FLOPs      int64  `json:"flops"`
	ReadBytes  int64  `json:"read_bytes"`
	WriteBytes int64  `json:"write_bytes"`
	Unit       string `json:"unit"`
	Bound      string `json:"bound"`
	Why        string `json:"why"` // it ends here: the fusion rule
	MXUNS      int64  `json:"mxu_ns"`
	VectorNS   int64  `json:"vector_ns"`
	HBMNS      int64  `json:"hbm_ns"`
	SerialNS   int64  `json:"serial_ns"`
}

// FusionOf makes the groups of a look at a dispatcher.
func FusionOf(l exec.Look, args FusionArgs) Fusion {
	f := Fusion{Mode: l.Mode.Name, Ops: l.Stats.Ops, Launches: l.Stats.Launches, Queued: len(l.Queue), GraphBreaks: l.Stats.GraphBreaks,
		SavedBytes: l.Stats.SavedBytes, DeviceNS: l.Stats.DeviceNS, Groups: []FusionGroup{}}
	type key struct {
		name, lines, reason string
		ops                 int
	}
	seen := map[key]int{}
	for i := range l.Groups {
		g := groupOf(&l.Groups[i])
		if g.Number == args.Detail {
			f.Detail = DetailOf(&l.Groups[i])
		}
		k := key{g.Name, g.Where, g.Reason, g.OpCount}
		if j, ok := seen[k]; ok && !args.Unfold {
			first := &f.Groups[j]
			if first.Numbers == nil {
				first.Numbers = []uint64{first.Number}
			}
			g.Numbers = append(first.Numbers, g.Number)
			*first = g
			continue
		}
		seen[k] = len(f.Groups)
		f.Groups = append(f.Groups, g)
	}
	if len(l.Queue) > 0 {
		g := queued(l)
		f.Groups = append(f.Groups, g)
		if args.Detail == g.Number {
			f.Detail = queuedDetail(l, g)
		}
	}
	return f
}

// keptOps is how many op numbers a row carries.
const keptOps = 256

func groupOf(g *exec.Group) FusionGroup {
	p, row := g.Plan, g.Reason.Row()
	out := FusionGroup{
		Number: uint64(g.Number), Cell: g.Cell, Mode: g.Mode, Name: g.Name, OpCount: len(g.Ops), Reason: g.Reason.String(), Why: row.Doc, Fix: row.Fix,
		Hit: g.Hit, StartNS: g.StartNS, DurationNS: p.DurationNS, HostNS: g.HostNS, RealNS: g.RealNS, FLOPs: p.FLOPs, InBytes: p.ArgumentBytes, OutBytes: p.OutputBytes,
		ReadBytes: p.ReadBytes, WriteBytes: p.WriteBytes, SavedBytes: p.SavedBytes, Saved: max(0, len(g.Ops)-1),
	}
	stacks := make([]*trace.Stack, len(g.Ops))
	for i := range g.Ops {
		stacks[i] = g.Ops[i].Stack
		if i < keptOps {
			out.Ops = append(out.Ops, g.Ops[i].OpN)
		}
	}
	out.Lines, out.Where = lines(stacks)
	if top := g.CutAt.Top(); top.Line > 0 && g.Reason != exec.ReasonEveryOp {
		out.CutPlace, out.CutAt = top.Place(), At{top.Cell, top.Line}
	}
	return out
}

// queued is what waits, as the group it will become.
func queued(l exec.Look) FusionGroup {
	out := FusionGroup{Number: uint64(l.Stats.Launches + 1), Pending: true, Mode: l.Mode.Name, OpCount: len(l.Queue), Saved: max(0, len(l.Queue)-1)}
	stacks := make([]*trace.Stack, len(l.Queue))
	var names []string
	read := map[int]bool{}
	for i := range l.Queue {
		q := &l.Queue[i]
		stacks[i] = q.Stack
		if i < keptOps {
			out.Ops = append(out.Ops, q.OpN)
		}
		names = append(names, q.Name)
		for _, s := range q.Inputs {
			out.InBytes += s.PaddedBytes()
		}
		for _, k := range q.From {
			read[k] = true
		}
	}
	for i := range l.Queue {
		if !read[i] { // what nothing in the queue reads will be written
			out.OutBytes += l.Queue[i].Bytes
		}
	}
	const shown = 4
	if len(names) > shown {
		names = append(names[:2:2], "…", names[len(names)-1])
	}
	out.Name = strings.Join(names, "+")
	out.Lines, out.Where = lines(stacks)
	out.Cell = l.Queue[len(l.Queue)-1].Stack.Top().Cell
	return out
}

// lines gives the distinct lines of ops, in order, and how a user reads them:
// In[3]:1-4,7 or 12-15.
func lines(stacks []*trace.Stack) ([]At, string) {
	seen := map[At]bool{}
	var out []At
	var numbers []int
	cell, file := 0, ""
	for _, st := range stacks {
		f := st.Top()
		if f.Line == 0 || seen[At{f.Cell, f.Line}] {
			continue
		}
		seen[At{f.Cell, f.Line}] = true
		out = append(out, At{f.Cell, f.Line})
		n := f.Line
		if f.File != "" {
			n, file = f.FileLine, f.File
		}
		cell = f.Cell
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 {
		return out, ""
	}
	text := viz.Ranges(numbers)
	if file == "" {
		text = "In[" + strconv.Itoa(cell) + "]:" + text
	}
	return out, text
}

// DetailOf looks into a group.
func DetailOf(g *exec.Group) *GroupDetail {
	d := &GroupDetail{Group: groupOf(g), Inputs: texts(g.InputSpecs), Outputs: texts(g.OutSpecs)}
	kernel := make([]int, len(g.Ops))
	for i := range kernel {
		kernel[i] = -1
	}
	for k := range g.Plan.Kernels {
		kern := &g.Plan.Kernels[k]
		d.Kernels = append(d.Kernels, kernelOf(kern))
		for _, n := range kern.Nodes {
			if n < len(kernel) {
				kernel[n] = k
			}
		}
	}
	for _, c := range g.Collectives {
		d.Collectives = append(d.Collectives, Exchange{c.Op, c.Name, c.Bytes, c.Groups, c.NS, c.Predicted})
	}
	for i := range g.Ops {
		o := opOf(&g.Ops[i])
		o.Kernel = kernel[i]
		if i < len(g.Plan.NodeNS) {
			o.NS = g.Plan.NodeNS[i]
		}
		d.Ops = append(d.Ops, o)
	}
	return d
}

func queuedDetail(l exec.Look, g FusionGroup) *GroupDetail {
	d := &GroupDetail{Group: g}
	for i := range l.Queue {
		o := opOf(&l.Queue[i].GroupOp)
		o.Kernel = -1
		d.Ops = append(d.Ops, o)
		d.Inputs = append(d.Inputs, texts(l.Queue[i].Inputs)...)
	}
	return d
}

func opOf(o *exec.GroupOp) FusionOp {
	f := o.Stack.Top()
	return FusionOp{Op: o.OpN, Name: o.Name, Spec: o.Spec.String(), Layout: shape.LayoutOf(o.Spec).String(), Bytes: o.Spec.Bytes(), Padded: o.Spec.PaddedBytes(),
		Place: f.Place(), At: At{f.Cell, f.Line}}
}

func kernelOf(k *device.Kernel) FusedKernel {
	return FusedKernel{Name: k.Name, Kind: k.Kind, Ops: len(k.Nodes), DurationNS: k.DurationNS, FLOPs: k.FLOPs, ReadBytes: k.ReadBytes, WriteBytes: k.WriteBytes,
		Unit: k.Unit.String(), Bound: k.Bound, Why: k.Why, MXUNS: k.MXUNS, VectorNS: k.VectorNS, HBMNS: k.HBMNS, SerialNS: k.SerialNS}
}

func texts(specs []shape.Spec) []string {
	var out []string
	for _, s := range specs {
		out = append(out, s.String())
	}
	return out
}

// Label is gN, or gN…gM of several.
func (g *FusionGroup) Label() string {
	if len(g.Numbers) > 1 {
		return fmt.Sprintf("g%d…g%d", g.Numbers[0], g.Number)
	}
	return fmt.Sprintf("g%d", g.Number)
}

// Times is how many launches the row stands for.
func (g *FusionGroup) Times() int { return max(1, len(g.Numbers)) }

// Has says whether the group is, or stands for, number n.
func (g *FusionGroup) Has(n uint64) bool {
	return n != 0 && (g.Number == n || slices.Contains(g.Numbers, n))
}

// State is PENDING, or the time it ran.
func (g *FusionGroup) State() string {
	switch {
	case g.Pending:
		return "PENDING"
	case g.Failed:
		return "FAILED"
	}
	return "ran " + viz.DurationNS(g.DurationNS)
}

// Summary is a line: what ran in how many launches, what that saved.
func (f *Fusion) Summary() string {
	s := fmt.Sprintf("%s in %s, %d queued   saved %s and %s of HBM traffic", viz.Plural(f.Ops, "op"), viz.Plural(f.Launches, "launch"), f.Queued,
		viz.Plural(max(f.Ops-f.Launches-int64(f.Queued), 0), "launch"), viz.Bytes(f.SavedBytes))
	if f.GraphBreaks > 0 {
		s += fmt.Sprintf("   %s", viz.Plural(f.GraphBreaks, "graph break"))
	}
	return s
}

// Table lists groups, the last n of them; all when n is not positive.
func (f *Fusion) Table(n int) viz.Table {
	tb := viz.Table{Columns: []viz.Column{
		{Title: "group", Meaning: viz.Strong}, {Title: "×", Right: true, Drop: 6}, {Title: "ops", Right: true, Drop: 1}, {Title: "what", Least: 18}, {Title: "lines", Meaning: viz.Place},
		{Title: "state", Right: true}, {Title: "cut because", Drop: 2}, {Title: "at", Meaning: viz.Place, Drop: 5}, {Title: "saved", Right: true, Drop: 4},
	}}
	from := 0
	if n > 0 {
		from = max(0, len(f.Groups)-n)
	}
	for i := from; i < len(f.Groups); i++ {
		g := &f.Groups[i]
		m := viz.Normal
		switch {
		case g.Pending:
			m = viz.Wait
		case g.Failed:
			m = viz.Bad
		}
		tb.Meanings = append(tb.Meanings, m)
		tb.Rows = append(tb.Rows, []string{g.Label(), strconv.Itoa(g.Times()), strconv.Itoa(g.OpCount), g.Name, g.Where, g.State(), g.Reason, g.CutPlace, viz.Bytes(g.SavedBytes)})
	}
	return tb
}

// Explain says in words why the group ended and what would avoid it.
func (d *GroupDetail) Explain() [][]viz.Piece {
	g := &d.Group
	head := func(name, text string) []viz.Piece {
		return []viz.Piece{{Text: fmt.Sprintf("%-13s", name), Meaning: viz.Dim}, {Text: text}}
	}
	if g.Pending {
		return [][]viz.Piece{
			head("pending", "waits in the queue: a read, a show or the end of the program will cut it"),
			head("so far", fmt.Sprintf("%s, %s of inputs, %s of results", viz.Plural(g.OpCount, "op"), viz.Bytes(g.InBytes), viz.Bytes(g.OutBytes))),
		}
	}
	at := ""
	if g.CutPlace != "" {
		at = "  (" + g.CutPlace + ")"
	}
	rows := [][]viz.Piece{head("cut because", g.Reason+": "+g.Why+at)}
	if g.Fix != "" {
		rows = append(rows, head("to avoid it", g.Fix))
	}
	hit := "compiled now"
	if g.Hit {
		hit = "found in the cache"
	}
	rows = append(rows, head("TPU time", fmt.Sprintf("%s (simulated), %s in %s mode", viz.DurationNS(g.DurationNS), hit, g.Mode)))
	if g.RealNS > 0 {
		rows = append(rows, head("real time", viz.DurationNS(g.RealNS)+" (measured by XLA's process)"))
	}
	return append(rows,
		head("work", fmt.Sprintf("%s   HBM read %s, written %s", viz.FLOPs(g.FLOPs), viz.Bytes(g.ReadBytes), viz.Bytes(g.WriteBytes))),
		head("saved", fmt.Sprintf("%s and %s of HBM traffic", viz.Plural(g.Saved, "launch"), viz.Bytes(g.SavedBytes))),
	)
}

// OpTable lists the ops of the group; source gives the text of a line, it may be nil.
func (d *GroupDetail) OpTable(source func(At) string) viz.Table {
	tb := viz.Table{Columns: []viz.Column{{Title: "op", Right: true}, {Title: "what"}, {Title: "type"}, {Title: "share", Right: true, Drop: 3}, {Title: "kernel", Right: true, Drop: 2}, {Title: "line", Meaning: viz.Place}, {Title: "source", Meaning: viz.Dim, Drop: 4}}}
	for i := range d.Ops {
		o := &d.Ops[i]
		kernel, share, text := "", "", ""
		if o.Kernel >= 0 {
			kernel = "k" + strconv.Itoa(o.Kernel+1)
			share = viz.Percent(o.NS, d.Group.DurationNS)
		}
		if source != nil {
			text = source(o.At)
		}
		tb.Rows = append(tb.Rows, []string{fmt.Sprintf("#%d", o.Op), o.Name, o.Spec, share, kernel, o.Place, text})
	}
	if source == nil {
		tb.Columns = tb.Columns[:len(tb.Columns)-1]
	}
	return tb
}

// KernelTable lists the kernels the group was compiled to.
func (d *GroupDetail) KernelTable() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{}, {Title: "kernel"}, {Title: "ops", Right: true, Drop: 3}, {Title: "TPU time", Right: true}, {Title: "bound by", Meaning: viz.Hot}, {Title: "MXU", Right: true, Drop: 4}, {Title: "vector", Right: true, Drop: 5}, {Title: "HBM", Right: true, Drop: 2}, {Title: "ends because", Drop: 1}}}
	for i := range d.Kernels {
		k := &d.Kernels[i]
		tb.Rows = append(tb.Rows, []string{"k" + strconv.Itoa(i+1), k.Name, strconv.Itoa(k.Ops), viz.DurationNS(k.DurationNS), k.Bound,
			viz.DurationNS(k.MXUNS), viz.DurationNS(k.VectorNS), viz.DurationNS(k.HBMNS), k.Why})
	}
	return tb
}
