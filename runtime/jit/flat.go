package jit

import "runtime"

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
