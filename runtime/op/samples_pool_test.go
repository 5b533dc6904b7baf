package op

func (samples) Pooling() map[Name][]sample {
	two := []int{2}
	s := map[Name][]sample{
		"max_pool1d":              {{in: []any{d(2, 1, 6)}, attrs: attrs("kernel_size", []int{3}, "stride", two, "padding", []int{1})}, {in: []any{d(2, 8)}, attrs: attrs("kernel_size", two, "dilation", []int{3}, "ceil_mode", true)}},
		"max_pool1d_with_indices": {{in: []any{d(2, 1, 6)}, attrs: attrs("kernel_size", []int{3})}},
		"max_pool2d":              {{in: []any{d(1, 2, 4, 5)}, attrs: attrs("kernel_size", []int{3, 2}, "stride", []int{2, 1}, "padding", []int{1, 0})}},
		"max_pool2d_with_indices": {{in: []any{d(1, 1, 5, 5)}, attrs: attrs("kernel_size", two, "ceil_mode", true)}},
		"max_pool3d":              {{in: []any{d(1, 1, 4, 2, 2)}, attrs: attrs("kernel_size", two)}},
		"max_pool3d_with_indices": {{in: []any{d(1, 1, 4, 2, 2)}, attrs: attrs("kernel_size", two)}},
		"avg_pool1d":              {{in: []any{d(2, 1, 7)}, attrs: attrs("kernel_size", []int{3}, "stride", two, "padding", []int{1})}},
		"avg_pool2d":              {{in: []any{d(1, 1, 5, 5)}, attrs: attrs("kernel_size", two, "ceil_mode", true)}, {in: []any{d(1, 1, 4, 4)}, attrs: attrs("kernel_size", []int{3}, "padding", []int{1}, "stride", two, "count_include_pad", false)}, {in: []any{d(1, 4, 4)}, attrs: attrs("kernel_size", two, "divisor_override", 3)}},
		"avg_pool3d":              {{in: []any{d(1, 1, 4, 2, 3)}, attrs: attrs("kernel_size", two)}},
		"avg_pool1d_backward":     {{in: []any{d(1, 1, 3)}, attrs: attrs("size", []int{7}, "kernel_size", []int{3}, "stride", two)}},
		"avg_pool2d_backward":     {{in: []any{d(1, 1, 2, 2)}, attrs: attrs("size", []int{4, 5}, "kernel_size", two)}},
		"avg_pool3d_backward":     {{in: []any{d(1, 1, 2, 1, 1)}, attrs: attrs("size", []int{4, 2, 2}, "kernel_size", two)}},
		"interpolate_backward":    {{in: []any{d(1, 1, 4, 6)}, attrs: attrs("in_size", []int{2, 3}, "mode", "bilinear")}},
	}
	for n, x := range map[string]any{"1": d(1, 2, 5), "2": d(1, 2, 4, 5), "3": d(1, 1, 3, 2, 4)} {
		size := map[string][]int{"1": {3}, "2": {2, 3}, "3": {2, 1, 3}}[n]
		s[Name("adaptive_max_pool"+n+"d")] = []sample{{in: []any{x}, attrs: attrs("output_size", size)}}
		s[Name("adaptive_max_pool"+n+"d_with_indices")] = []sample{{in: []any{x}, attrs: attrs("output_size", size)}}
		s[Name("adaptive_avg_pool"+n+"d")] = []sample{{in: []any{x}, attrs: attrs("output_size", size)}}
		s[Name("adaptive_avg_pool"+n+"d_backward")] = []sample{{in: []any{d(append([]int{1, 2}, size...)...)}, attrs: attrs("size", x.([]int)[2:])}}
	}
	for _, mode := range []string{"nearest", "nearest-exact", "area", "bilinear", "bicubic"} {
		s["interpolate"] = append(s["interpolate"], sample{in: []any{d(1, 2, 3, 4)}, attrs: attrs("size", []int{5, 2}, "mode", mode)},
			sample{in: []any{d(1, 1, 3, 4)}, attrs: attrs("scale_factor", 1.5, "mode", mode)})
	}
	s["interpolate"] = append(s["interpolate"], sample{in: []any{d(1, 1, 6, 5)}, attrs: attrs("size", []int{3, 3}, "mode", "bilinear", "antialias", true)},
		sample{in: []any{d(1, 1, 4, 3)}, attrs: attrs("size", []int{3, 5}, "mode", "bicubic", "align_corners", true)})
	return s
}
