package kernel

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd/simdtest"
)

// TestCrossEntropyOfRows compares rows of classes with the definition, which f64
// is computed by, and the bits of all levels.
func TestCrossEntropyOfRows(t *testing.T) {
	simdtest.Everywhere(t, func(t *testing.T, _ simdtest.Way, found simdtest.Found) {
		for _, d := range []dtype.DType{dtype.F32, dtype.BF16, dtype.F16} {
			for _, dims := range [][]int{{1, 1}, {7, 10}, {64, 1000}, {5, 3001}} {
				for _, reduction := range []string{"mean", "sum", "none"} {
					for _, weighted := range []bool{false, true} {
						r := rand.New(rand.NewPCG(uint64(dims[1]), 5))
						x := drawn(r, d, dims)
						y := New(shape.Of(dtype.I64, dims[0]))
						for i := range dims[0] {
							As[int64](y.Buf)[i] = int64(r.IntN(dims[1]))
						}
						if dims[0] > 4 { // an ignored row, of scores that have no softmax
							As[int64](y.Buf)[2] = -100
							storeRun(&x, 2*dims[1], []float32{float32(math.Inf(1)), float32(math.NaN())})
						}
						var w Array
						if weighted {
							w = drawn(r, d, dims[1:])
						}
						a := Attrs{{Name: "ignore_index", Value: -100}, {Name: "reduction", Value: reduction}, {Name: "label_smoothing", Value: 0.0}}
						each := []int{}
						if reduction == "none" {
							each = dims[:1]
						}
						up := drawn(r, d, each)
						compute := func(t dtype.DType) (loss, slope Array) {
							loss, slope = New(shape.Spec{DType: t, Dims: each}), New(shape.Spec{DType: t, Dims: dims})
							in := []Array{Cast(up, t), Cast(x, t), y, {}}
							if weighted {
								in[3] = Cast(w, t)
							}
							if CrossEntropy(&Call{In: in[1:], Out: []Array{loss}, Attrs: a}) != nil || CrossEntropyBackward(&Call{In: in, Out: []Array{slope}, Attrs: a}) != nil {
								panic("cross entropy")
							}
							return loss, slope
						}
						loss, slope := compute(d)
						wantLoss, wantSlope := compute(dtype.F64)
						within := map[dtype.DType]float64{dtype.F32: 1e-5, dtype.F16: 2e-3, dtype.BF16: 1e-2}[d]
						name := fmt.Sprint(d, dims, reduction, weighted)
						digest := fnv.New64()
						for i, p := range [][2]Array{{loss, wantLoss}, {slope, wantSlope}} {
							digest.Write(p[0].Buf[:p[0].Size()*d.HostBytes()])
							want := Float64s(p[1])
							for j, v := range Float64s(p[0]) {
								if !(math.Abs(v-want[j]) <= within*(1+math.Abs(want[j]))) {
									t.Errorf("%s: result %d[%d] is %v, want %v", name, i, j, v, want[j])
									break
								}
							}
						}
						found(name, digest.Sum64())
					}
				}
			}
		}
	})
}
