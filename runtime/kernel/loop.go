package kernel

import (
	"github.com/tpush/tpush/runtime/jit"
	"github.com/tpush/tpush/runtime/shape"
)

// A Loop is what is left of a call on small dense arrays when all that a kernel
// finds out about it is known: the loop over the elements. It is for one goroutine
// at a time.
type Loop struct {
	bytes int // of each array of a short call
	short func(d, a, b []float32)
	code  *jit.Loop
	from  []uint8 // operand of each input of code
}

// Loop gives the loop that c took, the last call with this memory, which was empty
// before. It holds for calls with the same attributes, types and views. nil: c did
// more than that, or its way hangs on the values of operands.
func (m *Memo) Loop(c *Call) *Loop {
	n := shape.Size(c.Out[0].Dims)
	for i := range c.In {
		if a := &c.In[i]; a.Offset != 0 || !a.Contiguous() || shape.Size(a.Dims) != n {
			return nil
		}
	}
	switch q := m.point; {
	case m.short != nil:
		return &Loop{short: m.short.short, bytes: 4 * n}
	case q != nil && m.flat && q.kernel != nil && len(q.params) == 0 && n <= m.grain:
		if code := q.kernel.Loop(n); code != nil {
			return &Loop{code: code, from: q.ins}
		}
	}
	return nil
}

// Run computes out from the arrays of the operands. It says false, and computes
// nothing, when one has another number of bytes than the loop is for.
func (l *Loop) Run(out []byte, in [][]byte) bool {
	if l.code == nil {
		if len(in) != 2 || len(out) != l.bytes || len(in[0]) != l.bytes || len(in[1]) != l.bytes {
			return false
		}
		l.short(As[float32](out), As[float32](in[0]), As[float32](in[1]))
		return true
	}
	var read [3][]byte
	for k, i := range l.from {
		if int(i) >= len(in) {
			return false
		}
		read[k] = in[i]
	}
	return l.code.Run(out, read[:len(l.from)])
}
