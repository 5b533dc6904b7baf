//go:build !race

// Under the race detector sync.Pool forgets at random.

package kernel

import (
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

func TestSmallAddDoesNotAllocate(t *testing.T) {
	a, b, o := New(shape.Of(dtype.F32, 4)), New(shape.Of(dtype.F32, 4)), New(shape.Of(dtype.F32, 4))
	s := New(shape.Of(dtype.F64))
	for _, in := range [][]Array{{a, b}, {a, s}} {
		c := &Call{In: in, Out: []Array{o}}
		if n := testing.AllocsPerRun(100, func() { Add(c) }); n > 0 {
			t.Errorf("add of %v allocates %g times", specsOf(in), n)
		}
	}
}
