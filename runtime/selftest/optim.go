package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/tpu"
)

func optimizer(*conformance.Record) error { panic(skip("no optimizers yet")) }

func newOptimizer(string, map[string]any, []*tpu.Tensor) (func() error, error) {
	return func() error { return nil }, nil
}
