package stablehlo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/shape"
)

// An operation as Check reads it: types are texts.
type operation struct {
	name    string
	in, out []string
	attrs   map[string]string
	regions []block
}

type block struct{ args, returned []string }

// A tensor is a ranked, static tensor type taken apart.
type tensor struct {
	dims []int
	elem string
}

func (t tensor) String() string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.dims {
		b.WriteString(strconv.Itoa(d) + "x")
	}
	return b.String() + t.elem + ">"
}

// scalar gives the 0-d type of the same element.
func (t tensor) scalar() string { return "tensor<" + t.elem + ">" }

func (t tensor) complex() bool { return strings.HasPrefix(t.elem, "complex<") }

func (t tensor) float() bool { return t.elem[0] == 'f' || t.elem == "bf16" }

// parseType reads tensor<2x3xf32>.
func parseType(s string) (tensor, bool) {
	s, ok := strings.CutPrefix(s, "tensor<")
	if !ok || !strings.HasSuffix(s, ">") {
		return tensor{}, false
	}
	s = strings.TrimSuffix(s, ">")
	t := tensor{dims: []int{}}
	for {
		i := 0
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		if i == 0 || i == len(s) || s[i] != 'x' {
			break
		}
		d, err := strconv.Atoi(s[:i])
		if err != nil {
			return t, false
		}
		t.dims = append(t.dims, d)
		s = s[i+1:]
	}
	t.elem = s
	return t, elementType(s)
}

func elementType(s string) bool {
	if strings.HasPrefix(s, "!quant.") {
		return true
	}
	switch s {
	case "i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64",
		"bf16", "f16", "f32", "f64", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN",
		"f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "complex<f32>", "complex<f64>":
		return true
	}
	return false
}

// A rule says what is wrong with an operation, "" when nothing is. in and out
// are its types taken apart, as many as the table says.
type rule struct {
	in, out int // -1: any number
	regions int
	check   func(o *operation, in, out []tensor) string
}

// rules has every operation Check knows.
var rules = map[string]rule{
	"stablehlo.return": {-1, 0, 0, nil},
	"func.return":      {-1, 0, 0, nil},
	"func.call":        {-1, -1, 0, nil},
	"sdy.return":       {-1, 0, 0, nil},

	"stablehlo.constant":         {0, 1, 0, constantRule},
	"stablehlo.iota":             {0, 1, 0, iotaRule},
	"stablehlo.select":           {3, 1, 0, selectRule},
	"stablehlo.clamp":            {3, 1, 0, clampRule},
	"stablehlo.compare":          {2, 1, 0, compareRule},
	"stablehlo.convert":          {1, 1, 0, sameDims},
	"stablehlo.is_finite":        {1, 1, 0, sameDims},
	"stablehlo.real":             {1, 1, 0, sameDims},
	"stablehlo.imag":             {1, 1, 0, sameDims},
	"stablehlo.complex":          {2, 1, 0, sameDims},
	"stablehlo.abs":              {1, 1, 0, sameDims},
	"stablehlo.reduce_precision": {1, 1, 0, need(sameAll, "exponent_bits", "mantissa_bits")},

	"stablehlo.reshape":              {1, 1, 0, reshapeRule},
	"stablehlo.bitcast_convert":      {1, 1, 0, nil},
	"stablehlo.broadcast_in_dim":     {1, 1, 0, broadcastRule},
	"stablehlo.transpose":            {1, 1, 0, transposeRule},
	"stablehlo.slice":                {1, 1, 0, sliceRule},
	"stablehlo.concatenate":          {-1, 1, 0, concatenateRule},
	"stablehlo.pad":                  {2, 1, 0, padRule},
	"stablehlo.reverse":              {1, 1, 0, reverseRule},
	"stablehlo.dynamic_slice":        {-1, 1, 0, dynamicSliceRule},
	"stablehlo.dynamic_update_slice": {-1, 1, 0, dynamicUpdateRule},

	"stablehlo.reduce":             {-1, -1, 1, reduceRule},
	"stablehlo.reduce_window":      {-1, -1, 1, reduceWindowRule},
	"stablehlo.select_and_scatter": {3, 1, 2, selectAndScatterRule},
	"stablehlo.dot_general":        {2, 1, 0, dotRule},
	"stablehlo.convolution":        {2, 1, 0, convolutionRule},
	"stablehlo.gather":             {2, 1, 0, gatherRule},
	"stablehlo.scatter":            {-1, -1, 1, scatterRule},
	"stablehlo.sort":               {-1, -1, 1, sortRule},
	"stablehlo.while":              {-1, -1, 2, whileRule},
	"stablehlo.if":                 {1, -1, 2, branchRule},
	"stablehlo.case":               {1, -1, -1, branchRule},

	"stablehlo.rng_bit_generator":    {1, 2, 0, need(nil, "rng_algorithm")},
	"stablehlo.optimization_barrier": {-1, -1, 0, sameAll},
	"stablehlo.fft":                  {1, 1, 0, need(nil, "fft_type", "fft_length")},
	"stablehlo.cholesky":             {1, 1, 0, need(sameAll, "lower")},
	"stablehlo.triangular_solve":     {2, 1, 0, need(nil, "left_side", "lower", "unit_diagonal", "transpose_a")},

	"stablehlo.batch_norm_inference": {5, 1, 0, nil},
	"stablehlo.batch_norm_training":  {3, 3, 0, nil},
	"stablehlo.batch_norm_grad":      {5, 3, 0, nil},
	"stablehlo.custom_call":          {-1, -1, 0, need(nil, "call_target_name")},
	"stablehlo.composite":            {-1, -1, 0, need(nil, "name", "decomposition")},
	"stablehlo.uniform_quantize":     {1, 1, 0, sameDims},
	"stablehlo.uniform_dequantize":   {1, 1, 0, sameDims},

	"stablehlo.replica_id":           {0, 1, 0, nil},
	"stablehlo.partition_id":         {0, 1, 0, nil},
	"stablehlo.all_reduce":           {-1, -1, 1, sameAll},
	"stablehlo.all_gather":           {-1, -1, 0, need(nil, "all_gather_dim")},
	"stablehlo.reduce_scatter":       {1, 1, 1, need(nil, "scatter_dimension")},
	"stablehlo.all_to_all":           {-1, -1, 0, nil},
	"stablehlo.collective_permute":   {1, 1, 0, sameAll},
	"stablehlo.collective_broadcast": {1, 1, 0, sameAll},
	"sdy.sharding_constraint":        {1, 1, 0, sameAll},
	"chlo.top_k":                     {1, 2, 0, need(nil, "k")},
}

