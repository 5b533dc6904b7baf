package exec

import (
	"errors"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
)

// cell is what a test of Compiled runs: one statement after another, then the end.
func compiledCell(t *testing.T, d *Dispatcher, k *keeper, x *Value, reads int) {
	t.Helper()
	for range reads {
		y := apply(t, d, &neg, nil, apply(t, d, &add, nil, x, x))
		k.vs = []*Value{x, y}
		d.StatementEnd(1)
		wantVec(t, d, y, -2, -4)
	}
	y := apply(t, d, &add, nil, apply(t, d, &neg, nil, x), x)
	k.vs = []*Value{x, y}
	d.StatementEnd(1)
	if err := d.EndCell(); err != nil {
		t.Fatal(err)
	}
}

func TestCompiledCellIsOneProgram(t *testing.T) {
	for _, tt := range []struct {
		reads                          int
		launches, compilations, breaks int64
		lastReason                     Reason
	}{
		{reads: 0, launches: 1, compilations: 1, breaks: 0, lastReason: ReasonProgramEnd},
		{reads: 1, launches: 2, compilations: 2, breaks: 1, lastReason: ReasonProgramEnd},
		{reads: 3, launches: 4, compilations: 2, breaks: 3, lastReason: ReasonProgramEnd},
	} {
		d, _ := open(t, Compiled)
		k := &keeper{}
		k.install(d)
		x := vec(t, d, 1, 2)
		k.vs = []*Value{x}
		d.StatementEnd(1)
		compiledCell(t, d, k, x, tt.reads)
		s, c := d.Stats(), d.CacheStats()
		if s.Launches != tt.launches || c.Compilations != tt.compilations || s.GraphBreaks != tt.breaks {
			t.Errorf("%d reads: %d launches, %d programs, %d graph breaks, want %d, %d, %d", tt.reads, s.Launches, c.Compilations, s.GraphBreaks, tt.launches, tt.compilations, tt.breaks)
		}
		g := d.Groups()
		if g[len(g)-1].Reason != tt.lastReason {
			t.Errorf("%d reads: cut because of %v", tt.reads, g[len(g)-1].Reason)
		}
		if tt.reads > 0 && g[0].Reason != ReasonGraphBreak {
			t.Errorf("a read in a cell cuts because of %v", g[0].Reason)
		}
		compiledCell(t, d, k, x, tt.reads)
		if c := d.CacheStats(); c.Compilations != tt.compilations {
			t.Errorf("%d reads: the second time %d programs were compiled", tt.reads, c.Compilations-tt.compilations)
		}
		for _, g := range d.Groups() {
			if err := graph.Check(g.Graph); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReadInsideACompiledFunctionIsRefused(t *testing.T) {
	d, _ := open(t, Strict)
	x := vec(t, d, 1)
	if err := d.BeginProgram(); err != nil {
		t.Fatal(err)
	}
	y := apply(t, d, &neg, nil, x)
	var r *ReadWhileTracingError
	if _, err := d.Read(y, ReasonScalar); !errors.As(err, &r) || r.Reason != ReasonScalar {
		t.Errorf("got %v", err)
	}
	if err := d.EndProgram(y); err != nil {
		t.Fatal(err)
	}
	wantVec(t, d, y, -1)
}

func TestModeTable(t *testing.T) {
	type row struct {
		every, loops, wait, checks, donate, cell, split bool
		level                                           device.Level
	}
	for m, want := range map[*Mode]row{
		Debug:        {every: true, wait: true, checks: true, donate: true, level: device.FastCompile},
		Strict:       {every: true, donate: true, level: device.FastCompile},
		DeferAndFuse: {loops: true, split: true, level: device.FastRun},
		Compiled:     {cell: true, level: device.FastRun},
		DeferAll:     {split: true, level: device.FastRun},
	} {
		if got := (row{m.EveryOp, m.DetectLoops, m.Wait, m.Checks, m.Donate, m.PerCell, m.Split, m.Level}); got != want {
			t.Errorf("%s: %+v, want %+v", m.Name, got, want)
		}
		for _, name := range []string{m.Name, m.Title} {
			if found, err := LookupMode(name); err != nil || found != m {
				t.Errorf("%q is %v, %v", name, found, err)
			}
		}
	}
	var unknown *UnknownModeError
	if _, err := LookupMode("eager"); !errors.As(err, &unknown) || unknown.Name != "eager" {
		t.Errorf("got %v", err)
	}
}

// What the queue reads keeps its HBM though the program has forgotten it, and
// gives it back when the last region that reads it has run.
func TestQueueHoldsWhatItReads(t *testing.T) {
	d, rec := open(t, DeferAndFuse)
	k := &keeper{}
	k.install(d)
	x := vec(t, d, make([]float32, 4096)...)
	y := apply(t, d, &neg, nil, x)
	k.vs = []*Value{y}
	base := d.hbm.Used()
	d.StatementEnd(1)
	if err := d.EndCell(); err != nil {
		t.Fatal(err)
	}
	if d.hbm.Used() != base || d.State(x) != Ready {
		t.Errorf("%d bytes of %d, operand %v: the queue reads it", d.hbm.Used(), base, d.State(x))
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	if d.State(x) != Swept || d.hbm.Used() != y.HBMBytes() {
		t.Errorf("operand %v, %d bytes in use: nobody reads it any more", d.State(x), d.hbm.Used())
	}
	for _, e := range rec.Snapshot().Events {
		if e.Kind.String() == "revive" {
			t.Error("the operand was given back too early and charged again")
		}
	}
	// An operand that only a dead operation reads is dead too.
	z := apply(t, d, &neg, nil, y)
	k.vs = []*Value{z}
	d.StatementEnd(1)
	k.vs = nil
	d.Touch()
	d.StatementEnd(1)
	if d.hbm.Used() != 0 {
		t.Errorf("%d bytes for operations that nobody asked for", d.hbm.Used())
	}
}

func TestClearedCacheCompilesAgain(t *testing.T) {
	d, _ := open(t, Strict)
	x := vec(t, d, 1)
	for i, clear := range []bool{false, false, true, false} {
		if clear {
			d.ClearCache()
		}
		apply(t, d, &neg, nil, x)
		want := []int64{1, 1, 2, 2}[i]
		if c := d.CacheStats(); c.Compilations != want || c.Entries != 1 || c.Requests != int64(i+1) {
			t.Errorf("step %d: %+v, want %d compilations", i, c, want)
		}
	}
}
