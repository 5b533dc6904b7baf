package inspect

import "github.com/tpush/tpush/runtime/exec"

// A Status is a session at a glance: what a bar of one line tells. Times are
// virtual.
type Status struct {
	Mode      string `json:"mode"`
	QueuedOps int    `json:"queued_ops"`

	HBMUsedBytes  int64 `json:"hbm_used_bytes"`
	HBMPeakBytes  int64 `json:"hbm_peak_bytes"`
	HBMLimitBytes int64 `json:"hbm_limit_bytes"`

	// Steps of training that were timed, the last one, and 95 of a hundred of the latest.
	Steps     int64 `json:"steps,omitempty"`
	StepNS    int64 `json:"step_ns,omitempty"`
	StepP95NS int64 `json:"step_p95_ns,omitempty"`

	CacheHits   int64 `json:"cache_hits"`
	CacheMisses int64 `json:"cache_misses"`
}

// StatusOf makes a snapshot of what a dispatcher did.
func StatusOf(l exec.Look) Status {
	return Status{Mode: l.Mode.Name, QueuedOps: len(l.Queue),
		HBMUsedBytes: l.HBMUsedBytes, HBMPeakBytes: l.HBMPeakBytes, HBMLimitBytes: l.HBMLimitBytes,
		Steps: l.Steps.Count, StepNS: l.Steps.LastNS, StepP95NS: l.Steps.P95NS,
		CacheHits: l.Cache.Hits, CacheMisses: l.Cache.Requests - l.Cache.Hits}
}
