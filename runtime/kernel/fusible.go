package kernel

// The table of operations that can be part of a fusion, by the name of their row.

// fusibles has the rows that are the same for all attributes.
var fusibles = map[string]fusible{
	"abs": absOp, "neg": negOp, "square": squareOp, "positive": positiveOp, "reciprocal": reciprocalOp,
	"sign": signOp, "sgn": signOp, "bitwise_not": bitNotOp, "sqrt": sqrtOp, "rsqrt": rsqrtOp,
	"ceil": ceilOp, "floor": floorOp, "trunc": truncOp, "frac": fracOp, "round": roundOp, "nan_to_num": nanToNumOp,
	"deg2rad": deg2radOp, "rad2deg": rad2degOp, "angle": angleOp,
	"isnan": isNaNOp, "isinf": isInfOp, "isfinite": isFiniteOp, "isposinf": isPosInfOp, "isneginf": isNegInfOp,
	"logical_not": logicalNotOp,

	"to": toOp,

	"rsub": rsubScaledOp, "mul": mulOp,
	"maximum": maximumOp, "minimum": minimumOp, "fmax": fmaxOp, "fmin": fminOp, "heaviside": heavisideOp,
	"bitwise_and": andOp, "bitwise_or": orOp, "bitwise_xor": xorOp,
	"eq": eqOp, "ne": neOp, "lt": ltOp, "le": leOp, "gt": gtOp, "ge": geOp,
	"logical_and": bothOp, "logical_or": eitherOp, "logical_xor": differOp,

	"where": whereOp, "masked_fill": maskedFillOp,
	"clamp.Tensor": clampByOp, "clamp_min.Tensor": maximumOp, "clamp_max.Tensor": minimumOp, "lerp": lerpOp,
	"addcmul": addcmulOp, "addcdiv": addcdivOp,

	"relu": reluOp, "relu6": relu6Op, "leaky_relu": leakyOp, "threshold": thresholdOp,
	"sigmoid": sigmoidOp, "log_sigmoid": logSigmoidOp, "silu": siluOp, "mish": mishOp, "selu": seluOp, "elu": eluOp,
	"celu": celuOp, "softplus": softplusOp, "hardsigmoid": hardsigmoidOp, "hardswish": hardswishOp, "softsign": softsignOp,
	"tanhshrink": tanhshrinkOp, "hardshrink": hardshrinkOp, "softshrink": softshrinkOp,

	"exp": expOp, "exp2": exp2Op, "expm1": expm1Op, "log": logOp, "log2": log2Op, "log1p": log1pOp,
	"sinh": sinhOp, "cosh": coshOp, "tanh": tanhOp, "asinh": asinhOp, "atanh": atanhOp,
	"sin": sinOp, "cos": cosOp, "tan": tanOp, "asin": asinOp, "acos": acosOp, "atan": atanOp, "acosh": acoshOp, "log10": log10Op,
	"atan2": atan2Op, "pow": powOp, "floor_divide": floorDivOp, "remainder": remainderOp, "fmod": fmodOp,
	"erf": erfOp, "erfc": erfcOp, "ndtr": ndtrOp,

	"sum": sumRows, "mean": meanRows, "amax": amaxRows, "amin": aminRows, "sum_to_size": sumRows,
	"softmax": softmaxRows, "softmin": softminRows, "log_softmax": logSoftmaxRows,
	"softmax_backward": softmaxBackRows, "log_softmax_backward": logSoftmaxBackRows,
	"layer_norm": layerNormRows, "rms_norm": rmsNormRows,
}

// hasVariants are the rows that choose by attributes, in fusibleOf.
var hasVariants = map[string]bool{"add": true, "sub": true, "div": true, "gelu": true, "gelu_backward": true, "standardize": true, "standardize_backward": true,
	"clamp": true, "clamp_min": true, "clamp_max": true, "hardtanh": true}

// Recipes says whether a row has a recipe for some attributes and types.
func Recipes(row string) bool {
	_, ok := fusibles[row]
	return ok || hasVariants[row]
}

// AlongRows says whether the operation of a row that has a recipe works along
// rows: it sees all of a row to give an element.
func AlongRows(row string) bool {
	if f, ok := fusibles[row]; ok {
		rows, _ := f.along()
		return rows
	}
	return row == "standardize" || row == "standardize_backward"
}

// fusibleOf gives the operation of a row; nil when it cannot be fused.
func fusibleOf(row string, a Attrs) fusible {
	switch row {
	case "add":
		if one(&Call{Attrs: a}) {
			return addOp
		}
		return addScaledOp
	case "sub":
		if one(&Call{Attrs: a}) {
			return subOp
		}
		return subScaledOp
	case "div":
		if a.Str("rounding_mode") == "" {
			return divOp
		}
		return nil
	case "gelu":
		return geluOf(a)
	case "gelu_backward":
		return geluBackOf(a)
	case "clamp", "clamp_min", "clamp_max":
		return clampOps.of(a, "min", "max")
	case "hardtanh":
		return hardtanhOps.of(a, "min_val", "max_val")
	case "standardize":
		if a.Bool("center") {
			return standardizeRows
		}
		return rmsStandardizeRows
	case "standardize_backward":
		if a.Bool("center") {
			return standardizeBackRows
		}
		return rmsStandardizeBackRows
	}
	f, ok := fusibles[row]
	if !ok {
		return nil
	}
	return f
}

// lastAxis says whether a row operation works along the last axis alone.
func lastAxis(row string, a Attrs, rank int, x, out []int) bool {
	switch row {
	case "layer_norm", "rms_norm":
		return len(a.Ints("normalized_shape")) == 1
	case "sum_to_size":
		r, ok := FusedRows(out, x)
		return ok && r && len(out) == rank
	}
	axes := reducedAxes(a, rank)
	return len(axes) == 1 && axes[0] == rank-1
}