// elementwise lists the operations whose operands and results are all of one type, and their arity.
var elementwise = map[string]int{
	"add": 2, "subtract": 2, "multiply": 2, "divide": 2, "remainder": 2, "maximum": 2, "minimum": 2, "power": 2,
	"atan2": 2, "and": 2, "or": 2, "xor": 2, "shift_left": 2, "shift_right_arithmetic": 2, "shift_right_logical": 2,
	"not": 1, "negate": 1, "sign": 1, "sqrt": 1, "rsqrt": 1, "cbrt": 1, "exponential": 1, "exponential_minus_one": 1,
	"log": 1, "log_plus_one": 1, "logistic": 1, "tanh": 1, "tan": 1, "sine": 1, "cosine": 1, "floor": 1, "ceil": 1,
	"round_nearest_even": 1, "round_nearest_afz": 1, "popcnt": 1, "count_leading_zeros": 1,
}

// client lists the functions of the chlo dialect whose operands and result are of one type.
var client = map[string]int{
	"erf": 1, "erfc": 1, "erf_inv": 1, "lgamma": 1, "digamma": 1, "acos": 1, "acosh": 1, "asin": 1, "asinh": 1,
	"atan": 1, "atanh": 1, "cosh": 1, "sinh": 1, "square": 1, "bessel_i1e": 1, "next_after": 2, "polygamma": 2, "zeta": 2,
}

func (o *operation) verify() string {
	r, ok := rules[o.name]
	if !ok {
		if n, e := elementwise[strings.TrimPrefix(o.name, "stablehlo.")]; e && strings.HasPrefix(o.name, "stablehlo.") {
			r = rule{n, 1, 0, sameAll}
		} else if n, e := client[strings.TrimPrefix(o.name, "chlo.")]; e && strings.HasPrefix(o.name, "chlo.") {
			r = rule{n, 1, 0, sameAll}
		} else {
			return "unknown operation"
		}
	}
	switch {
	case r.in >= 0 && len(o.in) != r.in:
		return fmt.Sprintf("%d operands, not %d", len(o.in), r.in)
	case r.out >= 0 && len(o.out) != r.out:
		return fmt.Sprintf("%d results, not %d", len(o.out), r.out)
	case r.regions >= 0 && len(o.regions) != r.regions:
		return fmt.Sprintf("%d regions, not %d", len(o.regions), r.regions)
	case r.check == nil:
		return ""
	}
	in, out := make([]tensor, len(o.in)), make([]tensor, len(o.out))
	for i, s := range o.in {
		if in[i], ok = parseType(s); !ok {
			return s + " is no tensor type"
		}
	}
	for i, s := range o.out {
		if out[i], ok = parseType(s); !ok {
			return s + " is no tensor type"
		}
	}
	return r.check(o, in, out)
}

