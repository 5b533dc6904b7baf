package tpu

import (
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
)

// Mi is 2²⁰ elements; 4 Mi of f32 are 16 MiB.
const mi = 1 << 20

// warm is a tensor that an in-place addition has already written, so that the
// probe that follows compiles nothing.
func (l *lab) warm(x *Tensor) *Tensor {
	x.AddInPlace(1.0)
	l.end(x)
	Sync()
	return x
}

// attr is one attribute as a list.
func attr(name string, v any) op.Attrs { return op.Attrs{{Name: name, Value: v}} }

var inPlaceCases = []conformance{
	{name: "case_01_relu_through_view", run: func(l *lab) {
		x := Of(-2.0, -1.0, 3.0)
		v := x.ViewAs(x)
		x.ReLUInPlace()
		l.want(x, 0, 0, 3)
		l.want(v, 0, 0, 3)
	}},
	{name: "case_02_add_tensor_through_view", run: func(l *lab) {
		x := Of(1.0, 2.0, 3.0)
		v := x.View(3)
		x.AddInPlace(Of(4.0, 5.0, 6.0))
		l.want(x, 5, 7, 9)
		l.want(v, 5, 7, 9)
	}},
	{name: "case_03_add_itself", run: func(l *lab) {
		x := Of(1.0, 2.0, 3.0)
		l.want(x.AddInPlace(x), 2, 4, 6)
		a := Of(1.0, 2.0, 3.0)
		Into(a, "add", nil, a, a)
		l.want(a, 2, 4, 6)
	}},
	{name: "case_04_baddbmm_all_operands_alias_out", run: func(l *lab) {
		m := Ones(2, 2, 2)
		Into(m, "baddbmm", nil, m, m, m)
		l.every(m, 3)
	}},
	{name: "case_05_lerp_and_clamp_alias_out", run: func(l *lab) {
		x := Of(2.0, 4.0)
		Into(x, "lerp", nil, x, x, x)
		l.want(x, 2, 4)
		c := Of(5.0, 5.0)
		Into(c, "clamp.Tensor", nil, c, c, c)
		l.want(c, 5, 5)
	}},
	{name: "case_06_add_view_into_its_base", run: func(l *lab) {
		v1 := Of(1.0, 2.0, 3.0)
		v2 := v1.View(3)
		Into(v1, "add", nil, v1, v2)
		l.want(v1, 2, 4, 6)
		l.want(v2, 2, 4, 6)
	}},
	{name: "case_07_zeros_16MiB_add_donates", run: func(l *lab) {
		x := l.warm(Zeros(4 * mi))
		l.wantNone(func() { x.AddInPlace(1.0); l.end(x) })
		l.every(x, 2)
	}},
	{name: "case_08_fuse_does_not_donate", mode: exec.DeferAndFuse, run: func(l *lab) {
		x := l.warm(Zeros(4 * mi))
		l.wantCopy(func() { x.AddInPlace(1.0); l.end(x); Sync(x) })
		l.every(x, 2)
	}},
	{name: "case_09_offset_view_does_not_donate", run: func(l *lab) {
		base := Zeros(4*mi + 1)
		x := base.Index(Slice(1, nil))
		x.AddInPlace(1.0)
		l.end(base, x)
		l.wantCopy(func() { x.AddInPlace(1.0); l.end(base, x) })
		l.every(x, 2)
		l.want(base.Index(0), 0)
	}},
	{name: "case_10_transposed_does_not_donate", run: func(l *lab) {
		base := Zeros(2048, 2048)
		x := base.T()
		x.AddInPlace(1.0)
		l.end(base, x)
		l.wantCopy(func() { x.AddInPlace(1.0); l.end(base, x) })
		l.every(base, 2)
	}},
	{name: "case_11_add_itself_16MiB_donates", run: func(l *lab) {
		x := Ones(4 * mi)
		x.AddInPlace(x)
		l.end(x)
		l.wantNone(func() { x.AddInPlace(x); l.end(x) })
		l.every(x, 4)
	}},
	{name: "case_12_out_donates", run: func(l *lab) {
		x, y := Ones(4*mi), Ones(4*mi)
		l.end(x, y)
		l.wantNone(func() { Into(y, "add", nil, x, y); l.end(x, y) })
		l.every(y, 2)
		a, b := Eye(8), Ones(8, mi/2)
		l.end(a, b)
		l.wantNone(func() { Into(b, "mm", nil, a, b); l.end(a, b) })
		l.every(b, 1)
		cond, x, z := Bool.Ones(4*mi), Ones(4*mi), Zeros(4*mi)
		l.end(x, cond, z)
		l.wantNone(func() { Into(z, "where", nil, cond, x, z); l.end(x, cond, z) })
		l.every(z, 1)
	}},
	{name: "case_13_donation_switched_off", run: func(l *lab) {
		x := l.warm(Zeros(4 * mi))
		l.d.SetDonation(false)
		l.wantCopy(func() { x.AddInPlace(1.0); l.end(x) })
		l.d.SetDonation(true)
		l.wantNone(func() { x.AddInPlace(1.0); l.end(x) })
		l.every(x, 3)
	}},
	{name: "case_14_where_and_xlogy_out", run: func(l *lab) {
		x, y := Of(1.0, 2.0, 3.0), Of(10.0, 20.0, 30.0)
		Into(y, "where", nil, Of(true, false, true), x, y)
		l.want(y, 1, 20, 3)
		a := Of(2.0, 3.0)
		Into(a, "xlogy", nil, a, Of(1.0, 2.0))
		l.near(a, 0, 2.0794415)
	}},
	{name: "case_15_in_place_activations", run: func(l *lab) {
		l.want(Of(-1.0, 0.5, 2.0).ClampInPlace(ClampOptions{Min: 0.0, Max: 1.0}), 0, 0.5, 1)
		l.want(Of(1.0, 2.0).LerpInPlace(Of(3.0, 6.0), 0.5), 2, 4)
		x := Of(-1.0, 2.0)
		Into(x, "threshold", op.Attrs{{Name: "threshold", Value: 0.0}, {Name: "value", Value: 10.0}}, x)
		l.want(x, 10, 2)
		l.want(Of(-2.0, 0.0, 2.0).HardtanhInPlace(), -1, 0, 1)
		l.near(Of(0.5, 0.75).LogitInPlace(), 0, 1.0986123)
		l.near(Of(-2.0, 3.0).LeakyReLUInPlace(LeakyReLUOptions{NegativeSlope: 0.1}), -0.2, 3)
	}},
	{name: "case_16_backward_rows", run: func(l *lab) {
		none := BinaryCrossEntropyOptions{Reduction: "none"}
		l.near(BinaryCrossEntropy(Of(0.25, 0.75), Of(0.0, 1.0), none), 0.2876821, 0.2876821)
		grad := func(f func(*Tensor) *Tensor, x, dy *Tensor) *Tensor {
			x.RequireGrad()
			return GradWith(f(x), GradOptions{Gradient: dy}, x)[0]
		}
		l.near(grad(func(x *Tensor) *Tensor { return x.GELU() }, Of(0.0), Of(1.0)), 0.5)
		l.near(grad(func(x *Tensor) *Tensor { return x.Softplus() }, Of(0.0, 25.0), Of(1.0, 1.0)), 0.5, 1)
		l.near(grad((*Tensor).Hardsigmoid, Of(0.0, 4.0), Of(1.0, 2.0)), 1.0/6, 0)
		l.near(grad(func(x *Tensor) *Tensor { return x.Logit() }, Of(0.5, 0.25), Of(1.0, 1.0)), 4, 16.0/3)
		l.near(grad((*Tensor).Tanh, Of(0.5493061443340549, 0.0), Of(1.0, 2.0)), 0.75, 2)
		l.near(grad(func(x *Tensor) *Tensor { return x.ELU() }, Of(-1.0), Of(2.0)), 2*0.36787944117144233)
	}},
}

