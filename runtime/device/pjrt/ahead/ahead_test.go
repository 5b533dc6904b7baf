package ahead

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/plugintest"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// TestMain is the compiler's process too.
func TestMain(m *testing.M) { plugintest.Main(m) }

// compiler gives the TPU compiler; without one the test is skipped.
func compiler(t testing.TB) *Compiler {
	t.Helper()
	start := plugintest.TPU()
	if start == nil {
		t.Skip("no TPU compiler: TPUSH_XLA_TPU names none")
	}
	c := New(start)
	t.Cleanup(c.Close)
	return c
}

const addText = `module @add {
  func.func public @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = "stablehlo.add"(%a, %b) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> loc("cell3/op7/add"("cell_3.go":4:9))
    return %0 : tensor<1024x1024xf32>
  }
}
`

func TestCompile(t *testing.T) {
	c, ctx := compiler(t), context.Background()
	r, err := c.Compile(ctx, "v5e", addText, Options{Slots: true})
	if err != nil {
		t.Fatal(err)
	}
	root := r.Module.Root()
	if root.Opcode != "add" || root.OpName != "cell3/op7/add" || root.File != "cell_3.go" || root.Line != 4 || root.Config.Cycles <= 0 {
		t.Errorf("root %+v", root)
	}
	if n, _ := r.Memory.Assignment.Peak(hlo.HBM); n != 3*4<<20 {
		t.Errorf("peak %d bytes, want 12 MiB", n)
	}
	if r.Memory.Arguments != 8<<20 || r.Memory.Outputs != 4<<20 || r.Memory.Temp != 0 || r.Memory.Alias != 0 || r.Memory.Code <= 0 {
		t.Errorf("memory %+v", r.Memory)
	}
	if got := r.Costs[root.ID]["flops"]; got != 1<<20 {
		t.Errorf("%g flops, want 2^20", got)
	}
	s := r.Slots[root.Name]
	if s == nil || s.Bundles == 0 || s.Fullest() == nil {
		t.Fatalf("slots %+v", r.Slots)
	}
	again, err := c.Open(ctx, r.Serialized)
	if err != nil {
		t.Fatal(err)
	}
	if again.Module.Root().Config.Cycles != root.Config.Cycles || again.Memory.Arguments != r.Memory.Arguments || again.Target.Chip != "v5e" || again.Cost["flops"] != r.Cost["flops"] {
		t.Errorf("the executable reads differently: %+v", again.Module.Root())
	}
}

// product is a chain of n products of m × m matrices.
func product(m, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "module @chain {\n  func.func public @main(%%x: tensor<%[1]dx%[1]dxbf16>) -> tensor<%[1]dx%[1]dxbf16> {\n", m)
	last := "%x"
	for i := range n {
		fmt.Fprintf(&b, "    %%%[1]d = \"stablehlo.dot_general\"(%[3]s, %[3]s) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<%[2]dx%[2]dxbf16>, tensor<%[2]dx%[2]dxbf16>) -> tensor<%[2]dx%[2]dxbf16> loc(\"cell7/op%[1]d/matmul\"(\"cell_7.go\":%[1]d:9))\n", i, m, last)
		last = fmt.Sprintf("%%%d", i)
	}
	fmt.Fprintf(&b, "    return %[2]s : tensor<%[1]dx%[1]dxbf16>\n  }\n}\n", m, last)
	return b.String()
}

func TestOutOfMemory(t *testing.T) {
	c := compiler(t)
	_, err := c.Compile(context.Background(), "v5e", product(65536, 3), Options{})
	var oom *OutOfMemoryError
	if !errors.As(err, &oom) {
		t.Fatalf("got %v", err)
	}
	if oom.Assignment == nil || oom.Report.Available == 0 || oom.Report.Needed <= oom.Report.Available || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%+v", oom.Report)
	}
	bytes, at := oom.Assignment.Peak(hlo.HBM)
	if bytes < oom.Report.Available {
		t.Errorf("the plan has %d bytes at the peak, the report says %d", bytes, oom.Report.Needed)
	}
	lines := map[int]bool{}
	for _, p := range oom.Assignment.LiveAt(hlo.HBM, at) {
		lines[p.Def.Line] = true
	}
	if !lines[1] {
		t.Errorf("lines at the peak: %v", lines)
	}
	// A budget below the chip's refuses what would fit.
	if _, err := c.Compile(context.Background(), "v5e", product(2048, 1), Options{HBMMiB: 4}); !errors.As(err, &oom) {
		t.Errorf("4 MiB of HBM: got %v", err)
	}
	if _, err := c.Compile(context.Background(), "v5e", product(2048, 1), Options{}); err != nil {
		t.Errorf("after the refusals: %v", err)
	}
}

// TestEveryChip compiles for all chips, a core and a topology.
func TestEveryChip(t *testing.T) {
	c := compiler(t)
	for _, g := range generations {
		r, err := c.Compile(context.Background(), g.chip, addText, Options{})
		if err != nil {
			t.Fatalf("%s: %v", g.chip, err)
		}
		if root := r.Module.Root(); root.Config.Cycles <= 0 || r.Target.NS(root.Config.Cycles) <= 0 {
			t.Errorf("%s: %+v", g.chip, root.Config)
		}
	}
	const sharded = `module @spmd attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<1024x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<4096x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1024x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<1024x1024xbf16>
    return %0 : tensor<1024x1024xbf16>
  }
}
`
	r, err := c.Compile(context.Background(), "v5e", sharded, Options{})
	if err != nil {
		t.Fatal(err)
	}
	collective := ""
	for _, in := range r.Module.Entry.Instructions {
		if in.Collective() {
			collective += in.Opcode + " " + in.Groups + " "
		}
	}
	if r.Target.Topology != "v5e:2x2" || r.Target.Devices != 4 || !strings.Contains(collective, "all-reduce") {
		t.Errorf("%+v, collectives %q", r.Target, collective)
	}
}

