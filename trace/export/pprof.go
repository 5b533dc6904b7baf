package export

import (
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"github.com/tpush/tpush/trace"
)

var pprofFormat = Format{
	Name: "pprof", Extension: ".pb.gz", Sources: true, Write: writePprof,
	Doc:   "a profile by source line: ops, TPU time, host time, HBM in use, HBM allocated, padding",
	Opens: "`go tool pprof`, Speedscope, Pyroscope, Parca",
}

// quantities are the sample types, in the order in which they are written.
var quantities = [...]struct {
	name, unit, doc string
	of              func(*trace.Total) int64
}{
	{"ops", "count", "ops applied", func(t *trace.Total) int64 { return t.Ops }},
	{"tpu_time", "nanoseconds", "share of the launches' time on the device", func(t *trace.Total) int64 { return t.DeviceNS }},
	{"host_time", "nanoseconds", "wall time of the host in dispatch, compile, launch, transfer and read", func(t *trace.Total) int64 { return t.HostNS }},
	{"hbm_inuse", "bytes", "HBM held at the end, padding included", func(t *trace.Total) int64 { return t.InUseBytes }},
	{"hbm_alloc", "bytes", "HBM ever taken, padding included", func(t *trace.Total) int64 { return t.AllocBytes }},
	{"real_time", "nanoseconds", "share of what real XLA measured for the launches; tpu_time is simulated", func(t *trace.Total) int64 { return t.RealNS }},
	{"padding", "bytes", "of the HBM taken, what holds no numbers", func(t *trace.Total) int64 { return t.PaddingBytes }},
}

const defaultQuantity = "tpu_time"

// writePprof writes a gzipped profile. A sample is a Total; its stack is the op,
// the line that applied it, the lines that called that one. The function of an
// op is called "matmul digits.tpu:31", so that every report shows lines; those
// of frames are In[N] for cells and the names of the user's functions.
func writePprof(w io.Writer, in Input) error {
	p := &profile.Profile{
		DefaultSampleType: defaultQuantity,
		PeriodType:        &profile.ValueType{Type: "tpu_time", Unit: "nanoseconds"},
		Period:            1,
		TimeNanos:         in.Meta.TimeNanos,
		DurationNanos:     in.endNS(),
		Comments:          []string{"simulated TPU " + in.Meta.Chip + ", mode " + in.Meta.Mode},
	}
	for _, q := range quantities {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: q.name, Unit: q.unit})
	}
	m := &profile.Mapping{
		ID: 1, File: in.Meta.Session,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	p.Mapping = []*profile.Mapping{m}
	b := pprofBuilder{p: p, in: &in, functions: map[profile.Function]*profile.Function{}, locations: map[profile.Line]*profile.Location{}}
	for i := range in.Totals {
		b.sample(&in.Totals[i])
	}
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("export: pprof: %w", err)
	}
	return p.Write(w)
}

type pprofBuilder struct {
	p         *profile.Profile
	in        *Input
	functions map[profile.Function]*profile.Function // by all but the id
	locations map[profile.Line]*profile.Location
}

func (b *pprofBuilder) sample(t *trace.Total) {
	s := &profile.Sample{Value: make([]int64, len(quantities)), Label: map[string][]string{}}
	any := false
	for i, q := range quantities {
		s.Value[i] = q.of(t)
		any = any || s.Value[i] != 0
	}
	if !any {
		return
	}
	for _, l := range [...]struct{ key, value string }{
		{"op", t.Op},
		{"mode", t.Mode},
		{"chip", b.in.Meta.Chip},
		{"group", t.Group},
		{"cut_reason", t.Reason},
	} {
		if l.value != "" {
			s.Label[l.key] = []string{l.value}
		}
	}
	top := t.Stack.Top()
	if t.Op != "" || t.Stack == nil {
		file, line := b.in.place(top)
		name := t.Op
		if name == "" {
			name = "(runtime)"
		}
		fn := profile.Function{Name: name, SystemName: "tpush.op." + name, Filename: file}
		if spot := b.in.spot(top); spot != "" {
			fn.Name += " " + spot
		}
		s.Location = append(s.Location, b.location(fn, line, top.Column))
	}
	if t.Stack != nil {
		for _, f := range t.Stack.Frames {
			file, line := b.in.place(f)
			fn := profile.Function{Name: function(f), SystemName: fmt.Sprintf("tpush.cell.%d.%s", f.Cell, function(f)), Filename: file}
			s.Location = append(s.Location, b.location(fn, line, f.Column))
		}
	}
	b.p.Sample = append(b.p.Sample, s)
}

func (b *pprofBuilder) location(key profile.Function, line, column int) *profile.Location {
	fn := b.functions[key]
	if fn == nil {
		f := key
		f.ID = uint64(len(b.p.Function) + 1)
		fn = &f
		b.functions[key] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	at := profile.Line{Function: fn, Line: int64(line), Column: int64(column)}
	loc := b.locations[at]
	if loc == nil {
		id := uint64(len(b.p.Location) + 1)
		loc = &profile.Location{ID: id, Mapping: b.p.Mapping[0], Address: id, Line: []profile.Line{at}}
		b.locations[at] = loc
		b.p.Location = append(b.p.Location, loc)
	}
	return loc
}
