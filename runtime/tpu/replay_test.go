package tpu

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// runsAgain makes a function that says at each call that it has to run.
func runsAgain(f any) any {
	fv := reflect.ValueOf(f)
	return reflect.MakeFunc(fv.Type(), func(in []reflect.Value) []reflect.Value {
		RunAgain()
		return fv.Call(in)
	}).Interface()
}

// exactly spells tensors so that two spellings are equal only when all is: bits,
// types, versions, places on the tape, gradients.
func exactly(xs ...*Tensor) (said []string) {
	for _, x := range xs {
		if x == nil {
			said = append(said, "nil")
			continue
		}
		s := fmt.Sprintf("%v %v version %d requires %v leaf %v:", x.Spec(), x.Strides(), x.Version(), x.RequiresGrad(), x.IsLeaf())
		bits := fnv.New64a()
		for i, v := range x.Float64s() {
			if i < 8 {
				s += fmt.Sprintf(" %x", math.Float64bits(v))
			}
			bits.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
		s += fmt.Sprintf(" all %x", bits.Sum64())
		if g := x.Grad(); g != nil {
			s += " gradient " + exactly(g)[0]
		}
		said = append(said, s)
	}
	return said
}

// A replayCase is a program with compiled functions. It says what it comes to.
type replayCase struct {
	name string
	// replays is how many calls are launched without the function.
	replays int64
	run     func(compile func(any) any, say func(...*Tensor))
}

var replayCases = []replayCase{
	{"sum of captured and argument", 3, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2, 3})
		f := compile(func(x *Tensor) *Tensor { return x.Mul(w).Add(1) }).(func(*Tensor) *Tensor)
		x := From([]float32{4, 5, 6})
		for range 2 {
			say(f(x))
			x = x.Add(1)
			NoGrad(func() { w.MulInPlace(2) })
		}
		say(f(w), f(x.Neg()))
	}},
	{"writes to captured tensors", 3, func(compile func(any) any, say func(...*Tensor)) {
		state, count := Zeros(3), Zeros(1)
		f := compile(func(x *Tensor) *Tensor {
			state.MulInPlace(0.5)
			state.AddInPlace(x)
			count.AddInPlace(1)
			return state.Mul(count)
		}).(func(*Tensor) *Tensor)
		for i := range 4 {
			say(f(From([]float32{float32(i), 1, 2})), state, count)
		}
	}},
	{"writes to arguments and through views", 4, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x, y *Tensor) *Tensor {
			x.Narrow(0, 1, 2).AddInPlace(y)
			return x
		}).(func(_, _ *Tensor) *Tensor)
		x, y := Arange(4).To(F32), From([]float32{1, 2})
		for range 3 {
			say(f(x, y), x)
		}
		say(f(x, x.Narrow(0, 2, 2).Clone()), x)
		z := Arange(4).To(F32)
		same := f(z, y) == z
		say(z, Scalar(same))
	}},
	{"arguments that share a storage", 1, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x, y *Tensor) *Tensor {
			x.AddInPlace(1)
			return y.Mul(2)
		}).(func(_, _ *Tensor) *Tensor)
		x, y := Ones(2), Ones(2)
		say(f(x, y), f(x, x), f(y, y), x, y)
	}},
	{"an argument that is captured too", 1, func(compile func(any) any, say func(...*Tensor)) {
		w := Ones(2)
		f := compile(func(x *Tensor) *Tensor {
			w.AddInPlace(1)
			return x.Mul(2)
		}).(func(*Tensor) *Tensor)
		x := Ones(2)
		say(f(x), f(w), f(w), f(x), w)
	}},
	{"gradients to captured leaves", 3, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2, 3}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor {
			loss := w.Mul(x).Tanh().Sum()
			loss.Backward()
			return loss.Detach()
		}).(func(*Tensor) *Tensor)
		x := From([]float32{0.5, 0.25, -1})
		say(f(x), w) // no gradient yet
		held := w.Grad()
		for range 2 {
			say(f(x), w, held) // adds to it
		}
		w.ZeroGrad()
		say(f(x), w, held)
		say(f(x), w)
	}},
	{"a step of training", 3, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2, 3}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor {
			w.ZeroGrad()
			loss := w.Mul(x).Tanh().Sum()
			loss.Backward()
			NoGrad(func() { w.SubInPlace(w.Grad().Mul(0.1)) })
			return loss.Detach()
		}).(func(*Tensor) *Tensor)
		var grads []*Tensor
		for i := range 5 {
			say(f(From([]float32{0.5, float32(i), -1})), w)
			grads = append(grads, w.Grad())
		}
		say(grads...)
	}},
	{"a gradient that is a result", 3, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor {
			w.ZeroGrad()
			w.Mul(w).Mul(x).Sum().Backward()
			return w.Grad()
		}).(func(*Tensor) *Tensor)
		var all []*Tensor
		for i := range 5 {
			all = append(all, f(Full(float64(i), 2)))
		}
		say(all...)
	}},
	{"gradients that are looked at late", 3, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor {
			w.ZeroGrad()
			y := w.Mul(w).Mul(x).Sum()
			y.Backward()
			return y.Detach()
		}).(func(*Tensor) *Tensor)
		var all []*Tensor
		for i := range 5 {
			all = append(all, f(Full(float64(i), 2)))
			if i%2 == 1 {
				all = append(all, w.Grad())
			}
		}
		say(append(all, w)...)
	}},
	{"leaves among the arguments", 2, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) *Tensor {
			y := x.Mul(x).Sum()
			y.Backward()
			return y.Detach()
		}).(func(*Tensor) *Tensor)
		for i := range 3 {
			x := Full(float64(i), 2).RequireGrad()
			say(f(x), x)
		}
		x := Ones(2)
		say(x)
	}},
	{"results on the tape", 0, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor { return x.Mul(w).Exp().Sum() }).(func(*Tensor) *Tensor)
		for i := range 3 {
			y := f(Full(float64(i)/4, 2))
			y.Backward()
			say(y, w)
		}
	}},
	{"gradients switched off and on", 2, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor { return x.Mul(w) }).(func(*Tensor) *Tensor)
		x := Ones(2)
		NoGrad(func() { say(f(x), f(x)) })
		say(f(x))
		Inference(func() { say(f(x)) })
		w.RequireGrad(false)
		say(f(x), f(x))
	}},
	{"random numbers", 4, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) *Tensor { return Rand(3).Add(x).Dropout(0.5).Add(Randn(3)) }).(func(*Tensor) *Tensor)
		x := Ones(3)
		for range 3 {
			say(f(x), Rand(2))
		}
		Seed(11)
		say(f(x), f(x), RNGState())
	}},
	{"numbers as arguments", 2, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor, k float64, n int, name string) (*Tensor, int) {
			y := x.Mul(k)
			for range n {
				y = y.Add(len(name))
			}
			return y, n
		}).(func(*Tensor, float64, int, string) (*Tensor, int))
		x := Ones(2)
		for _, k := range []float64{0.5, 0.25, 0.5, 0.25} {
			y, n := f(x, k, 2, "ab")
			say(y, Scalar(n))
		}
		y, _ := f(x, 0.5, 3, "ab")
		z, _ := f(x, 0.5, 2, "abc")
		say(y, z)
	}},
	{"live numbers", 3, func(compile func(any) any, say func(...*Tensor)) {
		lr, n := 0.5, 0
		w := Ones(2)
		f := compile(func(g *Tensor) *Tensor {
			w.AddInPlace(g, AddOptions{Alpha: LiveNumber(func() float64 { return -lr })})
			w.MulInPlace(LiveNumber(func() float64 { return 1 / float64(n+1) }))
			EachCall(func() { n++; lr /= 2 })
			return w.Add(LiveNumber(func() float64 { return 3 }).now())
		}).(func(*Tensor) *Tensor)
		for i := range 4 {
			say(f(Full(float64(i), 2)), w, Scalar(lr), Scalar(n))
		}
	}},
	{"a live number after an effect", 0, func(compile func(any) any, say func(...*Tensor)) {
		n := 1
		f := compile(func(x *Tensor) *Tensor {
			EachCall(func() { n *= 2 })
			return x.Mul(LiveNumber(func() float64 { return float64(n) }))
		}).(func(*Tensor) *Tensor)
		say(f(Ones(1)), f(Ones(1)), f(Ones(1)))
	}},
	{"a live number that becomes a size", 0, func(compile func(any) any, say func(...*Tensor)) {
		n := 1.0
		f := compile(func(x *Tensor) *Tensor { return x.ClampMin(LiveNumber(func() float64 { return n })) }).(func(*Tensor) *Tensor)
		say(f(Zeros(1)))
		n = 2
		say(f(Zeros(1)))
	}},
	{"views and shared results", 2, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) []*Tensor {
			y := x.Add(1)
			return []*Tensor{y, y.Transpose(0, 1), x, x.Narrow(0, 0, 1), nil}
		}).(func(*Tensor) []*Tensor)
		for i := range 3 {
			x := Full(float64(i), 2, 3)
			r := f(x)
			say(r...)
			r[1].MulInPlace(2)
			say(r[0], Scalar(r[0].SharesStorage(r[1])), Scalar(r[2] == x), Scalar(r[3].SharesStorage(x)))
		}
	}},
	{"views of arguments", 3, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) *Tensor { return x.Mul(2) }).(func(*Tensor) *Tensor)
		x := Arange(12).To(F32).Reshape(3, 4).Clone()
		for range 2 {
			say(f(x.T()), f(x.Narrow(1, 1, 2)), f(x.T().Contiguous()))
			x.AddInPlace(1)
		}
	}},
	{"uploads inside", 2, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) *Tensor { return x.Add(From([]float32{1, 2})) }).(func(*Tensor) *Tensor)
		for i := range 3 {
			say(f(Full(float64(i), 2)))
		}
	}},
	{"an upload as the result", 0, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) (*Tensor, *Tensor) {
			k := From([]float32{1, 2})
			return x.Add(k), k
		}).(func(*Tensor) (*Tensor, *Tensor))
		for i := range 3 {
			y, k := f(Full(float64(i), 2))
			k.AddInPlace(y)
			say(y, k)
		}
	}},
	{"a function in a function", 2, func(compile func(any) any, say func(...*Tensor)) {
		w := Ones(2)
		inner := compile(func(x *Tensor) *Tensor { w.AddInPlace(1); return x.Mul(w) }).(func(*Tensor) *Tensor)
		outer := compile(func(x *Tensor) *Tensor { return inner(inner(x)).Neg() }).(func(*Tensor) *Tensor)
		x := Ones(2)
		say(outer(x), outer(x), inner(x), inner(x), w)
	}},
	{"a tensor kept by the function", 2, func(compile func(any) any, say func(...*Tensor)) {
		var state *Tensor
		f := compile(func(x *Tensor) *Tensor {
			if state == nil {
				state = Keep(Zeros(2))
			}
			state.AddInPlace(x)
			return state.Mul(1)
		}).(func(*Tensor) *Tensor)
		for range 4 {
			say(f(Ones(2)))
		}
	}},
	{"handles that change between calls", 2, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2})
		f := compile(func(x *Tensor) *Tensor { return x.Mul(w) }).(func(*Tensor) *Tensor)
		x := Ones(2)
		say(f(x), f(x))
		w.SetData(From([]float32{3, 4}))
		say(f(x), f(x))
		w.Free()
		say(Scalar(Try(func() { f(x) }) != nil))
	}},
	{"types and sizes", 3, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) *Tensor { return x.Add(x).Sum() }).(func(*Tensor) *Tensor)
		for range 2 {
			say(f(Ones(2)), f(Ones(3)), f(BF16.Ones(2)))
		}
	}},
	{"two leaves in turns", 3, func(compile func(any) any, say func(...*Tensor)) {
		w := From([]float32{1, 2}).RequireGrad()
		v := From([]float32{3, 4}).RequireGrad()
		f := compile(func(x *Tensor) *Tensor {
			y := w.Mul(v).Mul(x).Sum()
			y.Backward()
			v.ZeroGrad()
			return y.Detach()
		}).(func(*Tensor) *Tensor)
		for range 5 {
			say(f(Ones(2)), w, v)
		}
	}},
	{"a checkpoint with random numbers", 1, func(compile func(any) any, say func(...*Tensor)) {
		w := Ones(8).RequireGrad()
		part := Checkpoint(func(x *Tensor) *Tensor { return x.Mul(w).Dropout(0.5).Sum() }).(func(*Tensor) *Tensor)
		f := compile(func(x *Tensor) *Tensor {
			w.ZeroGrad()
			y := part(x)
			y.Backward()
			return y.Detach()
		}).(func(*Tensor) *Tensor)
		for range 3 {
			say(f(Ones(8)), w)
		}
	}},
	{"a tape from before", 0, func(compile func(any) any, say func(...*Tensor)) {
		w := Ones(2).RequireGrad()
		y := w.Mul(w).Sum()
		f := compile(func() *Tensor { y.Backward(); return w.Grad() }).(func() *Tensor)
		say(f())
		say(Scalar(Try(func() { f() }) != nil))
	}},
	{"nothing to launch", 0, func(compile func(any) any, say func(...*Tensor)) {
		f := compile(func(x *Tensor) *Tensor { return x }).(func(*Tensor) *Tensor)
		x := Ones(2)
		say(f(x), Scalar(f(x) == x))
	}},
}

