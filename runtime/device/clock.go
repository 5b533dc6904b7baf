package device

// A Clock is the virtual time of a session, in nanoseconds since its start.
// Host is where the dispatching program is, Device when the device will have
// finished everything launched. It advances by the cost model only, so traces repeat exactly.
type Clock struct {
	HostNS   int64
	DeviceNS int64
}

// Launch books a run of durationNS issued now; it returns when it starts.
// issueNS is what the host spends on issuing it.
func (c *Clock) Launch(issueNS, durationNS int64) (startNS int64) {
	c.HostNS += issueNS
	startNS = max(c.HostNS, c.DeviceNS)
	c.DeviceNS = startNS + durationNS
	return startNS
}

// Wait lets the host catch up with the device, plus a fixed overhead.
func (c *Clock) Wait(overheadNS int64) {
	c.HostNS = max(c.HostNS, c.DeviceNS) + overheadNS
}
