package conformance

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/op"
)

// names maps recorded operations to rows where the names differ, or where one
// PyTorch function is several rows. The first row that takes the record's
// arguments is the one.
var names = map[string][]op.Name{
	"repeat_interleave":                    {"repeat_interleave", "repeat_interleave_tensor"},
	"max_pool1d":                           {"max_pool1d", "max_pool1d_with_indices"},
	"max_pool2d":                           {"max_pool2d", "max_pool2d_with_indices"},
	"max_pool3d":                           {"max_pool3d", "max_pool3d_with_indices"},
	"trapz":                                {"trapezoid"},
	"torch.ops.aten._safe_softmax.default": {"safe_softmax"},
	"true_divide":                          {"div"},
	"cast":                                 {"to"},
	"clamp":                                {"clamp", "clamp.Tensor"},
	"clamp_min":                            {"clamp_min", "clamp_min.Tensor"},
	"clamp_max":                            {"clamp_max", "clamp_max.Tensor"},
	"logsigmoid":                           {"log_sigmoid"},
	"expit":                                {"sigmoid"},
	"max":                                  {"max", "max.dim", "maximum"},
	"min":                                  {"min", "min.dim", "minimum"},
	"median":                               {"median", "median.dim"},
	"nanmedian":                            {"nanmedian", "nanmedian.dim"},
	"any":                                  {"any", "any.dim"},
	"all":                                  {"all", "all.dim"},
	"vector_norm":                          {"vector_norm", "linalg_vector_norm"},
	"scatter":                              {"scatter", "scatter.src"},
	"multi_dot":                            {"multi_dot", "linalg_multi_dot"},
	"masked_fill":                          {"masked_fill", "masked_fill.Tensor"},
	"searchsorted":                         {"searchsorted", "searchsorted.Scalar"},
	"__radd__":                             {"add"},
	"__rmul__":                             {"mul"},
	"__rand__":                             {"bitwise_and"},
	"__ror__":                              {"bitwise_or"},
	"__rxor__":                             {"bitwise_xor"},
	"__rsub__":                             {"rsub"},
	"conj":                                 {"positive"},
	"conj_physical":                        {"positive"},
	"resolve_conj":                         {"positive"},
	"resolve_neg":                          {"positive"},
	"clip":                                 {"clamp", "clamp.Tensor"},
	"absolute":                             {"abs"},
	"negative":                             {"neg"},
	"fix":                                  {"trunc"},
	"multigammaln":                         {"mvlgamma"},
	"gammaln":                              {"lgamma"},
	"psi":                                  {"digamma"},
}

// reflected are Python's operators called on the right operand.
var reflected = map[string]string{"__rdiv__": "div", "__rtruediv__": "div", "__rpow__": "pow", "__rmod__": "remainder", "__rfloordiv__": "floor_divide", "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift"}

// conversions are the methods of a tensor that convert it.
var conversions = map[string]string{"bfloat16": "bf16", "bool": "bool", "byte": "u8", "char": "i8", "double": "f64", "float": "f32", "half": "f16", "int": "i32", "long": "i64", "short": "i16"}

// adapt rewrites a call that is another row with other arguments: the short
// form of arange, and the factories that are full. Any other record comes back as it is.
func adapt(r *Record) *Record {
	fill := func(v any, like bool) *Record {
		c := *r
		c.Op, c.Attrs = "full", maps.Clone(r.Attrs)
		if c.Attrs == nil {
			c.Attrs = map[string]any{}
		}
		if v != nil {
			c.Attrs["fill_value"] = v
		}
		if like && len(r.Inputs) > 0 {
			size := []any{}
			for _, d := range r.Inputs[0].Array.Dims {
				size = append(size, d)
			}
			c.Attrs["size"], c.Inputs = size, r.Inputs[1:]
			if _, ok := c.Attrs["dtype"]; !ok {
				c.Attrs["dtype"] = r.Inputs[0].Array.DType.String()
			}
		}
		return &c
	}
	if name, ok := strings.CutPrefix(r.Op, "signal.windows."); ok {
		return signalWindow(r, name)
	}
	if name, ok := reflected[r.Op]; ok && len(r.Inputs) == 2 {
		c := *r
		c.Op, c.Inputs = name, []Operand{r.Inputs[1], r.Inputs[0]}
		if len(r.Grads) == 2 {
			c.Grads = []Operand{r.Grads[1], r.Grads[0]}
		}
		return &c
	}
	if t, ok := conversions[r.Op]; ok && len(r.Inputs) == 1 {
		c := *r
		c.Op, c.Attrs = "to", map[string]any{"dtype": t}
		return &c
	}
	switch r.Op {
	case "max", "min":
		if len(r.Inputs) == 2 && r.Inputs[1].Kind == Tensor { // of two tensors, not along an axis
			c := *r
			c.Op = r.Op + "imum"
			return &c
		}
	case "var", "std", "var_mean", "std_mean":
		return unbiased(r)
	case "arange":
		if len(r.Inputs) == 1 {
			c := *r
			c.Inputs = slices.Insert(slices.Clone(r.Inputs), 0, scalar(0))
			return &c
		}
	case "zeros":
		return fill(0.0, false)
	case "ones":
		return fill(1.0, false)
	case "zeros_like":
		return fill(0.0, true)
	case "ones_like":
		return fill(1.0, true)
	case "full_like":
		return fill(nil, true)
	}
	return r
}

// signalWindow is torch.signal.windows.NAME(M, sym=True, …) as the row NAME_window.
func signalWindow(r *Record, name string) *Record {
	c := *r
	c.Op, c.Attrs = name+"_window", maps.Clone(r.Attrs)
	if c.Attrs == nil {
		c.Attrs = map[string]any{}
	}
	sym, given := c.Attrs["sym"].(bool)
	c.Attrs["periodic"] = given && !sym
	delete(c.Attrs, "sym")
	if a, ok := c.Attrs["a"].([]any); ok {
		delete(c.Attrs, "a")
		for i, x := range a {
			c.Attrs["a"+strconv.Itoa(i)] = x
		}
		for i := len(a); i < 5; i++ {
			c.Attrs["a"+strconv.Itoa(i)] = 0.0
		}
	}
	return &c
}

// absent are the values of None for parameters that a row demands.
var absent = map[string]any{"slice.start": 0, "slice.end": math.MaxInt}
