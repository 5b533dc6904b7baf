package jit

import (
	"runtime"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
)

// flatWork bounds what RunFlat does in one piece, in operations on elements.
const flatWork = callWork

// RunFlat is Run for n elements that lie one after the other in every operand:
// the strides of c and its dimensions are not looked at. It is the short way for
// small arrays, whose cost is the way to the code.
func (k *Kernel) RunFlat(n int, c *Call) error {
	p := k.program
	if p.rowwise() || n <= 0 || n*k.weight > flatWork || len(c.In) != len(p.ins) || len(c.Out) != len(p.outs) || len(c.Params) != len(p.params) {
		return k.runFlat(n, c)
	}
	v := k.flat.Load()
	if v == nil {
		v = k.variant(&nest{})
		k.flat.Store(v)
	}
	w, _ := v.works.Get().(*work)
	if w == nil {
		ops := len(p.ins) + len(p.outs)
		w = &work{ptr: make([]unsafe.Pointer, ops), step: make([]int, ops), frame: v.frame()}
	}
	ok := true
	for i := range c.In {
		ok = w.see(i, n, &c.In[i], p.ins[i].dtype) && ok
	}
	for i := range c.Out {
		j := len(c.In) + i
		ok = w.see(j, n, &c.Out[i], p.outs[i].dtype) && ok
		for _, q := range w.ptr[:len(c.In)] {
			ok = ok && q != w.ptr[j]
		}
	}
	if !ok {
		v.free(w)
		return k.runFlat(n, c)
	}
	w.params, w.col = c.Params, 0
	v.rows(w, 1, n)
	v.free(w)
	runtime.KeepAlive(c)
	return nil
}

// see points operand i of w at o: no when o is shorter than n elements or not aligned.
func (w *work) see(i, n int, o *Operand, d dtype.DType) bool {
	size := storageOf(d).bytes()
	if o.Offset < 0 || (o.Offset+n)*size > len(o.Buf) {
		return false
	}
	p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(o.Buf)), o.Offset*size)
	w.ptr[i] = p
	return uintptr(p)%uintptr(size) == 0
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
