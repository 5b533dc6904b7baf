package jit

import (
	"encoding/binary"

	"github.com/tpush/tpush/runtime/dtype"
)

// Interpret runs the program one operation and one element at a time. It is the
// definition of every result, and slow.
func (p *Program) Interpret(c *Call) error {
	if err := p.check(c); err != nil {
		return err
	}
	outer, cols := split(c.Dims)
	rows := 1
	for _, d := range outer {
		rows *= d
	}
	chunk := cols
	sums := map[int][][]uint64{} // of outputs: values of each column
	for i, o := range p.outs {
		if o.col {
			sums[i] = make([][]uint64, cols)
		}
	}
	if !p.whole() {
		chunk = min(cols, 256)
	}
	for r := range rows {
		for lo := 0; lo < cols || lo == 0; lo += chunk {
			p.interpretRow(c, outer, r, lo, min(lo+chunk, cols), sums)
			if chunk == 0 {
				break
			}
		}
	}
	p.storeColumns(c, sums)
	return nil
}

// interpretRow computes columns lo … hi of row r.
func (p *Program) interpretRow(c *Call, outer []int, r, lo, hi int, sums map[int][][]uint64) {
	vals := make([][]uint64, len(p.nodes))
	for v := 1; v < len(p.nodes); v++ {
		n := &p.nodes[v]
		count := hi - lo
		if p.row[v] {
			count = 1
		}
		x := make([]uint64, count)
		vals[v] = x
		switch {
		case n.op == OpIn || n.op == OpRowIn:
			o, s := &c.In[n.imm], p.ins[n.imm]
			at := o.rowOffset(outer, r) + lo*o.stride(s)
			for i := range x {
				x[i] = peek(o.Buf, s.dtype, at+i*o.stride(s))
			}
		case n.op == OpParam:
			x[0] = c.Params[n.imm]
			if !n.typ.wide() {
				x[0] = uint64(uint32(x[0]))
			}
		case n.op == OpConst:
			x[0] = n.imm
		case n.op == OpColumn:
			for i := range x {
				x[i] = uint64(lo + i)
				if n.typ == I32 {
					x[i] = uint64(uint32(lo + i))
				}
			}
		case sigs[n.op].reduce:
			row := make([]uint64, hi-lo)
			for i := range row {
				row[i] = at(vals[n.args[0]], i)
			}
			x[0] = reduce(n, row)
		default:
			t := p.nodes[n.args[0]].typ
			a, b, e := vals[n.args[0]], vals[n.args[1]], vals[n.args[2]]
			for i := range x {
				x[i] = eval(n, t, at(a, i), at(b, i), at(e, i))
			}
		}
	}
	for i, s := range p.outs {
		if s.col {
			for j := range hi - lo {
				sums[i][lo+j] = append(sums[i][lo+j], at(vals[s.value], j))
			}
			continue
		}
		o := &c.Out[i]
		off := o.rowOffset(outer, r)
		count := hi - lo
		if s.row {
			count = 1
		} else {
			off += lo * o.stride(s)
		}
		for j := range count {
			poke(o.Buf, s.dtype, off+j*o.stride(s), at(vals[s.value], j))
		}
	}
}

// storeColumns folds the columns and converts the sums.
func (p *Program) storeColumns(c *Call, sums map[int][][]uint64) {
	for i, xs := range sums {
		n := node{op: OpSum, typ: p.nodes[p.outs[i].value].typ}
		d := plain(n.typ)
		buf := make([]byte, 8*len(xs))
		for j, x := range xs {
			poke(buf, d, j, reduce(&n, x))
		}
		out := c.Out[i]
		one := Call{Dims: []int{len(xs)}, In: []Operand{{Buf: buf, Strides: []int{1}}}}
		out.Strides = []int{out.stride(p.outs[i])}
		one.Out = []Operand{out}
		for j := range xs {
			converts(d, p.outs[i].dtype).interpretRow(&one, nil, 0, j, j+1, nil)
		}
	}
}

// at is element i of a value; a row value has one for all.
func at(x []uint64, i int) uint64 {
	switch len(x) {
	case 0:
		return 0
	case 1:
		return x[0]
	}
	return x[i]
}

// peek loads element i as it is stored, extended to its type.
func peek(buf []byte, d dtype.DType, i int) uint64 {
	switch storageOf(d) {
	case stU8:
		return uint64(buf[i])
	case stI8:
		return uint64(uint32(int8(buf[i])))
	case stU16:
		return uint64(binary.NativeEndian.Uint16(buf[2*i:]))
	case stI16:
		return uint64(uint32(int16(binary.NativeEndian.Uint16(buf[2*i:]))))
	case stW32, stU32:
		return uint64(binary.NativeEndian.Uint32(buf[4*i:]))
	}
	return binary.NativeEndian.Uint64(buf[8*i:])
}

// poke stores the low bits of x as element i.
func poke(buf []byte, d dtype.DType, i int, x uint64) {
	switch storageOf(d).bytes() {
	case 1:
		buf[i] = uint8(x)
	case 2:
		binary.NativeEndian.PutUint16(buf[2*i:], uint16(x))
	case 4:
		binary.NativeEndian.PutUint32(buf[4*i:], uint32(x))
	default:
		binary.NativeEndian.PutUint64(buf[8*i:], x)
	}
}
