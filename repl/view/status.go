package view

import "github.com/tpush/tpush/inspect"

// Status is the session at a glance.
func (v *Views) Status() (inspect.Status, error) {
	l, ok := v.s.Dispatcher().Look(0, patience)
	if !ok {
		return inspect.Status{}, &BusyError{}
	}
	return inspect.StatusOf(l), nil
}
