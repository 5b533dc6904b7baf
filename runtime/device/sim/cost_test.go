package sim

import (
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// matmulOf is the graph of [m,k] × [k,n].
func matmulOf(d dtype.DType, m, k, n int) *graph.Graph {
	b := builder{}
	x, w := b.input(shape.Of(d, m, k)), b.input(shape.Of(d, k, n))
	out := d
	if d == dtype.I8 {
		out = dtype.I32
	}
	return b.graph(b.do(matmul, shape.Of(out, m, n), x, w))
}

func planOn(t *testing.T, chip string, g *graph.Graph, level device.Level) *device.Plan {
	t.Helper()
	c, err := device.LookupChip(chip)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(c, g, level)
	return &p
}

// Published measurements. Wall times hold a synchronous call: device time plus Chip.SyncNS.
func TestTimesAgreeWithMeasurements(t *testing.T) {
	copyOf := func(bytes int) *graph.Graph {
		b := builder{}
		s := shape.Of(dtype.F32, bytes/4/1024, 1024)
		return b.graph(b.do(relu, s, b.input(s)))
	}
	for _, c := range []struct {
		name, chip string
		g          *graph.Graph
		us         float64
		wall       bool
		tolerance  float64
	}{
		{"bf16 128³", "v7x", matmulOf(dtype.BF16, 128, 128, 128), 1.62, false, 0.10},
		{"bf16 1024³", "v7x", matmulOf(dtype.BF16, 1024, 1024, 1024), 5.87, false, 0.15},
		{"bf16 2048³", "v7x", matmulOf(dtype.BF16, 2048, 2048, 2048), 24.1, false, 0.15},
		{"bf16 4096³", "v7x", matmulOf(dtype.BF16, 4096, 4096, 4096), 153.9, false, 0.12},
		{"bf16 16384³", "v7x", matmulOf(dtype.BF16, 16384, 16384, 16384), 8614, false, 0.10},
		{"copy 8 GiB", "v7x", copyOf(8 << 30), 5352, false, 0.03},
		{"copy 2 MiB", "v7x", copyOf(2 << 20), 3.04, false, 0.15},
		{"bf16 1024³", "v5e", matmulOf(dtype.BF16, 1024, 1024, 1024), 119.4, true, 0.15},
		{"bf16 4096³", "v5e", matmulOf(dtype.BF16, 4096, 4096, 4096), 827.3, true, 0.10},
		{"bf16 8192³", "v5e", matmulOf(dtype.BF16, 8192, 8192, 8192), 6047, true, 0.05},
		{"bf16 128×8192×8192", "v6e", matmulOf(dtype.BF16, 128, 8192, 8192), 211.7, true, 0.15},
		{"bf16 1024×8192×8192", "v6e", matmulOf(dtype.BF16, 1024, 8192, 8192), 298.0, true, 0.15},
		{"bf16 8192×8192×8192", "v6e", matmulOf(dtype.BF16, 8192, 8192, 8192), 1645.7, true, 0.15},
		{"bf16 128×4096×4096", "v6e", matmulOf(dtype.BF16, 128, 4096, 4096), 150.2, true, 0.15},
		{"bf16 8192×4096×4096", "v6e", matmulOf(dtype.BF16, 8192, 4096, 4096), 449.1, true, 0.15},
		{"int8 8192³", "v6e", matmulOf(dtype.I8, 8192, 8192, 8192), 973.9, true, 0.15},
		{"bf16 8192³", "v6e", matmulOf(dtype.BF16, 8192, 8192, 8192), 1510.9, false, 0.15},
		{"bf16 32768³", "v5e", matmulOf(dtype.BF16, 32768, 32768, 32768), 438200, true, 0.15},
		{"int8 32768³", "v5e", matmulOf(dtype.I8, 32768, 32768, 32768), 186400, true, 0.15},
	} {
		chip, _ := device.LookupChip(c.chip)
		got := float64(planOn(t, c.chip, c.g, device.FastCompile).DurationNS) / 1e3
		if c.wall {
			got += float64(chip.SyncNS) / 1e3
		}
		off := got/c.us - 1
		t.Logf("%s %s: %.2f µs, measured %.2f (%+.0f %%)", c.chip, c.name, got, c.us, 100*off)
		if math.Abs(off) > c.tolerance {
			t.Errorf("%s %s: %.2f µs, measured %.2f (%+.0f %%)", c.chip, c.name, got, c.us, 100*off)
		}
	}
}

func TestPrecisionCosts(t *testing.T) {
	base := planOn(t, "v5e", matmulOf(dtype.BF16, 4096, 4096, 4096), device.FastCompile).DurationNS
	for precision, want := range map[string]float64{"default": 1.02, "high": 2.85, "highest": 5.7, "": 5.7} {
		g := matmulOf(dtype.F32, 4096, 4096, 4096)
		g.Nodes[0].Attrs = op.Attrs{{Name: "precision", Value: precision}}
		got := float64(planOn(t, "v5e", g, device.FastCompile).DurationNS) / float64(base)
		if math.Abs(got/want-1) > 0.05 {
			t.Errorf("%q: %.2f times bf16, want %.2f", precision, got, want)
		}
	}
}

func TestPlanOfOneOp(t *testing.T) {
	p := planOn(t, "v5e", matmulOf(dtype.BF16, 1024, 1024, 1024), device.FastCompile)
	if len(p.Kernels) != 1 || p.Kernels[0].Unit != op.MXU || p.Kernels[0].Bound != "MXU" || p.Kernels[0].Name != "matmul" {
		t.Errorf("%+v", p.Kernels)
	}
	if p.FLOPs != 2<<30 || p.ReadBytes != 4<<20 || p.WriteBytes != 2<<20 || p.SavedBytes != 0 || p.TempBytes != 0 {
		t.Errorf("%+v", p)
	}
	small := planOn(t, "v5e", double(f32(4)), device.FastCompile)
	if k := small.Kernels[0]; k.Bound != "launch" || k.ReadBytes != 512 || k.WriteBytes != 512 || small.DurationNS < 1200 || small.DurationNS > 1210 {
		t.Errorf("%+v", small)
	}
	big := planOn(t, "v5e", double(f32(1<<26)), device.FastCompile)
	if k := big.Kernels[0]; k.Bound != "HBM" || k.Unit != op.VPU {
		t.Errorf("%+v", k)
	}
}

func TestPlanOfARegion(t *testing.T) {
	const n = 1 << 20
	b := builder{}
	x := b.input(f32(1024, 1024))
	y := b.do(mul, f32(1024, 1024), x, x)
	z := b.do(relu, f32(1024, 1024), y)
	g := b.graph(b.do(add, f32(1024, 1024), z, x))
	fused := planOn(t, "v5e", g, device.FastRun)
	if len(fused.Kernels) != 1 || fused.ReadBytes != 4*n || fused.WriteBytes != 4*n || fused.SavedBytes != 4*n*(2+2+3)-8*n || fused.TempBytes != 0 {
		t.Errorf("%+v", fused)
	}
	alone := planOn(t, "v5e", g, device.FastCompile)
	if len(alone.Kernels) != 3 || alone.ReadBytes+alone.WriteBytes != 4*n*7 || alone.SavedBytes != 0 || alone.TempBytes != 8*n {
		t.Errorf("%+v", alone)
	}
	if fused.FLOPs != alone.FLOPs || fused.FLOPs != 3*n || fused.DurationNS >= alone.DurationNS {
		t.Errorf("fused %d FLOPs in %d ns, alone %d in %d", fused.FLOPs, fused.DurationNS, alone.FLOPs, alone.DurationNS)
	}
}

// chain is two products with a value of the given rows between them.
func chain(rows int) *graph.Graph {
	b := builder{}
	x, w := b.input(f32(rows, 1024)), b.input(f32(1024, 1024))
	y := b.do(matmul, f32(rows, 1024), x, w)
	return b.graph(b.do(matmul, f32(rows, 1024), y, w))
}

func TestIntermediatesStayOnChipWhileTheyFit(t *testing.T) {
	for _, c := range []struct {
		chip string
		mib  int
		kept bool
	}{
		{"v5e", 1, true}, {"v5e", 96, true}, {"v5e", 128, false}, {"v6e", 64, true}, {"v6e", 128, false},
		{"v7x", 16, true}, {"v7x", 64, false}, {"v5p", 1, false},
	} {
		p := planOn(t, c.chip, chain(c.mib*256), device.FastRun)
		between := int64(c.mib) << 20
		if kept := p.TempBytes == 0; kept != c.kept {
			t.Errorf("%s: %d MiB kept on chip: %v, want %v", c.chip, c.mib, kept, c.kept)
		}
		if c.kept && (p.VMEMBytes < between || p.WriteBytes != between) || !c.kept && (p.TempBytes != between || p.WriteBytes != 2*between) {
			t.Errorf("%s, %d MiB: %+v", c.chip, c.mib, p)
		}
		if one := planOn(t, c.chip, chain(c.mib*256), device.FastCompile); one.TempBytes != between {
			t.Errorf("%s op by op: %d B of intermediates in HBM, want %d", c.chip, one.TempBytes, between)
		}
	}
	// The weight is read by both products but fetched once, except where cores share no VMEM.
	if p := planOn(t, "v5e", chain(256), device.FastRun); p.ReadBytes != 5<<20 {
		t.Errorf("v5e reads %d", p.ReadBytes)
	}
	if p := planOn(t, "v5p", chain(256), device.FastRun); p.ReadBytes != 10<<20 {
		t.Errorf("v5p reads %d", p.ReadBytes)
	}
}

func TestReadingThroughAViewCostsWhatIsRead(t *testing.T) {
	b := builder{}
	table := b.input(f32(1<<16, 1024))
	row := graph.Ref{Node: b.all(strided, op.Attrs{{Name: "size", Value: []int{8, 1024}}, {Name: "stride", Value: []int{1024, 1}}}, []shape.Spec{f32(8, 1024)}, table)}
	p := planOn(t, "v5e", b.graph(b.do(relu, f32(8, 1024), row)), device.FastCompile)
	if len(p.Kernels) != 1 || p.ReadBytes != 8*4096 || len(p.Kernels[0].Nodes) != 2 {
		t.Errorf("%+v", p)
	}
	// An output that is a view is copied.
	c := builder{}
	x := c.input(f32(512, 256))
	p = planOn(t, "v5e", c.graph(c.do(transpose, f32(256, 512), x)), device.FastRun)
	if len(p.Kernels) != 1 || p.ReadBytes != 512<<10 || p.WriteBytes != 512<<10 || p.Kernels[0].Unit != op.DMA {
		t.Errorf("%+v", p)
	}
}

func TestSingleNumbersCostNothingInsideARegion(t *testing.T) {
	b := builder{}
	s, x := b.input(f32()), b.input(f32(1024))
	lr := b.do(mul, f32(), s, s)
	p := planOn(t, "v5e", b.graph(b.do(mul, f32(1024), x, lr)), device.FastRun)
	if len(p.Kernels) != 2 || p.Kernels[0].DurationNS != 0 || p.Kernels[0].Bound != "scalar" {
		t.Errorf("%+v", p.Kernels)
	}
	if q := planOn(t, "v5e", double(f32()), device.FastRun); q.DurationNS != 1200 {
		t.Errorf("a program of one scalar takes %d ns, want the launch floor", q.DurationNS)
	}
}

func TestPlanCountsMemory(t *testing.T) {
	b := builder{}
	x, y, n := b.input(f32(1024)), b.input(f32(1024)), b.input(shape.Spec{DType: dtype.F64, Weak: true})
	g := b.graph(b.do(add, f32(1024), x, y), b.do(mul, f32(1024), x, n))
	g.Donated = []bool{true, false, false}
	p := planOn(t, "v5e", g, device.FastRun)
	if p.ArgumentBytes != 8192 || p.OutputBytes != 8192 || p.AliasBytes != 4096 || p.TableBytes != 512 || p.TempBytes != 0 {
		t.Errorf("%+v", p)
	}
	for range 42 {
		g.Outputs = append(g.Outputs, g.Outputs[0])
	}
	// A program of 44 results, as compiled: 512 B on v5e, 192 B on v6e.
	if p, q := planOn(t, "v5e", g, device.FastRun), planOn(t, "v6e", g, device.FastRun); p.TableBytes != 512 || q.TableBytes != 192 {
		t.Errorf("tables of %d and %d B", p.TableBytes, q.TableBytes)
	}
}

func TestLookupReadsTheRowsItNames(t *testing.T) {
	table := shape.Of(dtype.BF16, 50000, 1024)
	lookup := func(rows int) *device.Plan {
		b := builder{}
		i, w := b.input(shape.Of(dtype.I32, rows)), b.input(table)
		return planOn(t, "v5e", b.graph(b.do(op.Must("embedding"), shape.Of(dtype.BF16, rows, 1024), i, w)), device.FastCompile)
	}
	if p := lookup(256); p.ReadBytes != 256*2048+1024 || p.WriteBytes != 256*2048 {
		t.Errorf("%+v", p)
	}
	if p := lookup(1 << 20); p.ReadBytes != table.PaddedBytes()+4<<20 {
		t.Errorf("reads %d, want no more than the table", p.ReadBytes)
	}
	// Adding by index goes one row after another.
	b := builder{}
	w, i, v := b.input(f32(1000, 8)), b.input(shape.Of(dtype.I32, 1300000)), b.input(f32(1300000, 8))
	n := b.all(op.Must("index_add"), op.Attrs{{Name: "dim", Value: 0}}, []shape.Spec{f32(1000, 8)}, w, i, v)
	p := planOn(t, "v5e", b.graph(graph.Ref{Node: n}), device.FastCompile)
	if p.DurationNS < 26e6 || p.DurationNS > 28e6 || p.Kernels[0].Bound != "index" {
		t.Errorf("%+v", p)
	}
}

func TestSortCostsItsPasses(t *testing.T) {
	row := &op.Def{Name: "sort", Class: op.Reduce, Kernel: fails.Kernel}
	cost := func(n int) int64 {
		b := builder{}
		node := b.all(row, op.Attrs{{Name: "dim", Value: -1}}, []shape.Spec{f32(64, n), shape.Of(dtype.I64, 64, n)}, b.input(f32(64, n)))
		return planOn(t, "v6e", b.graph(graph.Ref{Node: node}), device.FastRun).DurationNS
	}
	if small, large := cost(1<<10), cost(1<<20); large < 100*small {
		t.Errorf("%d ns for rows of 2^10, %d ns for rows of 2^20", small, large)
	}
}

func TestCostSaturates(t *testing.T) {
	p := planOn(t, "v5e", double(f32(math.MaxInt)), device.FastRun)
	if p.DurationNS <= 0 || p.WriteBytes != math.MaxInt64 {
		t.Errorf("%+v", p)
	}
}

// TestPrecisionCostsPasses compares products of f32 that differ in their precision alone.
func TestPrecisionCostsPasses(t *testing.T) {
	at := func(precision string) float64 {
		g := matmulOf(dtype.F32, 2048, 2048, 2048)
		g.Nodes[0].Attrs = append(g.Nodes[0].Attrs, op.Attr{Name: op.PrecisionAttr, Value: precision})
		return float64(planOn(t, "v5e", g, device.FastRun).DurationNS)
	}
	one := at("default")
	if high, highest := at("high")/one, at("highest")/one; high < 2.2 || high > 3.2 || highest < 4.4 || highest > 6.2 {
		t.Errorf("high takes %.2f times one pass, highest %.2f", high, highest)
	}
}
