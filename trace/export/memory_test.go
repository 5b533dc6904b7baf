package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/trace/export"
)

// xplaneText decodes with a schema of its own and prints events with their stats.
func xplaneText(t *testing.T, b []byte) string {
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"testdata"}}}
	files, err := compiler.Compile(context.Background(), "xplane.proto")
	if err != nil {
		t.Fatal(err)
	}
	msg := dynamicpb.NewMessage(files[0].Messages().ByName("XSpace"))
	if err := proto.Unmarshal(b, msg); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	planes := get(msg, "planes").List()
	for i := range planes.Len() {
		p := planes.Get(i).Message()
		name := func(table string, id int64) string {
			v := get(p, table).Map().Get(protoreflect.ValueOfInt64(id).MapKey())
			if !v.IsValid() {
				t.Fatalf("%d is not in %s", id, table)
			}
			return get(v.Message(), "name").String()
		}
		stats := func(list protoreflect.List) {
			for k := range list.Len() {
				s := list.Get(k).Message()
				f := s.WhichOneof(s.Descriptor().Oneofs().ByName("value"))
				if f == nil {
					t.Fatal("a stat has no value")
				}
				fmt.Fprintf(&out, " %s=%q", name("stat_metadata", get(s, "metadata_id").Int()), fmt.Sprint(s.Get(f)))
			}
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "plane %s", get(p, "name"))
		stats(get(p, "stats").List())
		lines := get(p, "lines").List()
		for l := range lines.Len() {
			line := lines.Get(l).Message()
			fmt.Fprintf(&out, "line %s %d ps\n", get(line, "name"), get(line, "duration_ps").Int())
			events := get(line, "events").List()
			last := int64(0)
			for k := range events.Len() {
				e := events.Get(k).Message()
				at := get(e, "offset_ps").Int()
				if at < last {
					t.Errorf("an event at %d comes after one at %d", at, last)
				}
				last = at
				fmt.Fprintf(&out, "%d +%d %s", at, get(e, "duration_ps").Int(), name("event_metadata", get(e, "metadata_id").Int()))
				stats(get(e, "stats").List())
			}
		}
		if n := len(p.GetUnknown()); n > 0 {
			t.Errorf("%d bytes are in no field of the schema", n)
		}
	}
	return out.String()
}

// vizText checks what the viewer takes for granted: blocks tile the segment,
// addresses are exact in JavaScript, every free has its allocation.
func vizText(t *testing.T, b []byte) string {
	var s struct {
		Segments []struct {
			Address int64
			Total   int64 `json:"total_size"`
			Blocks  []struct {
				Address, Size int64
				State         string
				Requested     int64 `json:"requested_size"`
			}
		}
		Traces [][]struct {
			Action     string
			Addr, Size int64
			Frames     []struct {
				Filename, Name string
				Line           int
			}
		} `json:"device_traces"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Traces) != 1 {
		t.Fatalf("%d devices", len(s.Traces))
	}
	live := map[int64]bool{}
	for _, seg := range s.Segments {
		at := seg.Address
		for _, x := range seg.Blocks {
			if x.Address != at || x.Size <= 0 || x.Requested > x.Size {
				t.Errorf("block %+v does not begin at %d", x, at)
			}
			at += x.Size
			if x.State == "active_allocated" {
				live[x.Address] = true
			}
		}
		if at != seg.Address+seg.Total || at >= 1<<53 {
			t.Errorf("the blocks end at %d, the segment at %d", at, seg.Address+seg.Total)
		}
	}
	open := map[int64]int64{}
	for _, e := range s.Traces[0] {
		switch e.Action {
		case "alloc":
			if open[e.Addr] != 0 {
				t.Errorf("%d is taken twice", e.Addr)
			}
			open[e.Addr] = e.Size
		case "free_completed":
			delete(open, e.Addr)
		}
	}
	for addr := range open {
		if len(s.Segments) > 0 && !live[addr] {
			t.Errorf("%d is never freed and in no block", addr)
		}
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", " "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMemoryVizOfBlocksThatStay(t *testing.T) {
	in := recording(t)
	in.Meta.LimitBytes = 1 << 20
	at := int64(512)
	freed := map[uint64]bool{}
	for _, e := range in.Events {
		if e.Kind == trace.Free {
			freed[e.Value] = true
		}
	}
	for _, e := range in.Events {
		if e.Kind == trace.Alloc && !freed[e.Value] {
			in.Blocks = append(in.Blocks, export.Block{Addr: at, Size: e.PaddedBytes, Bytes: e.Bytes, Value: e.Value, Name: e.Name, Spec: "f32[8]", Stack: e.Stack})
			at += e.PaddedBytes + 512
		}
	}
	text := vizText(t, write(t, "memory_viz", in))
	for _, want := range []string{`"filename": "train.tpu"`, `"name": "step"`, `"active_allocated"`, `"inactive"`, `"user_metadata": "f32[8]"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
