package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/trace/export"
	"github.com/tpush/tpush/viz"
)

func traceCommand(c *Call) (Answer, error) {
	rec := c.Session.Recorder()
	const usage = "[on|off|show|clear|mark NAME]"
	verb := "show"
	if len(c.Args) > 0 {
		verb = c.Args[0]
	}
	switch verb {
	case "on", "off":
		rec.SetOn(verb == "on")
		return text("recording is %s", verb)
	case "clear":
		rec.Reset()
		return text("the recording is empty")
	case "mark":
		if len(c.Args) < 2 {
			return Answer{}, &UsageError{"trace", usage, "a name is wanted"}
		}
		rec.Emit(&trace.Event{Kind: trace.Note, AtNS: c.Session.Device().Clock().HostNS, Name: "mark", Text: strings.Join(c.Args[1:], " ")})
		return text("marked")
	case "show":
		return timeline(c.Session)
	}
	return Answer{}, &UsageError{"trace", usage, fmt.Sprintf("no form %q", verb)}
}

// timeline draws the last cell that used the device.
func timeline(s *repl.Session) (Answer, error) {
	t, err := view.New(s).Trace(inspect.TraceArgs{Cell: -1})
	if err != nil {
		return Answer{}, err
	}
	if t.Cell == 0 {
		return text("nothing used the device yet; :trace on records")
	}
	return text("%s  simulated TPU time\n%s\n%s", inspect.CellName(t.Cell), t.Summary(), picture(s, width+12, t.Drawing(0)))
}

func exportCommand(c *Call) (Answer, error) {
	name, file, _ := strings.Cut(c.Rest, " ")
	if file = strings.TrimSpace(file); file == "" {
		return Answer{}, &UsageError{"export", "FORMAT FILE", "a format and a file are wanted"}
	}
	format, err := exportFormat(c.Session, name)
	if err != nil {
		return Answer{}, err
	}
	if file == "-" || file == "/dev/stdout" { // the front end's
		var b strings.Builder
		if err := format.Write(&b, exportInput(c.Session)); err != nil {
			return Answer{}, err
		}
		c.Out.Stream("stdout", b.String())
		return Answer{}, nil
	}
	n, err := export.ToFile(file, format, exportInput(c.Session))
	if err != nil {
		return Answer{}, err
	}
	return text("wrote %s (%s)", file, viz.Bytes(n))
}

// exportFormat finds a format; the summary is one that only a session can write.
func exportFormat(s *repl.Session, name string) (export.Format, error) {
	if name == "summary" {
		return export.Format{Name: name, Write: func(w io.Writer, _ export.Input) error { return writeSummary(w, s) }}, nil
	}
	return export.Named(name)
}

// exportInput gathers what the recorder holds and the sources of the cells.
func exportInput(s *repl.Session) export.Input {
	rec := s.Recorder()
	in := export.Input{Events: rec.Snapshot().Events, Totals: rec.Totals(), Dropped: rec.Dropped(), Sources: map[int]export.Source{}}
	chip := s.Device().Chip()
	in.Meta = export.Meta{Session: s.Name(), Chip: chip.Name, Mode: s.Dispatcher().Mode().Name, LimitBytes: s.Device().HBM().Limit(),
		PeakFLOPsPerSec: chip.PeakBF16FLOPs, HBMBytesPerSec: chip.HBMBytesPerSec}
	for _, b := range s.Device().HBM().State().Blocks {
		if b.Taken {
			in.Blocks = append(in.Blocks, export.Block{Addr: b.Addr, Size: b.Size, Bytes: b.Bytes, Value: b.Owner.Value, Name: b.Owner.What, Spec: b.Spec(), Stack: b.Owner.Stack})
		}
	}
	if wd, err := os.Getwd(); err == nil {
		in.Meta.Dir = wd
	}
	for _, c := range s.Cells() {
		in.Sources[c.ID] = export.Source{File: c.File, FirstLine: c.FirstLine, Text: c.Source}
	}
	return in
}

// A Summary is what tpush run --summary writes.
type Summary struct {
	Session      string         `json:"session"`
	Chip         string         `json:"chip"`
	Mode         string         `json:"mode"`
	Cells        int            `json:"cells"`
	Ops          int64          `json:"ops"`
	Launches     int64          `json:"launches"`
	FusionGroups []SummaryGroup `json:"fusion_groups"`
	GraphBreaks  int64          `json:"graph_breaks"`
	HBMUsed      int64          `json:"hbm_used_bytes"`
	HBMPeak      int64          `json:"hbm_peak_bytes"`
	HBMLimit     int64          `json:"hbm_limit_bytes"`
	HBMPadding   int64          `json:"hbm_padding_bytes"`
	TPUTimeNS    int64          `json:"tpu_time_ns"` // simulated
	HostTimeNS   int64          `json:"host_time_ns"`
	SavedBytes   int64          `json:"saved_bytes"`
	Cache        SummaryCache   `json:"cache"`
	Events       uint64         `json:"events"`
	Dropped      uint64         `json:"events_dropped"`
	Top          []SummaryLine  `json:"top_lines"`
}

// A SummaryGroup is one kind of launch.
type SummaryGroup struct {
	Name       string `json:"name"`
	Ops        int    `json:"ops"`
	Times      int    `json:"times"`
	Reason     string `json:"reason"`
	Lines      string `json:"lines"`
	TPUTimeNS  int64  `json:"tpu_time_ns"`
	SavedBytes int64  `json:"saved_bytes"`
}

// SummaryCache counts the compilation cache.
type SummaryCache struct {
	Requests     int64 `json:"requests"`
	Hits         int64 `json:"hits"`
	Compilations int64 `json:"compilations"`
	Entries      int   `json:"entries"`
}

// A SummaryLine is one source line.
type SummaryLine struct {
	Line       string `json:"line"`
	Source     string `json:"source"`
	Ops        int64  `json:"ops"`
	TPUTimeNS  int64  `json:"tpu_time_ns"`
	AllocBytes int64  `json:"hbm_alloc_bytes"`
}

func writeSummary(w io.Writer, s *repl.Session) error {
	d, h := s.Dispatcher(), s.Device().HBM()
	st, cs := d.Stats(), d.CacheStats()
	sum := Summary{
		Session: s.Name(), Chip: s.Device().Chip().Name, Mode: d.Mode().Name, Cells: len(s.Cells()), Ops: st.Ops, Launches: st.Launches,
		GraphBreaks: st.GraphBreaks, HBMUsed: h.Used(), HBMPeak: h.Peak(), HBMLimit: h.Limit(), HBMPadding: h.Padding(), TPUTimeNS: st.DeviceNS,
		SavedBytes: st.SavedBytes, Cache: SummaryCache{cs.Requests, cs.Hits, cs.Compilations, cs.Entries},
		Events: s.Recorder().Last(), Dropped: s.Recorder().Dropped(), FusionGroups: []SummaryGroup{}, Top: []SummaryLine{},
	}
	for _, c := range s.Cells() {
		sum.HostTimeNS += c.Wall.Nanoseconds()
	}
	groups, err := foldedGroups(s)
	if err != nil {
		return err
	}
	for i := range groups {
		g := &groups[i]
		sum.FusionGroups = append(sum.FusionGroups, SummaryGroup{g.Name, g.OpCount, g.Times(), g.Reason, g.Where, g.DurationNS, g.SavedBytes})
	}
	for _, l := range expensiveLines(s, 10).Rows {
		sum.Top = append(sum.Top, SummaryLine{l.Place, l.Source, l.Ops, l.DeviceNS, l.AllocBytes})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sum)
}
