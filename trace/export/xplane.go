package export

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tpush/tpush/trace"
)

var xplaneFormat = Format{
	Name: "xplane", Extension: ".xplane.pb", Write: writeXPlane, Sources: true,
	Doc:   "the profile of the device and the host: steps, modules, ops with their cost and source, allocations",
	Opens: "XProf, TensorBoard: put it at LOGDIR/plugins/profile/RUN/HOST.xplane.pb",
}

// Field numbers of tsl/profiler/protobuf/xplane.proto.
const (
	spacePlane = 1
	spaceHost  = 4

	planeID        = 1
	planeName      = 2
	planeLine      = 3
	planeEventMeta = 4
	planeStatMeta  = 5
	planeStat      = 6

	lineID     = 1
	lineName   = 2
	lineEvent  = 4
	lineLength = 9

	xeventMeta     = 1
	xeventOffset   = 2
	xeventDuration = 3
	xeventStat     = 4

	statMeta   = 1
	statDouble = 2
	statUint   = 3
	statText   = 5
)

const psPerNS = 1000

// A plane is an XPlane under construction: lines, and the names its events and
// stats refer to.
type plane struct {
	id        uint64
	name      string
	events    map[string]uint64
	stats     map[string]uint64
	names     []string
	statNames []string
	lines     message
	own       message // stats of the plane itself
}

func newPlane(id uint64, name string) *plane {
	return &plane{id: id, name: name, events: map[string]uint64{}, stats: map[string]uint64{}}
}

func intern(ids map[string]uint64, list *[]string, name string) uint64 {
	id, ok := ids[name]
	if !ok {
		id = uint64(len(ids) + 1)
		ids[name] = id
		*list = append(*list, name)
	}
	return id
}

// shapeText is the dimensions of a type again, "" of what is no array.
func shapeText(dims string) string {
	if dims == "" {
		return ""
	}
	return "[" + dims
}

// A stat is a named value: text, a number, or a real number.
type stat struct {
	name   string
	text   string
	number int64
	real   float64
}

func (p *plane) stat(s stat) message {
	var m message
	m.uint(statMeta, intern(p.stats, &p.statNames, s.name))
	switch {
	case s.text != "":
		m.text(statText, s.text)
	case s.real != 0:
		m = protowire.AppendFixed64(protowire.AppendTag(m, statDouble, protowire.Fixed64Type), math.Float64bits(s.real))
	default:
		m.uint(statUint, uint64(max(s.number, 0)))
	}
	return m
}

// An xevent is one event of a line.
type xevent struct {
	name    string
	startNS float64
	lastNS  float64
	stats   []stat
}

// line adds a line with its events in order of time.
func (p *plane) line(id uint64, name string, events []xevent) {
	slices.SortStableFunc(events, func(a, b xevent) int { return cmp.Compare(a.startNS, b.startNS) })
	var l message
	l.uint(lineID, id)
	l.text(lineName, name)
	end := 0.0
	for _, e := range events {
		var x message
		x.uint(xeventMeta, intern(p.events, &p.names, e.name))
		x.uint(xeventOffset, uint64(math.Round(e.startNS*psPerNS)))
		x.uint(xeventDuration, uint64(math.Round(e.lastNS*psPerNS)))
		for _, s := range e.stats {
			x.sub(xeventStat, p.stat(s))
		}
		l.sub(lineEvent, x)
		end = max(end, e.startNS+e.lastNS)
	}
	l.uint(lineLength, uint64(math.Round(end*psPerNS)))
	p.lines.sub(planeLine, l)
}

func (p *plane) message() message {
	var m message
	m.uint(planeID, p.id)
	m.text(planeName, p.name)
	m = append(m, p.lines...)
	table := func(field protowire.Number, names []string) {
		for i, name := range names {
			var meta, entry message
			meta.uint(1, uint64(i+1))
			meta.text(2, name)
			entry.uint(1, uint64(i+1))
			entry.sub(2, meta)
			m.sub(field, entry)
		}
	}
	table(planeEventMeta, p.names)
	table(planeStatMeta, p.statNames)
	return append(m, p.own...)
}

func (p *plane) about(stats ...stat) {
	for _, s := range stats {
		p.own.sub(planeStat, p.stat(s))
	}
}

// writeXPlane writes an XSpace. Its device is always called simulated.
func writeXPlane(w io.Writer, in Input) error {
	var space message
	for _, p := range []*plane{in.devicePlane(), in.hostPlane(), in.environment()} {
		space.sub(spacePlane, p.message())
	}
	space.text(spaceHost, "tpush")
	_, err := w.Write(space)
	return err
}

func (in *Input) environment() *plane {
	p := newPlane(3, "Task Environment")
	p.about(stat{name: "profiler", text: "tpush"}, stat{name: "device", text: "simulated " + in.Meta.Chip}, stat{name: "session", text: in.Meta.Session})
	return p
}

