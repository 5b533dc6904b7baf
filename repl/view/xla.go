package view

import "github.com/tpush/tpush/inspect/xla"

// XLA is what the TPU compiler said last; a report without programs before it
// was asked.
func (v *Views) XLA() *xla.Report {
	if r := v.s.Report(); r != nil {
		return r
	}
	return &xla.Report{Programs: []xla.Program{}}
}
