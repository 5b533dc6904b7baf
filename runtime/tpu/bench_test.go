package tpu

import (
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// BenchmarkAdd4 is the whole path of one eager addition of four numbers.
func BenchmarkAdd4(b *testing.B) {
	use(b, exec.Debug)
	x, y := Of(1.0, 2.0, 3.0, 4.0), Of(1.0, 2.0, 3.0, 4.0)
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}

// BenchmarkAddNumber adds a Go number.
func BenchmarkAddNumber(b *testing.B) {
	use(b, exec.Debug)
	x := Of(1.0, 2.0, 3.0, 4.0)
	b.ReportAllocs()
	for b.Loop() {
		x.Add(2)
	}
}

// BenchmarkMul4Recorded is BenchmarkAdd4 with a tape.
func BenchmarkMul4Recorded(b *testing.B) {
	use(b, exec.Debug)
	x, y := Of(1.0, 2.0, 3.0, 4.0).RequireGrad(), Of(1.0, 2.0, 3.0, 4.0)
	b.ReportAllocs()
	for b.Loop() {
		x.Mul(y)
	}
}
