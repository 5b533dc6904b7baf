package jit

import (
	"runtime"
	"unsafe"
)

// RunFlat is Run for n elements that lie one after the other in every operand:
// the strides of c and its dimensions are not looked at. It is the short way for
// small arrays, whose cost is the way to the code.
func (k *Kernel) RunFlat(n int, c *Call) error {
	if !k.flat || n <= 0 || n*k.weight > callWork || !k.program.counts(c) || !k.holds(n, c) || k.alias(c) {
		return k.runFlat(n, c)
	}
	if !k.direct(n, layout{}, c) {
		return k.runFlat(n, c)
	}
	runtime.KeepAlive(c)
	return nil
}

// holds says whether n elements lie in every operand.
func (k *Kernel) holds(n int, c *Call) bool {
	for i := range c.In {
		if !c.In[i].holds(n, k.program.ins[i].size) {
			return false
		}
	}
	for i := range c.Out {
		if !c.Out[i].holds(n, k.program.outs[i].size) {
			return false
		}
	}
	return true
}

// runFlat is Run with the strides filled in.
func (k *Kernel) runFlat(n int, c *Call) error {
	one := *c
	one.Dims = []int{n}
	one.In, one.Out = dense(c.In), dense(c.Out)
	return k.Run(&one)
}

func dense(os []Operand) []Operand {
	r := append([]Operand(nil), os...)
	for i := range r {
		r[i].Strides = []int{1}
	}
	return r
}

// A Loop runs a kernel again and again on arrays of one length, with nothing
// between the caller and the code but the addresses. It is for one goroutine at a time.
type Loop struct {
	v     *variant
	w     *work
	n     int
	bytes []int // that each operand needs: the inputs, then the result
}

// Loop gives the loop of n elements that lie one after the other in every operand,
// nil when the kernel has none: it has parameters, several results or passes, or
// so many elements are worth more goroutines than one.
func (k *Kernel) Loop(n int) *Loop {
	p := k.program
	if !k.flat || n <= 0 || n*k.weight > callWork || len(p.params) > 0 || len(p.outs) != 1 {
		return nil
	}
	v := k.variant(layout{})
	if len(v.plan.passes) > 1 {
		return nil
	}
	l := &Loop{v: v, w: v.newWork(), n: n}
	for i := range p.ins {
		l.bytes = append(l.bytes, n*p.ins[i].size)
	}
	l.bytes = append(l.bytes, n*p.outs[0].size)
	return l
}

// Run computes out from in, whole arrays that lie on cache lines; out is none of
// them. in has an entry for each input, perhaps more. It says false, and computes
// nothing, when an array has not as many bytes as the elements.
func (l *Loop) Run(out []byte, in [][]byte) bool {
	w, k := l.w, len(l.bytes)-1
	if len(out) != l.bytes[k] || len(in) < k {
		return false
	}
	for i := range k {
		if len(in[i]) != l.bytes[i] {
			return false
		}
		w.ptr[i] = unsafe.Pointer(unsafe.SliceData(in[i]))
	}
	w.ptr[k] = unsafe.Pointer(unsafe.SliceData(out))
	l.v.rows(w, 1, l.n)
	clear(w.ptr)
	return true
}
