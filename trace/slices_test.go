package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tpush/tpush/trace"
)

func TestSlices(t *testing.T) {
	var stacks trace.StackTable
	var b strings.Builder
	for _, s := range trace.Slices(session(&stacks)) {
		fmt.Fprintf(&b, "%-9s %s%s %d..%d ops %d\n", s.Lane, strings.Repeat("  ", s.Depth), s.Name, s.StartNS, s.EndNS, s.Ops)
	}
	want := `host      In[3] 0..1082 ops 0
host        compile 41..41 ops 0
host        read 1071..1071 ops 0
host        recompile 1081..1081 ops 0
queue     g1 10..40 ops 3
queue       matmul 10..10 ops 1
queue       add 20..20 ops 1
queue       relu 30..30 ops 1
device    matmul+add+relu g1 50..1051 ops 3
transfers d2h 1051..1071 ops 0
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestSlicesNest(t *testing.T) {
	events := []trace.Event{
		{Kind: trace.Resume, AtNS: 5}, // the pause was dropped
		{Kind: trace.CellBegin, Cell: 1, AtNS: 10},
		{Kind: trace.CellBegin, Cell: 2, AtNS: 20},
		{Kind: trace.Pause, AtNS: 25},
		{Kind: trace.Resume, AtNS: 30},
		{Kind: trace.Read, AtNS: 35, DurationNS: 100}, // reaches out of its cell
		{Kind: trace.CellEnd, Cell: 2, AtNS: 40},
		{Kind: trace.Launch, Launch: 1, AtNS: 50, DurationNS: 10},
		{Kind: trace.Launch, Launch: 2, AtNS: 60, DurationNS: 10},
	}
	var got []string
	for _, s := range trace.Slices(events) {
		got = append(got, fmt.Sprintf("%d:%s:%d-%d", s.Depth, s.Name, s.StartNS, s.EndNS))
	}
	want := "0:resume:5-5 0:In[1]:10-135 1:In[2]:20-40 2:pause:25-30 2:read:35-40 0:launch:50-60 0:launch:60-70"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestQueueLengths(t *testing.T) {
	events := []trace.Event{
		{Kind: trace.Apply, AtNS: 1, Op: 1, Name: "transpose"}, // a view: it does not wait, but shows until the next cut
		{Kind: trace.Apply, AtNS: 2, Op: 2, Name: "topk"},
		{Kind: trace.Apply, AtNS: 2, Op: 2, Name: "topk"}, // its second result
		{Kind: trace.Apply, AtNS: 3, Op: 3, Name: "add"},
		{Kind: trace.Cut, AtNS: 4, Op: 2, Launch: 1, Ops: []string{"topk"}},
		{Kind: trace.Apply, AtNS: 5, Op: 4, Name: "mul"},
		{Kind: trace.Cut, AtNS: 6, Launch: 2, Ops: []string{"add", "mul"}},
		{Kind: trace.Cut, AtNS: 7, Op: 9, Launch: 3, Ops: []string{"add"}}, // a recompute
	}
	var got []string
	for _, l := range trace.QueueLengths(events) {
		got = append(got, fmt.Sprintf("%d:%d", l.AtNS, l.Ops))
	}
	if s := strings.Join(got, " "); s != "1:1 2:2 2:2 3:3 4:1 5:2 6:0 7:0" {
		t.Errorf("got %s", s)
	}
}

func TestPoints(t *testing.T) {
	var stacks trace.StackTable
	var got []string
	for _, p := range trace.Points(session(&stacks)) {
		got = append(got, fmt.Sprintf("%d:%d", p.AtNS, p.InUseBytes))
	}
	if s := strings.Join(got, " "); s != "5:4096 42:8192 1080:4096" {
		t.Errorf("got %s", s)
	}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		f    trace.Frame
		want string
	}{
		{trace.Frame{Cell: 2, File: "a/b.tpu", Line: 3, FileLine: 13}, "a/b.tpu:13"},
		{trace.Frame{Cell: 2, Line: 3}, "In[2]:3"},
		{trace.Frame{File: "main.go", Line: 7}, "main.go:7"},
		{trace.Frame{}, ""},
	} {
		if got := c.f.Place(); got != c.want {
			t.Errorf("%+v is at %q, want %q", c.f, got, c.want)
		}
	}
}
