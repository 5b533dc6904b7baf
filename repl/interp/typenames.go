package interp

import (
	"go/types"
	"reflect"
	"strconv"
	"strings"
)

// name writes a type as %T and Go's run-time errors do.
func (tt *typeTable) name(t types.Type) string {
	var b strings.Builder
	writeName(&b, t)
	return b.String()
}

func writeName(b *strings.Builder, t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		if o.Pkg() != nil {
			b.WriteString(o.Pkg().Name() + ".")
		}
		b.WriteString(plainName(o.Name()))
		if n := t.TypeArgs().Len(); n > 0 {
			b.WriteByte('[')
			for i := range n {
				if i > 0 {
					b.WriteByte(',')
				}
				writeName(b, t.TypeArgs().At(i))
			}
			b.WriteByte(']')
		}
	case *types.Basic:
		switch t.Kind() {
		case types.UnsafePointer:
			b.WriteString("unsafe.Pointer")
		case types.Uint8:
			b.WriteString("uint8")
		case types.Int32:
			b.WriteString("int32")
		default:
			b.WriteString(t.Name())
		}
	case *types.Pointer:
		b.WriteByte('*')
		writeName(b, t.Elem())
	case *types.Slice:
		b.WriteString("[]")
		writeName(b, t.Elem())
	case *types.Array:
		b.WriteString("[" + strconv.FormatInt(t.Len(), 10) + "]")
		writeName(b, t.Elem())
	case *types.Map:
		b.WriteString("map[")
		writeName(b, t.Key())
		b.WriteByte(']')
		writeName(b, t.Elem())
	case *types.Chan:
		switch t.Dir() {
		case types.SendOnly:
			b.WriteString("chan<- ")
		case types.RecvOnly:
			b.WriteString("<-chan ")
		default:
			b.WriteString("chan ")
		}
		writeName(b, t.Elem())
	case *types.Signature:
		b.WriteString("func")
		writeSignature(b, t)
	case *types.Struct:
		if t.NumFields() == 0 {
			b.WriteString("struct {}")
			return
		}
		b.WriteString("struct {")
		for i := range t.NumFields() {
			if i > 0 {
				b.WriteByte(';')
			}
			f := t.Field(i)
			b.WriteByte(' ')
			if !f.Embedded() {
				b.WriteString(f.Name() + " ")
			}
			writeName(b, f.Type())
			if tag := t.Tag(i); tag != "" {
				b.WriteString(" " + strconv.Quote(tag))
			}
		}
		b.WriteString(" }")
	case *types.Interface:
		if t.NumMethods() == 0 {
			b.WriteString("interface {}")
			return
		}
		b.WriteString("interface {")
		for i := range t.NumMethods() {
			if i > 0 {
				b.WriteByte(';')
			}
			m := t.Method(i)
			b.WriteByte(' ')
			if !m.Exported() && m.Pkg() != nil {
				b.WriteString(m.Pkg().Name() + ".")
			}
			b.WriteString(m.Name())
			writeSignature(b, m.Signature())
		}
		b.WriteString(" }")
	default:
		b.WriteString(t.String())
	}
}

func writeSignature(b *strings.Builder, t *types.Signature) {
	b.WriteByte('(')
	n := t.Params().Len()
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		p := t.Params().At(i).Type()
		if s, ok := p.(*types.Slice); ok && t.Variadic() && i == n-1 {
			b.WriteString("...")
			p = s.Elem()
		}
		writeName(b, p)
	}
	b.WriteByte(')')
	r := t.Results().Len()
	if r > 0 {
		b.WriteByte(' ')
	}
	if r > 1 {
		b.WriteByte('(')
	}
	for i := range r {
		if i > 0 {
			b.WriteString(", ")
		}
		writeName(b, t.Results().At(i).Type())
	}
	if r > 1 {
		b.WriteByte(')')
	}
}

// plainName drops what an internal name adds.
func plainName(s string) string {
	s, _, _ = strings.Cut(s, "ʹ")
	return s
}

// standInOf gives the named basic type that a stand-in stands for.
func (tt *typeTable) standInOf(t reflect.Type) *typ {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return tt.used[t]
}

// standInList lists the types that have a stand-in.
func (tt *typeTable) standInList() (out []*typ) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	for _, t := range tt.used {
		out = append(out, t)
	}
	return out
}
