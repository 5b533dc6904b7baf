package tpu

import (
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
)

// measure completes the attributes of a row whose result has a size that the
// numbers of its inputs decide: it reads them, which cuts the queue.
func (e *engine) measure(def *op.Def, attrs op.Attrs, ops []operand) op.Attrs {
	if def.Host == nil {
		return attrs
	}
	in := make([]kernel.Array, len(ops))
	for i, o := range ops {
		switch {
		case o.t != nil:
			in[i] = o.t.host(string(def.Name), exec.ReasonDataSize)
		case o.v != nil:
			a, err := e.d.Read(o.v, exec.ReasonDataSize)
			if err != nil {
				e.fail(string(def.Name), err)
			}
			in[i] = a
		}
	}
	done, err := def.Host(in, attrs)
	if err != nil {
		e.fail(string(def.Name), err)
	}
	return done
}
