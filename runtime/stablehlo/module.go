package stablehlo

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/shape"
)

// ModuleOptions are what a module says beside its function.
type ModuleOptions struct {
	// Alias maps parameters to the results that take over their memory
	// (donation); such a parameter may not be used after the call.
	Alias map[int]int
	// Replicas and Partitions default to 1.
	Replicas, Partitions int
	// Sharding says for each parameter where it is, in XLA's text; nil: nothing is said.
	Sharding []string
}

// Module writes a module with one public function @main of the given
// parameters; body writes the operations and gives the results.
func Module(name string, params []shape.Spec, body func(w *Writer, args []Value) []Value, o ModuleOptions) string {
	w := &Writer{indent: 1, Partitions: o.Partitions}
	args := make([]Value, len(params))
	var head strings.Builder
	for i, s := range params {
		args[i] = Value{fmt.Sprintf("%%arg%d", i), s}
		if i > 0 {
			head.WriteString(", ")
		}
		head.WriteString(args[i].ID + ": " + Type(s))
		if out, ok := o.Alias[i]; ok {
			fmt.Fprintf(&head, " {tf.aliasing_output = %d : i32}", out)
		} else if i < len(o.Sharding) {
			fmt.Fprintf(&head, " {mhlo.sharding = %q}", o.Sharding[i])
		}
	}
	results := body(w, args)
	var out strings.Builder
	for i, v := range results {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(Type(v.Spec))
	}
	w.Loc = ""
	w.Op("func.return", results, nil, "")
	return fmt.Sprintf("module @%s attributes {mhlo.num_partitions = %d : i32, mhlo.num_replicas = %d : i32} {\n"+
		"  func.func public @main(%s) -> (%s) {\n%s  }\n}\n",
		symbol(name), max(o.Partitions, 1), max(o.Replicas, 1), head.String(), out.String(), w.Body())
}

// symbol makes a name that needs no quotes.
func symbol(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', i > 0 && '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "main"
	}
	return b.String()
}
