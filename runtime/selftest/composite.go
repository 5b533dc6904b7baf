package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
)

// composites are functions of package tpu made of other operations. A row of
// the same name goes before them.
var composites = map[string]func(c *composite) []*tpu.Tensor{
	"hstack":       func(c *composite) []*tpu.Tensor { return list1(tpu.HStack(c.list(0)...)) },
	"vstack":       func(c *composite) []*tpu.Tensor { return list1(tpu.VStack(c.list(0)...)) },
	"dstack":       func(c *composite) []*tpu.Tensor { return list1(tpu.DStack(c.list(0)...)) },
	"column_stack": func(c *composite) []*tpu.Tensor { return list1(tpu.ColumnStack(c.list(0)...)) },
	"block_diag":   func(c *composite) []*tpu.Tensor { return list1(tpu.BlockDiag(c.list(0)...)) },
	"cartesian_prod": func(c *composite) []*tpu.Tensor {
		return list1(tpu.CartesianProd(c.list(0)...))
	},
	"meshgrid": func(c *composite) []*tpu.Tensor {
		if c.r.Attrs["indexing"] == "xy" {
			return tpu.MeshgridXY(c.list(0)...)
		}
		return tpu.Meshgrid(c.list(0)...)
	},
	"combinations": func(c *composite) []*tpu.Tensor {
		return list1(c.t(0).Combinations(attrInt(c.r, "r", 2), yes(c.r.Attrs["with_replacement"])))
	},
	"fliplr":           func(c *composite) []*tpu.Tensor { return list1(c.t(0).FlipLR()) },
	"flipud":           func(c *composite) []*tpu.Tensor { return list1(c.t(0).FlipUD()) },
	"ravel":            func(c *composite) []*tpu.Tensor { return list1(c.t(0).Ravel()) },
	"vander":           func(c *composite) []*tpu.Tensor { return list1(c.t(0).Vander()) },
	"multi_dot":        func(c *composite) []*tpu.Tensor { return list1(tpu.MultiDot(c.list(0)...)) },
	"rope_half":        func(c *composite) []*tpu.Tensor { return list1(c.t(0).RopeHalf(c.t(1), c.t(2))) },
	"rope_interleaved": func(c *composite) []*tpu.Tensor { return list1(c.t(0).RopeInterleaved(c.t(1), c.t(2))) },
	"rope_tables": func(c *composite) []*tpu.Tensor {
		cos, sin := tpu.RopeTables(attrInt(c.r, "length", 0), attrInt(c.r, "dim", 0), float(c.r.Attrs["theta"]))
		return []*tpu.Tensor{cos, sin}
	},
	"rnn_tanh_cell": func(c *composite) []*tpu.Tensor {
		return list1(tpu.RNNTanhCell(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.t(5)))
	},
	"rnn_relu_cell": func(c *composite) []*tpu.Tensor {
		return list1(tpu.RNNReluCell(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.t(5)))
	},
	"gru_cell": func(c *composite) []*tpu.Tensor {
		return list1(tpu.GRUCell(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.t(5)))
	},
	"lstm_cell": func(c *composite) []*tpu.Tensor {
		h, s := tpu.LSTMCell(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.t(5), c.t(6))
		return []*tpu.Tensor{h, s}
	},
	"multi_head_attention": func(c *composite) []*tpu.Tensor {
		out, w := tpu.MultiHead(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.t(5), c.t(6), attrInt(c.r, "num_heads", 1))
		if average, ok := c.r.Attrs["average_attn_weights"].(bool); !ok || average {
			w = w.Mean(1)
		}
		return []*tpu.Tensor{out, w}
	},
}

// A composite is one call of such a function.
type composite struct {
	ts tensors
	r  *conformance.Record
}

func (c *composite) t(i int) *tpu.Tensor {
	if i >= len(c.r.Inputs) || c.r.Inputs[i].Kind != conformance.Tensor {
		return nil
	}
	return c.ts.upload(c.r.Inputs[i].Array)
}

func (c *composite) list(i int) []*tpu.Tensor { return c.ts.list(c.r.Inputs[i]) }

func list1(t *tpu.Tensor) []*tpu.Tensor { return []*tpu.Tensor{t} }

// composed runs a record through a composite; ok is false when it is a row.
func (ts tensors) composed(r *conformance.Record) (out []*tpu.Tensor, ok bool) {
	f := composites[r.Op]
	if f == nil || op.Lookup(op.Name(r.Op)) != nil {
		return nil, false
	}
	return f(&composite{ts, r}), true
}
