package op

func (samples) Linalg() map[Name][]sample {
	a := func() any { return f64s(d(3, 3), 2, 0.5, -1, 0.3, 1.5, 0.7, -0.4, 0.2, 3) }
	two := func() any { return f64s(d(2, 2, 2), 2, 0.5, -1, 1.5, 0.7, -0.4, 0.9, 3) }
	return map[Name][]sample{
		"solve_triangular": {
			{in: []any{a(), d(3, 2)}, attrs: attrs("upper", true)}, {in: []any{a(), d(3, 2)}, attrs: attrs("upper", false, "unitriangular", true)},
			{in: []any{a(), d(2, 3)}, attrs: attrs("upper", true, "left", false)}, {in: []any{two(), d(2, 1)}, attrs: attrs("upper", false)},
		},
		"solve":   {{in: []any{a(), d(3, 2)}}, {in: []any{a(), d(3)}}, {in: []any{two(), d(2, 2)}}, {in: []any{two(), d(1, 2, 3)}}},
		"inv":     {{in: []any{a()}}, {in: []any{two()}}},
		"det":     {{in: []any{a()}}, {in: []any{two()}}},
		"logdet":  {{in: []any{a()}}},
		"slogdet": {{in: []any{two()}, out: []int{1}}},
		"qr":      {{in: []any{f64s(d(4, 2), 1, 0.3, -0.5, 2, 0.7, 0.1, 1.2, -0.8)}}, {in: []any{a()}}, {in: []any{f64s(d(2, 3), 1, 0.3, -0.5, 0.2, 2, 0.7)}}},
		"svd":     {{in: []any{f64s(d(3, 2), 1, 0.3, -0.5, 2, 0.7, 0.1)}, out: []int{1}}, {in: []any{f64s(d(2, 3), 1, 0.3, -0.5, 2, 0.7, 0.1)}, first: true}, {in: []any{f64s(d(3, 2), 1, 0.3, -0.5, 2, 0.7, 0.1)}, first: true}},
	}
}
