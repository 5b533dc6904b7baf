package op

func (samples) Contract() map[Name][]sample {
	return map[Name][]sample{
		"matmul": {
			{in: []any{d(3), d(3)}}, {in: []any{d(2, 3), d(3, 4)}}, {in: []any{d(2, 3), d(3)}}, {in: []any{d(3), d(3, 2)}},
			{in: []any{d(2, 2, 3), d(3, 4)}}, {in: []any{d(2, 1, 2, 3), d(4, 3, 2)}}, {in: []any{d(2, 2, 3), d(3)}}, {in: []any{d(3), d(2, 3, 2)}},
		},
		"mm":        {{in: []any{d(2, 3), d(3, 4)}}},
		"bmm":       {{in: []any{d(2, 2, 3), d(2, 3, 2)}}},
		"mv":        {{in: []any{d(2, 3), d(3)}}},
		"dot":       {{in: []any{d(3), d(3)}}},
		"vdot":      {{in: []any{d(3), d(3)}}},
		"inner":     {{in: []any{d(2, 3), d(4, 3)}}, {in: []any{d(2, 2, 3), d(3)}}, {in: []any{d(), d(3)}}},
		"outer":     {{in: []any{d(2), d(3)}}},
		"addmm":     {{in: []any{d(2, 4), d(2, 3), d(3, 4)}, attrs: attrs("alpha", 0.5, "beta", 2.0)}, {in: []any{d(4), d(2, 3), d(3, 4)}}},
		"addmv":     {{in: []any{d(2), d(2, 3), d(3)}, attrs: attrs("alpha", 0.5)}},
		"baddbmm":   {{in: []any{d(1, 2), d(2, 2, 3), d(2, 3, 2)}, attrs: attrs("beta", 0.5)}},
		"addbmm":    {{in: []any{d(2, 2), d(3, 2, 3), d(3, 3, 2)}, attrs: attrs("alpha", 2.0)}},
		"addr":      {{in: []any{d(2, 3), d(2), d(3)}, attrs: attrs("alpha", 2.0, "beta", 0.5)}},
		"linear":    {{in: []any{d(2, 3), d(4, 3), d(4)}}, {in: []any{d(2, 2, 3), d(4, 3), nil}}, {in: []any{d(3), d(3), nil}}},
		"bilinear":  {{in: []any{d(2, 3), d(2, 2), d(4, 3, 2), d(4)}}},
		"tensordot": {{in: []any{d(2, 3, 2), d(3, 2, 2)}}, {in: []any{d(2, 3, 4), d(4, 2, 5)}, attrs: attrs("dims_self", []int{2, 0}, "dims_other", []int{0, 1})}, {in: []any{d(2), d(3)}, attrs: attrs("dims", 0)}},
		"einsum": {
			{in: []any{d(2, 3), d(3, 4)}, attrs: attrs("equation", "ij,jk->ik")},
			{in: []any{d(3, 3)}, attrs: attrs("equation", "ii->i")},
			{in: []any{d(3, 3)}, attrs: attrs("equation", "ii")},
			{in: []any{d(2, 3)}, attrs: attrs("equation", "ij->j")},
			{in: []any{d(2, 3), d(4, 2), d(3, 4)}, attrs: attrs("equation", "ab,ca,bc->a")},
			{in: []any{d(2, 2, 3), d(2, 3, 2)}, attrs: attrs("equation", "...ij,...jk->...ik")},
		},
		"kron":  {{in: []any{d(2, 2), d(3)}}, {in: []any{d(2), d(2, 3)}}},
		"cross": {{in: []any{d(2, 3), d(1, 3)}}, {in: []any{d(3, 2), d(3, 2)}, attrs: attrs("dim", 0)}},
		"cdist": {{in: []any{d(2, 3), d(4, 3)}}, {in: []any{d(2, 3), d(2, 3)}, attrs: attrs("p", 1.0)}, {in: []any{d(2, 3), d(2, 3)}, attrs: attrs("p", 3.0)}},
		attentionName: {
			{in: []any{d(1, 2, 3, 4), d(1, 2, 5, 4), d(1, 2, 5, 3), nil}},
			{in: []any{d(2, 3, 4), d(2, 3, 4), d(2, 3, 2), nil}, attrs: attrs("is_causal", true)},
			{in: []any{d(1, 4, 2, 3), d(1, 2, 3, 3), d(1, 2, 3, 2), nil}, attrs: attrs("enable_gqa", true, "scale", 0.7)},
			{in: []any{d(2, 3), d(3, 3), d(3, 2), bools(d(2, 3), true, false, true, false, false, false)}, first: true},
			{in: []any{d(1, 2, 3), d(1, 3, 3), d(1, 3, 2), d(2, 3)}},
		},
		attentionBack: {
			{in: []any{d(1, 2, 3, 3), d(1, 2, 3, 4), d(1, 2, 5, 4), d(1, 2, 5, 3), nil}},
			{in: []any{d(2, 3, 2), d(2, 3, 4), d(2, 3, 4), d(2, 3, 2), nil}, attrs: attrs("is_causal", true)},
			{in: []any{d(1, 4, 2, 2), d(1, 4, 2, 3), d(1, 2, 3, 3), d(1, 2, 3, 2), nil}, attrs: attrs("scale", 0.7)},
			{in: []any{d(2, 2), d(2, 3), d(3, 3), d(3, 2), bools(d(2, 3), true, false, true, false, false, false)}},
		},
		"trace": {{in: []any{d(2, 3)}}},
	}
}

