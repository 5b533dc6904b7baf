//go:build !unix

package bench

import "time"

// processorTime is not known here: results leave it out.
func processorTime() time.Duration { return 0 }