// need wants attributes to be there before another rule looks.
func need(next func(*operation, []tensor, []tensor) string, names ...string) func(*operation, []tensor, []tensor) string {
	return func(o *operation, in, out []tensor) string {
		for _, n := range names {
			if _, ok := o.attrs[n]; !ok {
				return "attribute " + n + " is missing"
			}
		}
		if next == nil {
			return ""
		}
		return next(o, in, out)
	}
}

// list reads the integers of array<i64: 1, 2>, [1, 2] or 1 : i64; want < 0 takes any number of them.
func (o *operation) list(name string, want int) ([]int, string) {
	s, ok := o.attrs[name]
	if !ok {
		return nil, "attribute " + name + " is missing"
	}
	xs, ok := integers(s)
	if !ok || want >= 0 && len(xs) != want {
		return nil, fmt.Sprintf("attribute %s = %s, want %d integers", name, s, want)
	}
	return xs, ""
}

func integers(s string) ([]int, bool) {
	if t, ok := strings.CutPrefix(s, "array<i64"); ok {
		s = strings.TrimPrefix(strings.TrimSuffix(t, ">"), ":")
	} else {
		s, _, _ = strings.Cut(s, " : ")
	}
	s = strings.Trim(strings.TrimSpace(s), "[]")
	xs := []int{}
	for f := range strings.SplitSeq(s, ",") {
		if f = strings.TrimSpace(f); f == "" {
			continue
		}
		x, err := strconv.Atoi(f)
		if err != nil {
			return nil, false
		}
		xs = append(xs, x)
	}
	return xs, true
}

// inner reads the fields of #stablehlo.dot<a = [0], b = 1>.
func inner(s string) map[string][]int {
	i, j := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	m := map[string][]int{}
	if i < 0 || j < i {
		return m
	}
	for k, v := range dictionary(s[i+1 : j]) {
		m[k], _ = integers(v)
	}
	return m
}

func want(got tensor, dims []int, elem string) string {
	if w := (tensor{dims, elem}); got.String() != w.String() {
		return fmt.Sprintf("result is %v, operands make %v", got, w)
	}
	return ""
}

func sameAll(o *operation, in, out []tensor) string {
	all := slices.Concat(o.in, o.out)
	if o.name == "stablehlo.optimization_barrier" || o.name == "stablehlo.all_reduce" {
		if !equal(o.in, o.out) {
			return fmt.Sprintf("operands %v, results %v", o.in, o.out)
		}
		return ""
	}
	for _, t := range all {
		if t != all[0] {
			return fmt.Sprintf("types differ: %v", all)
		}
	}
	if len(in) > 0 && strings.HasPrefix(o.name, "stablehlo.") {
		switch n := o.name[len("stablehlo."):]; n {
		case "and", "or", "xor", "not", "shift_left", "shift_right_arithmetic", "shift_right_logical", "popcnt", "count_leading_zeros":
			if in[0].float() || in[0].complex() {
				return in[0].String() + " has no bits to work on"
			}
		case "sqrt", "rsqrt", "cbrt", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "tan",
			"sine", "cosine", "floor", "ceil", "round_nearest_even", "round_nearest_afz", "atan2", "reduce_precision":
			if !in[0].float() && !in[0].complex() {
				return in[0].String() + " is not floating"
			}
		case "subtract", "divide", "remainder", "power", "negate", "sign":
			if in[0].elem == "i1" {
				return "not defined for i1"
			}
		}
	}
	return ""
}

func sameDims(o *operation, in, out []tensor) string {
	for _, t := range slices.Concat(in, out) {
		if !shape.EqualDims(t.dims, in[0].dims) {
			return fmt.Sprintf("shapes differ: %v and %v", o.in, o.out)
		}
	}
	switch e, r := in[0].elem, out[0].elem; o.name {
	case "stablehlo.is_finite":
		if r != "i1" {
			return "result is not i1"
		}
	case "stablehlo.complex":
		if r != "complex<"+e+">" || o.in[0] != o.in[1] {
			return fmt.Sprintf("%v make no %v", o.in, o.out)
		}
	case "stablehlo.real", "stablehlo.imag", "stablehlo.abs":
		if r != e && "complex<"+r+">" != e {
			return fmt.Sprintf("%v makes no %v", o.in, o.out)
		}
	}
	return ""
}

