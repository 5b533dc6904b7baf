package tpu

import (
	"reflect"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// checkpointDef names the nodes of Checkpoint on the tape; it is no row.
var checkpointDef = &op.Def{Name: "checkpoint"}

// Checkpoint gives a function of f's own type that saves nothing of what f
// computes: the backward pass runs f again, with the same random numbers. f
// takes and gives tensors, and may take other values too.
func Checkpoint(f any) any {
	fv := reflect.ValueOf(f)
	if fv.Kind() != reflect.Func {
		refuse("checkpoint", operandError(f, "a function is wanted"))
	}
	return reflect.MakeFunc(fv.Type(), func(args []reflect.Value) []reflect.Value {
		e := ambientEngine()
		call := fv.Call
		if fv.Type().IsVariadic() {
			call = fv.CallSlice
		}
		if e.noGrad > 0 {
			return call(args)
		}
		n := &node{e: e, def: checkpointDef}
		var at []int // arguments that are tensors
		for i, a := range args {
			if t, ok := a.Interface().(*Tensor); ok && t != nil {
				at = append(at, i)
				n.ins, n.inSpecs, n.saved = append(n.ins, t.history()), append(n.inSpecs, t.Spec()), append(n.saved, save(t))
			}
		}
		n.ins = append(n.ins, &history{}) // leaves inside f are reached though no argument is
		n.inSpecs = append(n.inSpecs, shape.Spec{})
		seed, offset := e.seed, e.offset
		var out []reflect.Value
		e.withoutGrad(func() { out = call(args) })
		var ts []*Tensor
		for _, v := range out {
			t, ok := v.Interface().(*Tensor)
			if !ok {
				e.fail("checkpoint", operandError(v.Interface(), "the function gives something else than tensors"))
			}
			ts = append(ts, t)
			n.outSpecs = append(n.outSpecs, t.Spec())
		}
		n.custom = func(dy []*Tensor) []*Tensor {
			noGrad, s, o := e.noGrad, e.seed, e.offset
			e.noGrad, e.seed, e.offset = 0, seed, offset
			defer func() { e.noGrad, e.seed, e.offset = noGrad, s, o }()
			again := append([]reflect.Value{}, args...)
			stops := map[*history]bool{}
			in := make([]*Tensor, len(at))
			for k, i := range at {
				// The second run stands on the first one's operands: a pass over
				// it ends there, and what it gives can be differentiated again.
				t := (&ref{n, k, n.inSpecs[k]}).open(true)
				if n.ins[k] != nil {
					t.hist = n.ins[k]
					t = do(op.Must("alias"), nil, t)
					stops[t.hist] = true
				}
				in[k], again[i] = t, reflect.ValueOf(t)
			}
			var ys, gs []*Tensor
			for k, v := range call(again) {
				if t := v.Interface().(*Tensor); dy[k] != nil && t.requires() {
					ys, gs = append(ys, t), append(gs, dy[k])
				}
			}
			grads := make([]*Tensor, len(in))
			if len(ys) == 0 {
				return grads
			}
			p := e.startPass("checkpoint", ys, gs, GradOptions{CreateGraph: noGrad == 0, stops: stops}, nil)
			p.run()
			p.gather()
			for k, t := range in {
				if n.ins[k] != nil {
					grads[k] = p.take(t.hist)
				}
			}
			return grads
		}
		e.enter(n, ts)
		return out
	}).Interface()
}
