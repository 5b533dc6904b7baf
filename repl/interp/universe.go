package interp

import (
	_ "embed" // the export data

	"github.com/tpush/tpush/repl/cell"
)

//go:embed export_own.bin.gz
var exportOwn []byte

// ours are the packages of this module that cells have without an import.
var ours = map[string]string{
	"tpu":        "github.com/tpush/tpush/runtime/tpu",
	"nn":         "github.com/tpush/tpush/runtime/nn",
	"optim":      "github.com/tpush/tpush/runtime/optim",
	"data":       "github.com/tpush/tpush/runtime/data",
	"checkpoint": "github.com/tpush/tpush/runtime/checkpoint",
}

// TPU is the universe of a session: the tensor runtime and its companions.
func TPU() *Universe {
	return &Universe{
		ExportData: exportOwn, InScope: ours,
		Tensor: cell.TensorType{Path: ours["tpu"], Name: "Tensor"},
	}
}
