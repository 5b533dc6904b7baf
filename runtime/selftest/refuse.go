package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// refused runs a call that must be refused.
func refused(r *conformance.Record) error {
	want, _ := r.Extra["error"].(map[string]any)
	category, _ := want["category"].(string)
	needs, _ := r.Extra["requires_grad"].(bool)
	err := tpu.Try(func() {
		ts := tensors{}
		ts.uploadAll(r.Inputs)
		if needs {
			for _, t := range ts {
				if t.DType().IsFloat() {
					t.RequireGrad()
				}
			}
		}
		for _, t := range ts.apply(r) {
			if t != nil {
				t.Array()
			}
		}
	})
	return refusal(err, category)
}

// refusal says whether err is a refusal of the recorded category.
func refusal(err error, category string) error {
	if err == nil {
		return fmt.Errorf("accepted, want %s", category)
	}
	if strings.Contains(err.Error(), "\n") {
		return fmt.Errorf("the message has several lines: %q", err)
	}
	if is := categories[category]; is != nil && !is(err) {
		return fmt.Errorf("refused with %T %v, want %s", errors.Unwrap(err), err, category)
	}
	return nil
}

func as[T error](err error) bool {
	var x T
	return errors.As(err, &x)
}

// categories say which typed errors a recorded category may be. A category
// that is not listed asks only for a refusal.
var categories = map[string]func(error) bool{
	"shape_mismatch": func(err error) bool {
		return as[*shape.MismatchError](err) || as[*shape.RankError](err) || as[*shape.ArgumentError](err) || as[*tpu.MaskError](err) || as[*shape.CountError](err)
	},
	"inplace_on_overlap":   as[*shape.OverlapError],
	"leaf_inplace":         as[*tpu.LeafWriteError],
	"view_inplace":         as[*tpu.ViewWriteError],
	"saved_value_modified": as[*tpu.SavedModifiedError],
	"graph_freed":          as[*tpu.GraphFreedError],
	"no_grad_graph":        as[*tpu.NoGraphError],
	"grad_needs_scalar":    as[*tpu.NeedsScalarError],
	"out_needs_grad":       as[*tpu.OutGradError],
	"not_a_scalar":         as[*tpu.ScalarError],
	"too_many_indices":     as[*tpu.TooManyIndicesError],
	"view_not_possible":    as[*shape.NotViewableError],
	"expand_not_possible": func(err error) bool {
		return as[*shape.ExpandError](err) || as[*shape.MismatchError](err)
	},
	"negative_size": func(err error) bool { return as[*shape.SizeError](err) || as[*shape.ArgumentError](err) },
	"wrong_element_count": func(err error) bool {
		return as[*shape.CountError](err) || as[*shape.ArgumentError](err)
	},
	"dim_out_of_range": func(err error) bool { return as[*shape.AxisError](err) || as[*shape.RankError](err) },
	"index_out_of_range": func(err error) bool {
		return as[*shape.IndexError](err) || as[*exec.BoundsError](err) || as[*shape.ArgumentError](err)
	},
	"zero_division":       as[*exec.TrapError],
	"negative_exponent":   as[*exec.TrapError],
	"result_not_castable": as[*tpu.CastError],
}
