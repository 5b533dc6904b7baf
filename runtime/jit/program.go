package jit

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
)

// A Program is a finished computation. It is immutable and may be shared.
type Program struct {
	nodes   []node // nodes[0] is none; only what an output needs
	row     []bool
	ins     []slot
	outs    []slot
	params  []Type
	reduces bool
	columns bool // uses Column
	keepRow bool // the last dimension is to be the row
	key     string
}

// Program finishes the program: what no output needs is dropped. The Builder
// may not be used afterwards.
func (b *Builder) Program() *Program {
	live := make([]bool, len(b.nodes))
	for _, o := range b.outs {
		live[o.value] = true
	}
	for v := len(b.nodes) - 1; v > 0; v-- {
		if live[v] {
			for _, a := range b.nodes[v].args {
				live[a] = true
			}
		}
	}
	p := &Program{nodes: make([]node, 1, len(b.nodes)), row: make([]bool, 1, len(b.nodes)), ins: b.ins, outs: b.outs, params: b.params}
	at := make([]Value, len(b.nodes))
	for v := 1; v < len(b.nodes); v++ {
		if !live[v] {
			continue
		}
		n := b.nodes[v]
		for i, a := range n.args {
			n.args[i] = at[a]
		}
		at[v] = Value(len(p.nodes))
		p.nodes = append(p.nodes, n)
		p.row = append(p.row, b.row[v])
		p.reduces = p.reduces || sigs[n.op].reduce
		p.columns = p.columns || n.op == OpColumn
	}
	for i := range p.ins {
		p.ins[i].value = at[p.ins[i].value]
	}
	for i := range p.outs {
		p.outs[i].value = at[p.outs[i].value]
	}
	p.key = p.makeKey()
	return p
}

// Key is equal for programs that compute the same in the same way.
func (p *Program) Key() string { return p.key }

func (p *Program) makeKey() string {
	k := make([]byte, 0, 16*len(p.nodes))
	for _, s := range p.ins {
		k = append(k, byte(s.dtype), flag(s.row))
	}
	k = append(k, 0xff)
	for _, s := range p.outs {
		k = append(k, byte(s.dtype), flag(s.row)|flag(s.col)<<1)
		k = binary.AppendUvarint(k, uint64(s.value))
	}
	k = append(k, 0xff)
	for _, t := range p.params {
		k = append(k, byte(t))
	}
	k = append(k, 0xff)
	for _, n := range p.nodes[1:] {
		k = append(k, byte(n.op), byte(n.typ))
		for _, a := range n.args[:sigs[n.op].args] {
			k = binary.AppendUvarint(k, uint64(a))
		}
		k = binary.AppendUvarint(k, n.imm)
	}
	return string(k)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Ops is the number of operations on elements.
func (p *Program) Ops() int {
	ops := 0
	for v, n := range p.nodes[1:] {
		if sigs[n.op].args > 0 && !p.row[v+1] {
			ops++
		}
	}
	return ops
}

// folds says whether an empty dimension still has results.
func (p *Program) folds() bool {
	for _, o := range p.outs {
		if o.col {
			return true
		}
	}
	return p.reduces
}

// Reduces says whether the program folds rows.
func (p *Program) Reduces() bool { return p.reduces }

// Inputs gives the element types of the inputs, in order.
func (p *Program) Inputs() []dtype.DType { return dtypes(p.ins) }

// Outputs gives the element types of the outputs, in order.
func (p *Program) Outputs() []dtype.DType { return dtypes(p.outs) }

func dtypes(ss []slot) []dtype.DType {
	ds := make([]dtype.DType, len(ss))
	for i, s := range ss {
		ds[i] = s.dtype
	}
	return ds
}

// String lists the program, an operation a line.
func (p *Program) String() string {
	var s strings.Builder
	for v, n := range p.nodes[1:] {
		fmt.Fprintf(&s, "v%d = %v.%v", v+1, n.op, n.typ)
		for _, a := range n.args[:sigs[n.op].args] {
			fmt.Fprintf(&s, " v%d", a)
		}
		switch n.op {
		case OpIn, OpRowIn:
			fmt.Fprintf(&s, " %d %v", n.imm, p.ins[n.imm].dtype)
		case OpParam, OpShl, OpShr, OpSar:
			fmt.Fprintf(&s, " %d", n.imm)
		case OpConst:
			fmt.Fprintf(&s, " %#x", n.imm)
		}
		s.WriteByte('\n')
	}
	for i, o := range p.outs {
		fmt.Fprintf(&s, "out %d %v v%d\n", i, o.dtype, o.value)
	}
	return s.String()
}
