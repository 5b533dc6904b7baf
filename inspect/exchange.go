package inspect

import "github.com/tpush/tpush/viz"

// CollectiveTable lists what the devices of a mesh told each other: real, as
// XLA's partitioner planned it, beside times that are simulated.
func (d *GroupDetail) CollectiveTable() viz.Table {
	t := viz.Table{Columns: []viz.Column{{Title: "exchange (real XLA)"}, {Title: "bytes", Right: true}, {Title: "between"}, {Title: "instruction"}}}
	for _, c := range d.Collectives {
		t.Rows = append(t.Rows, []string{c.Op, viz.Bytes(c.Bytes), c.Groups, c.Name})
	}
	return t
}
