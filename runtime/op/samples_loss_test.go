package op

// Loss lists samples of losses: each in every reduction.
func (samples) Loss() map[Name][]sample {
	each := func(in []any, kv ...any) []sample {
		var s []sample
		for _, r := range []string{"none", "mean", "sum"} {
			s = append(s, sample{in: in, attrs: append(attrs("reduction", r), attrs(kv...)...)})
		}
		return s
	}
	unit := func(ss []sample) []sample { // values between 0 and 1
		for i := range ss {
			ss[i].lo, ss[i].hi = 0.05, 0.95
		}
		return ss
	}
	join := func(ss ...[]sample) []sample {
		var all []sample
		for _, s := range ss {
			all = append(all, s...)
		}
		return all
	}
	two := []any{d(2, 3), d(2, 3)}
	signs := fixed{*f64s(d(2, 3), 1, -1, 1, -1, -1, 1)}
	classes := i64s(d(4), 2, 0, 1, 2)
	ignored := i64s(d(4), 2, -100, 1, 0)
	weight := fixed{*f64s(d(3), 0.5, 1, 2)}
	scores := []any{d(4, 3), classes}
	deep := []any{d(2, 3, 2), i64s(d(2, 2), 0, 2, -100, 1), weight}
	backward := func(reduction string, dy []int, kv ...any) sample {
		return sample{in: []any{dy, d(4, 3), ignored, weight}, attrs: append(attrs("reduction", reduction), attrs(kv...)...)}
	}
	backwards := []sample{backward("none", d(4)), backward("mean", d()), backward("sum", d(), "label_smoothing", 0.2)}
	return map[Name][]sample{
		MSELoss:             join(each(two), each([]any{d(2, 3), d(3)}), each([]any{d(2, 3), d(2, 3), d(2, 3)})),
		L1Loss:              each(two),
		SmoothL1Loss:        join(each(two, "beta", 0.7), each(two, "beta", 0.0)),
		HuberLoss:           each(two, "delta", 0.7),
		BinaryCrossEntropy:  unit(join(each(two), each([]any{d(2, 3), d(2, 3), fixed{*f64s(d(3), 1, 2, 3)}}))),
		BCEWithLogits:       join(each([]any{d(2, 3), d(2, 3), nil, nil}), each([]any{d(2, 3), d(2, 3), fixed{*f64s(d(3), 1, 2, 3)}, fixed{*f64s(d(3), 2, 1, 3)}})),
		KLDiv:               join(unit(join(each(two), []sample{{in: two, attrs: attrs("reduction", "batchmean")}})), each(two, "log_target", true)),
		HingeEmbeddingLoss:  each([]any{d(2, 3), signs}),
		MarginRankingLoss:   each([]any{d(2, 3), d(2, 3), signs}, "margin", 0.3),
		SoftMarginLoss:      each([]any{d(2, 3), signs}),
		GaussianNLLLoss:     unit(join(each([]any{d(2, 3), d(2, 3), d(2, 3)}), each([]any{d(2, 3), d(2, 3), d(2, 1)}, "full", true))),
		PoissonNLLLoss:      join(each(two), unit(each(two, "log_input", false, "full", true))),
		CosineEmbeddingLoss: each([]any{d(3, 4), d(3, 4), fixed{*f64s(d(3), 1, -1, 1)}}, "margin", -0.9),
		TripletMarginLoss:   join(each([]any{d(2, 3), d(2, 3), d(2, 3)}, "margin", 3.0), each([]any{d(2, 3), d(2, 3), d(2, 3)}, "margin", 5.0, "swap", true, "p", 3.0)),
		MultiMarginLoss:     join(each(scores), each(append(scores, weight), "p", 2.0, "margin", 0.7)),
		MultilabelMarginLoss: func() []sample {
			ss := each([]any{d(3, 4), i64s(d(3, 4), 2, 0, -1, 1, -1, 0, 1, 2, 1, 3, 0, -1)})
			for i := range ss {
				ss[i].first = true
			}
			return ss
		}(),
		MultilabelSoftMarginLoss: each([]any{d(2, 3), d(2, 3), weight}),
		NLLLoss:                  join(each(scores), each(deep), each([]any{d(4, 3), ignored, weight}, "ignore_index", 0)),
		smoothedNLL:              each([]any{d(4, 3), ignored, weight}, "label_smoothing", 0.1),
		nllBackward:              backwards,
		CrossEntropy:             join(each(scores), each(deep, "label_smoothing", 0.2), each([]any{d(4, 3), ignored, weight}), each([]any{d(2, 3, 2), d(2, 3, 2), weight}, "label_smoothing", 0.1), each([]any{d(3), d(3)})),
		crossEntropyBackward:     backwards,
		// The rule gives the gradient of the scores behind the log-probabilities.
		CTCLoss: {
			{in: []any{d(5, 2, 4), i64s(d(2, 3), 1, 2, 2, 3, 1, 0), i64s(d(2), 5, 4), i64s(d(2), 3, 2)}, first: true, pre: logProbs},
			{in: []any{d(4, 2, 3), i64s(d(3), 1, 2, 2), i64s(d(2), 4, 3), i64s(d(2), 2, 1)}, attrs: attrs("reduction", "none"), first: true, pre: logProbs},
		},
	}
}

// logProbs makes log-probabilities of the first input's scores.
func logProbs(b Builder, in []Value) []Value {
	return append([]Value{b.Do(LogSoftmax, attrs("dim", -1), in[0])}, in[1:]...)
}
