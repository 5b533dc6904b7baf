package jit

import "unsafe"

// quick runs a small call of dense and repeated operands, for which the general
// way would take longer than the work; it says whether it did.
func (k *Kernel) quick(c *Call) bool {
	p := k.program
	if !k.flat || !p.counts(c) {
		return false
	}
	n := 1
	for _, d := range c.Dims {
		if d <= 0 || d > callWork {
			return false
		}
		if n *= d; n*k.weight > grainWork {
			return false
		}
	}
	splat := uint64(0)
	for i := range c.In {
		dense, still := c.In[i].layout(c.Dims)
		switch {
		case dense && c.In[i].holds(n, p.ins[i].size):
		case still && c.In[i].holds(1, p.ins[i].size):
			splat |= 1 << i
		default:
			return false
		}
	}
	for i := range c.Out {
		if dense, _ := c.Out[i].layout(c.Dims); !dense || !c.Out[i].holds(n, p.outs[i].size) {
			return false
		}
	}
	return k.direct(n, layout{splat: splat, alias: k.alias(c)}, c)
}

// counts says whether c has as many operands as p.
func (p *Program) counts(c *Call) bool {
	return len(c.In) == len(p.ins) && len(c.Out) == len(p.outs) && len(c.Params) == len(p.params)
}

// alias says whether an output is an input.
func (k *Kernel) alias(c *Call) bool {
	for i := range c.Out {
		out := c.Out[i].first(k.program.outs[i].size)
		for j := range c.In {
			if c.In[j].first(k.program.ins[j].size) == out {
				return true
			}
		}
	}
	return false
}

// direct runs n elements that were found to lie as l says; it says whether it did.
func (k *Kernel) direct(n int, l layout, c *Call) bool {
	v := k.variant(l)
	if len(v.plan.passes) > 1 {
		return false
	}
	w, _ := v.works.Get().(*work)
	if w == nil {
		w = v.newWork()
	}
	for i := range c.In {
		w.ptr[i] = c.In[i].first(k.program.ins[i].size)
	}
	for i := range c.Out {
		w.ptr[len(c.In)+i] = c.Out[i].first(k.program.outs[i].size)
	}
	w.params, w.col = c.Params, 0
	v.rows(w, 1, n)
	v.free(w)
	return true
}

// layout says whether elements lie in the order of dims without gaps, and
// whether there is only one.
func (o *Operand) layout(dims []int) (dense, still bool) {
	if len(o.Strides) != len(dims) {
		return false, false
	}
	dense, still = true, true
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] != 1 {
			dense = dense && o.Strides[i] == n
			still = still && o.Strides[i] == 0
		}
		n *= dims[i]
	}
	return dense, still
}

// holds says whether n elements lie in the buffer, aligned.
func (o *Operand) holds(n, size int) bool {
	return o.Offset >= 0 && (o.Offset+n)*size <= len(o.Buf) && uintptr(unsafe.Pointer(unsafe.SliceData(o.Buf)))&uintptr(size-1) == 0
}

// first is the first element.
func (o *Operand) first(size int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(o.Buf)), o.Offset*size)
}
