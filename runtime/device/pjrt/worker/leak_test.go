package worker

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// residentKB is what a process has in memory.
func residentKB(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("VmRSS:"))
	n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCompilesDoNotLeak compiles, runs and drops 1,000 programs: what the
// process has in memory stays within 5 %.
func TestCompilesDoNotLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles 1,300 programs")
	}
	o := options(t, pluginPath(t))
	o.Env = []string{"XLA_FLAGS=--xla_backend_extra_options=xla_cpu_disable_new_fusion_emitters"} // the quicker compiler
	ctx := context.Background()
	w, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	f32, _ := capi.ParseType("f32")
	options := capi.CompileOptions{Flags: map[string]any{"xla_backend_optimization_level": int64(0)}}.Encode()
	n := 4
	compile := func(times int) int {
		for range times {
			n++
			p, err := w.Compile(ctx, capi.MLIR, fmt.Appendf(nil, addText, n), options)
			if err != nil {
				t.Fatal(err)
			}
			x, err := w.Put(0, f32, []int64{int64(n)}, make([]byte, 4*n))
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Execute([]*Buffer{x, x})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			w.Free(x, out[0])
			p.Drop()
		}
		return residentKB(t, w.PID())
	}
	before := compile(300)
	after := compile(1000)
	t.Logf("%d KB, then %d KB", before, after)
	if after > before+before/20 {
		t.Errorf("%d KB after 300 compilations, %d KB after 1,000 more", before, after)
	}
}
