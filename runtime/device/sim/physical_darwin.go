package sim

import "golang.org/x/sys/unix"

// physicalBytes is the memory of the machine.
func physicalBytes() int64 {
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		return int64(n)
	}
	return fallbackBytes
}
