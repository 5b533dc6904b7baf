package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/tpush/tpush/runtime/simd"
)

// exactProducts is set when products of bf16 are computed exactly although the
// processor has a unit for them. It holds for the process, as the number of
// threads does.
var exactProducts = sync.OnceValue(func() *atomic.Bool { return new(atomic.Bool) })

// SetExactBF16 decides how large products of bf16 are computed from now on:
// exactly, with the same bits on every machine, or as fast as the processor can.
func SetExactBF16(exact bool) { exactProducts().Store(exact) }

// ExactBF16 says which of the two was asked for. A processor without a unit
// computes them exactly in any case.
func ExactBF16() bool { return exactProducts().Load() }

// bf16Unit is what large products of bf16 are computed on.
func bf16Unit() simd.Unit {
	if ExactBF16() {
		return simd.Exact
	}
	return simd.ChosenUnit()
}
