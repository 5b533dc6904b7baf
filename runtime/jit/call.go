package jit

import (
	"fmt"
	"slices"
	"unsafe"
)

// An Operand is an array as one call sees it: element (i, j, …) lies
// Offset + i·Strides[0] + j·Strides[1] + … elements into Buf. A stride of 0
// repeats.
type Operand struct {
	Buf     []byte
	Offset  int
	Strides []int
}

// A Call is one run of a program over the iteration space Dims, whose last
// dimension is the row; no dimension means one element. An output may be the
// very array of an input (the same first element and strides) but may not
// overlap one otherwise.
type Call struct {
	Dims   []int
	In     []Operand
	Out    []Operand
	Params []uint64 // bits: math.Float32bits and so on, for each Param; a NaN is canonical
	// Parallel calls f on ranges that together cover [0, n), none but the last
	// shorter than grain, and returns when all are done; nil: everything runs here.
	Parallel func(n, grain int, f func(lo, hi int))
}

// check says what of c does not fit p.
func (p *Program) check(c *Call) error {
	switch {
	case len(c.In) != len(p.ins):
		return &CallError{What: fmt.Sprintf("takes %d inputs, not %d", len(p.ins), len(c.In))}
	case len(c.Out) != len(p.outs):
		return &CallError{What: fmt.Sprintf("gives %d outputs, not %d", len(p.outs), len(c.Out))}
	case len(c.Params) != len(p.params):
		return &CallError{What: fmt.Sprintf("takes %d parameters, not %d", len(p.params), len(c.Params))}
	}
	for _, d := range c.Dims {
		if d < 0 {
			return &CallError{What: "has a negative dimension"}
		}
	}
	if slices.Contains(c.Dims, 0) && !p.folds() {
		return nil
	}
	for i := range c.In {
		if what := c.In[i].fault(c.Dims, p.ins[i]); what != "" {
			return &CallError{Operand: fmt.Sprintf("input %d", i), What: what}
		}
	}
	for i := range c.Out {
		if what := c.Out[i].fault(c.Dims, p.outs[i]); what != "" {
			return &CallError{Operand: fmt.Sprintf("output %d", i), What: what}
		}
	}
	return nil
}

// fault says why o does not span dims.
func (o *Operand) fault(dims []int, s slot) string {
	if len(o.Strides) != len(dims) {
		return fmt.Sprintf("has %d strides for %d dimensions", len(o.Strides), len(dims))
	}
	lo, hi := o.Offset, o.Offset
	for i, d := range dims {
		if i == len(dims)-1 && s.row || i < len(dims)-1 && s.col {
			continue
		}
		if d == 0 {
			return ""
		}
		if n := (d - 1) * o.Strides[i]; n < 0 {
			lo += n
		} else {
			hi += n
		}
	}
	size := s.size
	if lo < 0 || (hi+1)*size > len(o.Buf) {
		return "reaches beyond its buffer"
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(o.Buf)))%uintptr(size) != 0 {
		return "is not aligned"
	}
	return ""
}

// shape splits dims into those outside the row and the row.
func split(dims []int) (outer []int, cols int) {
	if len(dims) == 0 {
		return nil, 1
	}
	return dims[:len(dims)-1], dims[len(dims)-1]
}

// stride is the stride along the row.
func (o *Operand) stride(s slot) int {
	if s.row || len(o.Strides) == 0 {
		return 0
	}
	return o.Strides[len(o.Strides)-1]
}

// rowOffset is where row r of the outer dimensions begins, in elements.
func (o *Operand) rowOffset(outer []int, r int) int {
	off := o.Offset
	for i := len(outer) - 1; i >= 0; i-- {
		off += r % outer[i] * o.Strides[i]
		r /= outer[i]
	}
	return off
}
