package op

// Norm lists samples of normalizations.
func (samples) Norm() map[Name][]sample {
	x := []any{d(2, 3, 2)}
	along := []sample{{in: x, attrs: attrs("dim", 1)}, {in: x, attrs: attrs("dim", -1)}, {in: []any{d()}, attrs: attrs("dim", 0)}}
	stats := []any{fixed{*f64s(d(3), 0.1, -0.2, 0.3)}, fixed{*f64s(d(3), 0.5, 1, 2)}}
	batch := []any{d(4, 3), stats[0], stats[1], d(3), d(3)}
	image := []any{d(2, 3, 2), nil, nil, d(3), d(3)}
	return map[Name][]sample{
		Softmax:                along,
		LogSoftmax:             along,
		Softmin:                along,
		"softmax_backward":     {{in: []any{d(2, 3), d(2, 3)}, attrs: attrs("dim", 1)}, {in: []any{d(2, 3), d(2, 3)}, attrs: attrs("dim", 0)}},
		"log_softmax_backward": {{in: []any{d(2, 3), d(2, 3)}, attrs: attrs("dim", 1)}},
		standardize: {{in: []any{d(2, 4)}, attrs: attrs("dim", []int{1})}, {in: x, attrs: attrs("dim", []int{0, 2}, "center", false, "eps", 0.1)},
			{in: x, attrs: attrs("dim", []int{1, 2})}},
		standardizeBack: {{in: []any{d(2, 4), d(2, 4)}, attrs: attrs("dim", []int{1})},
			{in: []any{d(2, 3, 2), d(2, 3, 2)}, attrs: attrs("dim", []int{0, 2}, "center", false, "eps", 0.1)}},
		LayerNorm: {{in: []any{d(3, 4), d(4), d(4)}, attrs: attrs("normalized_shape", []int{4})},
			{in: []any{d(2, 2, 3), d(2, 3), nil}, attrs: attrs("normalized_shape", []int{2, 3}, "eps", 0.1)},
			{in: []any{d(3, 4), nil, d(4)}, attrs: attrs("normalized_shape", []int{4})},
			{in: []any{d(3, 4)}, attrs: attrs("normalized_shape", []int{4})}},
		RMSNorm: {{in: []any{d(3, 4), d(4)}, attrs: attrs("normalized_shape", []int{4})},
			{in: []any{d(2, 2, 3)}, attrs: attrs("normalized_shape", []int{2, 3}, "eps", 0.1)}},
		NativeLayerNorm:   {{in: []any{d(3, 4), d(4), d(4)}, attrs: attrs("normalized_shape", []int{4})}, {in: []any{d(3, 4), nil, nil}, attrs: attrs("normalized_shape", []int{4}), out: []int{1, 2}}},
		NativeBatchNorm:   {{in: []any{d(4, 3), d(3), d(3), nil, nil}, attrs: attrs("training", true)}, {in: []any{d(4, 3), d(3), nil, stats[0], stats[1]}, out: []int{0}}},
		SafeSoftmax:       along,
		GroupNorm:         {{in: []any{d(2, 4, 3), d(4), d(4)}, attrs: attrs("num_groups", 2)}, {in: []any{d(2, 4), nil, nil}, attrs: attrs("num_groups", 1)}},
		BatchNorm:         {{in: batch, attrs: attrs("training", true), out: []int{0}}, {in: batch, out: []int{0}}, {in: image, attrs: attrs("training", true), out: []int{0}}},
		InstanceNorm:      {{in: image}, {in: []any{d(2, 3, 2), stats[0], stats[1], d(3), nil}, attrs: attrs("use_input_stats", false)}},
		LocalResponseNorm: {{in: []any{d(2, 5, 2)}, attrs: attrs("size", 2, "alpha", 0.5)}, {in: []any{d(1, 5, 2)}, attrs: attrs("size", 3, "alpha", 0.5, "beta", 0.5, "k", 2.0)}},
		"window_sum":      {{in: []any{d(2, 5)}, attrs: attrs("dim", 1, "before", 2, "after", 1)}},
		UnitNorm:          {{in: []any{d(2, 3)}}, {in: x, attrs: attrs("p", 3.0, "dim", []int{0})}},
		CosineSimilarity:  {{in: []any{d(2, 3), d(2, 3)}}, {in: []any{d(2, 3), d(3)}, attrs: attrs("dim", -1)}},
		PairwiseDistance:  {{in: []any{d(2, 3), d(2, 3)}}, {in: []any{d(2, 3), d(3)}, attrs: attrs("p", 1.0, "keepdim", true)}},
	}
}
