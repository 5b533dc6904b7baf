package inspect_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	got += "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not current (go test -update writes it)\n--- got\n%s", path, got)
	}
}

func at(stacks *trace.StackTable, line, column int) *trace.Stack {
	return stacks.Intern([]trace.Frame{{Cell: 2, File: "train.tpu", Func: "(cell)", Line: line, Column: column, FileLine: 10 + line}})
}

func totals() []trace.Total {
	var stacks trace.StackTable
	row := func(line, column int, op string, ops, ns, alloc, inuse int64) trace.Total {
		t := trace.Total{Ops: ops, DeviceNS: ns, AllocBytes: alloc, InUseBytes: inuse}
		t.Stack, t.Op = at(&stacks, line, column), op
		return t
	}
	again := trace.Total{Ops: 1, DeviceNS: 100}
	again.Stack, again.Op = stacks.Intern([]trace.Frame{{Cell: 7, File: "train.tpu", Line: 3, FileLine: 13}}), "matmul"
	typed := trace.Total{Ops: 4, HostNS: 10}
	typed.Stack = stacks.Intern([]trace.Frame{{Cell: 9, Line: 1}})
	return []trace.Total{
		row(3, 5, "matmul", 10, 600_000, 4096, 0),
		row(3, 9, "add", 10, 50_000, 4096, 4096),
		row(3, 19, "relu", 10, 60_000, 4096, 0),
		row(3, 29, "exp", 10, 10_000, 4096, 0),
		row(4, 1, "sum", 10, 9_000, 512, 512),
		again, typed,
		{Ops: 1, DeviceNS: 300},
	}
}

func TestLines(t *testing.T) {
	by, ok := inspect.QuantityNamed("tpu")
	if !ok {
		t.Fatal("no quantity tpu")
	}
	l := inspect.LinesBy(totals(), by, 2, func(f trace.Frame) string {
		if f.FileLine == 13 {
			return "\th := x.MatMul(w)"
		}
		return ""
	})
	if len(l.Rows) != 2 || l.Omitted != 1 || l.All != 729_400 {
		t.Fatalf("%d rows, %d left out, %d ns", len(l.Rows), l.Omitted, l.All)
	}
	first := l.Rows[0]
	if first.Place != "train.tpu:13" || first.DeviceNS != 720_100 || first.Ops != 41 || strings.Join(first.OpNames, " ") != "matmul relu add exp" {
		t.Errorf("first line %+v", first)
	}
	golden(t, "testdata/lines.txt", viz.Text(viz.Plain(), 100, l.Drawing()))
}

func TestLinesAddUpForEveryQuantity(t *testing.T) {
	in := totals()
	for _, q := range inspect.Quantities() {
		var want, got int64
		for i := range in {
			want += q.Of(&in[i])
		}
		l := inspect.LinesBy(in, q, 0, nil)
		for i := range l.Rows {
			got += q.Of(&l.Rows[i].Total)
		}
		if got != want || l.All != want {
			t.Errorf("%s: the lines add up to %d, the totals to %d", q.Name, got, want)
		}
		if q.Doc == "" || q.Title == "" {
			t.Errorf("row %s is not complete", q.Name)
		}
		l.Drawing().Draw(viz.Plain(), 80, 10)
	}
}

