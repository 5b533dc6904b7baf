package inspect

import "github.com/tpush/tpush/viz"

// CollectiveTable lists what the devices of a mesh told each other: as XLA's
// partitioner planned it, or as one would. Times are simulated.
func (d *GroupDetail) CollectiveTable() viz.Table {
	title := "exchange (real XLA)"
	if len(d.Collectives) > 0 && d.Collectives[0].Predicted {
		title = "exchange (simulated)"
	}
	t := viz.Table{Columns: []viz.Column{{Title: title}, {Title: "bytes", Right: true}, {Title: "simulated", Right: true}, {Title: "between"}, {Title: "instruction"}}}
	for _, c := range d.Collectives {
		t.Rows = append(t.Rows, []string{c.Op, viz.Bytes(c.Bytes), viz.DurationNS(c.NS), c.Groups, c.Name})
	}
	return t
}
