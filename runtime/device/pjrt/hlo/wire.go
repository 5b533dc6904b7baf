// Package hlo reads what the TPU compiler answers: the optimized program, its
// memory plan, the text of its refusals and its listings of machine code.
//
// It reads bytes that anybody may have written: nothing in them makes it fail,
// what it does not understand is left out. It calls nothing and draws nothing.
// It imports shape of this module. Invariant: a Module and an Assignment
// point only at instructions that exist.
package hlo

import "google.golang.org/protobuf/encoding/protowire"

// wire is one protobuf message as bytes; fields are read on demand, so a newer
// compiler only adds what is not looked at.
type wire []byte

// each calls f for every field: v holds varints and fixed values, b bytes.
func (m wire) each(f func(num protowire.Number, v uint64, b []byte)) {
	for len(m) > 0 {
		num, typ, n := protowire.ConsumeTag(m)
		if n < 0 {
			return
		}
		m = m[n:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(m)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(m)
			v = uint64(w)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(m)
		default:
			n = protowire.ConsumeFieldValue(num, typ, m)
		}
		if n < 0 {
			return
		}
		m = m[n:]
		f(num, v, b)
	}
}

// sub gives the last occurrence of a message or text.
func (m wire) sub(num protowire.Number) (out wire) {
	m.each(func(n protowire.Number, _ uint64, b []byte) {
		if n == num {
			out = b
		}
	})
	return out
}

// subs gives every occurrence of a message or text.
func (m wire) subs(num protowire.Number) (out []wire) {
	m.each(func(n protowire.Number, _ uint64, b []byte) {
		if n == num {
			out = append(out, b)
		}
	})
	return out
}

// texts gives every occurrence of a text.
func (m wire) texts(num protowire.Number) (out []string) {
	for _, s := range m.subs(num) {
		out = append(out, string(s))
	}
	return out
}

// int gives a number, 0 when it is absent.
func (m wire) int(num protowire.Number) (out int64) {
	m.each(func(n protowire.Number, v uint64, _ []byte) {
		if n == num {
			out = int64(v)
		}
	})
	return out
}

// ints gives a list of numbers, packed or not.
func (m wire) ints(num protowire.Number) (out []int64) {
	m.each(func(n protowire.Number, v uint64, b []byte) {
		if n != num {
			return
		}
		if b == nil {
			out = append(out, int64(v))
			return
		}
		for len(b) > 0 {
			v, k := protowire.ConsumeVarint(b)
			if k < 0 {
				return
			}
			out, b = append(out, int64(v)), b[k:]
		}
	})
	return out
}

func varint(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func field(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}
