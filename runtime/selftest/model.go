package selftest

import (
	"fmt"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/tpu"
)

// model runs the training steps of a whole model.
func model(r *conformance.Record) error {
	m := &machine{rec: r, names: map[string]*tpu.Tensor{}}
	params, _ := r.Extra["params"].(map[string]any)
	names := make([]string, 0, len(params))
	for n, v := range params {
		m.names[n] = tensors{}.upload(decode(v).Array).RequireGrad()
		names = append(names, n)
	}
	inputs, _ := r.Extra["inputs"].(map[string]any)
	for n, v := range inputs {
		m.names[n] = tensors{}.upload(decode(v).Array)
	}
	forward, _ := r.Extra["forward"].([]any)
	outputs, _ := r.Extra["outputs"].(map[string]any)
	grads, _ := r.Extra["grads"].(map[string]any)
	losses, _ := r.Extra["losses"].([]any)
	after, _ := r.Extra["after"].(map[string]any)
	var step func() error
	if o, ok := r.Extra["optimizer"].(map[string]any); ok {
		var ps []*tpu.Tensor
		for _, n := range names {
			ps = append(ps, m.names[n])
		}
		s, err := newOptimizer(o["op"].(string), o, ps)
		if err != nil {
			return err
		}
		step = s
	}
	for i := range losses {
		if err := m.steps(forward); err != nil {
			return err
		}
		loss := m.names["loss"]
		want := decode(losses[i])
		l, _ := want.Number.(float64)
		if want.Kind == conformance.Tensor {
			l = kernel.Float64s(want.Array)[0]
		}
		if got := loss.Item(); abs(got-l) > r.Tol.ATol+r.Tol.RTol*abs(l)+1e-5*abs(l) {
			return fmt.Errorf("loss %d is %v, want %v", i, got, l)
		}
		for _, n := range names {
			m.names[n].ZeroGrad()
		}
		if i == 0 {
			for n, v := range outputs {
				if err := conformance.Compare(m.names[n].Array(), decode(v).Array, r.Tol); err != nil {
					return fmt.Errorf("output %s: %w", n, err)
				}
			}
		}
		loss.Backward()
		if i == 0 {
			for n, v := range grads {
				if err := compareGrad(m.names[n].Grad(), decode(v), r.GradTol); err != nil {
					return fmt.Errorf("gradient of %s: %w", n, err)
				}
			}
		}
		if err := tpu.Try(func() { _ = step() }); err != nil {
			return err
		}
	}
	tol := conformance.Tol{}
	if t, ok := r.Extra["after_tol"].(map[string]any); ok {
		tol.RTol, tol.ATol = float(t["rtol"]), float(t["atol"])
	}
	for n, v := range after {
		if err := conformance.Compare(m.names[n].Array(), decode(v).Array, tol); err != nil {
			return fmt.Errorf("%s after %d steps: %w", n, len(losses), err)
		}
	}
	return nil
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

func float(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
