package worker

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// A Cost is what the compiler's cost model says of a program: flops, "bytes
// accessed", optimal_seconds, … What it cannot say is absent.
type Cost map[string]float64

// costOf keeps the numbers.
func costOf(values map[string]any) Cost {
	c := Cost{}
	for k, v := range values {
		var f float64
		switch v := v.(type) {
		case float32:
			f = float64(v)
		case int64:
			f = float64(v)
		default:
			continue
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			c[k] = f
		}
	}
	return c
}

// A TPUReport is what libtpu tells of an executable of its own, loaded or not.
type TPUReport struct {
	Target []byte // the chip, for Costs
	Module []byte // HloModuleProtoWithConfig
	Memory []byte // CompiledMemoryStatsProto, with the buffer assignment
}

// tpuExtension is the interface's number of libtpu's extension for executables.
const tpuExtension = 17

func (s *server) isTPU() bool { return slices.Contains(s.about.Extensions, tpuExtension) }

func (s *server) tpuReport(serialized []byte) (rep TPUReport, err error) {
	if rep.Target, err = s.plugin.TPUTarget(serialized); err != nil {
		return rep, err
	}
	if rep.Module, err = s.plugin.TPUModule(serialized); err != nil {
		return rep, err
	}
	rep.Memory, err = s.plugin.TPUMemoryStats(serialized)
	return rep, err
}

func (s *server) tpuOpen(c *cursor) ([][]byte, error) {
	code := c.bytes()
	if c.bad {
		return nil, nil
	}
	rep, err := s.tpuReport(code)
	if err != nil {
		return nil, err
	}
	return asJSON(rep)
}

// tpuCosts prices programs; one that has no price has an empty Cost.
func (s *server) tpuCosts(c *cursor) ([][]byte, error) {
	target := c.bytes()
	costs := make([]Cost, c.count(8))
	for i := range costs {
		code := c.bytes()
		if c.bad {
			return nil, nil
		}
		if v, err := s.plugin.TPUCost(target, code); err == nil {
			costs[i] = costOf(v)
		}
	}
	return asJSON(costs)
}

// OpenTPU reads a serialized executable of libtpu. It needs the library and no
// TPU. The error is *capi.Error for bytes that are none.
func (w *Worker) OpenTPU(ctx context.Context, serialized []byte) (rep TPUReport, err error) {
	if len(serialized) == 0 {
		return rep, &capi.Error{Code: capi.InvalidArgument, Message: "an empty executable"}
	}
	b, err := w.ask(ctx, tpuOpen, message(nil).word(uint64(len(serialized))), serialized)
	if err == nil {
		err = json.Unmarshal(b, &rep)
	}
	return rep, err
}

// CostsTPU runs the cost model of libtpu over programs, each a
// HloModuleProtoWithConfig, for the chip of a report.
func (w *Worker) CostsTPU(ctx context.Context, target []byte, modules [][]byte) (costs []Cost, err error) {
	m := message(nil).bytes(target).word(uint64(len(modules)))
	for _, code := range modules {
		m = m.bytes(code)
	}
	b, err := w.ask(ctx, tpuCosts, m)
	if err == nil {
		err = json.Unmarshal(b, &costs)
	}
	return costs, err
}
