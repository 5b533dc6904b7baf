package op

// Fourier lists samples of the complex transform: lengths of several kinds,
// both signs, real and complex.
func (samples) Fourier() map[Name][]sample {
	return map[Name][]sample{
		FourierPair: {
			{in: []any{d(2, 4), d(2, 4)}}, {in: []any{d(3), d(3)}, attrs: attrs("inverse", true, "scale", 0.25)},
			{in: []any{d(2, 6), nil}, attrs: attrs("scale", 0.5)}, {in: []any{d(1), d(1)}},
		},
	}
}
