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
	out := in.opt.Stdout
	f := func(w io.Writer, format string, args []any) (int, error) {
		format, args = in.registry.format(format, args)
		return fmt.Fprintf(w, format, args...)
	}
	set("Print", func(a ...any) (int, error) { return fmt.Fprint(out, r(a)...) })
	set("Println", func(a ...any) (int, error) { return fmt.Fprintln(out, r(a)...) })
	set("Printf", func(format string, a ...any) (int, error) { return f(out, format, a) })
	set("Sprint", func(a ...any) string { return fmt.Sprint(r(a)...) })
	set("Sprintln", func(a ...any) string { return fmt.Sprintln(r(a)...) })
	set("Sprintf", func(format string, a ...any) string {
		format, a = in.registry.format(format, a)
		return fmt.Sprintf(format, a...)
	})
	set("Fprint", func(w io.Writer, a ...any) (int, error) { return fmt.Fprint(w, r(a)...) })
	set("Fprintln", func(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(w, r(a)...) })
	set("Fprintf", func(w io.Writer, format string, a ...any) (int, error) { return f(w, format, a) })
	set("Append", func(b []byte, a ...any) []byte { return fmt.Append(b, r(a)...) })
	set("Appendln", func(b []byte, a ...any) []byte { return fmt.Appendln(b, r(a)...) })
	set("Appendf", func(b []byte, format string, a ...any) []byte {
		format, a = in.registry.format(format, a)
		return fmt.Appendf(b, format, a...)
	})
	set("Errorf", func(format string, a ...any) error {
		format, a = in.registry.format(format, a)
		return fmt.Errorf(format, a...)
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
