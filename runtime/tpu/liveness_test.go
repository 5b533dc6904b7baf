package tpu

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// A tapeProgram is a random program over variables that hold tensors.
type tapeProgram struct {
	d    *exec.Dispatcher
	vars []*Tensor
	snap *Snapshot
}

// step runs one statement.
func (p *tapeProgram) step(r *rand.Rand) string {
	at := func() int { return r.IntN(len(p.vars)) }
	i, j, k := at(), at(), at()
	x, y := p.vars[j], p.vars[k]
	if x == nil || y == nil {
		p.vars[i] = Ones(4)
		return fmt.Sprintf("v%d = ones", i)
	}
	loss := func() *Tensor { return x.Mul(y).Sum() }
	switch r.IntN(18) {
	case 0:
		p.vars[i] = Ones(4).RequireGrad()
		return fmt.Sprintf("v%d = leaf", i)
	case 1, 2, 3:
		p.vars[i] = x.Mul(y)
		return fmt.Sprintf("v%d = v%d * v%d", i, j, k)
	case 4:
		p.vars[i] = x.Exp().Add(y)
		return fmt.Sprintf("v%d = exp v%d + v%d", i, j, k)
	case 5:
		x.MulInPlace(y)
		return fmt.Sprintf("v%d *= v%d", j, k)
	case 6:
		NoGrad(func() { x.AddInPlace(1) })
		return fmt.Sprintf("v%d += 1 in NoGrad", j)
	case 7:
		loss().Backward(GradOptions{RetainGraph: true})
		return fmt.Sprintf("backward v%d * v%d, retained", j, k)
	case 8:
		loss().Backward()
		return fmt.Sprintf("backward v%d * v%d", j, k)
	case 9:
		loss().Backward(GradOptions{CreateGraph: true})
		return fmt.Sprintf("backward v%d * v%d, with a graph", j, k)
	case 10:
		p.vars[i] = nil
		return fmt.Sprintf("v%d = nil", i)
	case 11:
		p.vars[i] = x.Slice(0, 0, 2).Expand(2, 2).Reshape(4)
		return fmt.Sprintf("v%d = view of v%d", i, j)
	case 12:
		x.Slice(0, 0, 2).MulInPlace(2)
		return fmt.Sprintf("v%d[:2] *= 2", j)
	case 13:
		x.ZeroGrad()
		return fmt.Sprintf("zero grad v%d", j)
	case 14:
		p.vars[i] = x.Detach()
		return fmt.Sprintf("v%d = detached v%d", i, j)
	case 15:
		x.RetainGrad()
		return fmt.Sprintf("retain v%d", j)
	case 16:
		if g := x.Grad(); g != nil {
			p.vars[i] = g
		}
		return fmt.Sprintf("v%d = grad of v%d", i, j)
	}
	if p.snap != nil && r.IntN(2) == 0 {
		p.snap.Restore()
		p.snap = nil
		return "restore"
	}
	p.snap = NewSnapshot()
	for _, t := range p.vars {
		if t != nil {
			p.snap.Add(t)
		}
	}
	return "snapshot"
}

// The walk that counts keeps what the walk that goes through the tape keeps,
// behind each statement of random programs.
func TestCountedWalkKeepsTheSame(t *testing.T) {
	for seed := range uint64(150) {
		for _, mode := range []*exec.Mode{exec.Debug, exec.DeferAndFuse} {
			var programs [2]*tapeProgram
			var rands [2]*rand.Rand
			for i := range programs {
				p := &tapeProgram{d: use(t, mode), vars: make([]*Tensor, 5)}
				p.d.SetPlace(place{})
				if i == 0 {
					p.d.SetRoots(func(m *exec.Marker) { Walk(m, reflect.ValueOf(&p.vars)) })
				} else {
					p.d.SetRoots(Roots(func(visit func(reflect.Value)) { visit(reflect.ValueOf(&p.vars)) }))
				}
				programs[i], rands[i] = p, rand.New(rand.NewPCG(seed, 1))
			}
			var text []string
			for range 40 {
				var said [2]string
				var used, live [2]int64
				for i, p := range programs {
					restore := Use(p.d)
					said[i] = "a refusal"
					if err := Try(func() { said[i] = p.step(rands[i]) }); err != nil {
						said[i] += ": " + err.Error()
					}
					restore()
					p.d.StatementEnd(0)
					used[i], live[i] = p.d.Device().HBM().Used(), int64(p.d.Device().HBM().Live())
				}
				text = append(text, said[0])
				if said[0] != said[1] || used[0] != used[1] || live[0] != live[1] {
					t.Fatalf("%s, seed %d: %q and %q; %d and %d bytes, %d and %d arrays behind\n%q", mode.Name, seed, said[0], said[1], used[0], used[1], live[0], live[1], text)
				}
			}
			for i, p := range programs {
				clear(p.vars)
				p.snap = nil
				p.d.Touch()
				_ = p.d.EndCell()
				if n := p.d.Device().HBM().Live(); n != 0 {
					t.Fatalf("%s, seed %d: walk %d: %d arrays live though nothing is held\n%q", mode.Name, seed, i, n, text)
				}
			}
		}
	}
}

// A chain as long as this one neither takes the square of its length nor more
// stack than there is.
func TestLongChains(t *testing.T) {
	const links = 20000
	for _, mode := range []*exec.Mode{exec.Debug, exec.DeferAndFuse} {
		d := use(t, mode)
		w := Ones(2).RequireGrad()
		var x *Tensor
		roots := func(visit func(reflect.Value)) { visit(reflect.ValueOf(&x)); visit(reflect.ValueOf(&w)) }
		d.SetPlace(place{})
		d.SetRoots(Roots(roots))
		x = Ones(2)
		for range links {
			x = x.Mul(w)
			d.StatementEnd(0)
		}
		_ = d.EndCell()
		if n := d.Device().HBM().Live(); n < links {
			t.Errorf("%s: %d arrays live, the tape saved %d", mode.Name, n, links)
		}
		x = nil
		d.Touch()
		_ = d.EndCell()
		if n := d.Device().HBM().Live(); n != 1 {
			t.Errorf("%s: %d arrays live, want the leaf alone", mode.Name, n)
		}
	}
}
