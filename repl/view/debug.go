package view

import "github.com/tpush/tpush/inspect"

// Debug is where the program stands.
func (v *Views) Debug() inspect.Debug {
	d := inspect.Debug{State: "idle"}
	if v.s.Running() {
		d.State = "running"
	}
	return d
}
