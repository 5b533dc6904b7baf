package kernel_test

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// TestKeys compares with JAX 0.10.2.
func TestKeys(t *testing.T) {
	k := kernel.KeyOf(0)
	if got := k.Split(2); got[1] != (kernel.Key{928981903, 3453687069}) || got[1] != k.FoldIn(1) {
		t.Errorf("split gives %v, fold in 1 %v", got, k.FoldIn(1))
	}
	if got := k.Word(1); got != 4202968722 {
		t.Errorf("word 1 is %d", got)
	}
	if got := k.Permutation(7); !slices.Equal(got, []int32{0, 1, 5, 6, 4, 3, 2}) {
		t.Errorf("the order is %v", got)
	}
	a := kernel.New(shape.Of(dtype.U32, 4))
	if next := kernel.ThreeFryBits([2]uint64{}, a); next != [2]uint64{0, 2} || kernel.As[uint32](a.Buf)[2] != 1351547692 {
		t.Errorf("bits %v, then %v", kernel.As[uint32](a.Buf)[:4], next)
	}
}
