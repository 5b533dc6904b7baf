package tpu

import (
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/mem"
)

// TestGivenUpMemoryIsNotRead runs programs on arrays whose memory goes back to
// the pool as soon as they are freed, where it is overwritten at once, and
// compares them with programs that free nothing.
func TestGivenUpMemoryIsNotRead(t *testing.T) {
	mem.Default().Poison(true)
	defer mem.Default().Poison(false)
	const n = 256 // n × n floats are pooled
	programs := map[string]func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor{
		"freed while queued": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			x := Arange(n*n).To(F32).Reshape(n, n).Clone()
			y := x.Mul(2)
			z := y.T().Add(x)
			free(y)
			w := z.Sum(0)
			free(z)
			free(x)
			return []*Tensor{w}
		},
		"views and writes": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			x := Ones(n, n)
			v := x.T()
			a := v.Mul(3)
			x.AddInPlace(1)
			b := v.Add(a)
			x.CopyFrom(b.Mul(0.5))
			x.Narrow(0, 0, 8).MulInPlace(2)
			free(a)
			return []*Tensor{x.Clone(), v, b}
		},
		"intermediates of a block": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			x := Ones(n, n)
			for range 4 {
				y := x
				x = tidy(func() *Tensor { return y.Mul(2).Add(1).Sqrt().Permute(1, 0).MatMul(y.ClampMax(2)).Div(n) })
				free(y)
			}
			return []*Tensor{x}
		},
		"training": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			w, u := Full(0.01, n, n).RequireGrad(), Full(0.02, n, n).RequireGrad()
			x := Arange(n*n).To(F32).Reshape(n, n).Div(n * n)
			var losses []*Tensor
			for range 4 {
				losses = append(losses, tidy(func() *Tensor {
					w.ZeroGrad()
					h := x.MatMul(w).Tanh()
					l := h.MatMul(u).T().Add(h).Square().Mean()
					l.Backward()
					NoGrad(func() {
						w.SubInPlace(w.Grad().Mul(0.5))
						u.AddInPlace(u.Grad(), AddOptions{Alpha: -0.25}) // gathers from step to step
					})
					return l.Detach()
				}))
			}
			return append(losses, w.Detach(), u.Detach(), u.Grad())
		},
		"training with lent gradients": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			w, u := Full(0.01, n, n).RequireGrad(), Full(0.02, n, n).RequireGrad()
			x := Arange(n*n).To(F32).Reshape(n, n).Div(n * n)
			var out []*Tensor
			for step := range 5 {
				out = append(out, tidy(func() *Tensor {
					w.ZeroGrad()
					u.ZeroGrad()
					l := x.MatMul(w).Add(w).Add(u).Square().Mean() // w and u may get one gradient
					l.Backward()
					NoGrad(func() {
						Together(func() {
							w.SubInPlace(w.LentGrad().Mul(0.5))
							u.AddInPlace(u.LentGrad(), AddOptions{Alpha: -0.25})
						})
					})
					return l.Detach()
				}))
				if step == 2 {
					out = append(out, u.Grad()) // this one stays
				}
			}
			return append(out, w.Detach(), u.Detach())
		},
		"compiled training": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			w := Full(0.01, n, n).RequireGrad()
			x := Arange(n*n).To(F32).Reshape(n, n).Div(n * n)
			step := Compile(func(x *Tensor) *Tensor {
				w.ZeroGrad()
				l := x.MatMul(w).Tanh().Square().Mean()
				l.Backward()
				NoGrad(func() { w.SubInPlace(w.Grad().Mul(0.5)) })
				return l.Detach()
			}).(func(*Tensor) *Tensor)
			var out []*Tensor
			for range 5 {
				out = append(out, step(x), w.Detach().Clone(), w.Grad())
			}
			return out
		},
		"gradients of gradients": func(free func(*Tensor), tidy func(func() *Tensor) *Tensor) []*Tensor {
			x := Full(0.5, n, n).RequireGrad()
			y := x.Tanh().MatMul(x)
			g := GradWith(y.Sum(), GradOptions{CreateGraph: true}, x)[0]
			return append(Grad(g.Square().Sum(), x), g.Detach())
		},
	}
	for name, program := range programs {
		use(t, exec.Debug)
		want := exactly(program(func(*Tensor) {}, func(f func() *Tensor) *Tensor { return f() })...)
		for _, m := range append(exec.Modes(), exec.DeferAll) {
			use(t, m)
			got := program((*Tensor).Free, Tidy)
			runtime.GC()
			for i, s := range exactly(got...) {
				if s != want[i] {
					t.Errorf("%s, %s: result %d differs when memory is given up", name, m.Name, i)
				}
			}
		}
	}
}

// TestAFreedValueIsNoNumber reads what was given up.
func TestAFreedValueIsNoNumber(t *testing.T) {
	d := use(t, exec.Strict)
	x := Ones(256, 256)
	v := x.Value()
	x.Free()
	if _, err := d.Read(v, exec.ReasonHostCopy); err == nil {
		t.Error("a value that was given up is read")
	}
	y := Ones(256, 256)
	a := y.Array() // somebody holds its numbers
	y.Free()
	Full(7, 256, 256)
	if a.Buf[3] != 0x3f {
		t.Error("numbers that were given out changed")
	}
}

// BenchmarkResults makes large results that are freed again.
func BenchmarkResults(b *testing.B) {
	use(b, exec.Strict)
	x := Ones(1 << 22).Mul(1)
	for b.Loop() {
		y := x.Add(1)
		y.Free()
	}
}