// TestRefused: what kills the compiler is not sent to it, what it refuses it
// says itself, and what it dies of costs its process alone.
func TestRefused(t *testing.T) {
	ctx := context.Background()
	none := New(func(context.Context, ...string) (*worker.Worker, error) {
		return nil, errors.New("the compiler was started")
	})
	for name, text := range map[string]string{
		"empty":            " \n",
		"unknown size":     strings.ReplaceAll(addText, "1024x1024", "?x1024"),
		"unknown size too": strings.ReplaceAll(addText, "1024x1024", "1024x?"),
		"devices":          "module @m attributes {mhlo.num_partitions = 99999999999999999999 : i32} {}",
	} {
		var re *RefusedError
		if _, err := none.Compile(ctx, "v5e", text, Options{}); !errors.As(err, &re) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	var many *TooManyError
	if _, err := none.Compile(ctx, "v5e", "module @m attributes {mhlo.num_partitions = 300 : i32} {}", Options{}); !errors.As(err, &many) || many.Want != 300 {
		t.Errorf("300 devices: got %v", err)
	}
	if _, err := none.Compile(ctx, "v99", addText, Options{}); err == nil {
		t.Error("a chip that there is not")
	}
	c := compiler(t)
	var ce *CompileError
	if _, err := c.Compile(ctx, "v5e", strings.ReplaceAll(addText, "stablehlo.add", "stablehlo.plus"), Options{}); !errors.As(err, &ce) {
		t.Errorf("an operation that there is not: %v", err)
	}
	if _, err := c.Compile(ctx, "v5e", addText, Options{Topology: "v5e:7x7x7x7"}); !errors.As(err, &ce) {
		t.Errorf("a topology that there is not: %v", err)
	}
	c.mu.Lock()
	c.w.Kill()
	c.mu.Unlock()
	if _, err := c.Compile(ctx, "v5e", addText, Options{}); err != nil {
		t.Errorf("after its process was killed: %v", err)
	}
	if _, err := c.Open(ctx, []byte("no executable at all, of the TPU or of anything")); err == nil {
		t.Error("text is taken for an executable")
	}
	if _, err := c.Compile(ctx, "v5e", addText, Options{}); err != nil {
		t.Errorf("after bytes that are no executable: %v", err)
	}
}

func TestExecutableIn(t *testing.T) {
	code := append(append([]byte{}, executableMagic...), make([]byte, 300)...)
	wrapped := append([]byte("\x08\x07\x12\xb4\x02"), code...) // field 2 of a message, 308 bytes
	wrapped = append(wrapped, "\x1a\x03end"...)
	for _, tt := range []struct {
		name  string
		file  []byte
		bytes int
		text  string
	}{
		{"a.exe", code, len(code), "a serialized TPU executable"},
		{"0123456789abcdef_00000000000000ff_fedcba9876543210.bin", code, len(code), "a TorchTPU cache entry, operations 0123456789abcdef, dimensions 00000000000000ff, options fedcba9876543210"},
		{"wrapped", wrapped, len(code), "a TPU executable at byte 5 of a file"},
	} {
		e, got, err := executableIn("some/folder/"+tt.name, tt.file)
		if err != nil || len(got) != tt.bytes || e.Bytes != tt.bytes || e.String() != tt.text {
			t.Errorf("%s: %q, %d bytes, %v", tt.name, e, len(got), err)
		}
	}
	var re *NoExecutableError
	if _, _, err := executableIn("x", []byte("nothing")); !errors.As(err, &re) {
		t.Errorf("got %v", err)
	}
}

func FuzzExecutableIn(f *testing.F) {
	f.Add(append([]byte("\x12\x08"), executableMagic...))
	f.Fuzz(func(t *testing.T, file []byte) {
		if e, code, err := executableIn("f", file); err == nil && (len(code) == 0 || len(code) > len(file) || e.Bytes != len(code)) {
			t.Errorf("%d of %d bytes", len(code), len(file))
		}
	})
}

// BenchmarkReady starts the compiler's process and loads the library.
func BenchmarkReady(b *testing.B) {
	c := compiler(b)
	for b.Loop() {
		c.mu.Lock()
		if _, err := c.worker(context.Background()); err != nil {
			b.Fatal(err)
		}
		c.mu.Unlock()
		c.Close()
	}
}

// BenchmarkCompile compiles one program after another and reads the answers;
// the process's memory is reported at the end.
func BenchmarkCompile(b *testing.B) {
	for _, p := range []struct{ name, chip, text string }{
		{"add/v5e", "v5e", addText}, {"add/v7x", "v7x", addText}, {"products/v5e", "v5e", product(1024, 3)}, {"products/v5p", "v5p", product(1024, 3)},
		{"products/v6e", "v6e", product(1024, 3)}, {"products/v7x", "v7x", product(1024, 3)},
	} {
		b.Run(p.name, func(b *testing.B) {
			c := compiler(b)
			var r *Result
			for b.Loop() {
				var err error
				if r, err = c.Compile(context.Background(), p.chip, p.text, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.RSSBytes)/(1<<20), "MiB")
		})
	}
}