func constantRule(o *operation, _, out []tensor) string {
	v, ok := o.attrs["value"]
	if !ok {
		return "attribute value is missing"
	}
	if !strings.HasSuffix(v, " : "+o.out[0]) {
		return fmt.Sprintf("value %s is not of type %s", v, o.out[0])
	}
	lit := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(v, " : "+o.out[0]), "dense<"), ">")
	if !strings.HasPrefix(lit, "[") {
		if lit == "" && shape.Size(out[0].dims) > 0 {
			return "value is empty"
		}
		if out[0].float() && !strings.HasPrefix(lit, "0x") && !strings.HasPrefix(lit, "\"") && lit != "" && !strings.Contains(lit, ".") {
			return "value " + lit + " is no floating literal"
		}
		return ""
	}
	n := strings.Count(lit, ",") + 1
	if out[0].complex() {
		n /= 2
	}
	if size := shape.Size(out[0].dims); n != size {
		return fmt.Sprintf("%d values for %s", n, o.out[0])
	}
	return ""
}

func iotaRule(o *operation, _, out []tensor) string {
	a, e := o.list("iota_dimension", 1)
	if e == "" && (a[0] < 0 || a[0] >= len(out[0].dims)) {
		e = fmt.Sprintf("dimension %d of %s", a[0], o.out[0])
	}
	return e
}

func selectRule(o *operation, in, out []tensor) string {
	if in[0].elem != "i1" || len(in[0].dims) > 0 && !shape.EqualDims(in[0].dims, out[0].dims) || o.in[1] != o.in[2] || o.in[1] != o.out[0] {
		return fmt.Sprintf("%v do not select %v", o.in, o.out)
	}
	return ""
}

func clampRule(o *operation, in, out []tensor) string {
	for _, i := range []int{0, 2} {
		if o.in[i] != o.in[1] && o.in[i] != in[1].scalar() {
			return fmt.Sprintf("bound %s of %s", o.in[i], o.in[1])
		}
	}
	if o.in[1] != o.out[0] {
		return fmt.Sprintf("%s gives %s", o.in[1], o.out[0])
	}
	return ""
}

func compareRule(o *operation, in, out []tensor) string {
	if o.in[0] != o.in[1] {
		return fmt.Sprintf("types differ: %v", o.in)
	}
	if !strings.HasPrefix(o.attrs["comparison_direction"], "#stablehlo<comparison_direction ") {
		return "attribute comparison_direction is missing"
	}
	kind, ok := strings.CutPrefix(o.attrs["compare_type"], "#stablehlo<comparison_type ")
	legal := map[string]bool{"": !ok, "FLOAT>": in[0].float() || in[0].complex(), "TOTALORDER>": in[0].float(),
		"UNSIGNED>": in[0].elem == "i1" || in[0].elem[0] == 'u', "SIGNED>": in[0].elem[0] == 'i' && in[0].elem != "i1"}
	if !legal[kind] {
		return fmt.Sprintf("comparison %s of %s", kind, o.in[0])
	}
	return want(out[0], in[0].dims, "i1")
}

func reshapeRule(o *operation, in, out []tensor) string {
	if in[0].elem != out[0].elem || shape.Size(in[0].dims) != shape.Size(out[0].dims) {
		return fmt.Sprintf("%s is no %s", o.in[0], o.out[0])
	}
	return ""
}

func broadcastRule(o *operation, in, out []tensor) string {
	a, e := o.list("broadcast_dimensions", len(in[0].dims))
	if e != "" {
		return e
	}
	if in[0].elem != out[0].elem {
		return "the element type changes"
	}
	for i, d := range a {
		if d < 0 || d >= len(out[0].dims) || slices.Contains(a[:i], d) || in[0].dims[i] != 1 && in[0].dims[i] != out[0].dims[d] {
			return fmt.Sprintf("%s does not stretch to %s along %v", o.in[0], o.out[0], a)
		}
	}
	return ""
}

func transposeRule(o *operation, in, out []tensor) string {
	a, e := o.list("permutation", len(in[0].dims))
	if e != "" {
		return e
	}
	dims := make([]int, len(a))
	for i, d := range a {
		if d < 0 || d >= len(a) || slices.Contains(a[:i], d) {
			return fmt.Sprintf("%v is no permutation", a)
		}
		dims[i] = in[0].dims[d]
	}
	return want(out[0], dims, in[0].elem)
}