func (samples) View() map[Name][]sample {
	x := []any{d(2, 3, 4)}
	return map[Name][]sample{
		"transpose":  {{in: x, attrs: attrs("dim0", 0, "dim1", -1)}},
		"swapaxes":   {{in: x, attrs: attrs("axis0", 0, "axis1", 1)}},
		"t":          {{in: []any{d(2, 3)}}, {in: []any{d(3)}}},
		"permute":    {{in: x, attrs: attrs("dims", []int{2, 0, 1})}},
		"movedim":    {{in: x, attrs: attrs("source", []int{0, 1}, "destination", []int{2, 0})}},
		"view":       {{in: x, attrs: attrs("shape", []int{6, -1})}},
		"reshape":    {{in: x, attrs: attrs("shape", []int{4, 6})}},
		"flatten":    {{in: x}},
		"unflatten":  {{in: x, attrs: attrs("dim", 2, "sizes", []int{2, 2})}},
		"squeeze":    {{in: []any{d(1, 3, 1)}}},
		"unsqueeze":  {{in: x, attrs: attrs("dim", 1)}},
		"expand":     {{in: []any{d(3, 1)}, attrs: attrs("sizes", []int{2, -1, 4})}},
		"slice":      {{in: x, attrs: attrs("dim", 2, "start", 1, "end", 4, "step", 2)}, {in: x, attrs: attrs("dim", 0, "start", 2, "end", 1)}},
		"narrow":     {{in: x, attrs: attrs("dim", 1, "start", -2, "length", 2)}},
		"select":     {{in: x, attrs: attrs("dim", 1, "index", -1)}},
		"diagonal":   {{in: x, attrs: attrs("offset", 1, "dim1", 0, "dim2", 2)}},
		"unfold":     {{in: []any{d(7)}, attrs: attrs("dimension", 0, "size", 3, "step", 2)}},
		"as_strided": {{in: []any{d(9)}, attrs: attrs("size", []int{3, 2}, "stride", []int{2, 1}, "storage_offset", 1)}, {in: []any{d(9)}, attrs: attrs("size", []int{2, 2}, "stride", []int{0, 1}, "storage_offset", 3)}},
		"alias":      {{in: x}},
	}
}

