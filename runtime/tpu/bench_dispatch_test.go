package tpu

import (
	"fmt"
	"testing"
	"time"

	"github.com/tpush/tpush/runtime/exec"
)

// benchModes are the modes that the benchmarks of dispatch compare.
var benchModes = []*exec.Mode{exec.Debug, exec.Strict, exec.DeferAndFuse}

// least runs f in samples of some 2000 calls and reports the time of a call in
// the quickest sample: what it costs when nothing else runs.
func least(b *testing.B, f func()) {
	const calls = 2000
	best := time.Duration(1<<63 - 1)
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += calls {
		t := time.Now()
		for range calls {
			f()
		}
		best = min(best, time.Since(t))
	}
	b.ReportMetric(float64(best.Nanoseconds())/calls, "least-ns/op")
}

// BenchmarkDispatch is W1: one eager addition through the public interface.
func BenchmarkDispatch(b *testing.B) {
	for _, m := range benchModes {
		for _, n := range []int{4, 1024} {
			b.Run(fmt.Sprintf("%s/%d", m.Name, n), func(b *testing.B) {
				use(b, m)
				x, y := F32.Ones(n), F32.Ones(n)
				Sync(x, y)
				least(b, func() { x.Add(y) })
			})
		}
	}
}

// BenchmarkStorm is W9: dependent small operations, two in a call.
func BenchmarkStorm(b *testing.B) {
	for _, m := range benchModes {
		b.Run(m.Name, func(b *testing.B) {
			use(b, m)
			x, a, c := F32.Ones(32, 32), F32.Ones(32, 32), F32.Zeros(32, 32)
			Sync(x, a, c)
			least(b, func() {
				x = x.Mul(a)
				x = x.Add(c)
			})
			Sync(x)
		})
	}
}