func TestMemory(t *testing.T) {
	var stacks trace.StackTable
	h := device.NewHBM(1<<20, 512, nil, nil)
	alloc := func(bytes, padded int64, line int, what string) *device.Block {
		spec := shape.Of(dtype.F32, int(bytes/4))
		b, err := h.Alloc(bytes, padded, device.Owner{What: what, Spec: &spec, Stack: at(&stacks, line, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	alloc(256<<10, 256<<10, 1, "input")
	hole := alloc(64<<10, 64<<10, 2, "matmul")
	alloc(4, 128<<10, 3, "sum")
	alloc(100<<10, 100<<10, 1, "input")
	h.Free(hole)
	if _, err := h.Alloc(2048, 2048, device.Owner{What: "temp"}); err != nil {
		t.Fatal(err)
	}
	m := inspect.MemoryOf(h)
	if m.UsedBytes != 486<<10 || m.PaddingBytes != 128<<10-4 || m.Allocations != 4 || m.State() != "" {
		t.Errorf("%+v", m)
	}
	if b, ok := m.MostPadded(); !ok || b.What != "sum" {
		t.Errorf("most padded %+v", b)
	}
	golden(t, "testdata/memory.txt", strings.Join([]string{
		viz.Text(viz.Plain(), 72, m.Gauge()), viz.Text(viz.Plain(), 72, m.Table(2)), viz.Text(viz.Plain(), 72, m.Map()),
	}, "\n\n"))
	alloc(470<<10, 470<<10, 4, "big")
	if s := inspect.MemoryOf(h).State(); s != "HBM HIGH" {
		t.Errorf("state %q", s)
	}
}

func TestMapOfANearlyEmptyHBMShowsItsBeginning(t *testing.T) {
	h := device.NewHBM(16<<30, 512, nil, nil)
	if _, err := h.Alloc(100<<10, 100<<10, device.Owner{What: "input"}); err != nil {
		t.Fatal(err)
	}
	m := inspect.MemoryOf(h).Map()
	if m.SizeBytes != 256<<10 || !strings.Contains(m.Notes[1], "first 256 KiB of 16.0 GiB") {
		t.Errorf("%d bytes, %q", m.SizeBytes, m.Notes)
	}
	if _, err := h.Alloc(2<<30, 2<<30, device.Owner{What: "input"}); err != nil {
		t.Fatal(err)
	}
	if m := inspect.MemoryOf(h).Map(); m.SizeBytes != 16<<30 || len(m.Notes) != 1 {
		t.Errorf("%d bytes, %q", m.SizeBytes, m.Notes)
	}
}

func TestTimeline(t *testing.T) {
	events := []trace.Event{
		{Kind: trace.CellBegin, Cell: 1},
		{Kind: trace.Alloc, AtNS: 100, PaddedBytes: 4096, InUseBytes: 4096},
		{Kind: trace.Apply, AtNS: 1000, Op: 1, Name: "matmul"},
		{Kind: trace.Apply, AtNS: 2000, Op: 2, Name: "relu"},
		{Kind: trace.Apply, AtNS: 2000, Op: 2, Name: "relu"},
		{Kind: trace.Cut, AtNS: 5000, Op: 2, Launch: 1, Ops: []string{"matmul", "relu"}},
		{Kind: trace.Alloc, AtNS: 5000, PaddedBytes: 8192, InUseBytes: 12288},
		{Kind: trace.Launch, AtNS: 6000, DurationNS: 10_000, Launch: 1, Op: 2, Name: "matmul+relu", Ops: []string{"matmul", "relu"}},
		{Kind: trace.Transfer, AtNS: 16_000, DurationNS: 3000, Name: "device to host"},
		{Kind: trace.Free, AtNS: 19_000, PaddedBytes: 8192, InUseBytes: 4096},
		{Kind: trace.CellEnd, Cell: 1, AtNS: 20_000},
	}
	for i := range events {
		events[i].Seq = uint64(i) + 4
	}
	r := inspect.NewRecording(1000)
	r.Add(events[:5])
	r.Add(events[5:])
	tr := r.Window(inspect.TraceArgs{Cols: 70})
	if tr.Ops != 2 || tr.Groups != 1 || tr.BusyNS != 10_000 || tr.HostNS != 20_000 || tr.PeakHBM != 12288 || tr.Dropped != 3 {
		t.Errorf("%+v", tr)
	}
	golden(t, "testdata/timeline.txt", viz.Text(viz.Plain(), 90, tr.Drawing(0)))
	if w := r.Window(inspect.TraceArgs{StartNS: 6000, EndNS: 7000}); len(w.Lanes[trace.DeviceLane].Slices) != 1 || len(w.Lanes[trace.HostLane].Slices) != 1 || len(w.Lanes[trace.TransferLane].Slices) != 0 {
		t.Errorf("within the launch: %+v", w.Lanes)
	}
	for _, c := range []struct {
		args inspect.TraceArgs
		want string
	}{
		{inspect.TraceArgs{Find: "relu"}, "relu"}, // the op, before the launch
		{inspect.TraceArgs{Find: "relu", After: 8}, "matmul+relu g1"},
		{inspect.TraceArgs{Find: "relu", After: 7, Back: true}, "matmul+relu g1"},
		{inspect.TraceArgs{Find: "g1", After: 9}, "matmul+relu g1"},
		{inspect.TraceArgs{Op: 1}, "matmul+relu g1"},
		{inspect.TraceArgs{Group: 1}, "matmul+relu g1"},
		{inspect.TraceArgs{Find: "device to"}, "device to host"},
		{inspect.TraceArgs{Find: "nothing"}, ""},
	} {
		got := ""
		if f := r.Window(c.args).Found; f != nil {
			got = f.Name
		}
		if got != c.want {
			t.Errorf("%+v finds %q, want %q", c.args, got, c.want)
		}
	}
	for filter, want := range map[string][]uint64{"": {13, 14}, "alloc": {5, 10}, "g1": {9, 11}, "#2": {9, 11}, "in[1]": {4, 14}, "relu": {8, 11}} {
		slices.Sort(want)
		if got := r.Match(filter, 0, 2); !slices.Equal(got, want) {
			t.Errorf("filter %q gives %v, want %v", filter, got, want)
		}
	}
}

// A recording that was told of more events than it keeps answers as one that
// was told of the last ones only.
func TestRecordingForgets(t *testing.T) {
	var events []trace.Event
	for i := range 30_000 {
		at := int64(i) * 10
		e := trace.Event{Seq: uint64(i) + 1, Kind: trace.Launch, AtNS: at, DurationNS: 8, Launch: i + 1, Name: "k", Op: uint64(i) + 1}
		if i%3 == 1 {
			e = trace.Event{Seq: e.Seq, Kind: trace.Alloc, AtNS: at, InUseBytes: int64(i), Name: "a"}
		}
		events = append(events, e)
	}
	r := inspect.NewRecording(10_000)
	for chunk := range slices.Chunk(events, 777) {
		r.Add(chunk)
	}
	late := inspect.NewRecording(10_000)
	late.Add(events[20_000:])
	args := inspect.TraceArgs{StartNS: events[25_000].AtNS, EndNS: events[29_000].AtNS, Cols: 50}
	a, b := r.Window(args), late.Window(args)
	a.FirstNS, b.FirstNS = 0, 0
	if x, y := viz.Text(viz.Plain(), 80, a.Drawing(0)), viz.Text(viz.Plain(), 80, b.Drawing(0)); x != y || a.Groups != b.Groups || a.BusyNS != b.BusyNS {
		t.Errorf("got\n%s\nwant\n%s", x, y)
	}
	if a.Dropped != 20_000 || a.Events != 10_000 {
		t.Errorf("%d dropped, %d kept", a.Dropped, a.Events)
	}
	if n := len(a.Lanes[trace.DeviceLane].Slices); n > 60 {
		t.Errorf("%d slices for 50 cells", n)
	}
	if got := r.Match("", 0, 20_000); len(got) != 10_000 || got[0] != 20_001 {
		t.Errorf("%d events match, the first is %d", len(got), got[0])
	}
}