func (in *Input) devicePlane() *plane {
	p := newPlane(1, "/device:TPU:0")
	p.about(stat{name: "device_type_string", text: "simulated TPU " + in.Meta.Chip},
		stat{name: "peak_teraflops_per_second", real: in.Meta.PeakFLOPsPerSec / 1e12},
		stat{name: "peak_hbm_bw_gigabytes_per_second", real: in.Meta.HBMBytesPerSec / 1e9})
	var steps, modules, ops []xevent
	began := map[int]int64{}
	for i := range in.Events {
		e := &in.Events[i]
		switch e.Kind {
		case trace.CellBegin:
			began[e.Cell] = e.AtNS
		case trace.CellEnd:
			start := began[e.Cell]
			steps = append(steps, xevent{name: function(trace.Frame{Cell: e.Cell}), startNS: float64(start), lastNS: float64(max(e.AtNS-start, 0)),
				stats: []stat{{name: "group_id", number: int64(e.Cell)}, {name: "step_num", number: int64(e.Cell)}}})
		case trace.Launch:
			modules = append(modules, xevent{name: e.Name, startNS: float64(e.AtNS), lastNS: float64(e.DurationNS),
				stats: []stat{{name: "run_id", number: int64(e.Launch)}, {name: "group_id", number: int64(e.Cell)}, {name: "flops", number: e.FLOPs}, {name: "bytes_accessed", number: e.Bytes}}})
			ops = append(ops, in.launchOps(e)...)
		}
	}
	p.line(1, "Steps", steps)
	p.line(2, "XLA Modules", modules)
	p.line(3, "XLA Ops", ops)
	return p
}

// launchOps shares the time of a launch out to its ops, one after another.
func (in *Input) launchOps(e *trace.Event) []xevent {
	parts := e.Parts
	if len(parts) == 0 {
		name := e.Name
		if len(e.Ops) == 1 {
			name = e.Ops[0]
		}
		parts = []trace.Part{{Stack: e.Stack, Op: e.Op, Name: name, Weight: 1}}
	}
	var all int64
	for _, p := range parts {
		all += max(p.Weight, 0)
	}
	var out []xevent
	at := float64(e.AtNS)
	for _, p := range parts {
		share := 1 / float64(len(parts))
		if all > 0 {
			share = float64(max(p.Weight, 0)) / float64(all)
		}
		x := xevent{name: p.Name, startNS: at, lastNS: share * float64(e.DurationNS), stats: []stat{
			{name: "hlo_category", text: p.Name}, {name: "tf_op", text: p.Name}, {name: "run_id", number: int64(e.Launch)}, {name: "group_id", number: int64(e.Cell)},
		}}
		if spot := in.spot(p.Stack.Top()); spot != "" {
			x.stats = append(x.stats, stat{name: "source", text: spot}, stat{name: "source_stack", text: in.stackText(p.Stack)})
		}
		at += x.lastNS
		out = append(out, x)
	}
	return out
}

func (in *Input) stackText(st *trace.Stack) string {
	var lines []string
	for _, f := range st.Frames {
		lines = append(lines, in.spot(f)+" "+function(f))
	}
	return strings.Join(lines, "\n")
}

// hostPlane has what the host did, and the allocations, which XProf's memory
// profile reads from it.
func (in *Input) hostPlane() *plane {
	p := newPlane(2, "/host:CPU")
	var host, memory []xevent
	var peak int64
	for _, s := range trace.Slices(in.Events) {
		if s.Lane == trace.HostLane || s.Lane == trace.TransferLane {
			host = append(host, xevent{name: s.Name, startNS: float64(s.StartNS), lastNS: float64(s.EndNS - s.StartNS), stats: []stat{{name: "group_id", number: int64(s.Event.Cell)}}})
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		if e.Kind != trace.Alloc && e.Kind != trace.Free {
			continue
		}
		peak = max(peak, e.InUseBytes)
		name := "MemoryAllocation"
		if e.Kind == trace.Free {
			name = "MemoryDeallocation"
		}
		dtype, dims, _ := strings.Cut(e.Spec, "[")
		// addr pairs an allocation with its end: events say whose it is, not where.
		memory = append(memory, xevent{name: name, startNS: float64(e.AtNS), stats: []stat{
			{name: "allocator_name", text: "HBM 0"}, {name: "device_ordinal"}, {name: "bytes_reserved"}, {name: "bytes_allocated", number: e.InUseBytes},
			{name: "bytes_available", number: in.Meta.LimitBytes - e.InUseBytes}, {name: "peak_bytes_in_use", number: peak},
			{name: "requested_bytes", number: e.Bytes}, {name: "allocation_bytes", number: e.PaddedBytes}, {name: "addr", number: int64(e.Value)},
			{name: "tf_op", text: e.Name}, {name: "group_id", number: int64(e.Cell)}, {name: "region_type", text: "output"},
			{name: "data_type", text: dtype}, {name: "shape", text: shapeText(dims)},
		}})
	}
	p.line(1, "Cells", host)
	p.line(2, "Memory", memory)
	return p
}