// now asks a live number: outside of an operation it is the number of this moment.
func (f LiveNumber) now() float64 { return f() }

// TestReplaysAreTheFunction compares programs whose functions run once with the
// same programs whose functions run at each call, in each mode.
func TestReplaysAreTheFunction(t *testing.T) {
	for _, c := range replayCases {
		for _, m := range exec.Modes() {
			t.Run(c.name+"/"+m.Name, func(t *testing.T) {
				run := func(compile func(any) any) (said []string, replays int64) {
					d := use(t, m)
					Seed(7)
					c.run(compile, func(xs ...*Tensor) { said = append(said, exactly(xs...)...) })
					return said, d.Stats().Replays
				}
				once, replays := run(func(f any) any { return Compile(f) })
				each, none := run(func(f any) any { return Compile(runsAgain(f)) })
				if none != 0 {
					t.Errorf("%d replays of functions that have to run", none)
				}
				if replays != c.replays {
					t.Errorf("%d replays, want %d", replays, c.replays)
				}
				if len(once) != len(each) {
					t.Fatalf("%d results, want %d", len(once), len(each))
				}
				for i := range once {
					if once[i] != each[i] {
						t.Errorf("result %d is\n  %s\nwhen launched again,\n  %s\nwhen the function runs", i, once[i], each[i])
					}
				}
			})
		}
	}
}
