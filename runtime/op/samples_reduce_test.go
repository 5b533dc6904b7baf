package op

import "math"

// Reduce lists samples of reductions.
func (samples) Reduce() map[Name][]sample {
	x := []any{d(2, 3, 2)}
	over := func(kv ...any) []sample {
		return []sample{
			{in: x, attrs: attrs(kv...)},
			{in: x, attrs: append(attrs("dim", []int{1}), attrs(kv...)...)},
			{in: x, attrs: append(attrs("dim", []int{-1, 0}, "keepdim", true), attrs(kv...)...)},
			{in: []any{d()}, attrs: attrs(kv...), first: true},
		}
	}
	some := over()[:3]
	along := func(kv ...any) []sample {
		return []sample{
			{in: x, attrs: append(attrs("dim", 1), attrs(kv...)...)},
			{in: x, attrs: append(attrs("dim", -1, "keepdim", true), attrs(kv...)...)},
			{in: []any{d()}, attrs: append(attrs("dim", 0), attrs(kv...)...)},
		}
	}
	withZeros := []any{f64s(d(2, 4), 1, 0, 2, 3, 0, 2, 0, 1)}
	withNaN := []any{f64s(d(2, 3), 1, math.NaN(), 2, 0.5, 3, -1)}
	norms := func(name string) []sample {
		var s []sample
		for _, p := range []float64{0, 1, 2, 3, 0.5, 1.5, 4, math.Inf(1), math.Inf(-1)} {
			s = append(s, over(name, p)[:3]...)
		}
		return append(s, sample{in: []any{f64s(d(3), 0, 0, 0)}, attrs: attrs(name, 2.0, "dim", []int{}), first: true, still: true})
	}
	quantiles := []sample{
		{in: []any{d(2, 5), fixed{*f64s(d(), 0.3)}}},
		{in: []any{d(2, 5), fixed{*f64s(d(3), 0.1, 0.5, 0.9)}}, attrs: attrs("dim", []int{1})},
		{in: []any{d(5, 2), fixed{*f64s(d(2), 0.1, 0.6)}}, attrs: attrs("dim", []int{0}, "keepdim", true, "interpolation", "midpoint")},
		{in: []any{d(2, 5), 0.25}, attrs: attrs("dim", []int{-1}, "interpolation", "lower")},
	}
	return map[Name][]sample{
		Sum:           over(),
		Mean:          over(),
		Prod:          append(over(), sample{in: withZeros, attrs: attrs("dim", []int{1})}, sample{in: []any{f64s(d(3), 2, 0, 3)}}),
		"prod_others": {{in: []any{d(2, 3)}, attrs: attrs("dim", []int{1}), first: true}, {in: withZeros, attrs: attrs("dim", []int{0}), first: true}},
		Nansum:        append(over(), sample{in: withNaN, attrs: attrs("dim", []int{1})}),
		Nanmean:       append(over(), sample{in: withNaN, attrs: attrs("dim", []int{0})}),
		Amax:          some,
		Amin:          some,
		Aminmax:       {{in: x}, {in: x, attrs: attrs("dim", []int{1})}, {in: x, attrs: attrs("dim", []int{1}), out: []int{1}}},
		Max:           {{in: x}, {in: []any{d()}}},
		Min:           {{in: x}},
		MaxDim:        along(),
		MinDim:        along(),
		Var:           append(some, over("correction", 0.0)[:3]...),
		Std:           append(some, over("correction", 0)[:3]...),
		VarMean:       append(some, sample{in: x, out: []int{1}}, sample{in: x, out: []int{0}}),
		StdMean:       append(some, sample{in: x, out: []int{1}}, sample{in: x, out: []int{0}}),
		Logsumexp:     over(),
		Norm:          norms("p"),
		VectorNorm:    norms("ord"),
		Dist:          {{in: []any{d(2, 3), d(3)}}, {in: []any{d(3), d(3)}, attrs: attrs("p", 3.0)}, {in: []any{d(3), d(3)}, attrs: attrs("p", math.Inf(1))}},
		MatrixNorm:    {{in: x}, {in: x, attrs: attrs("ord", "inf")}, {in: x, attrs: attrs("ord", "-1", "dim", []int{0, 1}, "keepdim", true)}, {in: x, attrs: attrs("ord", "1", "dim", []int{2, 0})}},
		Renorm:        {{in: []any{d(3, 4)}, attrs: attrs("p", 2.0, "dim", 0, "maxnorm", 1.5)}, {in: []any{d(2, 3, 2)}, attrs: attrs("p", 1.0, "dim", -2, "maxnorm", 2.0)}},
		Median:        {{in: x}},
		MedianDim:     along(),
		Nanmedian:     {{in: withNaN}},
		NanmedianDim:  along(),
		Mode:          along(),
		KthValue:      {{in: x, attrs: attrs("k", 2, "dim", 1)}},
		Quantile:      quantiles,
		Nanquantile:   quantiles,
	}
}

// Masked lists samples of masked operations.
func (samples) Masked() map[Name][]sample {
	x := d(2, 3, 2)
	mask := bools(d(2, 3, 2), false, true, true, true, true, true, true, true, true, false, true, true)
	all := map[Name][]sample{}
	for _, n := range []Name{"sum", "prod", "amax", "amin", "logsumexp", "norm", "mean", "var", "std"} {
		all["masked."+n] = []sample{
			{in: []any{x, mask}, attrs: attrs("dim", []int{1})},
			{in: []any{x, mask}, attrs: attrs("dim", []int{0, 2}, "keepdim", true)},
			{in: []any{x, nil}},
		}
	}
	for _, n := range []Name{"cumsum", "cumprod", "softmax", "log_softmax", "softmin"} {
		all["masked."+n] = []sample{{in: []any{x, mask}, attrs: attrs("dim", 0)}, {in: []any{x, nil}, attrs: attrs("dim", -1)}}
	}
	all["masked.normalize"] = []sample{{in: []any{x, mask}, attrs: attrs("ord", 2.0, "dim", []int{1})}}
	all["masked.logaddexp"] = []sample{{in: []any{x, x, mask, nil}}, {in: []any{x, d(3, 2), nil, nil}}}
	for i := range all["masked.log_softmax"] { // −∞ where masked: only results inside the mask count
		all["masked.log_softmax"] = all["masked.log_softmax"][i+1:]
		break
	}
	return all
}
