package trace_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/tpush/tpush/trace"
)

var update = flag.Bool("update", false, "rewrite golden files and documents")

func golden(t *testing.T, path, got string) {
	t.Helper()
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

// session is a small recording that obeys every law: a cell that applies three
// ops in DeferAndFuse mode, cuts them into one launch, reads the result.
func session(stacks *trace.StackTable) []trace.Event {
	line := func(n int) *trace.Stack {
		return stacks.Intern([]trace.Frame{
			{Cell: 2, File: "a b;c:d.tpu", Func: "step", Line: n, Column: 6, FileLine: 10 + n},
			{Cell: 3, File: "a b;c:d.tpu", Func: "(cell)", Line: 1, Column: 1, FileLine: 30},
		})
	}
	events := []trace.Event{
		{Kind: trace.CellBegin, Cell: 3, Name: "train", Mode: "fuse"},
		{Kind: trace.Alloc, Cell: 3, AtNS: 5, Value: 1, Name: "input", Spec: "f32[8,6]", Bytes: 192, PaddedBytes: 4096, InUseBytes: 4096, Stack: line(1)},
		{Kind: trace.Apply, Cell: 3, AtNS: 10, Op: 1, Name: "matmul", Spec: "f32[8,6]", Value: 2, Bytes: 192, PaddedBytes: 4096, Mode: "fuse", Stack: line(1), HostNS: 300},
		{Kind: trace.Apply, Cell: 3, AtNS: 20, Op: 2, Name: "add", Spec: "f32[8,6]", Value: 3, Bytes: 192, PaddedBytes: 4096, Mode: "fuse", Stack: line(2), HostNS: 200},
		{Kind: trace.Apply, Cell: 3, AtNS: 30, Op: 3, Name: "relu", Spec: "f32[8,6]", Value: 4, Bytes: 192, PaddedBytes: 4096, Mode: "fuse", Stack: line(2), HostNS: 100},
		{Kind: trace.Cut, Cell: 3, AtNS: 40, Launch: 1, Ops: []string{"matmul", "add", "relu"}, Reason: "host copy", Mode: "fuse", Stack: line(3)},
		{Kind: trace.Compile, Cell: 3, AtNS: 41, Launch: 1, CacheKey: "k1", HostNS: 900, Stack: line(3)},
		{Kind: trace.Alloc, Cell: 3, AtNS: 42, Value: 4, Name: "relu", Spec: "f32[8,6]", Bytes: 192, PaddedBytes: 4096, InUseBytes: 8192, Stack: line(2)},
		{
			Kind: trace.Launch, Cell: 3, AtNS: 50, DurationNS: 1001, HostNS: 7, Launch: 1, Name: "matmul+add+relu", Ops: []string{"matmul", "add", "relu"},
			FLOPs: 100, Bytes: 400, PaddedBytes: 12288, SavedBytes: 8192, Reason: "host copy", Mode: "fuse", Stack: line(3),
			Parts: []trace.Part{{line(1), 1, "matmul", 3}, {line(2), 2, "add", 1}, {line(2), 3, "relu", 2}},
		},
		{Kind: trace.Transfer, Cell: 3, AtNS: 1051, DurationNS: 20, Name: "d2h", Spec: "f32[8,6]", Bytes: 192, Stack: line(3)},
		{Kind: trace.Read, Cell: 3, AtNS: 1071, Value: 4, Name: "relu", Spec: "f32[8,6]", HostNS: 50, Stack: line(3)},
		{Kind: trace.Free, Cell: 3, AtNS: 1080, Value: 4, Name: "relu", Spec: "f32[8,6]", Bytes: 192, PaddedBytes: 4096, InUseBytes: 4096},
		{Kind: trace.Note, Cell: 3, AtNS: 1081, Name: "recompile", Text: "size 8 → \"9\"\nthen = more"},
		{Kind: trace.CellEnd, Cell: 3, AtNS: 1082, HostNS: 12345, Reason: "ok"},
	}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	return events
}

func TestKindsDocumented(t *testing.T) {
	names := map[string]bool{}
	for i, row := range trace.Kinds() {
		if int(row.Kind) != i+1 || row.Name == "" || row.Doc == "" {
			t.Errorf("row %d is %+v: want its own kind, a name and a sentence", i, row)
		}
		if names[row.Name] {
			t.Errorf("two kinds are called %s", row.Name)
		}
		names[row.Name] = true
		for _, field := range row.Fields {
			if _, ok := reflect.TypeFor[trace.Event]().FieldByName(field); !ok {
				t.Errorf("%s fills %s, which Event does not have", row.Name, field)
			}
		}
		if k, ok := trace.KindNamed(row.Name); !ok || k != row.Kind {
			t.Errorf("KindNamed(%q) = %v, %v", row.Name, k, ok)
		}
	}
}

func TestFieldsCoverEvent(t *testing.T) {
	written := map[string]bool{"Seq": true, "Kind": true, "Extra": true}
	for _, f := range trace.Fields() {
		written[f.Name] = true
	}
	for i := range reflect.TypeFor[trace.Event]().NumField() {
		if name := reflect.TypeFor[trace.Event]().Field(i).Name; !written[name] {
			t.Errorf("Event.%s is in no row of the field table", name)
		}
	}
}

func TestMarkdownIsCurrent(t *testing.T) { golden(t, "../docs/events.md", trace.Markdown()) }

func TestTextRoundTrip(t *testing.T) {
	var stacks trace.StackTable
	in := session(&stacks)
	in = append(in,
		trace.Event{Seq: 99, Kind: trace.Unknown, Extra: `teleport who="the cat" n=3`},
		trace.Event{Seq: 100, Kind: trace.Apply, Name: "x", Extra: "colour=red"},
		trace.Event{Seq: 101, Kind: trace.Failure, Text: "bad \xff byte \u2028 %;|,", Ops: []string{"a,b", "c%2Cd"}},
	)
	var b bytes.Buffer
	if err := trace.WriteText(&b, in); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/session.txt", b.String())
	out, err := trace.ReadText(strings.NewReader("# a comment\n\n" + strings.ReplaceAll(b.String(), "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(in) {
		t.Fatalf("%d events came back of %d", len(out), len(in))
	}
	for i := range in {
		// Stacks of two tables differ in identity only.
		if in[i].String() != out[i].String() || in[i].Extra != out[i].Extra || in[i].Text != out[i].Text || !reflect.DeepEqual(in[i].Ops, out[i].Ops) {
			t.Errorf("event %d:\n in  %s\n out %s", i, in[i].String(), out[i].String())
		}
	}
	if out[2].Stack != out[8].Parts[0].Stack {
		t.Error("equal stacks read back as different pointers")
	}
	if got, want := out[2].Stack.Top(), in[2].Stack.Top(); got != want {
		t.Errorf("frame %+v came back as %+v", want, got)
	}
}

func TestTextErrorsSayWhere(t *testing.T) {
	for _, c := range []struct{ name, in, field string }{
		{"no number", "apply", "seq"},
		{"no kind", "1", "kind"},
		{"kind missing before a field", "1 name=x", "kind"},
		{"number that is none", "1 apply at=soon", "at"},
		{"quote that does not close", `1 apply name="x`, "name"},
		{"text after a quote", `1 apply name="x"y`, "name"},
		{"stack with a short frame", "1 apply stack=1:2:3", "stack"},
		{"word alone", "1 apply matmul", "matmul"},
		{"control character", "1 apply name=a\x01", "line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trace.ReadText(strings.NewReader("# head\n" + c.in + "\n"))
			var te *trace.TextError
			if !errors.As(err, &te) {
				t.Fatalf("got %v, want a *TextError", err)
			}
			if te.Line != 2 || te.Field != c.field {
				t.Errorf("got line %d field %q, want line 2 field %q", te.Line, te.Field, c.field)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	var stacks trace.StackTable
	for _, e := range session(&stacks) {
		f.Add(e.String())
	}
	f.Add(`7 teleport who="the cat" name=x n=3`)
	f.Add(`7 unknown a=b`)
	f.Fuzz(func(t *testing.T, line string) {
		var stacks trace.StackTable
		e, err := trace.ParseText(line, &stacks)
		if err != nil {
			return
		}
		again, err := trace.ParseText(e.String(), &stacks)
		if err != nil {
			t.Fatalf("%q was read, but written as %q gives %v", line, e.String(), err)
		}
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("%q\n first  %#v\n second %#v", line, e, again)
		}
	})
}

func TestValidateAcceptsWhatIsRight(t *testing.T) {
	var stacks trace.StackTable
	events := session(&stacks)
	for front := range events {
		if err := trace.Validate(events[front:]); err != nil {
			t.Errorf("without the first %d events: %v", front, err)
		}
	}
}

func TestEveryLawCanBreak(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range []struct {
		name, law string
		change    func(ev []trace.Event) []trace.Event
	}{
		{"a gap", "sequence", func(ev []trace.Event) []trace.Event { ev[5].Seq = 70; return ev }},
		{"number zero", "sequence", func(ev []trace.Event) []trace.Event { ev[0].Seq = 0; return ev }},
		{"time backwards", "time", func(ev []trace.Event) []trace.Event { ev[3].AtNS = 1; return ev }},
		{"negative duration", "time", func(ev []trace.Event) []trace.Event { ev[8].DurationNS = -1; return ev }},
		{"wrong cell ends", "cells", func(ev []trace.Event) []trace.Event { ev[13].Cell = 4; return ev }},
		{"end without begin", "cells", func(ev []trace.Event) []trace.Event { ev[0].Kind = trace.Note; return ev }},
		{"op of another cell", "cells", func(ev []trace.Event) []trace.Event { ev[2].Cell = 9; return ev }},
		{"resume without pause", "pauses", func(ev []trace.Event) []trace.Event { ev[12].Kind = trace.Resume; return ev }},
		{"op number from before", "ops", func(ev []trace.Event) []trace.Event { ev[4].Op = 1; return ev }},
		{"cut of what was not applied", "cuts", func(ev []trace.Event) []trace.Event { ev[5].Ops = []string{"exp"}; return ev }},
		{"launch that was not cut", "launches", func(ev []trace.Event) []trace.Event { ev[8].Launch = 2; return ev }},
		{"overlap", "device", func(ev []trace.Event) []trace.Event {
			again := ev[8]
			again.AtNS += 10
			again.Seq = uint64(len(ev) + 1)
			return append(ev, again)
		}},
		{"free of another size", "memory", func(ev []trace.Event) []trace.Event { ev[11].PaddedBytes = 512; return ev }},
		{"sum that is off", "memory", func(ev []trace.Event) []trace.Event { ev[7].InUseBytes = 8191; return ev }},
		{"padded less than bytes", "memory", func(ev []trace.Event) []trace.Event { ev[1].Bytes = 5000; return ev }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stacks trace.StackTable
			err := trace.Validate(c.change(session(&stacks)))
			var le *trace.LawError
			if !errors.As(err, &le) || le.Law != c.law {
				t.Fatalf("got %v, want a breach of %s", err, c.law)
			}
			broken[c.law] = true
		})
	}
	for _, l := range trace.Laws() {
		if !broken[l.Name] {
			t.Errorf("no case breaks law %s", l.Name)
		}
	}
}

func TestStackTable(t *testing.T) {
	var table trace.StackTable
	frames := func(n int) []trace.Frame {
		out := make([]trace.Frame, 1+n%3)
		for i := range out {
			out[i] = trace.Frame{Cell: n, Func: fmt.Sprint("f", n), Line: n * i, File: "x.tpu"}
		}
		return out
	}
	seen := map[*trace.Stack]int{}
	for n := range 1000 {
		seen[table.Intern(frames(n))] = n
	}
	if len(seen) != 1000 || table.Len() != 1000 {
		t.Fatalf("1000 stacks gave %d pointers, the table holds %d", len(seen), table.Len())
	}
	for n := range 1000 {
		if s := table.Intern(frames(n)); seen[s] != n || !reflect.DeepEqual(s.Frames, frames(n)) {
			t.Fatalf("stack %d came back as %v", n, s.Frames)
		}
	}
	if table.Intern(nil) != nil {
		t.Error("no frames gave a stack")
	}
	mine := frames(5)
	s := table.Intern(mine)
	mine[0].Line = 77
	if s.Frames[0].Line == 77 {
		t.Error("the table kept the caller's slice")
	}
	if a := testing.AllocsPerRun(100, func() { table.Intern(s.Frames) }); a != 0 {
		t.Errorf("finding a stack allocates %v times", a)
	}
	deep := make([]trace.Frame, 10000)
	for i := range deep {
		deep[i].Line = i + 1
	}
	d := table.Intern(deep)
	if len(d.Frames) != trace.MaxFrames || d.Frames[0].Line != 1 || d.Frames[trace.MaxFrames-1].Line != 10000 {
		t.Errorf("a deep stack kept %d frames from line %d to %d", len(d.Frames), d.Frames[0].Line, d.Frames[len(d.Frames)-1].Line)
	}
	if table.Intern(deep) != d {
		t.Error("a deep stack is not found again")
	}
}

func record(r *trace.Recorder, events []trace.Event) {
	for i := range events {
		r.Emit(&events[i])
	}
}

func TestRecorderKeepsTheLastAndCountsTheRest(t *testing.T) {
	r := trace.NewRecorder(2000)
	if r.Capacity() != 2048 {
		t.Fatalf("capacity %d, want whole chunks", r.Capacity())
	}
	stack := new(trace.StackTable).Intern([]trace.Frame{{Cell: 1, Line: 1}})
	for i := range 5000 {
		r.Emit(&trace.Event{Kind: trace.Apply, Name: "add", Op: uint64(i + 1), Stack: stack})
	}
	snap := r.Snapshot()
	if len(snap.Events) != 2048 || snap.Dropped != 5000-2048 || snap.Events[0].Seq != 5000-2048+1 || r.Last() != 5000 {
		t.Errorf("kept %d from %d, dropped %d, last %d", len(snap.Events), snap.Events[0].Seq, snap.Dropped, r.Last())
	}
	if err := trace.Validate(snap.Events); err != nil {
		t.Error(err)
	}
	if len(snap.Totals) != 1 || snap.Totals[0].Ops != 5000 {
		t.Errorf("totals %+v, want 5000 ops", snap.Totals)
	}
	if ev := r.Since(4998); len(ev) != 2 || ev[0].Op != 4999 {
		t.Errorf("Since(4998) = %v", ev)
	}
	if ev := r.Range(4000, 4001); len(ev) != 2 || ev[1].Op != 4001 {
		t.Errorf("Range(4000, 4001) = %v", ev)
	}
	if ev := r.Range(1, 10); ev != nil {
		t.Errorf("Range of dropped events = %v", ev)
	}
	r.SetCapacity(1)
	if ev := r.Snapshot().Events; len(ev) != 1024 || ev[1023].Op != 5000 || ev[0].Op != 5000-1023 || r.Dropped() != 5000-1024 {
		t.Errorf("after shrinking: %d events, dropped %d", len(ev), r.Dropped())
	}
	r.SetCapacity(4096)
	for i := range 2000 {
		r.Emit(&trace.Event{Kind: trace.Apply, Name: "add", Op: uint64(5001 + i), Stack: stack})
	}
	if ev := r.Snapshot().Events; len(ev) != 3024 || ev[0].Op != 5000-1023 || trace.Validate(ev) != nil {
		t.Errorf("after growing: %d events", len(ev))
	}
	r.SetOn(false)
	r.Emit(&trace.Event{Kind: trace.Note})
	if r.On() || r.Last() != 7000 {
		t.Errorf("recorded while off: last %d", r.Last())
	}
	r.SetOn(true)
	r.Reset()
	r.Emit(&trace.Event{Kind: trace.Note})
	if ev := r.Snapshot(); len(ev.Events) != 1 || ev.Events[0].Seq != 7001 || ev.Dropped != 0 || len(ev.Totals) != 0 {
		t.Errorf("after Reset: %+v", ev)
	}
}

func TestTotals(t *testing.T) {
	var stacks trace.StackTable
	events := session(&stacks)
	r := trace.NewRecorder(0)
	record(r, events)
	totals := r.Totals()
	if !reflect.DeepEqual(totals, trace.Totals(events)) {
		t.Error("a recorder and Totals disagree")
	}
	line1, line2, line3 := events[1].Stack, events[3].Stack, events[5].Stack
	want := []trace.Total{
		{TotalKey: trace.TotalKey{line1, "input", "fuse", "", ""}, AllocBytes: 4096, PaddingBytes: 3904, InUseBytes: 4096},
		{TotalKey: trace.TotalKey{line1, "matmul", "fuse", "", ""}, Ops: 1, HostNS: 300},
		{TotalKey: trace.TotalKey{line2, "add", "fuse", "", ""}, Ops: 1, HostNS: 200},
		{TotalKey: trace.TotalKey{line2, "relu", "fuse", "", ""}, Ops: 1, HostNS: 100, AllocBytes: 4096, PaddingBytes: 3904},
		{TotalKey: trace.TotalKey{line3, "", "fuse", "", ""}, HostNS: 900},
		{TotalKey: trace.TotalKey{line1, "matmul", "fuse", "matmul+add+relu", "host copy"}, Launches: 1, DeviceNS: 500, HostNS: 3, FLOPs: 50},
		{TotalKey: trace.TotalKey{line2, "add", "fuse", "matmul+add+relu", "host copy"}, Launches: 1, DeviceNS: 167, HostNS: 1, FLOPs: 16},
		{TotalKey: trace.TotalKey{line2, "relu", "fuse", "matmul+add+relu", "host copy"}, Launches: 1, DeviceNS: 334, HostNS: 3, FLOPs: 34},
		{TotalKey: trace.TotalKey{line3, "d2h", "fuse", "", ""}, TransferBytes: 192},
		{TotalKey: trace.TotalKey{line3, "relu", "fuse", "", ""}, HostNS: 50},
	}
	if len(totals) != len(want) {
		t.Fatalf("%d totals, want %d: %+v", len(totals), len(want), totals)
	}
	for i := range want {
		if totals[i] != want[i] {
			t.Errorf("total %d\n got  %+v\n want %+v", i, totals[i], want[i])
		}
	}
	if p := r.Peak(); p.InUseBytes != 8192 || p.Seq != 8 || p.Stack != line2 {
		t.Errorf("peak %+v", p)
	}
	before := totals
	record(r, events[2:3])
	if d := trace.TotalsSince(r.Totals(), before); len(d) != 2 || d[0].Op != "input" || d[0].AllocBytes != 0 || d[1].Op != "matmul" || d[1].Ops != 1 || d[1].HostNS != 300 {
		t.Errorf("since: %+v", d)
	}
	r.Reset()
	if left := r.Totals(); len(left) != 1 || left[0] != (trace.Total{TotalKey: want[0].TotalKey, InUseBytes: 4096}) {
		t.Errorf("after Reset HBM holds %+v", left)
	}
	trace.SortTotals(before, func(t *trace.Total) int64 { return t.DeviceNS })
	if before[0].DeviceNS != 500 || before[1].DeviceNS != 334 {
		t.Error("SortTotals did not put the largest first")
	}
}

func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("a million ops")
	}
	var stacks trace.StackTable
	var lines [50]*trace.Stack
	for i := range lines {
		lines[i] = stacks.Intern([]trace.Frame{{Cell: 1, Line: i + 1, Func: "(cell)"}})
	}
	r := trace.NewRecorder(1 << 12)
	names := []string{"add", "mul", "matmul", "relu"}
	op := 0
	run := func(n int) {
		for range n {
			op++
			e := trace.Event{Kind: trace.Apply, Op: uint64(op), Name: names[op%4], Stack: lines[op%50], Mode: "debug"}
			r.Emit(&e)
			e.Kind, e.Value, e.PaddedBytes, e.InUseBytes = trace.Alloc, uint64(op), 512, 512
			r.Emit(&e)
			e.Kind, e.InUseBytes = trace.Free, 0
			r.Emit(&e)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run(10_000)
	before := heap()
	allocs := testing.AllocsPerRun(1, func() { run(100_000) })
	run(800_000)
	if after := heap(); after > before+64<<10 {
		t.Errorf("heap grew from %d to %d bytes", before, after)
	}
	if allocs > 10 {
		t.Errorf("100000 ops allocate %v times", allocs)
	}
	if n := len(r.Totals()); n != 100 {
		t.Errorf("%d totals, want 100", n)
	}
	runtime.KeepAlive(r)
}

func TestTee(t *testing.T) {
	a, b := trace.NewRecorder(1), trace.NewRecorder(1)
	trace.Tee(a, trace.Discard(), b).Emit(&trace.Event{Kind: trace.Note})
	if a.Last() != 1 || b.Last() != 1 {
		t.Error("an event did not reach both sinks")
	}
}

func BenchmarkEmit(b *testing.B) {
	var stacks trace.StackTable
	var lines [50]*trace.Stack
	for i := range lines {
		lines[i] = stacks.Intern([]trace.Frame{{Cell: 1, Line: i + 1, Func: "(cell)"}})
	}
	for _, capacity := range []int{1 << 10, trace.DefaultCapacity} {
		b.Run(fmt.Sprint(capacity), func(b *testing.B) {
			r := trace.NewRecorder(capacity)
			e := trace.Event{Kind: trace.Apply, Name: "matmul", Mode: "debug", Bytes: 100, PaddedBytes: 512}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				e.Stack = lines[i%50]
				r.Emit(&e)
			}
		})
	}
}

func BenchmarkIntern(b *testing.B) {
	var table trace.StackTable
	frames := []trace.Frame{{Cell: 2, File: "digits.tpu", Func: "step", Line: 3, Column: 4, FileLine: 33}, {Cell: 3, File: "digits.tpu", Func: "(cell)", Line: 1, Column: 2, FileLine: 50}}
	b.ReportAllocs()
	for b.Loop() {
		table.Intern(frames)
	}
}
