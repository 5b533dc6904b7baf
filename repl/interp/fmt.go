package interp

import (
	"fmt"
	"io"
	"strings"
)

// replaceFmt gives the fmt functions that write values their own form, which
// knows the types of cells.
func (in *Interp) replaceFmt(set func(name string, f any)) {
	r := func(args []any) []any { return in.registry.operands(args) }
	format := in.registry.format
	written := in.opt.OnWritten
	if written == nil {
		written = func() {}
	}
	told := func(n int, err error) (int, error) { written(); return n, err }
	text := func(s string) string { written(); return s }
	bytes := func(b []byte) []byte { written(); return b }
	f := func(w io.Writer, form string, args []any) (int, error) {
		form, args = format(form, args)
		return told(fmt.Fprintf(w, form, args...))
	}
	out := in.opt.Stdout
	set("Print", func(a ...any) (int, error) { return told(fmt.Fprint(out, r(a)...)) })
	set("Println", func(a ...any) (int, error) { return told(fmt.Fprintln(out, r(a)...)) })
	set("Printf", func(form string, a ...any) (int, error) { return f(out, form, a) })
	set("Sprint", func(a ...any) string { return text(fmt.Sprint(r(a)...)) })
	set("Sprintln", func(a ...any) string { return text(fmt.Sprintln(r(a)...)) })
	set("Sprintf", func(form string, a ...any) string {
		form, a = format(form, a)
		return text(fmt.Sprintf(form, a...))
	})
	set("Fprint", func(w io.Writer, a ...any) (int, error) { return told(fmt.Fprint(w, r(a)...)) })
	set("Fprintln", func(w io.Writer, a ...any) (int, error) { return told(fmt.Fprintln(w, r(a)...)) })
	set("Fprintf", func(w io.Writer, form string, a ...any) (int, error) { return f(w, form, a) })
	set("Append", func(b []byte, a ...any) []byte { return bytes(fmt.Append(b, r(a)...)) })
	set("Appendln", func(b []byte, a ...any) []byte { return bytes(fmt.Appendln(b, r(a)...)) })
	set("Appendf", func(b []byte, form string, a ...any) []byte {
		form, a = format(form, a)
		return bytes(fmt.Appendf(b, form, a...))
	})
	set("Errorf", func(form string, a ...any) error {
		form, a = format(form, a)
		err := fmt.Errorf(form, a...)
		written()
		return err
	})
}

// format wraps the operands of a format, and writes those of %T itself: fmt
// does that before it asks an operand.
func (r *registry) format(format string, args []any) (string, []any) {
	wrapped := r.operands(args)
	if !strings.Contains(format, "T") {
		return format, wrapped
	}
	var b strings.Builder
	arg := 0
	copied := false
	for i := 0; i < len(format); i++ {
		b.WriteByte(format[i])
		if format[i] != '%' {
			continue
		}
		i++
		for i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0 {
			switch format[i] {
			case '*':
				arg++
			case '[':
				if k := strings.IndexByte(format[i:], ']'); k > 0 {
					n := 0
					fmt.Sscan(format[i+1:i+k], &n)
					arg = n - 1
					b.WriteString(format[i : i+k])
					i += k
				}
			}
			b.WriteByte(format[i])
			i++
		}
		if i >= len(format) {
			break
		}
		verb := format[i]
		if verb == '%' {
			b.WriteByte(verb)
			continue
		}
		if verb == 'T' && arg >= 0 && arg < len(args) {
			if !copied {
				wrapped = append([]any{}, wrapped...)
				copied = true
			}
			wrapped[arg] = r.nameOf(args[arg])
			verb = 's'
		}
		b.WriteByte(verb)
		arg++
	}
	return b.String(), wrapped
}
