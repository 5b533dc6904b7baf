package sim

import (
	"math/bits"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Operations whose time is not that of a stream through memory. Few
// measurements were published for them, so the figures are rough.
const (
	// rowNS is the time of one row that is looked up or added by index:
	// 13 million scattered elements took 0.29 s.
	rowNS = 20
	// lineBytes is the least that one access to HBM moves: a row of 128 lanes.
	lineBytes = 512
	// vmemOverHBM is how much faster VMEM is than HBM.
	vmemOverHBM = 22
)

// twice are rows that go over their data two times or in log-many steps that
// cost as much: scans over lanes, the place of an extreme value.
var twice = map[op.Name]bool{
	"cumsum": true, "cumprod": true, "cummax": true, "cummin": true, "logcumsumexp": true,
	"argmax": true, "argmin": true,
}

// sorts are rows that put their elements in order.
var sorts = map[op.Name]bool{"sort": true, "argsort": true, "msort": true, "unique": true, "median": true, "nanmedian": true, "kthvalue": true, "mode": true}

// irregular adds to w what a node costs beyond its stream.
func irregular(chip *device.Chip, n *graph.Node, w *work) {
	switch {
	case sorts[n.Def.Name]:
		w.serialNS += sortNS(chip, n)
	case twice[n.Def.Name] || n.Def.Class == op.Random:
		w.again = true
	case n.Def.Class == op.Index:
		rows := indexed(n)
		scatter := n.Outs[0].Equal(n.In[0].Spec())
		if scatter || rows > 0 && n.Outs[0].PaddedBytes()/rows < lineBytes {
			w.serialNS += float64(rows) * rowNS
		}
	}
}

// indexed is the number of places an index operand names; 0 when there is none.
func indexed(n *graph.Node) int64 {
	var rows int64
	for _, r := range n.In[min(1, len(n.In)):] {
		if s := r.Spec(); s.Valid() && s.DType.IsInt() && !s.Weak {
			rows = max(rows, int64(s.Size()))
		}
	}
	return rows
}

// sortNS is the time of a bitonic network along the sorted axis: k(k+1)/2
// passes over the results for rows of 2^k elements, through VMEM when they fit.
func sortNS(chip *device.Chip, n *graph.Node) float64 {
	dims := n.In[0].Spec().Dims
	if len(dims) == 0 {
		return 0
	}
	axis := n.Attrs.Int("dim")
	if axis < 0 {
		axis += len(dims)
	}
	length := shape.Size(dims)
	if n.Attrs.Has("dim") && axis >= 0 && axis < len(dims) {
		length = dims[axis]
	}
	if length < 2 {
		return 0
	}
	k := float64(bits.Len(uint(length - 1)))
	var bytes int64
	for _, s := range n.Outs {
		bytes = sum(bytes, s.PaddedBytes())
	}
	rate := chip.HBMBytesPerSec * chip.HBMEfficiency / 1e9
	if bytes <= chip.VMEMBytes-chip.ScopedVMEMBytes {
		rate *= vmemOverHBM
	}
	return k * (k + 1) / 2 * 2 * float64(bytes) / rate
}

// lookedUp is what a lookup reads of the table r: whole lines of the places
// that are named, at most the table.
func lookedUp(n *graph.Node, r graph.Ref) int64 {
	all := readBytes(r)
	if n.Def.Class != op.Index || len(n.In) == 0 || n.In[0] != r || n.Outs[0].Equal(r.Spec()) {
		return all
	}
	rows := indexed(n)
	if rows == 0 {
		return all
	}
	return min(all, max(n.Outs[0].PaddedBytes(), product(rows, lineBytes)))
}