func (samples) Move() map[Name][]sample {
	x := []any{d(2, 3)}
	return map[Name][]sample{
		"clone": {{in: x}}, "contiguous": {{in: x}}, "copy": {{in: []any{d(2, 3), d(3)}}},
		"cat":                {{in: []any{d(2, 3), d(1, 3)}, attrs: attrs("dim", 0)}, {in: []any{d(0), d(1, 3)}, attrs: attrs("dim", 1)}},
		"stack":              {{in: []any{d(2, 3), d(2, 3)}, attrs: attrs("dim", -1)}},
		"flip":               {{in: x, attrs: attrs("dims", []int{0, -1})}},
		"roll":               {{in: x, attrs: attrs("shifts", []int{1})}, {in: x, attrs: attrs("shifts", []int{-1, 2}, "dims", []int{0, 1})}},
		"repeat":             {{in: x, attrs: attrs("sizes", []int{2, 1, 2})}},
		"tile":               {{in: x, attrs: attrs("dims", []int{2})}},
		"repeat_interleave":  {{in: x, attrs: attrs("repeats", 2)}, {in: x, attrs: attrs("repeats", 3, "dim", 1)}},
		"rot90":              {{in: x}, {in: x, attrs: attrs("k", 3)}},
		"tril":               {{in: []any{d(2, 3, 3)}, attrs: attrs("diagonal", -1)}},
		"triu":               {{in: []any{d(3, 4)}, attrs: attrs("diagonal", 1)}},
		"diag":               {{in: []any{d(3)}, attrs: attrs("diagonal", 1)}, {in: []any{d(3, 4)}, attrs: attrs("diagonal", -1)}},
		"diag_embed":         {{in: x, attrs: attrs("offset", -1)}, {in: x, attrs: attrs("dim1", 0, "dim2", 2)}},
		"diagflat":           {{in: x}},
		"pad":                {{in: x, attrs: attrs("pad", []int{1, 2, -1, 1}, "value", 3.0)}, {in: []any{d(2, 4)}, attrs: attrs("pad", []int{3, 2}, "mode", "reflect")}, {in: []any{d(2, 3)}, attrs: attrs("pad", []int{1, 2}, "mode", "replicate")}, {in: []any{d(1, 3, 4)}, attrs: attrs("pad", []int{1, 2, 0, 1}, "mode", "circular")}},
		"pad_backward":       {{in: []any{d(2, 7)}, attrs: attrs("pad", []int{2, 1}, "mode", "reflect", "size", []int{2, 4})}},
		"pixel_shuffle":      {{in: []any{d(1, 4, 2, 1)}, attrs: attrs("upscale_factor", 2)}},
		"pixel_unshuffle":    {{in: []any{d(1, 1, 4, 2)}, attrs: attrs("downscale_factor", 2)}},
		"channel_shuffle":    {{in: []any{d(1, 6, 2)}, attrs: attrs("groups", 2)}},
		"sum_to_size":        {{in: []any{d(2, 3, 2)}, attrs: attrs("size", []int{1, 2})}, {in: []any{d(2, 3)}, attrs: attrs("size", []int{})}},
		"slice_scatter":      {{in: []any{d(4, 2), d(2, 2)}, attrs: attrs("dim", 0, "start", 0, "end", 4, "step", 2)}},
		"select_scatter":     {{in: []any{d(2, 3), d(2)}, attrs: attrs("dim", 1, "index", -1)}},
		"diagonal_scatter":   {{in: []any{d(3, 4), d(3)}, attrs: attrs("offset", 1)}},
		"as_strided_scatter": {{in: []any{fixed{*f64s(d(6), 1, 2, 3, 4, 5, 6)}, d(2, 2)}, attrs: attrs("size", []int{2, 2}, "stride", []int{1, 3}, "storage_offset", 1)}},
		"as_strided_write":   {{in: []any{d(6), d(2, 2)}, attrs: attrs("size", []int{2, 2}, "stride", []int{1, 3}, "storage_offset", 1)}},
		"as_strided_add":     {{in: []any{d(6), d(2, 2)}, attrs: attrs("size", []int{2, 2}, "stride", []int{1, 1}, "storage_offset", 1)}},
	}
}
