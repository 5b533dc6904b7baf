package tpu

import (
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// BenchmarkKept is BenchmarkDispatch with the last operations kept.
func BenchmarkKept(b *testing.B) {
	for _, m := range []*exec.Mode{exec.Debug, exec.Strict} {
		b.Run(m.Name, func(b *testing.B) {
			use(b, m)
			Dispatcher().SetHistory(4096, 64<<20)
			x, y := F32.Ones(4), F32.Ones(4)
			least(b, func() { x.Add(y) })
		})
	}
}
