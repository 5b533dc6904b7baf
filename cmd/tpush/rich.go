package main

import (
	"encoding/json"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/runtime/tpu"
)

// richData is a shown value as text and, when it is one tensor whose numbers
// are there, as an inspect.Tensor: a front end then draws it at its own width.
func richData(text string, values []interp.Shown) map[string]string {
	data := plainText(text)
	if len(values) != 1 {
		return data
	}
	t, ok := values[0].Value.(*tpu.Tensor)
	if !ok || t == nil {
		return data
	}
	_ = tpu.Try(func() { // a tensor that failed has its error shown already
		if b, err := json.Marshal(view.TensorOf(t, values[0].Name, "")); err == nil {
			data[inspect.TensorMIME] = string(b)
		}
	})
	return data
}
