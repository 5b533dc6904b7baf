package op

import "github.com/tpush/tpush/runtime/shape"

// Complete gives the attributes of a call in the order of the row's
// parameters with defaults filled in. It refuses names that the row does not
// have and required ones that are missing.
func (d *Def) Complete(given Attrs) (Attrs, error) {
	out := make(Attrs, 0, len(d.Params))
	used := 0
	for i := range d.Params {
		p := &d.Params[i]
		if p.Kind.IsTensor() {
			continue
		}
		v, ok := p.Default, p.Default != nil || p.Kind == KInts || p.Kind == KDType
		for j := range given {
			if given[j].Name == p.Name {
				v, ok = given[j].Value, true
				used++
				break
			}
		}
		if !ok {
			return nil, &shape.ArgumentError{Op: string(d.Name), Arg: p.Name, Why: "required"}
		}
		out = append(out, Attr{Name: p.Name, Value: v})
	}
	if used < len(given) {
		for _, g := range given {
			if !d.hasAttr(g.Name) {
				return nil, &shape.ArgumentError{Op: string(d.Name), Arg: g.Name, Value: g.Value, Why: "no such parameter"}
			}
		}
	}
	return out, nil
}

// hasAttr says whether name is an attribute of the row.
func (d *Def) hasAttr(name string) bool {
	for _, p := range d.Params {
		if p.Name == name && !p.Kind.IsTensor() {
			return true
		}
	}
	return false
}
