package op

// Scan lists samples of scans and sorts.
func (samples) Scan() map[Name][]sample {
	x := []any{d(2, 4)}
	along := []sample{{in: x, attrs: attrs("dim", 1)}, {in: x, attrs: attrs("dim", -2)}, {in: []any{d()}, attrs: attrs("dim", 0)}}
	zeros := []any{f64s(d(2, 4), 1, 0, 2, 3, 0, 2, 0, 1)}
	return map[Name][]sample{
		Cumsum:              along,
		Cumprod:             append(along, sample{in: zeros, attrs: attrs("dim", 1)}),
		"cumprod_backward":  {{in: []any{d(2, 3), d(2, 3)}, attrs: attrs("dim", 1), first: true}},
		"cumprod_forward":   {{in: []any{d(2, 3), d(2, 3)}, attrs: attrs("dim", 0), first: true}},
		Cummax:              along,
		Cummin:              along,
		Logcumsumexp:        along,
		logcumsumexpBack:    {{in: []any{d(2, 3), d(2, 3), d(2, 3)}, attrs: attrs("dim", 1)}},
		logcumsumexpForward: {{in: []any{d(2, 3), d(2, 3), d(2, 3)}, attrs: attrs("dim", 0)}},
		Diff:                {{in: x}, {in: x, attrs: attrs("n", 2)}, {in: x, attrs: attrs("dim", 0)}},
		Trapezoid:           {{in: x, attrs: attrs("dx", 0.5)}, {in: []any{d(2, 4), d(4)}}, {in: []any{d(3, 2), d(3, 2)}, attrs: attrs("dim", 0)}},
		CumulativeTrapezoid: {{in: x, attrs: attrs("dx", 0.5)}, {in: []any{d(2, 4), d(4)}}, {in: []any{d(3, 2), d(3, 2)}, attrs: attrs("dim", 0)}},
		Sort:                {{in: x}, {in: x, attrs: attrs("dim", 0, "descending", true)}, {in: []any{d()}}},
		Msort:               {{in: []any{d(4, 2)}}},
		Topk:                {{in: x, attrs: attrs("k", 2)}, {in: x, attrs: attrs("k", 1, "dim", 0, "largest", false)}},
	}
}
