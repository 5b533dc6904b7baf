package interp

// Clear sets variables of the session to their zero values: what they held is
// reached through them no more. It gives the names that there are not.
func (in *Interp) Clear(names ...string) (unknown []string) {
	in.types.Lock()
	defer in.types.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	internal := map[string]string{}
	for _, v := range in.scope.Variables() {
		internal[v.Name] = v.Internal
	}
	for _, name := range names {
		p, ok := in.vars[internal[name]]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		p.Elem().SetZero()
	}
	return unknown
}
