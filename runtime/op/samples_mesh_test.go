package op

// Mesh lists samples of what is placed on several devices.
func (samples) Mesh() map[Name][]sample {
	return map[Name][]sample{Distribute: {{in: []any{d(2, 4)}, attrs: attrs("mesh", "x=2", "placements", "S(1)")}}}
}
