package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/shape"
)

// halves splits operands and initial values, and checks the region that
// combines them: (a1, …, an, x1, …, xn) → n scalars.
func halves(o *operation, in []tensor) (n int, why string) {
	n = len(in) / 2
	if n == 0 || len(in) != 2*n || len(o.out) != n {
		return 0, fmt.Sprintf("%d operands and %d results", len(in), len(o.out))
	}
	var scalars []string
	for i := range n {
		if !shape.EqualDims(in[i].dims, in[0].dims) {
			return 0, fmt.Sprintf("shapes of %s and %s differ", o.in[0], o.in[i])
		}
		if o.in[n+i] != in[i].scalar() {
			return 0, fmt.Sprintf("initial value %s for %s", o.in[n+i], o.in[i])
		}
		scalars = append(scalars, in[i].scalar())
	}
	return n, regionRule(o.regions[0], slices.Concat(scalars, scalars), scalars)
}

func regionRule(b block, args, returned []string) string {
	if !equal(b.args, args) || !equal(b.returned, returned) {
		return fmt.Sprintf("region %v -> %v, want %v -> %v", b.args, b.returned, args, returned)
	}
	return ""
}

func reduceRule(o *operation, in, out []tensor) string {
	n, e := halves(o, in)
	if e != "" {
		return e
	}
	a, e := o.list("dimensions", -1)
	if e != "" {
		return e
	}
	if e := axesRule(a, len(in[0].dims)); e != "" {
		return e
	}
	for i := range n {
		if e := want(out[i], without(in[i].dims, a), in[i].elem); e != "" {
			return e
		}
	}
	return ""
}

// window reads the window attributes of o over dims and gives the dims after it.
func (o *operation) window(dims []int) ([]int, string) {
	n := len(dims)
	get := func(name string) ([]int, string) {
		if _, ok := o.attrs[name]; !ok && name != "window_dimensions" {
			return fill(nil, n, 1), ""
		}
		return o.list(name, n)
	}
	size, e1 := get("window_dimensions")
	stride, e2 := get("window_strides")
	base, e3 := get("base_dilations")
	dil, e4 := get("window_dilations")
	pad, e5 := o.padding(n)
	if e := e1 + e2 + e3 + e4 + e5; e != "" {
		return nil, e
	}
	out := make([]int, n)
	for i, d := range dims {
		if size[i] < 1 || stride[i] < 1 || base[i] < 1 || dil[i] < 1 {
			return nil, "a window, stride or dilation is below 1"
		}
		out[i] = windowed(d, size[i], stride[i], base[i], dil[i], pad[i])
	}
	return out, ""
}

// padding reads dense<[[0, 1], …]> : tensor<nx2xi64>, or its splat.
func (o *operation) padding(n int) ([][2]int, string) {
	pad := make([][2]int, n)
	s, ok := o.attrs["padding"]
	if !ok {
		return pad, ""
	}
	v, t, _ := strings.Cut(s, " : ")
	if t != fmt.Sprintf("tensor<%dx2xi64>", n) {
		return nil, "padding of type " + t
	}
	v = strings.TrimSuffix(strings.TrimPrefix(v, "dense<"), ">")
	xs, ok := integers(strings.NewReplacer("[", "", "]", "").Replace(v))
	switch {
	case ok && len(xs) == 2*n:
		for i := range pad {
			pad[i] = [2]int{xs[2*i], xs[2*i+1]}
		}
	case ok && len(xs) == 1:
		for i := range pad {
			pad[i] = [2]int{xs[0], xs[0]}
		}
	default:
		return nil, "padding " + s
	}
	return pad, ""
}

func reduceWindowRule(o *operation, in, out []tensor) string {
	n, e := halves(o, in)
	if e != "" {
		return e
	}
	dims, e := o.window(in[0].dims)
	if e != "" {
		return e
	}
	for i := range n {
		if e := want(out[i], dims, in[i].elem); e != "" {
			return e
		}
	}
	return ""
}

func selectAndScatterRule(o *operation, in, out []tensor) string {
	dims, e := o.window(in[0].dims)
	if e != "" {
		return e
	}
	s := in[0].scalar()
	if e := want(in[1], dims, in[0].elem); e != "" {
		return "source: " + e
	}
	if o.in[2] != s {
		return "initial value " + o.in[2]
	}
	if e := regionRule(o.regions[0], []string{s, s}, []string{"tensor<i1>"}) + regionRule(o.regions[1], []string{s, s}, []string{s}); e != "" {
		return e
	}
	return want(out[0], in[0].dims, in[0].elem)
}

