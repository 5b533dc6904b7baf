package hlo

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Slice cuts one instruction of the entry out into a program of its own, for
// the cost model: its operands become parameters under their old ids, so the
// bytes of the instruction stay as they are. It gives nil for a module that
// came without its configuration, or whose operands are missing.
func (m *Module) Slice(in *Instruction) []byte {
	if m.withConfig == nil {
		return nil
	}
	mod, cfg := m.withConfig.sub(1), m.withConfig.sub(2)
	var params, program []byte
	var seen []int64
	for _, o := range in.Operands {
		if slices.Contains(seen, o) {
			continue
		}
		x := m.ByID[o]
		if x == nil {
			return nil
		}
		sh := x.raw.sub(3)
		p := field(nil, 1, fmt.Appendf(nil, "p%d", len(seen)))
		p = field(field(p, 2, []byte("parameter")), 3, sh)
		p = varint(varint(p, 9, uint64(len(seen))), 35, uint64(o))
		params = field(params, 2, p)
		program = field(program, 1, sh)
		seen = append(seen, o)
	}
	program = field(program, 2, in.raw.sub(3))
	for i := range seen {
		program = field(program, 3, fmt.Appendf(nil, "p%d", i))
	}
	entry := append(field(nil, 1, []byte("slice")), params...)
	entry = field(field(entry, 2, in.raw), 4, program)
	entry = varint(varint(entry, 5, uint64(m.Entry.ID)), 6, uint64(in.ID))

	out := field(field(nil, 1, []byte(m.Name)), 2, []byte("slice"))
	mod.each(func(n protowire.Number, _ uint64, b []byte) {
		switch {
		case n == 3 && wire(b).int(5) != m.Entry.ID, n == 17, n == 22:
			out = field(out, n, b)
		}
	})
	out = field(field(out, 3, entry), 4, program)
	out = varint(out, 6, uint64(m.Entry.ID))
	return field(field(nil, 1, out), 2, cfg.replaced(1, program))
}

// replaced gives the message with a field in place of every occurrence of it.
func (m wire) replaced(num protowire.Number, v []byte) []byte {
	out := field(nil, num, v)
	for len(m) > 0 {
		n, typ, k := protowire.ConsumeTag(m)
		if k < 0 {
			break
		}
		l := protowire.ConsumeFieldValue(n, typ, m[k:])
		if l < 0 {
			break
		}
		if n != num {
			out = append(out, m[:k+l]...)
		}
		m = m[k+l:]
	}
	return out
}
