package interp

import (
	_ "embed" // the export data
	"reflect"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
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
		Meant:  meant,
	}
}

// elsewhere are names of PyTorch that are no operations, without capitals and
// underscores, and what is written here.
var elsewhere = map[string]string{
	"manualseed": "tpu.Seed(n)", "requiresgrad": `w := tpu.Param("w", x), x.RequiresGrad()`, "nograd": "tpu.NoGrad(func() { … })",
	"tensor": "tpu.Of(1, 2), tpu.From(rows)", "shape": "x.Dims()", "ndim": "len(x.Dims())", "numel": "x.Size()",
	"numpy": "x.Float64s()", "tolist": "x.Float64s()", "data": "x.Detach()", "copy": "x.CopyFrom(y)",
	"float": "x.To(tpu.F32)", "double": "x.To(tpu.F64)", "half": "x.To(tpu.F16)", "bfloat16": "tpu.BF16", "long": "x.To(tpu.I64)",
	"float32": "tpu.F32", "int64": "tpu.I64", "zeroslike": "x.ZerosLike()", "oneslike": "x.OnesLike()", "randnlike": "x.RandnLike()",
	"parameters": "nn.Params(model)", "namedparameters": "nn.NamedParams(model)", "zerograd": "opt.ZeroGrad(), nn.ZeroGrad(model)",
	"statedict": "nn.State(model)", "loadstatedict": "nn.Load(model, state)", "train": "nn.Train(model)", "eval": "nn.Eval(model)",
}

// modulesElsewhere are the modules of PyTorch.
var modulesElsewhere = map[string]string{"torch": "tpu, nn and optim", "F": "methods of tensors, functions of tpu"}

// meant gives what stands here for a name of PyTorch, in its spelling or in ours.
func meant(name string, alone bool) string {
	if alone {
		return modulesElsewhere[name]
	}
	if here := elsewhere[strings.ToLower(strings.ReplaceAll(name, "_", ""))]; here != "" {
		return here
	}
	layer, isLayer := strings.CutPrefix(name, "New")
	d := op.Find(layer)
	switch {
	case d == nil:
		return ""
	case isLayer && d.Method != "":
		return layerOf(d.Method)
	case d.Method != "" && d.InPlace && strings.HasSuffix(name, "_"):
		return "x." + d.Method + "InPlace"
	case d.Method != "":
		return "x." + d.Method
	case d.Func != "":
		return "tpu." + d.Func
	}
	return ""
}

// layerOf makes a layer of a method of tensors: of one that takes nothing but its
// tensor the method itself, of others a function that calls it.
func layerOf(method string) string {
	m, ok := reflect.TypeFor[*tpu.Tensor]().MethodByName(method)
	switch {
	case ok && m.Type.NumIn() == 1:
		return "nn.Func((*tpu.Tensor)." + method + ")"
	case ok && m.Type.NumIn() == 2 && m.Type.IsVariadic():
		return "nn.Func(func(x *tpu.Tensor) *tpu.Tensor { return x." + method + "() })"
	}
	return "nn.Func(func(x *tpu.Tensor) *tpu.Tensor { return x." + method + "(…) })"
}
