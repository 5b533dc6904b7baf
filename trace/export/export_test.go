package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/trace/export"
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

const script = `// %% model
func step(x *tpu.Tensor) *tpu.Tensor {
	return x.MatMul(w).ReLU()
}

// %% train
for range 3 {
	x = step(x)
}
`

// recording is a session that ran script's two cells and a typed third one.
func recording(t *testing.T) export.Input {
	t.Helper()
	var stacks trace.StackTable
	call := trace.Frame{Cell: 2, File: "train.tpu", Func: "(cell)", Line: 2, Column: 6, FileLine: 8}
	inner := trace.Frame{Cell: 1, File: "train.tpu", Func: "step", Line: 2, Column: 9, FileLine: 3}
	step := stacks.Intern([]trace.Frame{inner, call})
	inner.Column = 19
	relu := stacks.Intern([]trace.Frame{inner, call})
	typed := stacks.Intern([]trace.Frame{{Cell: 3, Func: "(cell)", Line: 2, Column: 1}})
	r := trace.NewRecorder(0)
	at, op, g, inuse := int64(0), 0, 0, int64(0)
	cellNow := 0
	emit := func(e trace.Event) {
		e.Cell = cellNow
		if e.Kind != trace.Launch {
			at += 10
			e.AtNS = at
		}
		r.Emit(&e)
	}
	run := func(s *trace.Stack, name string, bytes, padded, ns int64) {
		op++
		g++
		emit(trace.Event{Kind: trace.Apply, Op: uint64(op), Name: name, Stack: s, Mode: "debug", HostNS: 100, Spec: "f32[8]", Value: uint64(op)})
		emit(trace.Event{Kind: trace.Cut, Launch: g, Ops: []string{name}, Reason: "every op", Mode: "debug", Stack: s})
		inuse += padded
		emit(trace.Event{Kind: trace.Alloc, Value: uint64(op), Name: name, Bytes: bytes, PaddedBytes: padded, InUseBytes: inuse, Stack: s})
		at += 5
		emit(trace.Event{Kind: trace.Launch, AtNS: at, DurationNS: ns, Launch: g, Name: name, Ops: []string{name}, Reason: "every op", Mode: "debug", Stack: s, FLOPs: 64})
		at += ns
	}
	cellNow = 2
	emit(trace.Event{Kind: trace.CellBegin, Mode: "debug", Name: "train"})
	for range 3 {
		run(step, "matmul", 256, 4096, 1000)
		run(relu, "relu", 256, 4096, 200)
		inuse -= 4096
		emit(trace.Event{Kind: trace.Free, Value: uint64(op - 1), Name: "matmul", Bytes: 256, PaddedBytes: 4096, InUseBytes: inuse})
	}
	emit(trace.Event{Kind: trace.CellEnd, Reason: "ok", HostNS: 5000})
	cellNow = 3
	emit(trace.Event{Kind: trace.CellBegin, Mode: "debug"})
	run(typed, "sum", 4, 512, 300)
	emit(trace.Event{Kind: trace.Transfer, Name: "d2h", Bytes: 4, DurationNS: 7, Stack: typed})
	emit(trace.Event{Kind: trace.CellEnd, Reason: "ok", HostNS: 700})
	snap := r.Snapshot()
	if err := trace.Validate(snap.Events); err != nil {
		t.Fatal(err)
	}
	return export.Input{
		Events: snap.Events, Totals: snap.Totals,
		Sources: map[int]export.Source{
			1: {File: "train.tpu", FirstLine: 2, Text: script},
			2: {File: "train.tpu", FirstLine: 7, Text: script},
			3: {Text: "// the sum\nx.Sum().Item()"},
		},
		Meta: export.Meta{Session: "train.tpu", Chip: "v5e", Mode: "debug"},
	}
}