func sliceRule(o *operation, in, out []tensor) string {
	n := len(in[0].dims)
	s, e1 := o.list("start_indices", n)
	l, e2 := o.list("limit_indices", n)
	st, e3 := o.list("strides", n)
	if e := e1 + e2 + e3; e != "" {
		return e
	}
	dims := make([]int, n)
	for i := range dims {
		if s[i] < 0 || l[i] < s[i] || l[i] > in[0].dims[i] || st[i] < 1 {
			return fmt.Sprintf("[%d, %d) step %d of axis %d of %s", s[i], l[i], st[i], i, o.in[0])
		}
		dims[i] = (l[i] - s[i] + st[i] - 1) / st[i]
	}
	return want(out[0], dims, in[0].elem)
}

func concatenateRule(o *operation, in, out []tensor) string {
	a, e := o.list("dimension", 1)
	if e != "" || len(in) == 0 {
		return e + " no operands"
	}
	k := a[0]
	if k < 0 || k >= len(in[0].dims) {
		return fmt.Sprintf("dimension %d of %s", k, o.in[0])
	}
	dims := slices.Clone(in[0].dims)
	dims[k] = 0
	for i, t := range in {
		if len(t.dims) != len(dims) || t.elem != in[0].elem {
			return fmt.Sprintf("%s and %s do not join", o.in[0], o.in[i])
		}
		for j, d := range t.dims {
			if j == k {
				dims[k] += d
			} else if d != dims[j] {
				return fmt.Sprintf("%s and %s do not join along %d", o.in[0], o.in[i], k)
			}
		}
	}
	return want(out[0], dims, in[0].elem)
}

func padRule(o *operation, in, out []tensor) string {
	n := len(in[0].dims)
	lo, e1 := o.list("edge_padding_low", n)
	hi, e2 := o.list("edge_padding_high", n)
	mid, e3 := o.list("interior_padding", n)
	if e := e1 + e2 + e3; e != "" {
		return e
	}
	if o.in[1] != in[0].scalar() {
		return fmt.Sprintf("padding value %s for %s", o.in[1], o.in[0])
	}
	dims := make([]int, n)
	for i, d := range in[0].dims {
		if mid[i] < 0 {
			return "interior padding is negative"
		}
		if dims[i] = lo[i] + d + max(d-1, 0)*mid[i] + hi[i]; dims[i] < 0 {
			return fmt.Sprintf("axis %d gets a negative size", i)
		}
	}
	return want(out[0], dims, in[0].elem)
}

func reverseRule(o *operation, in, out []tensor) string {
	a, e := o.list("dimensions", -1)
	if e != "" {
		return e
	}
	return axesRule(a, len(in[0].dims)) + sameAll(o, in, out)
}

// axesRule wants different axes below rank.
func axesRule(a []int, rank int) string {
	for i, d := range a {
		if d < 0 || d >= rank || slices.Contains(a[:i], d) {
			return fmt.Sprintf("axes %v of rank %d", a, rank)
		}
	}
	return ""
}

// startsRule wants one integer scalar for each axis.
func startsRule(starts []tensor, rank int) string {
	if len(starts) != rank {
		return fmt.Sprintf("%d starts for %d axes", len(starts), rank)
	}
	for _, s := range starts {
		if len(s.dims) > 0 || s.float() || s.complex() || s.elem != starts[0].elem {
			return fmt.Sprintf("start of type %v", s)
		}
	}
	return ""
}

func dynamicSliceRule(o *operation, in, out []tensor) string {
	if len(in) == 0 {
		return "no operand"
	}
	sizes, e := o.list("slice_sizes", len(in[0].dims))
	if e != "" {
		return e
	}
	for i, n := range sizes {
		if n < 0 || n > in[0].dims[i] {
			return fmt.Sprintf("slice of %v from %s", sizes, o.in[0])
		}
	}
	if e := startsRule(in[1:], len(in[0].dims)); e != "" {
		return e
	}
	return want(out[0], sizes, in[0].elem)
}

func dynamicUpdateRule(o *operation, in, out []tensor) string {
	if len(in) < 2 {
		return "too few operands"
	}
	if in[0].elem != in[1].elem || len(in[0].dims) != len(in[1].dims) {
		return fmt.Sprintf("%s into %s", o.in[1], o.in[0])
	}
	for i, d := range in[1].dims {
		if d > in[0].dims[i] {
			return fmt.Sprintf("%s is larger than %s", o.in[1], o.in[0])
		}
	}
	if e := startsRule(in[2:], len(in[0].dims)); e != "" {
		return e
	}
	return want(out[0], in[0].dims, in[0].elem)
}
