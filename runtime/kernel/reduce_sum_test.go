package kernel

import (
	"bytes"
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// TestSumOrder checks that a sum has the documented order whatever the layout:
// the same bits from rows, from columns and from a strided view.
func TestSumOrder(t *testing.T) {
	for _, n := range []int{0, 1, 5, 16, 17, 100, sumBlock, sumBlock + 1, 3*sumBlock + 7} {
		for _, columns := range []int{5, 150} {
			x := ramp(n, columns)
			v := As[float32](x.Buf)[:n*columns]
			for i := range v {
				v[i] = float32(math.Sin(float64(i)*1.7)) * 1000
			}
			want := make([]float32, columns)
			for j := range want {
				want[j] = orderedSum(v, j, columns)
			}
			byColumn := make([]float32, columns)
			sumAs(x, []int{0}, byColumn)
			turned := x
			turned.Dims, turned.Strides = []int{columns, n}, []int{1, columns}
			byRow := make([]float32, columns)
			sumAs(turned, []int{1}, byRow)
			for j := range want {
				if byColumn[j] != want[j] || byRow[j] != want[j] {
					t.Errorf("n %d column %d: columns %v, rows %v, want %v", n, j, byColumn[j], byRow[j], want[j])
				}
			}
		}
	}
}

// orderedSum is the documented order, spelled out.
func orderedSum(v []float32, j, step int) float32 {
	var row []float32
	for i := j; i < len(v); i += step {
		row = append(row, v[i])
	}
	var parts []float32
	for len(row) > 0 || parts == nil {
		block := row[:min(len(row), sumBlock)]
		row = row[len(block):]
		var s [sumLanes]float32
		for i, x := range block {
			s[i%sumLanes] += x
		}
		for w := 8; w > 0; w /= 2 {
			for l := range w {
				s[l] += s[l+w]
			}
		}
		parts = append(parts, s[0])
	}
	for len(parts) > 1 {
		var next []float32
		for i := 0; i < len(parts); i += 2 {
			if i+1 < len(parts) {
				next = append(next, parts[i]+parts[i+1])
			} else {
				next = append(next, parts[i])
			}
		}
		parts = next
	}
	return parts[0]
}

// TestExtremesOfColumns compares extremes over each axis with those of rows that
// are gathered first.
func TestExtremesOfColumns(t *testing.T) {
	for _, d := range []dtype.DType{dtype.F32, dtype.F64, dtype.BF16, dtype.F16, dtype.I8, dtype.I32, dtype.I64, dtype.U8, dtype.U32, dtype.U64, dtype.Bool} {
		for _, dims := range [][]int{{2, 16}, {9, 33}, {10, 2100}, {3, 11, 40}, {1, 64}} {
			n := shape.Size(dims)
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = float64(i * 7919 % 101)
				if i%103 == 5 && d.IsFloat() {
					xs[i] = math.NaN()
				}
			}
			x := array(d, xs, dims...)
			axes := []int{len(dims) - 2}
			v, _ := axesLast(x, axes)
			moved := Contiguous(v)
			for name, f := range map[string]Func{"amax": Amax, "amin": Amin} {
				out := append(append([]int{}, dims[:axes[0]]...), dims[axes[0]+1:]...)
				got, want := New(shape.Of(d, out...)), New(shape.Of(d, out...))
				if err := f(&Call{In: []Array{x}, Out: []Array{got}, Attrs: Attrs{{Name: "dim", Value: axes}}}); err != nil {
					t.Fatal(err)
				}
				if err := f(&Call{In: []Array{moved}, Out: []Array{want}, Attrs: Attrs{{Name: "dim", Value: []int{len(dims) - 1}}}}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Buf, want.Buf) {
					t.Errorf("%s of %v%v over axis %d differs", name, d, dims, axes[0])
				}
			}
		}
	}
}
