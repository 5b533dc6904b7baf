package hlo

import (
	"encoding/json"
	"strconv"
)

// A Config is what the compiler notes about how an instruction will run.
type Config struct {
	Cycles      int64    // its estimate, -1 without one
	Model       string   // of the estimate
	Iterations  []string // of the pipeline
	Window      []string // of the result that one iteration makes, in tiles
	ScopedBytes int64    // VMEM of the instruction's own
	Emitter     string   // of a product or a collective
	Strategy    string   // of a collective
	Trips       int64    // of a loop, 0 when it is not known
}

// note is the form of the notes; numbers are text there.
type note struct {
	Window struct {
		Cycles     string   `json:"estimated_cycles"`
		Model      string   `json:"cost_model_type"`
		Iterations []string `json:"iteration_bounds"`
		Output     []string `json:"output_window_bounds"`
	} `json:"window_config"`
	Scoped []struct {
		Space string `json:"memory_space"`
		Size  string `json:"size"`
	} `json:"used_scoped_memory_configs"`
	Convolution struct {
		Emitter string `json:"emitter"`
	} `json:"convolution_algorithm_config"`
	Collective struct {
		Emitter  string `json:"emitter"`
		Strategy string `json:"strategy"`
	} `json:"collective_algorithm_config"`
	Trips struct {
		N string `json:"n"`
	} `json:"known_trip_count"`
}

func parseConfig(b wire) Config {
	c := Config{Cycles: -1}
	var n note
	if len(b) == 0 || b[0] != '{' || json.Unmarshal(b, &n) != nil {
		return c
	}
	if v, err := strconv.ParseInt(n.Window.Cycles, 10, 64); err == nil && v >= 0 {
		c.Cycles = v
	}
	c.Model, c.Iterations, c.Window = n.Window.Model, n.Window.Iterations, n.Window.Output
	for _, s := range n.Scoped {
		if v, err := strconv.ParseInt(s.Size, 10, 64); err == nil && s.Space == strconv.Itoa(VMEM) && v > 0 {
			c.ScopedBytes += v
		}
	}
	if v, err := strconv.ParseInt(n.Trips.N, 10, 64); err == nil && v > 0 {
		c.Trips = v
	}
	c.Emitter, c.Strategy = n.Convolution.Emitter, n.Collective.Strategy
	if c.Emitter == "" {
		c.Emitter = n.Collective.Emitter
	}
	return c
}
