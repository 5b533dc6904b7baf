package tpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// wander runs a random program on tensors of a size that is computed late in
// modes that do not wait, and gives what it reads on the way and at the end.
func wander(t *testing.T, m *exec.Mode, seed uint64) [][]float32 {
	use(t, m)
	r := rand.New(rand.NewPCG(seed, 1))
	pool := make([]*Tensor, 6)
	for i := range pool {
		pool[i] = F32.Full(float64(i)/4-0.5, 16, 1+15*(i%2)).Add(F32.Arange(16).Div(16))
	}
	pick := func() *Tensor { return pool[r.IntN(len(pool))] }
	var seen [][]float32
	for range 300 {
		x := pick()
		switch r.IntN(9) {
		case 0:
			x = x.Mul(pick())
		case 1:
			x = x.Tanh().Add(pick())
		case 2:
			x = x.Sub(0.25)
		case 3:
			x = x.Abs().Neg()
		case 4:
			x = x.T().Mul(0.5)
		case 5:
			x = x.Add(0).MulInPlace(0.75)
		case 6:
			x = Where(x.Gt(pick()), x, 0.125)
		case 7:
			x = x.Clamp(ClampOptions{Min: -2, Max: 2})
		case 8:
			seen = append(seen, pick().Float32s())
			continue
		}
		pool[r.IntN(len(pool))] = x
	}
	for _, x := range pool {
		seen = append(seen, x.Float32s())
	}
	return seen
}

// What waits has the bits that it would have had at once, whoever looks and when.
func TestWaitingChangesNoBits(t *testing.T) {
	for seed := range uint64(12) {
		want := wander(t, exec.Debug, seed)
		for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse} {
			got := wander(t, m, seed)
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("%s, program %d: read %d differs", m.Name, seed, i)
				}
			}
		}
	}
}

// A long chain of small results keeps neither its beginning nor, through the
// results that share memory, the beginning of what a kept one was made of.
func TestChainsLetGo(t *testing.T) {
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse} {
		t.Run(m.Name, func(t *testing.T) {
			d := use(t, m)
			a, b := F32.Full(0.5, 16, 16), F32.Ones(16, 16)
			x := F32.Ones(16, 16)
			var kept []*Tensor
			run := func(n int) uint64 {
				for i := range n {
					x = x.Mul(a)
					x = x.Add(b)
					if i%1000 == 0 {
						kept = append(kept, x)
					}
				}
				_ = d.Flush(exec.ReasonSync)
				heapBytes()
				Of(1.0) // collects what was dropped
				return heapBytes()
			}
			early := run(3000)
			late := run(20_000)
			if late > early+6<<20 {
				t.Errorf("%d bytes, then %d", early, late)
			}
			for _, k := range kept {
				if v := k.Float32s()[0]; v < 1 || v > 2 {
					t.Fatalf("a kept result is %v", v)
				}
			}
		})
	}
}
