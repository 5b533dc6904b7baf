package sim

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// TestResultsInPlaceOfDonors runs programs whose donated or spent input may give
// its bytes to the result, and such where it may not; both come to the same.
func TestResultsInPlaceOfDonors(t *testing.T) {
	const rows, cols = 64, 128
	square := f32(rows, cols)
	add, mul, neg := op.Must(op.Add), op.Must(op.Mul), op.Must(op.Neg)
	turned := func(b *builder, x graph.Ref) graph.Ref {
		return b.view("transpose", op.Attrs{{Name: "dim0", Value: 0}, {Name: "dim1", Value: 1}}, f32(cols, rows), x)
	}
	for _, c := range []struct {
		name  string
		taken bool
		build func(b *builder, x, y graph.Ref) []graph.Ref
	}{
		{"one operation", true, func(b *builder, x, y graph.Ref) []graph.Ref { return []graph.Ref{b.do(mul, square, x, y)} }},
		{"a fused group", true, func(b *builder, x, y graph.Ref) []graph.Ref {
			return []graph.Ref{b.do(mul, square, b.do(neg, square, x), b.do(mul, square, x, y))}
		}},
		{"read before", true, func(b *builder, x, y graph.Ref) []graph.Ref {
			m := b.do(op.Must("matmul"), f32(rows, rows), x, turned(b, y))
			return []graph.Ref{b.do(op.Must("matmul"), square, m, y)}
		}},
		{"read afterwards", false, func(b *builder, x, y graph.Ref) []graph.Ref {
			r := b.do(mul, square, x, y)
			m := b.do(op.Must("matmul"), f32(rows, rows), y, turned(b, x))
			return []graph.Ref{r, b.do(neg, f32(rows, rows), m)}
		}},
		{"read through another view", false, func(b *builder, x, y graph.Ref) []graph.Ref {
			flipped := b.view("as_strided", op.Attrs{{Name: "size", Value: []int{rows, cols}}, {Name: "stride", Value: []int{1, rows}}, {Name: "storage_offset", Value: 0}}, square, x)
			return []graph.Ref{b.do(mul, square, x, flipped)}
		}},
		{"a product", false, func(b *builder, x, y graph.Ref) []graph.Ref {
			return []graph.Ref{b.do(op.Must("matmul"), square, b.do(op.Must("matmul"), f32(rows, rows), y, turned(b, x)), x)}
		}},
		{"the input is a result", false, func(b *builder, x, y graph.Ref) []graph.Ref { return []graph.Ref{b.do(add, square, x, y), x} }},
	} {
		for _, donated := range []bool{true, false} {
			runInPlace(t, c.name, c.taken, donated, c.build)
		}
	}
}

func runInPlace(t *testing.T, name string, taken, donated bool, build func(b *builder, x, y graph.Ref) []graph.Ref) {
	const rows, cols = 64, 128
	square := f32(rows, cols)
	t.Run(fmt.Sprintf("%s, donated %v", name, donated), func(t *testing.T) {
		d := open(t, Options{})
		b := &builder{}
		x, y := b.input(square), b.input(square)
		e := compile(t, d, b.graph(build(b, x, y)...), device.FastRun)
		numbersOf := func(k int) []float32 {
			v := make([]float32, rows*cols)
			for i := range v {
				v[i] = float32((i*k)%97)/32 - 1
			}
			return v
		}
		once := func(inPlace bool) (*buffer, *device.Launch) {
			in := upload(t, d, []int{rows, cols}, numbersOf(7)...)
			l := &device.Launch{In: []device.Buffer{in, upload(t, d, []int{rows, cols}, numbersOf(11)...)}, Donate: []bool{donated, false}, Spent: []bool{!donated, false}, InPlace: inPlace}
			if err := e.Run(l); err != nil {
				t.Fatal(err)
			}
			return in.(*buffer), l
		}
		kept, first := once(false)
		if kept.lost {
			t.Error("a launch that keeps its inputs took one")
		}
		in, l := once(true)
		if in.lost != taken {
			t.Errorf("the donor's bytes are taken: %v", in.lost)
		}
		for i := range l.Out {
			if !slices.Equal(numbers(first.Out[i]), numbers(l.Out[i])) {
				t.Errorf("result %d in place differs", i)
			}
		}
		in.Free() // which a donor was by the run
		var freed *device.FreedBufferError
		if err := in.Revive(device.Owner{}); taken != errors.As(err, &freed) {
			t.Errorf("revived: %v", err)
		}
	})
}

// TestSharedBytesAreNotWritten keeps an array that somebody asked for.
func TestSharedBytesAreNotWritten(t *testing.T) {
	d := open(t, Options{})
	e := compile(t, d, double(f32(1<<13)), device.FastRun)
	for range 3 {
		in := upload(t, d, []int{1 << 13}, make([]float32, 1<<13)...)
		seen := kernel.As[float32](in.Host().Buf)
		seen[5] = 2
		l := &device.Launch{In: []device.Buffer{in}, Donate: []bool{true}, InPlace: true}
		if err := e.Run(l); err != nil {
			t.Fatal(err)
		}
		if seen[5] != 2 || numbers(l.Out[0])[5] != 4 {
			t.Fatalf("the array that was handed out reads %v, the result %v", seen[5], numbers(l.Out[0])[5])
		}
	}
}
