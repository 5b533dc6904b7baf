package panel_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/viz"
)

// xlaReport is what the compiler said of two programs, the second does not fit.
func xlaReport() xla.Report {
	slots := &xla.Slots{Bundles: 100, Empty: 3, Fullest: "MATMUL", Units: []xla.SlotUse{{Name: "MATMUL", Capacity: 4, Used: 300, Busy: 80, Share: 0.75}, {Name: "VALU", Capacity: 4, Used: 40, Busy: 30, Share: 0.1}}}
	memory := xla.Memory{
		Arguments: 3 << 20, Outputs: 1 << 20, HBM: 4 << 20, PeakHBM: 4 << 20, PeakAt: 2, HBMUse: []int64{3 << 20, 3 << 20, 4 << 20, 4 << 20}, Steps: []string{"x", "copy-start", "fusion"},
		Buffers: []xla.Buffer{
			{Name: "x", What: "parameter 0", Where: "In[1]:1", Shape: "f32[768,1024]", Kind: "parameter", Space: "HBM", Bytes: 3 << 20, First: 0, Last: 3},
			{Name: "fusion", What: "tanh#3", Where: "In[2]:1", Shape: "f32[256,1024]", Kind: "result", Space: "HBM", Bytes: 1 << 20, First: 2, Last: 3},
		},
		Lines: []xla.Line{{Where: "In[1]:1", What: "parameter 0", Bytes: 3 << 20}, {Where: "In[2]:1", What: "tanh#3", Bytes: 1 << 20}},
	}
	return xla.Report{Subject: "In[2]", Chip: "v5e", Compiler: "a compiler", Programs: []xla.Program{
		{
			Name: "matmul+tanh", Where: "In[2]:1", Groups: []uint64{4}, Ops: 2,
			Compiled: &xla.Compiled{
				Topology: "v5e:1x1", Devices: 1, ClockHz: 1.5e9, Cycles: 3000, TimeNS: 2000, RooflineNS: 1000, HasSlots: true, Copies: 1, Memory: memory,
				Kernels: []xla.Kernel{
					{Name: "copy-start", Opcode: "copy-start", Ops: []string{"copy-start"}, Cycles: -1, Unit: "DMA", Moves: true},
					{Name: "fusion", Opcode: "fusion", Kind: "output", Ops: []string{"matmul#2", "tanh#3"}, OpNs: []uint64{2, 3}, Where: "In[2]:1", Lines: []xla.At{{Cell: 2, Line: 1}}, Shape: "f32[256,1024]", Cycles: 3000, NS: 2000, RooflineNS: 1000, VMEMBytes: 1 << 20, Unit: "MXU", Bound: "HBM", Ours: []int{0}, Same: true, Slots: slots},
				},
				Params:  []xla.Array{{Type: "f32[768,1024]", Layout: "{1,0:T(8,128)}", Bytes: 3 << 20, Padded: 3 << 20, OurLayout: "{1,0:T(8,128)}", OurPadded: 3 << 20, Same: true}},
				Results: []xla.Array{{Type: "f32[256,1024]", Layout: "{1,0:T(8,128)}", Bytes: 1 << 20, Padded: 1 << 20, OurLayout: "{0,1:T(8,128)}", OurPadded: 1 << 20}},
			},
			Ours:  &xla.Predicted{Kernels: []xla.PredictedKernel{{Name: "matmul+tanh", OpNs: []uint64{2, 3}, Ops: []string{"matmul#2", "tanh#3"}, NS: 2100, Unit: "MXU", Real: []int{1}}, {Name: "neg", OpNs: []uint64{9}, Ops: []string{"neg#9"}, NS: 1200, Unit: "VPU", Real: []int{}}}, TimeNS: 3300, HBM: 4 << 20, Fits: true, Limit: 15 << 30},
			Match: &xla.Match{Kernels: 1, Same: 1, Ours: 2, Edges: 1, EdgesSame: 1, HBMRatio: 1, TimeRatio: 1.65, RooflineRate: 3.3, Layouts: 2, LayoutsSame: 1},
		},
		{Name: "big", Error: "out of memory", OOM: &xla.OOM{Space: "hbm", Needed: 26 << 30, Available: 15 << 30, Message: "out of memory", Memory: &memory, Entries: []xla.OOMEntry{{Bytes: 8 << 30, Shape: "bf16[65536,65536]", What: "matmul#4", Where: "In[3]:2", Kind: "temp"}}}},
	}}
}

func xlaPanel(t *testing.T) *panel.XLA {
	t.Helper()
	b, err := json.Marshal(xlaReport())
	if err != nil {
		t.Fatal(err)
	}
	p := panel.NewXLA()
	if err := p.Load(b); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestXLA: every view of every program has its exact size, and a row of the
// kernels is what it shows.
func TestXLA(t *testing.T) {
	p := xlaPanel(t)
	ctx := panel.Context{Theme: viz.Plain(), Focused: true}
	text := ""
	for _, action := range []string{"view", "view", "view", "view", "later", "later", "view", "earlier"} {
		for _, l := range p.View(ctx, 110, 20) {
			text += l + "|\n"
		}
		text += action + "\n"
		for w := 0; w < 160; w += 7 {
			for _, h := range []int{0, 1, 2, 5, 12, 30, 60} {
				exact(t, p, ctx, w, h)
			}
		}
		if _, ok := p.Do(action); !ok {
			t.Errorf("%s is no action", action)
		}
	}
	golden(t, filepath.Join("testdata", "xla_views.txt"), text)
	p.Select(panel.Selection{Op: 2})
	e, _ := p.Do("choose")
	if e.Selection == nil || *e.Selection != (panel.Selection{Op: 3, Group: 4, Cell: 2, Line: 1}) {
		t.Errorf("chosen %+v", e.Selection)
	}
}
