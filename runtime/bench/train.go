package bench

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/optim"
	"github.com/tpush/tpush/runtime/tpu"
)

// checkedSteps is how many losses of a fresh model a check compares.
const checkedSteps = 5

// An optimizer moves parameters.
type optimizer interface {
	Step()
	ZeroGrad()
}

// training is a unit of one step: gradients to zero, forward, backward, update.
// start makes a fresh model: its parameters and its loss.
func training(m *exec.Mode, start func() ([]*tpu.Tensor, func() *tpu.Tensor), update func([]*tpu.Tensor) optimizer) unit {
	fresh := func() func() *tpu.Tensor {
		params, loss := start()
		for _, p := range params {
			p.RequireGrad()
		}
		opt := update(params)
		return producer(m, func() *tpu.Tensor {
			opt.ZeroGrad()
			l := loss()
			l.Backward()
			opt.Step()
			return l.Detach()
		})
	}
	step := fresh()
	return unit{
		run: func(n int) {
			var l *tpu.Tensor
			for range n {
				l = step()
			}
			l.Item()
		},
		check: func() []float64 {
			step := fresh()
			losses := make([]float64, checkedSteps)
			for i := range losses {
				losses[i] = step().Item()
			}
			return losses
		},
	}
}

func sgd(ps []*tpu.Tensor) optimizer { return optim.NewSGD(ps, optim.SGDOptions{LR: 0.05}) }

func adamW(ps []*tpu.Tensor) optimizer {
	return optim.NewAdamW(ps, optim.AdamOptions{LR: 1e-3, Betas: [2]float64{0.9, 0.999}, Eps: 1e-8, WeightDecay: 0.01})
}

// perceptronCases train three layers on a batch of 128.
func perceptronCases() []Case {
	widths, batch := []int{784, 512, 512, 10}, 128
	start := func() ([]*tpu.Tensor, func() *tpu.Tensor) {
		x, y := uniform(1, 1, batch, widths[0]), integers(2, widths[3], batch)
		var ps []*tpu.Tensor
		for i := range 3 {
			ps = append(ps, uniform(10+i, 1/math.Sqrt(float64(widths[i])), widths[i], widths[i+1]), tpu.Zeros(widths[i+1]))
		}
		return ps, func() *tpu.Tensor {
			h := x.MatMul(ps[0]).Add(ps[1]).ReLU()
			h = h.MatMul(ps[2]).Add(ps[3]).ReLU()
			return tpu.CrossEntropy(h.MatMul(ps[4]).Add(ps[5]), y)
		}
	}
	var list []Case
	for _, o := range []struct {
		name string
		make func([]*tpu.Tensor) optimizer
	}{{"sgd", sgd}, {"adamw", adamW}} {
		list = append(list, Case{Name: o.name, DType: tpu.F32, Work: 1, Unit: "step", build: func(m *exec.Mode) unit { return training(m, start, o.make) }})
	}
	return list
}

// transformerCases train 4 layers of width 256 on 8 sequences of 128 tokens.
func transformerCases() []Case {
	const batch, length = 8, 128
	start := func() ([]*tpu.Tensor, func() *tpu.Tensor) {
		g := newGPT(tpu.F32, 4, 256, 8, 1000, length)
		ids, targets := integers(3, g.vocab, batch, length), integers(4, g.vocab, batch, length)
		return g.params(), func() *tpu.Tensor {
			x := tpu.Embedding(ids, g.tok).Add(g.pos)
			for i := range g.blocks {
				x = g.blocks[i].forward(x, func(h *tpu.Tensor) *tpu.Tensor {
					q := h.View(batch, length, 3, g.heads, g.width/g.heads).Permute(2, 0, 3, 1, 4).Unbind(0)
					o := tpu.ScaledDotProductAttention(q[0], q[1], q[2], tpu.ScaledDotProductAttentionOptions{IsCausal: true})
					return o.Transpose(1, 2).Reshape(batch, length, g.width)
				})
			}
			return tpu.CrossEntropy(g.logits(x).View(batch*length, g.vocab), targets.View(-1))
		}
	}
	return []Case{{Name: "adamw", DType: tpu.F32, Work: 1, Unit: "step", build: func(m *exec.Mode) unit { return training(m, start, adamW) }}}
}

