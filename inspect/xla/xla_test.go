package xla

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/plugintest"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

var update = flag.Bool("update", false, "rewrite the golden files; with TPUSH_XLA_TPU the recorded answers too")

// TestMain is the compiler's process too.
func TestMain(m *testing.M) { plugintest.Main(m) }

// here gives operations places, one line after another of a cell.
type here struct {
	table trace.StackTable
	line  int
}

func (h *here) Where() *trace.Stack {
	return h.table.Intern([]trace.Frame{{Cell: 3, Func: "(cell)", Line: h.line, Column: 5}})
}
func (h *here) At() exec.Spot { return exec.Spot{Stack: h.Where(), Depth: 1} }
func (h *here) Depth() int    { return 1 }

// program runs f and gives the graph of its last launch.
func program(t testing.TB, f func(at *here)) *graph.Graph {
	t.Helper()
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	dev := sim.New(chip, sim.Options{})
	d := exec.New(dev, exec.Options{Mode: exec.DeferAndFuse})
	at := &here{line: 1}
	d.SetPlace(at)
	t.Cleanup(tpu.Use(d))
	f(at)
	groups := d.Groups()
	return groups[len(groups)-1].Graph
}

// mlp is two products with a bias, relu and softmax.
func mlp(at *here) {
	x, w := tpu.BF16.Empty(512, 1000), tpu.BF16.Empty(1000, 4096)
	b, v := tpu.BF16.Empty(4096), tpu.BF16.Empty(4096, 1000)
	tpu.Sync(x, w, b, v)
	tpu.Compile(func(x, w, b, v *tpu.Tensor) *tpu.Tensor {
		at.line = 2
		h := x.MatMul(w)
		at.line = 3
		h = h.Add(b).ReLU()
		at.line = 4
		y := h.MatMul(v)
		at.line = 5
		return y.Softmax(1)
	}).(func(x, w, b, v *tpu.Tensor) *tpu.Tensor)(x, w, b, v)
}

// An answer is what the compiler said, as it was recorded.
type answer struct {
	Version   string
	Optimized []byte
	Memory    []byte
	CodeBytes int64
	Cost      worker.Cost
	Costs     map[int64]worker.Cost
}

// recorded gives the compiler's answer to a text for v5e; with -update and a
// compiler it asks anew.
func recorded(t *testing.T, name, text string) *ahead.Result {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	if library := os.Getenv("TPUSH_XLA_TPU"); *update && library != "" {
		record(t, path, text, library)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	target, err := ahead.TargetOf("v5e", 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := hlo.ParseWithConfig(a.Optimized)
	if err != nil {
		t.Fatal(err)
	}
	return &ahead.Result{
		Target: target, Version: a.Version, Compile: time.Second, RSSBytes: 200 << 20, CodeBytes: a.CodeBytes, Cost: a.Cost, Costs: a.Costs,
		Module: m, Memory: hlo.ParseMemoryStats(a.Memory, m), Partitions: 1,
	}
}

func record(t *testing.T, path, text, library string) {
	t.Helper()
	ctx := context.Background()
	o, err := plugintest.Options(library)
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Kill()
	rep, err := w.CompileAhead(ctx, worker.AOTRequest{Topology: "v5e:1x1", Options: capi.CompileOptions{}.Encode(), Format: capi.MLIR}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := hlo.ParseWithConfig(rep.Optimized)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Version: rep.Version, Optimized: rep.Optimized, Memory: rep.TPU.Memory, CodeBytes: rep.CodeBytes, Cost: rep.Cost, Costs: map[int64]worker.Cost{}}
	for _, in := range m.Entry.Instructions {
		if !in.Runs() {
			continue
		}
		costs, err := w.CostsTPU(ctx, rep.TPU.Target, [][]byte{m.Slice(in)})
		if err != nil {
			t.Fatal(err)
		}
		a.Costs[in.ID] = costs[0]
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// report makes the whole report of a graph with a recorded answer.
func report(t *testing.T, name string, g *graph.Graph) *Report {
	t.Helper()
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{Name: g.Name, Groups: []uint64{7}, Graph: g}
	p := newProgram(s, chip, 0)
	version, err := p.compiled(s, recorded(t, name, s.Lowered()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Report{Subject: "In[3]", Chip: chip.Name, Compiler: version, Programs: []Program{p}}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}

func TestReport(t *testing.T) {
	g := program(t, mlp)
	r := report(t, "mlp", g)
	golden(t, "mlp.txt", r.Text(viz.Plain(), 150)+"\n")
	c, m := r.Programs[0].Compiled, r.Programs[0].Match
	if m.Layouts != 5 || m.LayoutsSame != 5 {
		t.Errorf("layouts %d of %d", m.LayoutsSame, m.Layouts)
	}
	if c.Memory.HBM < c.Memory.PeakHBM || c.Memory.PeakHBM == 0 {
		t.Errorf("the program takes %d bytes, %d at the peak", c.Memory.HBM, c.Memory.PeakHBM)
	}
	// Every operation of the program that the compiler kept has its line.
	lines := map[int]bool{}
	for _, k := range c.Kernels {
		for _, at := range k.Lines {
			if at.Cell != 3 {
				t.Errorf("%s is said to stand in cell %d", k.Name, at.Cell)
			}
			lines[at.Line] = true
		}
	}
	for line := 2; line <= 5; line++ {
		if !lines[line] {
			t.Errorf("nothing of line %d is found in %v", line, lines)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back.Text(viz.Plain(), 150) != r.Text(viz.Plain(), 150) {
		t.Error("the report is another one after a trip through JSON")
	}
}
