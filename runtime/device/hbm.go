package device

import "github.com/tpush/tpush/trace"

// HBM is the allocator of one device.
type HBM struct{ sink trace.Sink }