// convolutionCases are three convolutions, a mean over the plane and a linear
// layer, on 64 images of 3×32×32.
func convolutionCases() []Case {
	layers := []struct{ in, out, stride int }{{3, 32, 1}, {32, 64, 2}, {64, 128, 2}}
	const batch, classes = 64, 10
	type model struct {
		x, y *tpu.Tensor
		ws   []*tpu.Tensor
	}
	start := func() model {
		m := model{x: uniform(6, 1, batch, 3, 32, 32), y: integers(7, classes, batch)}
		for i, l := range layers {
			m.ws = append(m.ws, uniform(20+i, 1/math.Sqrt(float64(9*l.in)), l.out, l.in, 3, 3))
		}
		m.ws = append(m.ws, uniform(29, 1/math.Sqrt(128), 128, classes))
		return m
	}
	logits := func(m model) *tpu.Tensor {
		h := m.x
		for i, l := range layers {
			h = tpu.Conv2D(h, m.ws[i], tpu.Conv2DOptions{Stride: []int{l.stride}, Padding: []int{1}}).ReLU()
		}
		return h.Mean(2, 3).MatMul(m.ws[3])
	}
	return []Case{
		{Name: "train", DType: tpu.F32, Work: 1, Unit: "step", build: func(mode *exec.Mode) unit {
			m := start()
			for _, w := range m.ws {
				w.RequireGrad()
			}
			loss := func() *tpu.Tensor { return tpu.CrossEntropy(logits(m), m.y) }
			gradients := func() []*tpu.Tensor { return tpu.Grad(loss(), m.ws...) }
			step := gradients
			if mode == exec.Compiled {
				step = tpu.Compile(gradients).(func() []*tpu.Tensor)
			}
			return unit{
				run: func(n int) {
					for range n {
						tpu.Sync(step()...)
					}
				},
				check: func() []float64 {
					v := []float64{loss().Item()}
					for _, g := range step() {
						v = append(v, g.Norm().Item())
					}
					return v
				},
			}
		}},
		{Name: "fwd", DType: tpu.F32, Work: 1, Unit: "step", build: func(mode *exec.Mode) unit {
			m := start()
			return simple(mode, func() *tpu.Tensor { return logits(m) })
		}},
	}
}

// storm runs 100,000 dependent operations on 32×32 numbers; graphs of a
// thousand and ten thousand nodes are traced, compiled and run once from nothing.
func graphCases() []Case {
	const stormOps = 100_000
	operands := func() (x, a, b *tpu.Tensor) {
		return uniform(1, 1, 32, 32), shifted(0.75, 2, 0.25, 32, 32), uniform(3, 0.25, 32, 32)
	}
	chain := func(n int, x, a, b *tpu.Tensor) *tpu.Tensor {
		for i := range n {
			switch {
			case i%10 == 9:
				x = x.Tanh()
			case i%2 == 0:
				x = x.Mul(a)
			default:
				x = x.Add(b)
			}
		}
		return x
	}
	list := []Case{{Name: "storm", DType: tpu.F32, Work: stormOps, Unit: "op",
		build: func(m *exec.Mode) unit {
			first, a, b := operands()
			storm := func() *tpu.Tensor {
				x := first
				for range stormOps / 2 {
					x = x.Mul(a)
					x = x.Add(b)
				}
				return x
			}
			if m == exec.Compiled { // one program of 100,000 nodes
				storm = tpu.Compile(storm).(func() *tpu.Tensor)
			}
			return unit{
				run: func(n int) {
					for range n {
						tpu.Sync(storm())
					}
				},
				check: func() []float64 { return summary(storm()) },
			}
		}}}
	for _, n := range []int{1000, 10_000} {
		list = append(list, Case{Name: fmt.Sprintf("compile%dk", n/1000), DType: tpu.F32, Work: float64(n), Unit: "node", once: true, modes: []*exec.Mode{exec.Compiled},
			build: func(m *exec.Mode) unit {
				// A dispatcher of its own has compiled nothing yet.
				build := func() *tpu.Tensor {
					defer tpu.Use(newDispatcher(m))()
					x, a, b := operands()
					y := tpu.Compile(func() *tpu.Tensor { return chain(n, x, a, b) }).(func() *tpu.Tensor)()
					tpu.Sync(y)
					return y
				}
				return unit{
					run: func(k int) {
						for range k {
							build()
						}
					},
					check: func() []float64 { return summary(build()) },
				}
			}})
	}
	return append(list, Case{Name: "run10k", DType: tpu.F32, Work: 10_000, Unit: "node", modes: []*exec.Mode{exec.Compiled},
		build: func(m *exec.Mode) unit {
			x, a, b := operands()
			return simple(m, func() *tpu.Tensor { return chain(10_000, x, a, b) })
		}})
}
