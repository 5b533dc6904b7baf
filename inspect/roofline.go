package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/viz"
)

// A Roofline is the ceilings of a chip and the kernels that ran below them.
type Roofline struct {
	Chip        string       `json:"chip"`
	BytesPerSec float64      `json:"bytes_per_sec"`
	Ceilings    []RoofLevel  `json:"ceilings"`
	Kernels     []RoofKernel `json:"kernels"` // that took most time first
	TotalNS     int64        `json:"total_ns"`
}

// A RoofLevel is a peak rate.
type RoofLevel struct {
	Name        string  `json:"name"`
	FLOPsPerSec float64 `json:"flops_per_sec"`
}

// A RoofKernel is a kernel over all its launches that are remembered.
type RoofKernel struct {
	Name       string   `json:"name"`
	Group      uint64   `json:"group"` // that ran it last
	Ops        []uint64 `json:"ops"`   // of that group
	At         At       `json:"at"`    // of its first op
	Place      string   `json:"place"`
	Times      int      `json:"times"`
	DurationNS int64    `json:"duration_ns"` // of all
	FLOPs      int64    `json:"flops"`       // of one
	Bytes      int64    `json:"bytes"`       // HBM traffic of one
	OneNS      int64    `json:"one_ns"`
	Bound      string   `json:"bound"`
	Unit       string   `json:"unit"`
}

// RooflineOf adds the kernels of the last launches up.
func RooflineOf(l exec.Look, chip *device.Chip) Roofline {
	r := Roofline{Chip: chip.Name, BytesPerSec: chip.HBMBytesPerSec, Kernels: []RoofKernel{}, Ceilings: []RoofLevel{
		{"MXU bf16", chip.MatmulRate(dtype.BF16)},
		{"VPU", chip.VPUOpsPerSec},
	}}
	type key struct {
		name         string
		at           At
		flops, bytes int64
	}
	seen := map[key]int{}
	for i := range l.Groups {
		g := &l.Groups[i]
		for k := range g.Plan.Kernels {
			kern := &g.Plan.Kernels[k]
			if kern.Kind == "scalar" || kern.DurationNS <= 0 {
				continue
			}
			row := RoofKernel{Name: kern.Name, FLOPs: kern.FLOPs, Bytes: kern.ReadBytes + kern.WriteBytes, OneNS: kern.DurationNS, Bound: kern.Bound, Unit: kern.Unit.String()}
			for j, n := range kern.Nodes {
				if n >= len(g.Ops) {
					continue
				}
				if j < keptOps {
					row.Ops = append(row.Ops, g.Ops[n].OpN)
				}
				if f := g.Ops[n].Stack.Top(); row.At.Line == 0 && f.Line > 0 {
					row.At, row.Place = At{f.Cell, f.Line}, f.Place()
				}
			}
			id := key{row.Name, row.At, row.FLOPs, row.Bytes}
			at, ok := seen[id]
			if !ok {
				at = len(r.Kernels)
				seen[id] = at
				r.Kernels = append(r.Kernels, row)
			}
			x := &r.Kernels[at]
			x.Times++
			x.DurationNS += kern.DurationNS
			x.Group, x.Ops = uint64(g.Number), row.Ops
			r.TotalNS += kern.DurationNS
		}
	}
	slices.SortStableFunc(r.Kernels, func(a, b RoofKernel) int { return cmp.Compare(b.DurationNS, a.DurationNS) })
	return r
}

// FLOPsPerByte is the intensity of a kernel, 0 when it moves nothing.
func (k *RoofKernel) FLOPsPerByte() float64 {
	if k.Bytes <= 0 {
		return 0
	}
	return float64(k.FLOPs) / float64(k.Bytes)
}

// FLOPsPerSec is the rate a kernel reached.
func (k *RoofKernel) FLOPsPerSec() float64 {
	return float64(k.FLOPs) / (float64(max(k.OneNS, 1)) / 1e9)
}

// Reached is how much of what the chip allows at its intensity a kernel reached, 0 to 1.
func (r *Roofline) Reached(k *RoofKernel) float64 {
	roof := 0.0
	for _, c := range r.Ceilings {
		roof = max(roof, c.FLOPsPerSec)
	}
	if k.Unit != "MXU" && len(r.Ceilings) > 1 {
		roof = r.Ceilings[1].FLOPsPerSec
	}
	if k.FLOPs == 0 { // a copy: against the memory
		return float64(k.Bytes) / (float64(max(k.OneNS, 1)) / 1e9) / r.BytesPerSec
	}
	if k.Bytes > 0 {
		roof = min(roof, k.FLOPsPerByte()*r.BytesPerSec)
	}
	return k.FLOPsPerSec() / max(roof, 1)
}

// Drawing is the chart; marked is the kernel under the cursor, -1 for none.
func (r *Roofline) Drawing(marked int) viz.Roofline {
	d := viz.Roofline{BytesPerSec: r.BytesPerSec, Marked: marked}
	for i, c := range r.Ceilings {
		m := viz.MXU
		if i > 0 {
			m = viz.VPU
		}
		d.Ceilings = append(d.Ceilings, viz.Ceiling{Label: fmt.Sprintf(" %s %.4g TFLOP/s ", c.Name, c.FLOPsPerSec/1e12), FLOPsPerSec: c.FLOPsPerSec, Meaning: m})
	}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		d.Points = append(d.Points, viz.RoofPoint{Letter: Letter(i), FLOPsPerByte: k.FLOPsPerByte(), FLOPsPerSec: k.FLOPsPerSec(), Meaning: bound(k.Bound)})
	}
	return d
}

func bound(what string) viz.Meaning {
	switch what {
	case "MXU":
		return viz.MXU
	case "HBM":
		return viz.HBM
	case "launch", "index":
		return viz.Wait
	}
	return viz.VPU
}

// Table lists the kernels; the letters are those of the chart.
func (r *Roofline) Table() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{}, {Title: "kernel"}, {Title: "×", Right: true, Drop: 6}, {Title: "TPU time", Right: true}, {Title: "FLOP/B", Right: true}, {Title: "of roof", Right: true}, {Title: "bound by", Meaning: viz.Hot, Drop: 1}, {Title: "group", Drop: 5}, {Title: "line", Meaning: viz.Place, Drop: 2}}}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		tb.Rows = append(tb.Rows, []string{Letter(i), k.Name, strconv.Itoa(k.Times), viz.DurationNS(k.DurationNS), viz.Number(k.FLOPsPerByte()),
			viz.Percent(int64(r.Reached(k)*1e4), 1e4), k.Bound, "g" + strconv.FormatUint(k.Group, 10), k.Place})
	}
	return tb
}

// Summary says where the ridge is and how the kernels stand to it.
func (r *Roofline) Summary() string {
	if len(r.Kernels) == 0 || len(r.Ceilings) == 0 {
		return "no kernel ran yet"
	}
	n := map[string]int64{}
	for i := range r.Kernels {
		n[r.Kernels[i].Bound] += r.Kernels[i].DurationNS
	}
	s := fmt.Sprintf("%s: ridge at %.0f FLOP/byte", r.Chip, r.Ceilings[0].FLOPsPerSec/r.BytesPerSec)
	for _, b := range []string{"MXU", "HBM", "VPU", "EUP", "XLU", "index", "launch"} {
		if n[b] > 0 {
			s += "   " + b + " bound " + viz.Percent(n[b], r.TotalNS)
		}
	}
	return s
}
