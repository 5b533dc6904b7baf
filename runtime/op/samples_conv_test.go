package op

func (samples) Conv() map[Name][]sample {
	g := func(kv ...any) Attrs { return attrs(kv...) }
	return map[Name][]sample{
		"conv1d": {
			{in: []any{d(2, 2, 6), d(3, 2, 3), d(3)}, attrs: g("padding", []int{1})},
			{in: []any{d(1, 4, 7), d(2, 2, 2), nil}, attrs: g("stride", []int{2}, "groups", 2, "dilation", []int{2})},
			{in: []any{d(2, 5), d(3, 2, 3), d(3)}, attrs: g("padding_mode", "same")},
			{in: []any{d(1, 2, 5), d(1, 2, 2), nil}, attrs: g("padding_mode", "same")},
		},
		"conv2d": {
			{in: []any{d(2, 2, 4, 5), d(3, 2, 3, 2), d(3)}, attrs: g("padding", []int{1, 2}, "stride", []int{2, 1})},
			{in: []any{d(1, 2, 4, 4), d(4, 1, 2, 2), nil}, attrs: g("groups", 2, "stride", []int{3})},
			{in: []any{d(2, 2, 3, 3), d(3, 2, 1, 1), nil}},
		},
		"conv3d":           {{in: []any{d(1, 2, 3, 4, 3), d(2, 2, 2, 2, 2), d(2)}, attrs: g("padding", []int{1, 0, 1})}},
		"conv_transpose1d": {{in: []any{d(1, 2, 4), d(2, 3, 3), d(3)}, attrs: g("stride", []int{2}, "padding", []int{1}, "output_padding", []int{1})}},
		"conv_transpose2d": {{in: []any{d(2, 4, 3, 2), d(4, 1, 2, 3), d(2)}, attrs: g("groups", 2, "stride", []int{2, 1}, "dilation", []int{1, 2})}, {in: []any{d(2, 3, 3), d(2, 2, 2, 2), nil}}},
		"conv_transpose3d": {{in: []any{d(1, 1, 2, 2, 2), d(1, 2, 2, 2, 2), d(2)}}},
		"conv_input_grad":  {{in: []any{d(1, 2, 3), d(2, 2, 3)}, attrs: g("size", []int{6}, "stride", []int{2}, "padding", []int{1, 0})}},
		"conv_weight_grad": {{in: []any{d(2, 2, 6), d(2, 4, 3)}, attrs: g("size", []int{2}, "stride", []int{2}, "groups", 2)}},
		"unfold2d":         {{in: []any{d(1, 2, 4, 5)}, attrs: g("kernel_size", []int{2}, "padding", []int{1}, "stride", []int{2, 1})}},
		"fold2d":           {{in: []any{d(1, 4, 4)}, attrs: g("output_size", []int{3, 3}, "kernel_size", []int{2, 2})}},
	}
}
