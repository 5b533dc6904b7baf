package tpu

import (
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// BenchmarkAdd4Kept is BenchmarkAdd4 with the last operations kept.
func BenchmarkAdd4Kept(b *testing.B) {
	use(b, exec.Debug)
	Dispatcher().SetHistory(4096, 64<<20)
	x, y := Of(1.0, 2.0, 3.0, 4.0), Of(1.0, 2.0, 3.0, 4.0)
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}
