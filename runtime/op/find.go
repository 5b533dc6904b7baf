package op

import (
	"strings"

	"github.com/tpush/tpush/runtime/spelling"
)

// Find gives the row of a name as people write it: ours, PyTorch's with or
// without its module, overload or in-place mark, or that of the Go method or
// function; nil when there is none.
func Find(name string) *Def {
	if d := Lookup(Name(name)); d != nil {
		return d
	}
	want := plainName(name)
	var found *Def
	for _, t := range All() {
		for i := range t {
			d := &t[i]
			if name == d.Torch || name == d.Method || name == d.Func {
				return d
			}
			if found == nil && (want == plainName(string(d.Name)) || want == plainName(d.Torch) || d.Method != "" && want == plainName(d.Method) || d.Func != "" && want == plainName(d.Func)) {
				found = d
			}
		}
	}
	return found
}

// plainName leaves of a name what people agree on: torch.nn.functional.layer_norm
// and LayerNorm are layernorm, add_ and add.Tensor are add.
func plainName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "::", ".")
	for _, lead := range []string{"torch.", "aten.", "ops.aten.", "nn.functional.", "functional.", "f.", "tensor.", "linalg.", "special.", "tpu."} {
		s = strings.TrimPrefix(s, lead)
	}
	for _, lead := range []string{"linalg_", "special_"} {
		s = strings.TrimPrefix(s, lead)
	}
	s, _, _ = strings.Cut(s, ".")
	return strings.ReplaceAll(strings.TrimSuffix(s, "inplace"), "_", "")
}

// Nearest is the operation that was probably meant by a name that Find does
// not know, "" when none is near.
func Nearest(name string) Name {
	want := plainName(name)
	best, at := Name(""), min(2, (len(want)+1)/3)+1
	for _, t := range All() {
		for i := range t {
			for _, n := range []string{string(t[i].Name), t[i].Torch} {
				if d := spelling.Distance(want, plainName(n)); d < at {
					best, at = t[i].Name, d
				}
			}
		}
	}
	return best
}
