package op

func (samples) Index() map[Name][]sample {
	idx := i64s(d(2), 2, 0)
	pairs := i64s(d(2, 2), 0, 1, 1, 0)
	s := map[Name][]sample{
		"index_select":             {{in: []any{d(3, 2), idx}, attrs: attrs("dim", 0)}, {in: []any{d(2, 3), i64s(d(3), 1, 1, 0)}, attrs: attrs("dim", -1)}},
		"gather":                   {{in: []any{d(2, 3), i64s(d(2, 2), 0, 2, 1, 1)}, attrs: attrs("dim", 1)}, {in: []any{d(3), i64s(d(2), 2, 2)}, attrs: attrs("dim", 0)}},
		"take":                     {{in: []any{d(2, 3), i64s(d(3), -1, 2, 2)}}},
		"take_along_dim":           {{in: []any{d(3, 4), i64s(d(3, 1), 2, 0, 3)}, attrs: attrs("dim", 1)}, {in: []any{d(1, 4), i64s(d(3, 1), 2, 0, 3)}, attrs: attrs("dim", 1)}, {in: []any{d(2, 2), i64s(d(2), 3, 0)}}},
		"embedding":                {{in: []any{pairs, d(4, 3)}}},
		"index":                    {{in: []any{d(3, 4), i64s(d(2), -1, 0), i64s(d(2), 1, 1)}}, {in: []any{d(2, 3, 2), i64s(d(2), 0, 1), i64s(d(2, 1), 1, 0)}, attrs: attrs("dims", []int{0, 2})}, {in: []any{d(2, 3, 2), i64s(d(2), 2, 2)}, attrs: attrs("dims", []int{1})}},
		"index_put":                {{in: []any{d(3, 4), d(2), i64s(d(2), -1, 0), i64s(d(2), 1, 2)}}, {in: []any{d(3, 2), d(2), i64s(d(2), 1, 1)}, attrs: attrs("accumulate", true)}, {in: []any{d(2, 3, 2), d(1, 2, 1), i64s(d(2), 0, 2)}, attrs: attrs("dims", []int{1})}},
		"put":                      {{in: []any{d(2, 3), i64s(d(2), -1, 0), d(2)}}, {in: []any{d(2, 3), i64s(d(2), 1, 1), d(2)}, attrs: attrs("accumulate", true)}},
		"scatter":                  {{in: []any{d(3, 3), i64s(d(2, 2), 0, 1, 2, 0), d(2, 3)}, attrs: attrs("dim", 0)}},
		"scatter_value":            {{in: []any{d(3, 3), pairs}, attrs: attrs("dim", 1, "value", 2.0)}},
		"scatter_add":              {{in: []any{d(3, 3), i64s(d(2, 2), 0, 0, 2, 0), d(2, 3)}, attrs: attrs("dim", 0)}},
		"index_add":                {{in: []any{d(3, 2), i64s(d(3), 0, 2, 2), d(3, 2)}, attrs: attrs("dim", 0, "alpha", 0.5)}},
		"index_copy":               {{in: []any{d(2, 3), idx, d(2, 2)}, attrs: attrs("dim", 1)}},
		"index_fill":               {{in: []any{d(2, 3), idx, 3.0}, attrs: attrs("dim", 1)}, {in: []any{d(2, 3), idx, d()}, attrs: attrs("dim", 1)}},
		"masked_select":            {{in: []any{d(2, 3), bools(d(3), true, false, true)}, attrs: attrs("count", 4)}},
		"masked_scatter":           {{in: []any{d(2, 3), bools(d(2, 3), true, false, false, true, true, false), d(5)}}},
		"masked_scatter_backward":  {{in: []any{d(2, 2), bools(d(2, 2), true, false, true, true)}, attrs: attrs("size", []int{2, 2})}},
		"repeat_interleave_tensor": {{in: []any{d(2, 3), i64s(d(3), 2, 0, 1)}, attrs: attrs("dim", 1, "count", 3)}, {in: []any{d(2, 2), i64s(d(), 2)}, attrs: attrs("count", 8)}},
	}
	s["embedding_bag"] = []sample{
		{in: []any{pairs, d(4, 3), nil, nil}, attrs: attrs("mode", "sum")},
		{in: []any{i64s(d(4), 1, 1, 3, 0), d(4, 3), i64s(d(2), 0, 3), nil}},
		{in: []any{i64s(d(4), 1, 2, 3, 0), d(4, 3), i64s(d(3), 0, 2, 2), nil}, attrs: attrs("mode", "max")},
		{in: []any{i64s(d(4), 1, 2, 3, 0), d(4, 3), i64s(d(2), 0, 1), d(4)}, attrs: attrs("mode", "sum")},
	}
	for _, how := range []string{"sum", "mean", "amax", "amin", "prod"} {
		for _, self := range []bool{true, false} {
			a := attrs("dim", 1, "reduce", how, "include_self", self)
			s["scatter_reduce"] = append(s["scatter_reduce"], sample{in: []any{d(2, 3), i64s(d(2, 4), 0, 2, 2, 0, 1, 1, 1, 0), d(2, 4)}, attrs: a})
			if how != "sum" {
				s["index_reduce"] = append(s["index_reduce"], sample{in: []any{d(2, 3), i64s(d(3), 0, 2, 2), d(2, 3)}, attrs: a})
			}
		}
	}
	s["scatter_reduce"] = append(s["scatter_reduce"], sample{first: true, attrs: attrs("dim", 0, "reduce", "prod", "include_self", true),
		in: []any{f64s(d(3), 2, 3, 0), i64s(d(4), 0, 0, 1, 2), f64s(d(4), 0, 5, 0, 0)}})
	return s
}