func dotRule(o *operation, in, out []tensor) string {
	f := inner(o.attrs["dot_dimension_numbers"])
	lb, rb := f["lhs_batching_dimensions"], f["rhs_batching_dimensions"]
	lc, rc := f["lhs_contracting_dimensions"], f["rhs_contracting_dimensions"]
	if len(lb) != len(rb) || len(lc) != len(rc) {
		return "axes are not paired"
	}
	if e := axesRule(slices.Concat(lb, lc), len(in[0].dims)) + axesRule(slices.Concat(rb, rc), len(in[1].dims)); e != "" {
		return e
	}
	dims := []int{}
	for i := range lb {
		if in[0].dims[lb[i]] != in[1].dims[rb[i]] {
			return fmt.Sprintf("batch sizes of %v differ", o.in)
		}
		dims = append(dims, in[0].dims[lb[i]])
	}
	for i := range lc {
		if in[0].dims[lc[i]] != in[1].dims[rc[i]] {
			return fmt.Sprintf("inner sizes of %v differ", o.in)
		}
	}
	dims = append(dims, without(in[0].dims, slices.Concat(lb, lc))...)
	dims = append(dims, without(in[1].dims, slices.Concat(rb, rc))...)
	return want(out[0], dims, out[0].elem)
}

func convolutionRule(o *operation, in, out []tensor) string {
	s := o.attrs["dimension_numbers"]
	s = strings.TrimSuffix(strings.TrimPrefix(s, "#stablehlo.conv<"), ">")
	left, output, ok := strings.Cut(s, "->")
	input, kernel, ok2 := strings.Cut(left, "]x[")
	if !ok || !ok2 {
		return "dimension_numbers " + s
	}
	tidy := func(s string) string { return strings.NewReplacer("[", "", "]", "", ",", "", " ", "").Replace(s) }
	input, kernel, output = tidy(input), tidy(kernel), tidy(output)
	n := len(input) - 2
	if n < 0 || len(input) != len(in[0].dims) || len(kernel) != len(in[1].dims) || len(output) != len(out[0].dims) || len(kernel) != len(input) || len(output) != len(input) {
		return fmt.Sprintf("dimension_numbers %s of %v", s, o.in)
	}
	get := func(name string) ([]int, string) {
		if _, ok := o.attrs[name]; !ok {
			return fill(nil, n, 1), ""
		}
		return o.list(name, n)
	}
	st, e1 := get("window_strides")
	ld, e2 := get("lhs_dilation")
	rd, e3 := get("rhs_dilation")
	pad, e4 := o.padding(n)
	fg, e5 := o.list("feature_group_count", 1)
	bg, e6 := o.list("batch_group_count", 1)
	if e := e1 + e2 + e3 + e4 + e5 + e6; e != "" {
		return e
	}
	size := func(letters string, dims []int, c byte) int {
		if i := strings.IndexByte(letters, c); i >= 0 {
			return dims[i]
		}
		return -1
	}
	feature, ki, ko := size(input, in[0].dims, 'f'), size(kernel, in[1].dims, 'i'), size(kernel, in[1].dims, 'o')
	batch := size(input, in[0].dims, 'b')
	switch {
	case feature < 0 || ki < 0 || ko < 0 || batch < 0:
		return "dimension_numbers " + s
	case fg[0] < 1 || bg[0] < 1 || ki*fg[0] != feature || ko%fg[0] != 0 || batch%bg[0] != 0 || ko%bg[0] != 0:
		return fmt.Sprintf("%d features and %d batches in %d and %d groups do not fit kernel %s", feature, batch, fg[0], bg[0], o.in[1])
	}
	dims := make([]int, len(output))
	for i := range len(output) {
		switch c := output[i]; c {
		case 'b':
			dims[i] = batch / bg[0]
		case 'f':
			dims[i] = ko
		default:
			k := int(c - '0')
			a, b := size(input, in[0].dims, c), size(kernel, in[1].dims, c)
			if k < 0 || k >= n || a < 0 || b < 0 {
				return "dimension_numbers " + s
			}
			dims[i] = windowed(a, b, st[k], ld[k], rd[k], pad[k])
		}
	}
	return want(out[0], dims, out[0].elem)
}

