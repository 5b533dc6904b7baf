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
var sorts = map[op.Name]bool{
	"sort": true, "argsort": true, "msort": true, "unique": true, "kthvalue": true, "mode": true,
	"median": true, "median.dim": true, "nanmedian": true, "nanmedian.dim": true,
	"quantile": true, "nanquantile": true, "quantile_ranks": true,
}

// lookups are rows that read the places an index names; the others of their class write there.
var lookups = map[op.Name]bool{
	"index_select": true, "gather": true, "take": true, "take_along_dim": true, "embedding": true, "index": true,
}

// irregular adds to w what a node costs beyond its stream.
func irregular(chip *device.Chip, n *graph.Node, w *work) {
	switch {
	case sorts[n.Def.Name]:
		w.serialNS += sortNS(chip, n)
	case twice[n.Def.Name] || n.Def.Class == op.Random:
		w.again = true
	case n.Def.Class == op.Index:
		_, rows := indexed(n)
		if !lookups[n.Def.Name] || rows > 0 && n.Outs[0].PaddedBytes()/rows < lineBytes {
			w.serialNS += float64(rows) * rowNS
		}
	}
}

// indexed gives the operand that a node indexes, -1 for none, and the number of
// places it names there.
func indexed(n *graph.Node) (into int, rows int64) {
	into = -1
	if n.Def.Indices == nil {
		return into, 0
	}
	for _, c := range n.Def.Indices(specs(n.In), n.Attrs) {
		into = max(into, c.Into)
		if c.Index >= 0 && c.Index < len(n.In) {
			rows = max(rows, int64(n.In[c.Index].Spec().Size()))
		}
	}
	return into, rows
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
	if !lookups[n.Def.Name] {
		return all
	}
	into, rows := indexed(n)
	if into < 0 || n.In[into] != r || rows == 0 {
		return all
	}
	return min(all, max(n.Outs[0].PaddedBytes(), product(rows, lineBytes)))
}
