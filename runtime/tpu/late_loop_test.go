package tpu

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
)

// TestLoopsOfSmallOperations runs random loops over arrays that are computed
// when somebody looks at them, many at once: each mode gives the bits of the one
// that waits for each operation, whatever is looked at and when.
func TestLoopsOfSmallOperations(t *testing.T) {
	unary, binaryOps := unaryRows(), binaryRows()
	frequent := []op.Name{"add", "mul", "sub", "maximum", "relu", "neg", "tanh", "abs"}
	type step struct {
		row      op.Name
		from, to int
		other    int
		number   bool
		by       float64
	}
	run := func(seed uint64) (said []string) {
		r := rand.New(rand.NewPCG(seed, 11))
		say := func(x *Tensor) {
			bits := fnv.New64a()
			for _, v := range x.Float64s() {
				bits.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			}
			said = append(said, fmt.Sprint(x.Spec(), bits.Sum64()))
		}
		var vars []*Tensor
		for i := range 5 {
			x := make([]float32, 256)
			for k := range x {
				x[k] = float32(r.IntN(65)-32) / 16
			}
			v := From(x).Reshape(16, 16)
			if i == 4 {
				v = v.Index(0)
			}
			vars = append(vars, v)
		}
		var held []*Tensor
		for range 3 {
			body := make([]step, 1+r.IntN(5))
			for i := range body {
				s := step{from: r.IntN(4), to: r.IntN(4), other: r.IntN(5), number: r.IntN(3) == 0, by: float64(r.IntN(9)-4) / 4}
				if s.row = unary[r.IntN(len(unary))]; r.IntN(2) == 0 {
					s.row = binaryOps[r.IntN(len(binaryOps))]
				}
				if r.IntN(6) > 0 {
					s.row = frequent[r.IntN(len(frequent))]
				}
				body[i] = s
			}
			for range 200 + r.IntN(100) {
				for _, s := range body {
					var other any = vars[s.other]
					if s.number {
						other = s.by
					}
					in := []any{vars[s.from]}
					if slices.Contains(binaryOps, s.row) {
						in = append(in, other)
					}
					var y *Tensor
					if err := Try(func() { y = Apply(string(s.row), nil, in...)[0] }); err != nil {
						said = append(said, err.Error())
						continue
					}
					if y.DType() != F32 { // the arrays stay what they are
						y = y.To(F32)
					}
					if r.IntN(200) == 0 {
						held = append(held, vars[s.to])
					}
					vars[s.to] = y
					if r.IntN(300) == 0 {
						say(y)
					}
				}
			}
		}
		for _, x := range append(held, vars...) {
			say(x)
		}
		return said
	}
	for seed := range uint64(40) {
		var want []string
		for _, m := range []*exec.Mode{exec.Debug, exec.Strict, exec.DeferAndFuse} {
			use(t, m)
			if got := run(seed); want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Fatalf("seed %d, %s: line %d differs: %q, want %q", seed, m.Name, i, got[min(i, len(got)-1)], want[i])
					}
				}
			}
		}
	}
}