func gatherRule(o *operation, in, out []tensor) string {
	f := inner(o.attrs["dimension_numbers"])
	sizes, e := o.list("slice_sizes", len(in[0].dims))
	if e != "" {
		return e
	}
	ivd := f["index_vector_dim"]
	if len(ivd) != 1 || ivd[0] < 0 || ivd[0] > len(in[1].dims) {
		return "index_vector_dim is missing or too large"
	}
	vector := 1
	if ivd[0] < len(in[1].dims) {
		vector = in[1].dims[ivd[0]]
	}
	gone := slices.Concat(f["collapsed_slice_dims"], f["operand_batching_dims"])
	if e := axesRule(gone, len(in[0].dims)) + axesRule(slices.Concat(f["start_index_map"], f["operand_batching_dims"]), len(in[0].dims)) +
		axesRule(f["offset_dims"], len(out[0].dims)); e != "" {
		return e
	}
	if len(f["start_index_map"]) != vector {
		return fmt.Sprintf("index vectors of %d for %v", vector, f["start_index_map"])
	}
	for i, n := range sizes {
		if n < 0 || n > in[0].dims[i] || slices.Contains(gone, i) && n > 1 {
			return fmt.Sprintf("slice of %v from %s", sizes, o.in[0])
		}
	}
	if len(f["operand_batching_dims"]) != len(f["start_indices_batching_dims"]) {
		return "batching axes are not paired"
	}
	for i, d := range f["operand_batching_dims"] {
		if k := f["start_indices_batching_dims"][i]; k >= len(in[1].dims) || in[0].dims[d] != in[1].dims[k] {
			return fmt.Sprintf("batch sizes of %v differ", o.in)
		}
	}
	batch, slice := withoutAxis(in[1].dims, ivd[0]), without(sizes, gone)
	if len(f["offset_dims"]) != len(slice) || len(out[0].dims) != len(batch)+len(slice) {
		return fmt.Sprintf("offset_dims %v for a slice of rank %d", f["offset_dims"], len(slice))
	}
	var dims []int
	for i := range len(batch) + len(slice) {
		if slices.Contains(f["offset_dims"], i) {
			dims, slice = append(dims, slice[0]), slice[1:]
		} else {
			dims, batch = append(dims, batch[0]), batch[1:]
		}
	}
	return want(out[0], dims, in[0].elem)
}

func scatterRule(o *operation, in, out []tensor) string {
	n := (len(in) - 1) / 2
	if n < 1 || len(in) != 2*n+1 || !equal(o.in[:n], o.out) {
		return fmt.Sprintf("operands %v, results %v", o.in, o.out)
	}
	f := inner(o.attrs["scatter_dimension_numbers"])
	indices := in[n]
	ivd := f["index_vector_dim"]
	if len(ivd) != 1 || ivd[0] < 0 || ivd[0] > len(indices.dims) {
		return "index_vector_dim is missing or too large"
	}
	vector := 1
	if ivd[0] < len(indices.dims) {
		vector = indices.dims[ivd[0]]
	}
	if len(f["scatter_dims_to_operand_dims"]) != vector {
		return fmt.Sprintf("index vectors of %d for %v", vector, f["scatter_dims_to_operand_dims"])
	}
	batch := withoutAxis(indices.dims, ivd[0])
	gone := slices.Concat(f["inserted_window_dims"], f["input_batching_dims"])
	if e := axesRule(gone, len(in[0].dims)); e != "" {
		return e
	}
	var scalars, news []string
	for i := range n {
		u := in[n+1+i]
		if u.elem != in[i].elem {
			return fmt.Sprintf("%v into %v", u, in[i])
		}
		if len(u.dims) != len(batch)+len(f["update_window_dims"]) || len(f["update_window_dims"])+len(gone) != len(in[i].dims) {
			return fmt.Sprintf("updates %v for indices %v into %v", u, indices, in[i])
		}
		if e := axesRule(f["update_window_dims"], len(u.dims)); e != "" {
			return e
		}
		if !shape.EqualDims(without(u.dims, f["update_window_dims"]), batch) {
			return fmt.Sprintf("updates %v for indices %v", u, indices)
		}
		room := without(in[i].dims, gone)
		for k, d := range f["update_window_dims"] {
			if u.dims[d] > room[k] {
				return fmt.Sprintf("updates %v are larger than %v", u, in[i])
			}
		}
		scalars, news = append(scalars, in[i].scalar()), append(news, u.scalar())
	}
	return regionRule(o.regions[0], slices.Concat(scalars, news), scalars)
}

func sortRule(o *operation, in, _ []tensor) string {
	a, e := o.list("dimension", 1)
	if e != "" {
		return e
	}
	if len(in) == 0 || !equal(o.in, o.out) {
		return fmt.Sprintf("operands %v, results %v", o.in, o.out)
	}
	var args []string
	for i, t := range in {
		if !shape.EqualDims(t.dims, in[0].dims) {
			return fmt.Sprintf("shapes of %s and %s differ", o.in[0], o.in[i])
		}
		args = append(args, t.scalar(), t.scalar())
	}
	if e := axesRule(a, len(in[0].dims)); e != "" {
		return e
	}
	return regionRule(o.regions[0], args, []string{"tensor<i1>"})
}

func whileRule(o *operation, _, _ []tensor) string {
	if !equal(o.in, o.out) {
		return fmt.Sprintf("carries %v, results %v", o.in, o.out)
	}
	return regionRule(o.regions[0], o.in, []string{"tensor<i1>"}) + regionRule(o.regions[1], o.in, o.in)
}

func branchRule(o *operation, in, _ []tensor) string {
	want := "tensor<i1>"
	if o.name == "stablehlo.case" {
		want = "tensor<i32>"
	}
	if o.in[0] != want || len(o.regions) == 0 {
		return "selector " + o.in[0]
	}
	for _, r := range o.regions {
		if e := regionRule(r, nil, o.out); e != "" {
			return e
		}
	}
	return ""
}
