package selftest

import (
	"fmt"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// A machine runs the steps of a recorded program.
type machine struct {
	rec   *conformance.Record
	names map[string]*tpu.Tensor
}

func program(r *conformance.Record, steps []any) error {
	m := &machine{rec: r, names: map[string]*tpu.Tensor{}}
	return m.steps(steps)
}

func (m *machine) steps(steps []any) error {
	for i, s := range steps {
		step, ok := s.(map[string]any)
		if !ok {
			return fmt.Errorf("step %d is no object", i)
		}
		var err error
		if want, ok := step["raises"].(map[string]any); ok {
			err = m.raises(step, want)
		} else {
			err = tpu.Try(func() {
				if err = m.step(step); err != nil {
					panic(&tpu.Error{Err: err})
				}
			})
		}
		if err != nil {
			return fmt.Errorf("step %d %s: %w", i, title(step), err)
		}
	}
	return nil
}

func title(step map[string]any) string {
	for _, k := range []string{"op", "read", "read_grad", "backward", "check", "tensor", "grad", "zero_grad"} {
		if v, ok := step[k].(string); ok {
			return k + " " + v
		}
	}
	return ""
}

// raises runs a step that must be refused.
func (m *machine) raises(step, want map[string]any) error {
	category, _ := want["category"].(string)
	err := tpu.Try(func() { _ = m.step(step) })
	return refusal(err, category)
}

func (m *machine) get(v any) *tpu.Tensor {
	name, _ := v.(string)
	t := m.names[name]
	if t == nil {
		panic(&tpu.Error{Op: "program", Err: fmt.Errorf("no tensor named %q", name)})
	}
	return t
}

func decode(v any) conformance.Operand {
	o, err := conformance.Decode(v)
	if err != nil {
		panic(&tpu.Error{Op: "record", Err: err})
	}
	return o
}

// operand makes an operand of an argument: a name, a number, a list, nothing.
func (m *machine) operand(v any, ts tensors) conformance.Operand {
	switch v := v.(type) {
	case string:
		if t, ok := m.names[v]; ok {
			// The array only names the tensor: nothing reads it.
			a := kernel.Array{DType: 0, View: shape.Dense(t.Dims()), Buf: kernel.Alloc(t.Size() * 8)}
			a.DType = t.Spec().DType
			ts[key(a)] = t
			return conformance.Operand{Kind: conformance.Tensor, Array: a}
		}
	case []any:
		o := conformance.Operand{Kind: conformance.List}
		for _, x := range v {
			o.Items = append(o.Items, m.operand(x, ts))
		}
		return o
	}
	return decode(v)
}

func (m *machine) step(step map[string]any) error {
	switch {
	case step["tensor"] != nil:
		name := step["tensor"].(string)
		t := tensors{}.upload(decode(step["value"]).Array)
		if on, _ := step["requires_grad"].(bool); on {
			t.RequireGrad()
		}
		m.names[name] = t
	case step["op"] != nil:
		return m.op(step)
	case step["read"] != nil:
		want := decode(step["expect"])
		return conformance.Compare(m.get(step["read"]).Array(), want.Array, m.rec.Tol)
	case step["read_grad"] != nil:
		g := m.get(step["read_grad"]).Grad()
		want := decode(step["expect"])
		switch {
		case want.Kind == conformance.None && g == nil:
		case want.Kind == conformance.None:
			return fmt.Errorf("there is a gradient %v, want none", g)
		case g == nil:
			return fmt.Errorf("there is no gradient")
		default:
			tol := m.rec.Tol
			if m.rec.GradTol != (conformance.Tol{}) {
				tol = m.rec.GradTol
			}
			return conformance.Compare(g.Array(), want.Array, tol)
		}
	case step["backward"] != nil:
		var o tpu.GradOptions
		if c, ok := step["cotangent"]; ok && c != nil {
			o.Gradient = m.get(c)
		}
		o.RetainGraph, _ = step["retain_graph"].(bool)
		o.CreateGraph, _ = step["create_graph"].(bool)
		m.get(step["backward"]).Backward(o)
	case step["zero_grad"] != nil:
		m.get(step["zero_grad"]).ZeroGrad()
	case step["grad"] != nil:
		g := m.get(step["grad"]).Grad()
		if g == nil {
			return fmt.Errorf("there is no gradient")
		}
		m.names[step["out"].(string)] = g
	case step["no_grad"] != nil:
		var err error
		tpu.NoGrad(func() { err = m.steps(step["no_grad"].([]any)) })
		return err
	case step["check"] != nil:
		return m.check(step)
	default:
		return fmt.Errorf("a step of no known kind: %v", step)
	}
	return nil
}

func (m *machine) op(step map[string]any) error {
	ts := tensors{}
	r := &conformance.Record{ID: m.rec.ID, Op: step["op"].(string)}
	args, _ := step["args"].([]any)
	for _, a := range args {
		r.Inputs = append(r.Inputs, m.operand(a, ts))
	}
	r.Attrs, _ = step["attrs"].(map[string]any)
	got := ts.apply(r)
	switch out := step["out"].(type) {
	case string:
		m.names[out] = got[0]
	case []any:
		if len(out) > len(got) {
			return fmt.Errorf("%d results, want %d", len(got), len(out))
		}
		for i, n := range out {
			m.names[n.(string)] = got[i]
		}
	}
	return nil
}

func ints(v any) []int {
	l, _ := v.([]any)
	out := make([]int, len(l))
	for i, x := range l {
		out[i], _ = x.(int)
	}
	return out
}

func (m *machine) check(step map[string]any) error {
	t := m.get(step["of"])
	want := step["expect"]
	var got any
	switch step["check"] {
	case "shares_storage":
		got = t.SharesStorage(m.get(step["with"]))
	case "strides", "shape":
		d := t.Strides()
		if step["check"] == "shape" {
			d = t.Dims()
		}
		if !shape.EqualDims(d, ints(want)) {
			return fmt.Errorf("%v, want %v", d, want)
		}
		return nil
	case "offset":
		got = t.Offset()
	case "contiguous":
		got = t.IsContiguous()
	case "dtype":
		got = t.DType().String()
	case "requires_grad":
		got = t.RequiresGrad()
	case "is_leaf":
		got = t.IsLeaf()
	case "version":
		got = t.Version()
	default:
		return fmt.Errorf("no check %v", step["check"])
	}
	if got != want {
		return fmt.Errorf("%v, want %v", got, want)
	}
	return nil
}