func write(t *testing.T, name string, in export.Input) []byte {
	t.Helper()
	f, err := export.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMarkdownIsCurrent(t *testing.T) { golden(t, "../../docs/exports.md", export.Markdown()) }

// readable turns what a format wrote into text for a golden file; each case
// reads the bytes back with a reader of that format.
var readable = map[string]func(*testing.T, []byte) string{
	"pprof":      pprofText,
	"perfetto":   perfettoText,
	"xplane":     xplaneText,
	"memory_viz": vizText,
	"chrome":     func(t *testing.T, b []byte) string { checkChrome(t, b); return string(b) },
	"csv":        func(t *testing.T, b []byte) string { checkCSV(t, b); return string(b) },
	"text":       func(t *testing.T, b []byte) string { checkText(t, b); return string(b) },
}

func TestEveryFormat(t *testing.T) {
	for _, f := range export.All() {
		t.Run(f.Name, func(t *testing.T) {
			if f.Doc == "" || f.Opens == "" || !strings.HasPrefix(f.Extension, ".") {
				t.Errorf("row is not complete: %+v", f)
			}
			read := readable[f.Name]
			if read == nil {
				t.Fatal("no reader checks this format")
			}
			in := recording(t)
			b := write(t, f.Name, in)
			if again := write(t, f.Name, in); !bytes.Equal(b, again) {
				t.Error("the same input gave other bytes")
			}
			golden(t, "testdata/"+f.Name+".golden", read(t, b))
			read(t, write(t, f.Name, export.Input{}))
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	_, err := export.Named("pdf")
	var unknown *export.UnknownFormatError
	if !errors.As(err, &unknown) || unknown.Name != "pdf" {
		t.Errorf("got %v", err)
	}
}

func pprofText(t *testing.T, b []byte) string {
	p, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p.String()
}

func checkChrome(t *testing.T, b []byte) {
	var doc struct {
		TraceEvents []struct {
			Name, Ph string
			TS       *float64
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.TraceEvents {
		if e.Name == "" || e.Ph == "" || e.TS == nil {
			t.Errorf("entry %+v lacks a name, phase or time", e)
		}
	}
}

func checkCSV(t *testing.T, b []byte) {
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(trace.Fields()) + 3; len(rows[0]) != want {
		t.Errorf("%d columns, want %d", len(rows[0]), want)
	}
}

func checkText(t *testing.T, b []byte) {
	events, err := trace.ReadText(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := trace.WriteText(&again, events); err != nil {
		t.Fatal(err)
	}
	if _, body, _ := strings.Cut(string(b), "\n"); body != again.String() {
		t.Error("what was read is not what was written")
	}
}

// perfettoText decodes with a schema of its own and prints tracks and slices.
func perfettoText(t *testing.T, b []byte) string {
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"testdata"}}}
	files, err := compiler.Compile(context.Background(), "perfetto.proto")
	if err != nil {
		t.Fatal(err)
	}
	msg := dynamicpb.NewMessage(files[0].Messages().ByName("Trace"))
	if err := proto.Unmarshal(b, msg); err != nil {
		t.Fatal(err)
	}
	unknown := 0
	names, notes := map[uint64]string{}, map[uint64]string{}
	open := map[uint64][]uint64{}
	var out strings.Builder
	packets := get(msg, "packet").List()
	for i := range packets.Len() {
		p := packets.Get(i).Message()
		unknown += len(p.GetUnknown())
		if d := get(p, "track_descriptor").Message(); d.IsValid() {
			unknown += len(d.GetUnknown())
			fmt.Fprintf(&out, "track %v\n", oneLine(d))
			continue
		}
		for list, m := range map[string]map[uint64]string{"event_names": names, "debug_annotation_names": notes} {
			l := get(get(p, "interned_data").Message(), list).List()
			for j := range l.Len() {
				m[get(l.Get(j).Message(), "iid").Uint()] = get(l.Get(j).Message(), "name").String()
			}
		}
		at, e := get(p, "timestamp").Uint(), get(p, "track_event").Message()
		unknown += len(e.GetUnknown())
		track := get(e, "track_uuid").Uint()
		switch get(e, "type").Enum() {
		case 1, 3:
			name := names[get(e, "name_iid").Uint()]
			if name == "" {
				t.Errorf("slice at %d has no name", at)
			}
			kind := "instant"
			if get(e, "type").Enum() == 1 {
				kind = "begin"
				open[track] = append(open[track], at)
			}
			fmt.Fprintf(&out, "%d %d %s %q", track, at, kind, name)
			l := get(e, "debug_annotations").List()
			for j := range l.Len() {
				a := l.Get(j).Message()
				text := get(a, "string_value").String()
				if text == "" {
					text = fmt.Sprint(get(a, "int_value").Int())
				}
				fmt.Fprintf(&out, " %s=%q", notes[get(a, "name_iid").Uint()], text)
			}
			if loc := get(e, "source_location").Message(); loc.IsValid() {
				fmt.Fprintf(&out, " at %s", oneLine(loc))
			}
			if flows := get(e, "flow_ids").List(); flows.Len() > 0 {
				fmt.Fprintf(&out, " flow %d", flows.Get(0).Uint())
			}
			out.WriteByte('\n')
		case 2:
			n := len(open[track])
			if n == 0 || open[track][n-1] > at {
				t.Fatalf("track %d: an end at %d without a begin before it", track, at)
			}
			open[track] = open[track][:n-1]
			fmt.Fprintf(&out, "%d %d end\n", track, at)
		case 4:
			fmt.Fprintf(&out, "%d %d counter %d\n", track, at, get(e, "counter_value").Int())
		default:
			t.Errorf("packet %d has no event", i)
		}
	}
	if unknown > 0 {
		t.Errorf("%d bytes are in no field of the schema", unknown)
	}
	for track, begun := range open {
		if len(begun) > 0 {
			t.Errorf("track %d: %d slices never end", track, len(begun))
		}
	}
	return out.String()
}

func get(m protoreflect.Message, field string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(field)))
}

func oneLine(m protoreflect.Message) string {
	// prototext varies its spaces on purpose.
	return strings.Join(strings.Fields(prototext.MarshalOptions{}.Format(m.Interface())), " ")
}

// pprofTool runs go tool pprof with args in dir.
func pprofTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	cmd := exec.Command(goTool, append([]string{"tool", "pprof"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go tool pprof %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func wantLines(t *testing.T, out string, want ...string) {
	t.Helper()
	var lines []string
	for l := range strings.SplitSeq(out, "\n") {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	all := "\n" + strings.Join(lines, "\n") + "\n"
	for _, w := range want {
		if !strings.Contains(all, "\n"+w+"\n") {
			t.Errorf("no line %q in\n%s", w, out)
		}
	}
}

func TestPprofToolShowsSourceLines(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "train.tpu"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	in := recording(t)
	in.Meta.Dir = dir
	f, err := export.Named("pprof")
	if err != nil {
		t.Fatal(err)
	}
	size, err := export.ToFile(filepath.Join(dir, "train.pb.gz"), f, in)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "train.pb.gz")); err != nil || info.Size() != size {
		t.Errorf("wrote %d bytes, the file is %v (%v)", size, info, err)
	}
	elsewhere := t.TempDir() // names are absolute: pprof need not run beside the sources
	at := filepath.Join(dir, "train.pb.gz")

	t.Run("top shows tpu time by op and line unless told otherwise", func(t *testing.T) {
		wantLines(t, pprofTool(t, elsewhere, "-top", at),
			"File: train.tpu",
			"Type: tpu_time",
			"3000ns 76.92% 76.92% 3000ns 76.92% matmul train.tpu:3",
			"600ns 15.38% 92.31% 600ns 15.38% relu train.tpu:3",
			"300ns 7.69% 100% 300ns 7.69% sum In[3]:2",
			"0 0% 100% 3600ns 92.31% In[2]",
			"0 0% 100% 3600ns 92.31% step",
			"0 0% 100% 300ns 7.69% In[3]")
	})
	t.Run("every sample type has its figures", func(t *testing.T) {
		for sample, want := range map[string]string{
			"ops":       "3 42.86% 42.86% 3 42.86% matmul train.tpu:3",
			"host_time": "300ns 42.86% 42.86% 300ns 42.86% matmul train.tpu:3",
			"hbm_inuse": "12288B 96.00% 96.00% 12288B 96.00% relu train.tpu:3",
			"hbm_alloc": "12288B 48.98% 48.98% 12288B 48.98% matmul train.tpu:3",
			"padding":   "11520B 48.92% 48.92% 11520B 48.92% matmul train.tpu:3",
		} {
			wantLines(t, pprofTool(t, elsewhere, "-top", "-sample_index="+sample, at), want)
		}
	})
	t.Run("list shows the script with its time", func(t *testing.T) {
		wantLines(t, pprofTool(t, elsewhere, "-list", "^step$", at),
			"ROUTINE ======================== step in "+filepath.Join(dir, "train.tpu"),
			". 3.60us 3: return x.MatMul(w).ReLU()")
		wantLines(t, pprofTool(t, elsewhere, "-list", "^matmul", at),
			"3us 3us 3: return x.MatMul(w).ReLU()")
		wantLines(t, pprofTool(t, elsewhere, "-list", "In.2", at),
			". 3.60us 8: x = step(x)")
	})
	t.Run("list shows a typed cell from the folder beside the profile", func(t *testing.T) {
		wantLines(t, pprofTool(t, elsewhere, "-list", "In.3", at),
			"ROUTINE ======================== In[3] in "+at+".sources/cell_3.tpu",
			". 300ns 2:x.Sum().Item()")
	})
	t.Run("lines and peek and tags", func(t *testing.T) {
		wantLines(t, pprofTool(t, elsewhere, "-top", "-lines", at),
			"0 0% 100% 3600ns 92.31% step "+filepath.Join(dir, "train.tpu")+":3")
		wantLines(t, pprofTool(t, elsewhere, "-peek", "^step$", at),
			"3000ns 83.33% | matmul train.tpu:3")
		out := pprofTool(t, elsewhere, "-tags", at)
		for _, label := range []string{"chip:", "v5e", "mode:", "group:", "cut_reason:", "every op"} {
			if !strings.Contains(out, label) {
				t.Errorf("no %q in\n%s", label, out)
			}
		}
	})
}

func TestToFileIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("broken")
	f := export.Format{Write: func(w io.Writer, _ export.Input) error {
		w.Write(make([]byte, 1<<16))
		return broken
	}}
	if _, err := export.ToFile(filepath.Join(dir, "x"), f, export.Input{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := export.ToFile(filepath.Join(dir, "missing", "x"), f, export.Input{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
