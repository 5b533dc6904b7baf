package conformance

import (
	"maps"
	"slices"
)

// unbiased rewrites PyTorch's older form of the variances: unbiased, true or
// false, alone or after the axes, is a correction of 1 or 0.
func unbiased(r *Record) *Record {
	c := *r
	c.Attrs = maps.Clone(r.Attrs)
	if c.Attrs == nil {
		c.Attrs = map[string]any{}
	}
	set := func(v any) {
		c.Attrs["correction"] = 0
		if v == true {
			c.Attrs["correction"] = 1
		}
	}
	if v, ok := c.Attrs["unbiased"]; ok {
		delete(c.Attrs, "unbiased")
		set(v)
	}
	for i := 1; i < len(c.Inputs); i++ {
		if v, ok := c.Inputs[i].Number.(bool); ok {
			c.Inputs = slices.Delete(slices.Clone(c.Inputs), i, i+1)
			set(v)
			break
		}
	}
	return &c
}
