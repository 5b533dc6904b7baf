package ahead

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// TestMain is the compiler's process too: the tests start themselves for it.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "plugin-process" {
		if err := worker.Child(strings.TrimPrefix(os.Args[2], "--plugin="), strings.TrimPrefix(os.Args[3], "--create=")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// compiler gives the TPU compiler; without one the test is skipped.
func compiler(t testing.TB) *Compiler {
	t.Helper()
	library := os.Getenv("TPUSH_XLA_TPU")
	if library == "" {
		t.Skip("no TPU compiler: TPUSH_XLA_TPU names none")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := New(func(ctx context.Context, env ...string) (*worker.Worker, error) {
		return worker.Start(ctx, worker.Options{Command: []string{self, "plugin-process"}, Plugin: library, Env: env})
	})
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
	if again.Module.Root().Config.Cycles != root.Config.Cycles || again.Memory.Arguments != r.Memory.Arguments {
		t.Errorf("the executable reads differently: %+v", again.Module.Root())
	}
}