// donors says which tensors gave their HBM away.
func donors(vs ...*exec.Value) []bool {
	out := make([]bool, len(vs))
	for i, v := range vs {
		out[i] = Dispatcher().State(v) == exec.Donated
	}
	return out
}

var donationCases = []conformance{
	{name: "case_17_donation_by_mode", run: func(l *lab) {
		for _, c := range []struct {
			mode *exec.Mode
			want bool
		}{{exec.DeferAndFuse, false}, {exec.Strict, true}, {exec.Debug, true}} {
			l.Run(c.mode.Name, func(l *lab) {
				x := F32.Ones(2, 3)
				l.end(x)
				Sync()
				old := x.Value()
				Into(x, "add", nil, x, 1.0)
				l.end(x)
				Sync()
				if got := donors(old)[0]; got != c.want {
					l.Errorf("donated: %v, want %v", got, c.want)
				}
				l.every(x, 2)
			}, c.mode)
		}
	}},
	{name: "case_18_no_donation_unless_the_same", run: func(l *lab) {
		for _, c := range []struct {
			name string
			in   func(x *Tensor) *Tensor
			out  func(x, in *Tensor) *Tensor
		}{
			{"other tensor", func(x *Tensor) *Tensor { return x }, func(_, _ *Tensor) *Tensor { return Ones(2, 3) }},
			{"f64 result", func(x *Tensor) *Tensor { return x }, func(_, _ *Tensor) *Tensor { return F64.Ones(2, 3) }},
			{"other sizes", func(x *Tensor) *Tensor { return x.View(6) }, func(_, _ *Tensor) *Tensor { return Ones(6) }},
			{"transposed", func(x *Tensor) *Tensor { return x.T() }, func(_, in *Tensor) *Tensor { return in }},
			{"offset", func(x *Tensor) *Tensor { return x.Index(Slice(1, nil)) }, func(_, in *Tensor) *Tensor { return in }},
		} {
			x := From([][]float32{{1, 2, 3}, {4, 5, 6}})
			in := c.in(x)
			out := c.out(x, in)
			l.end(x, in, out)
			old, sum := x.Value(), in.Float64s()
			Into(out, "add", nil, in, 1.0)
			l.end(x, in, out)
			// A view that is written is scattered into its base by a second
			// launch, and that one may reuse the base; the addition may not.
			for _, g := range l.d.Groups() {
				if g.Ops[len(g.Ops)-1].Name != "add" {
					continue
				}
				for i, d := range g.Graph.Donated {
					if d {
						l.Errorf("%s: input %d of %s is donated", c.name, i, g.Name)
					}
				}
			}
			if out.s != x.s && donors(old)[0] {
				l.Errorf("%s: the operand is gone", c.name)
			}
			got := out.Float64s()
			for i := range sum {
				if abs(got[i]-sum[i]-1) > 1e-6 {
					l.Errorf("%s: element %d is %v, want %v", c.name, i, got[i], sum[i]+1)
				}
			}
		}
		e := Zeros(0, 3)
		l.end(e)
		old := e.Value()
		e.AddInPlace(1.0)
		if donors(old)[0] {
			l.Error("an empty tensor is donated")
		}
	}},
	{name: "case_19_second_operand_donates", run: func(l *lab) {
		a, b := Of(1.0, 2.0), Of(10.0, 20.0)
		l.end(a, b)
		va, vb := a.Value(), b.Value()
		Into(a, "sub", nil, b, a)
		l.end(a, b)
		if d := donors(va, vb); !d[0] || d[1] {
			l.Errorf("donated: %v, want the second operand alone", d)
		}
		l.want(a, 9, 18)
		l.want(b, 10, 20)
	}},
	{name: "case_20_each_buffer_is_donated_once", mode: exec.Compiled, run: func(l *lab) {
		// Two inputs die and two results of their type are born: both are reused.
		x, y := Ones(4*mi), Zeros(4*mi)
		l.end(x, y)
		Sync()
		vx, vy := x.Value(), y.Value()
		p, q := x.Add(y), x.Sub(y)
		l.end(p, q)
		if n := l.grew(func() { Sync(p, q) }); n >= 4*mib {
			l.Errorf("the peak rose by %d MiB, want none", n/mib)
		}
		if d := donors(vx, vy); !d[0] || !d[1] {
			l.Errorf("donated: %v, want both", d)
		}
		l.every(p, 1)
		l.every(q, 1)
		// One dies and two are born: one is reused, the other is new.
		vp := p.Value()
		r, s := p.Add(1.0), p.Add(2.0)
		l.end(q, r, s)
		if n := l.grew(func() { Sync(r, s) }); n < 12*mib || n >= 20*mib {
			l.Errorf("the peak rose by %d MiB, want one copy", n/mib)
		}
		if !donors(vp)[0] {
			l.Error("the dead operand was not donated")
		}
		l.every(r, 2)
		l.every(s, 3)
	}},
	{name: "case_21_optional_scalar_in_the_key", run: func(l *lab) {
		x := Of(1.0, 2.0)
		x.Clamp(ClampOptions{Min: 0.0})
		l.wantCost("another bound", 1, 0, func() { x.Clamp(ClampOptions{Min: 1.5}) })
		// An absent bound is an infinite one here, so that it needs no program of its own.
		l.wantCost("a second bound", 1, 0, func() { x.Clamp(ClampOptions{Min: 0.0, Max: 1.0}) })
		l.want(x.Clamp(ClampOptions{Max: 1.5}), 1, 1.5)
		l.want(x.Clamp(ClampOptions{Min: 1.5}), 1.5, 2)
	}},
	{name: "case_22_result_has_the_declared_type", run: func(l *lab) {
		x := BF16.From([]float32{1, 1.0078125})
		y := x.Softmax(0)
		if y.DType() != BF16 {
			l.Errorf("softmax of bf16 is %v", y.DType())
		}
		for _, v := range y.Float64s() {
			if w := BF16.From([]float64{v}).Float64s()[0]; w != v {
				l.Errorf("%v is no bf16 number", v)
			}
		}
		for _, g := range l.d.Groups() {
			for _, o := range g.Graph.Outputs {
				if g.Name == "softmax" && DType(o.Spec().DType) != BF16 {
					l.Errorf("the program gives %v", o.Spec())
				}
			}
		}
	}},
}

// Run runs a part of a case with a dispatcher of its own.
func (l *lab) Run(name string, f func(l *lab), m *exec.Mode) {
	l.TB.(*testing.T).Run(name, func(t *testing.T) { f(newLab(t, m)) })
}
