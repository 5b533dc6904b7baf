package sim

import (
	"math"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
)

// work is what a kernel does, in the terms of the cost model.
type work struct {
	flops       int64   // useful
	read, write int64   // HBM traffic, padded
	matmulNS    float64 // time of the matrix unit
	vpu         float64 // operations
	eup, xlu    float64 // elements
	serialNS    float64 // what overlaps with nothing: accesses one by one
	again       bool    // the data is gone over twice
	unit        op.Unit
	unitNS      float64 // time of unit, to choose among several
}

// longestNS is where times saturate, 52 days: sums of many stay in range.
const longestNS = 1 << 52

// wideFactor is how many 32-bit vector operations one on a 64-bit type takes: it is emulated in pairs.
const wideFactor = 8

// nodeWork is the work of a node; its HBM traffic depends on the kernel it is in.
func nodeWork(chip *device.Chip, n *graph.Node) work {
	w := work{unit: op.DMA}
	if graph.IsView(n) {
		return w
	}
	irregular(chip, n, &w)
	if n.Def.Cost == nil {
		return w
	}
	in := specs(n.In)
	c := n.Def.Cost(in, n.Outs, n.Attrs)
	w.flops, w.unit = c.FLOPs, c.Unit
	w.vpu, w.eup, w.xlu = float64(c.VPUOps), float64(c.EUPOps), float64(c.XLUOps)
	wide := false
	for _, s := range n.Outs {
		wide = wide || s.DType.Bits() == 64
	}
	for _, s := range in {
		wide = wide || s.Valid() && !s.Weak && s.DType.Bits() == 64
	}
	if wide {
		w.vpu *= wideFactor
		w.eup *= wideFactor
	}
	if c.M > 0 {
		t := matmulType(n)
		m, nn, k := roundUp(int64(c.M), 8), roundUp(int64(c.N), int64(chip.MXUSize)), roundUp(int64(c.K), int64(chip.MXUSize))
		ops := 2 * float64(max(c.B, 1)) * float64(m) * float64(nn) * float64(k)
		w.matmulNS = ops * passes(t, n.Attrs.Str("precision")) / chip.MatmulRate(t) * 1e9
	}
	w.unitNS = max(w.matmulNS, w.vectorNS(chip))
	return w
}

// matmulType is the element type that decides the rate of a product: the wider of the operands.
func matmulType(n *graph.Node) dtype.DType {
	t := dtype.Invalid
	for _, r := range n.In[:min(2, len(n.In))] {
		if s := r.Spec(); s.Valid() && (t == dtype.Invalid || s.DType.Bits() > t.Bits()) {
			t = s.DType
		}
	}
	if t == dtype.Invalid {
		t = n.Outs[0].DType
	}
	return t
}

// passes is how many bf16 products stand for one of element type t. The
// compiler estimates 1.02, 2.85 and 5.7 times the cycles of bf16 for f32 at
// the precisions default, high and highest; highest, which keeps f32 exact, is
// what an empty name means. f16 has eleven bits, two bf16 terms: high.
func passes(t dtype.DType, precision string) float64 {
	const one, high, highest = 1.02, 2.85, 5.7
	narrow := map[string]float64{"default": one, "high": high}
	switch t {
	case dtype.F32, dtype.I32, dtype.U32:
		if p, ok := narrow[precision]; ok {
			return p
		}
		return highest
	case dtype.F16, dtype.I16, dtype.U16:
		if precision == "default" {
			return one
		}
		return high
	case dtype.F64, dtype.I64, dtype.U64, dtype.C64, dtype.C128:
		return 4 * highest // pairs of 32-bit parts, four products
	}
	return 1
}

// add joins the work of another node of the same kernel; HBM traffic is counted by the planner.
func (w *work) add(o work) {
	w.flops += o.flops
	w.matmulNS += o.matmulNS
	w.vpu += o.vpu
	w.eup += o.eup
	w.xlu += o.xlu
	w.serialNS += o.serialNS
	w.again = w.again || o.again
	if o.unitNS > w.unitNS {
		w.unit, w.unitNS = o.unit, o.unitNS
	}
}

// vectorNS is the time of the slowest of the vector units, which work side by side.
func (w *work) vectorNS(chip *device.Chip) float64 {
	return 1e9 * max(w.vpu/chip.VPUOpsPerSec, w.eup/chip.EUPOpsPerSec, w.xlu/chip.XLUOpsPerSec)
}

// memoryNS is the time of the HBM traffic.
func (w *work) memoryNS(chip *device.Chip) float64 {
	b := (float64(w.read) + float64(w.write)) / (chip.HBMBytesPerSec * chip.HBMEfficiency / 1e9)
	if w.again {
		b *= 2
	}
	return b
}

// saturated rounds a time.
func saturated(ns float64) int64 { return int64(math.Round(min(ns, longestNS))) }

// time is t0 + max(C, B, V) + min(min(C, B), fill): compute, memory and vector
// work overlap, but for the first block in and the last one out.
func (w *work) time(chip *device.Chip) (ns int64, bound string) {
	rate := chip.HBMBytesPerSec * chip.HBMEfficiency / 1e9
	c := w.matmulNS
	b := w.memoryNS(chip)
	v := w.vectorNS(chip)
	t := float64(chip.KernelFloorNS)
	most := max(c, b, v)
	switch {
	case w.serialNS > max(most, t):
		bound = "index"
	case most <= t:
		bound = "launch"
	case most == c:
		bound = "MXU"
	case most == b:
		bound = "HBM"
	case most == 1e9*w.eup/chip.EUPOpsPerSec:
		bound = "EUP"
	case most == 1e9*w.xlu/chip.XLUOpsPerSec:
		bound = "XLU"
	default:
		bound = "VPU"
	}
	t += w.serialNS + most + min(c, b, float64(chip.FillBytes)/rate)
	if t > longestNS {
		return longestNS, bound
	}
	return int64(math.Round(t)), bound
}
