package tpu

import (
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// heapBytes is what the heap holds after a collection.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A million operations of a session that records and looks back leave the memory as it was
// after a fifth of them, in a mode that launches each and in one that fuses.
func TestMillionOpsKeepMemoryFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("a million operations")
	}
	for _, tt := range []struct {
		mode *exec.Mode
		ops  int
	}{{exec.Strict, 1_000_000}, {exec.DeferAndFuse, 100_000}} {
		t.Run(tt.mode.Name, func(t *testing.T) {
			l := newLab(t, tt.mode)
			l.d.SetHistory(4096, 64<<20)
			x := Of(1.0, 2.0, 3.0, 4.0)
			l.d.SetRoots(func(m *exec.Marker) { MarkTensor(m, x) })
			var early uint64
			for i := range tt.ops / 2 {
				if i == tt.ops/10 {
					early = heapBytes()
				}
				x = x.Mul(0.5).Add(1)
				l.d.StatementEnd(1)
			}
			late := heapBytes()
			if late > early+early/10 {
				t.Errorf("%d bytes after a fifth of %d ops, %d at the end", early, tt.ops, late)
			}
			if n := len(l.d.LiveValues()); n != 1 {
				t.Errorf("%d arrays live, want 1", n)
			}
			if n := l.d.Queued(); n > 512 {
				t.Errorf("%d operations queued", n)
			}
		})
	}
}
