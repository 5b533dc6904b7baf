package conformance

import "github.com/tpush/tpush/runtime/op"

// names maps recorded operations to rows where the names differ, or where one
// PyTorch function is several rows. The first row that takes the record's
// arguments is the one.
var names = map[string][]op.Name{
	"true_divide":  {"div"},
	"cast":         {"to"},
	"clamp":        {"clamp", "clamp.Tensor"},
	"clamp_min":    {"clamp_min", "clamp_min.Tensor"},
	"clamp_max":    {"clamp_max", "clamp_max.Tensor"},
	"logsigmoid":   {"log_sigmoid"},
	"expit":        {"sigmoid"},
	"max":          {"max", "max.dim"},
	"min":          {"min", "min.dim"},
	"median":       {"median", "median.dim"},
	"nanmedian":    {"nanmedian", "nanmedian.dim"},
	"any":          {"any", "any.dim"},
	"all":          {"all", "all.dim"},
	"vector_norm":  {"vector_norm", "linalg_vector_norm"},
	"scatter":      {"scatter", "scatter.src"},
	"multi_dot":    {"multi_dot", "linalg_multi_dot"},
	"masked_fill":  {"masked_fill", "masked_fill.Tensor"},
	"searchsorted": {"searchsorted", "searchsorted.Scalar"},
}
