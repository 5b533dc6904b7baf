package interp

import "reflect"

// EachVariable visits the session's variables in no order, each by a pointer to it.
// It visits nothing and is false while goroutines of earlier cells run: what
// they change cannot be looked at. No cell may run.
func (in *Interp) EachVariable(visit func(name string, p reflect.Value)) bool {
	if in.stacks.n.Load() > 0 {
		return false
	}
	in.types.Lock()
	defer in.types.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.scope.EachVariable(func(name, internal string) {
		if p, ok := in.vars[internal]; ok {
			visit(name, p)
		}
	})
	return true
}
